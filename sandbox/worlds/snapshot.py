"""A world at one moment, for another world to go on from: in a fork, a rewind, an export or an import.

A snapshot of now has a copy of the bank. One of an earlier time has a bank that its acts were played on until then. In
both cases the calls of the world go on meanwhile.
"""

import zlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.storage import checkpoint
from sandbox.storage.long_work import demand_caller, pause, while_waited_for
from sandbox.storage.memory_log import Act, MemoryLog, play
from sandbox.storage.stored_acts import StoredActs
from sandbox.worlds.beginning import Beginning, bank_of
from sandbox.worlds.calls import Exchange
from sandbox.worlds.clock import Pace
from sandbox.worlds.faults import OrderedFaults

ACTS_AT_ONCE = 50  # between two pauses
EVENTS_AT_ONCE = 200  # the same: some milliseconds


class WorldSnapshot(NamedTuple):
    """Everything that a new world continues from."""

    beginning: Beginning  # with its opening
    pace: Pace
    bank: Bank
    acts: MemoryLog | StoredActs
    faults: OrderedFaults
    exchanges: list[Exchange]
    calls: int  # ever
    findings: tuple[Any, ...] = ()  # of the referee, from a file


def replayed(beginning: Beginning, log: Iterable[Act], until: datetime) -> Bank:
    """The bank that a beginning with its opening and a log give. Raises AbandonedError once the caller is gone."""
    assert beginning.at is not None
    bank = bank_of(beginning, beginning.at)
    if isinstance(log, MemoryLog | StoredActs) and log.folded is not None:
        checkpoint.read_onto(bank, zlib.decompress(log.folded.bank))
    play(bank, while_waited_for(log, ACTS_AT_ONCE), advance=advance_while_waited_for)
    advance_while_waited_for(bank, until)
    return bank


def advance_while_waited_for(bank: Bank, until: datetime) -> None:
    """As timeline.advance, with pauses. Raises AbandonedError once the caller is gone."""
    for _ in range(bank.decisions.due_events_max // EVENTS_AT_ONCE + 1):
        demand_caller()
        if timeline.advance_some(bank, until, EVENTS_AT_ONCE):
            return
        pause()
    raise AssertionError("the agenda never empties")
