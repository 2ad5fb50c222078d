"""A bank from its beginning and what it was asked to do, played again."""

import zlib
from collections.abc import Iterable
from datetime import datetime

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.storage import checkpoint
from sandbox.storage.long_work import demand_caller, pause, while_waited_for
from sandbox.storage.memory_log import Act, MemoryLog, play
from sandbox.storage.stored_acts import StoredActs
from sandbox.worlds.beginning import Beginning, bank_of

ACTS_AT_ONCE = 50  # between two pauses
EVENTS_AT_ONCE = 200  # the same: some milliseconds


def replayed(beginning: Beginning, log: Iterable[Act], until: datetime) -> Bank:
    """The bank that a beginning and a log give; the opening must be fixed.

    Raises AbandonedError once the caller is gone."""
    assert beginning.at is not None
    bank = bank_of(beginning, beginning.at)
    if isinstance(log, MemoryLog | StoredActs) and log.folded is not None:
        checkpoint.read_onto(bank, zlib.decompress(log.folded.bank))
    play(bank, while_waited_for(log, ACTS_AT_ONCE), advance=advance_while_waited_for)
    advance_while_waited_for(bank, until)
    return bank


def advance_while_waited_for(bank: Bank, until: datetime) -> None:
    """As timeline.advance, with pauses; raises AbandonedError once the caller is gone."""
    for _ in range(bank.decisions.due_events_max // EVENTS_AT_ONCE + 1):
        demand_caller()
        if timeline.advance_some(bank, until, EVENTS_AT_ONCE):
            return
        pause()
    raise AssertionError("the agenda never empties")
