"""Copies a bank, so that long work reads the copy while the bank goes on.

Some work reads a whole bank as it is at one moment: a checkpoint, an export, a fork, a list of all payments, and the
computation of a future status. This takes seconds for 200,000 payments. One lock guards a bank, so other callers would
wait for all of it. Therefore the bank is copied under the lock, and the work reads the copy without the lock.

The copy shares the records that never change. Records of the classes in `MUTABLE` are copied, but the values of their
fields are shared, because these never change. The only exception is the list of batches of a file, which is copied too.
The copy takes 1 to 1.5 µs and 250 bytes for each payment, and the work then shares one core with the calls. `os.fork`
would hold the lock for less time. But a process that is forked from threads inherits the locks that other threads hold
at that moment, and all its results must be sent back through a pipe.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import fields, replace
from typing import Any, TypeVar

from sandbox.bank.clock import Agenda, Clock
from sandbox.bank.habits import Habits
from sandbox.bank.ledger import Ledger, Lines
from sandbox.bank.mint import Mint
from sandbox.bank.records import Batch, BulkFile, Consent, Payment, Session, StandingOrder
from sandbox.bank.rules import Rulebook
from sandbox.bank.state import Bank
from sandbox.storage.long_work import release, stop_collections

T = TypeVar("T")


def copy_bank(bank: Bank) -> Bank:
    """Returns a copy of the bank. The caller must hold the world's lock, and later call `release_bank` for the copy."""
    with stop_collections():
        own = Bank.__new__(Bank)
        for name, value in vars(bank).items():
            setattr(own, name, _copy_value(value))
    return own


def copy_records(register: Mapping[str, T]) -> deque[T]:
    """Returns the records of one register as they are now. Records that may change are copied. The result is a deque,
    so that the caller can free them one by one."""
    with stop_collections():
        return deque(list_copies(register))


def release_bank(bank: Bank) -> None:
    """Frees a bank in slices, in the background, as soon as nobody refers to it any more. So no other thread has to
    wait long."""
    registers = [value for value in vars(bank).values() if isinstance(value, dict | list)]
    lines = [lines.own for lines in bank.ledger.list_added_lines().values() if isinstance(lines, Lines)]
    release(bank, [*registers, bank.agenda.promises, *lines])


def _copy_value(value: Any) -> Any:
    match value:
        case Ledger() | Habits():
            return value.copy()
        case Clock() | Mint():
            return copy(value)
        case Agenda():
            agenda = Agenda()
            agenda.promises, agenda.made = list(value.promises), value.made
            return agenda
        case Rulebook():
            return Rulebook(value.rules, dict(value.met))
        case dict() if COPIERS.keys().isdisjoint(map(type, value.values())):
            return type(value)(value)
        case dict():
            return type(value)(zip(value, list_copies(value), strict=True))
        case list():
            return list(value)
        case _:
            return value


def list_copies(register: Mapping[Any, Any]) -> Iterable[Any]:
    """Returns the records of a register in the register's order. Copies the records that may change, and shares all
    others."""
    kinds = set(map(type, register.values()))
    if len(kinds) == 1:  # true for nearly every register, and saves a tenth of the time
        return map(COPIERS.get(kinds.pop(), _return_shared), register.values())
    return (COPIERS.get(type(value), _return_shared)(value) for value in register.values())


def _make_copier(kind: type[Any]) -> Callable[[Any], Any]:
    """Returns a function that makes a new record with the values of a given one.

    The function is compiled from the names of the fields, as `dataclasses` compiles methods. It takes half the time of
    a general function. A new field of the class is copied without a change here.
    """
    lines = [
        "def copy_record(record):",
        "own = new(kind)",
        *(f"own.{row.name} = record.{row.name}" for row in fields(kind)),
    ]
    names: dict[str, Any] = {"new": object.__new__, "kind": kind}
    exec("\n    ".join([*lines, "return own"]), names)
    copier: Callable[[Any], Any] = names["copy_record"]
    return copier


def _copy_bulk(bulk: BulkFile) -> BulkFile:
    return replace(bulk, parts=[COPIERS[Batch](part) for part in bulk.parts])


def _return_shared(value: Any) -> Any:
    return value


MUTABLE = (Payment, StandingOrder, Batch, Consent, Session)
COPIERS: dict[type[Any], Callable[[Any], Any]] = {kind: _make_copier(kind) for kind in MUTABLE}
COPIERS |= {BulkFile: _copy_bulk, list: list}
