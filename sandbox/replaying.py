"""A bank from its beginning and what it was asked to do: played again, or read back from a state file."""

from collections.abc import Iterable
from datetime import datetime

from sandbox.bank import timeline
from sandbox.bank.state import VERBS, Bank
from sandbox.beginning import Beginning, bank_of
from sandbox.errors import Refusal
from sandbox.log import aside, checkpoint
from sandbox.log.memory import Act, MemoryLog
from sandbox.log.store import StateFileError, Store


def replayed(beginning: Beginning, log: Iterable[Act], until: datetime) -> Bank:
    """The bank that a beginning and a log give; the opening must be fixed."""
    assert beginning.at is not None
    bank = bank_of(beginning, beginning.at)
    if isinstance(log, MemoryLog):
        log.begin_on(bank)
    play(bank, log)
    timeline.advance(bank, until)
    return bank


def play(bank: Bank, acts: Iterable[Act]) -> None:
    """Does again what was done, each act at its own time."""
    for act in acts:
        timeline.advance(bank, act.at)
        try:
            VERBS[act.verb](bank, *act.arguments)
        except Refusal as refusal:
            assert refusal.lasting, f"{act.verb} was accepted once and is refused now"


def read_back(
    store: Store, row: int, name: str, beginning: Beginning, opening: datetime
) -> tuple[Bank, aside.Calls, dict[str, bytes]]:
    """Its checkpoint and the acts since; with what it took along when it was put away."""
    try:
        bank = bank_of(beginning, opening)
        written = store.checkpoint(row)
        if written is not None:
            checkpoint.read_onto(bank, written[1])
        play(bank, store.acts(row, written[0] if written else 0))
        return bank, *aside.read(store.aside(row))
    except StateFileError:
        raise
    except Exception as fault:  # whatever a damaged file leads to
        raise StateFileError(f"the world {name} cannot be read from the state file: {fault!r}") from fault
