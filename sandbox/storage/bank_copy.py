"""Copies of a bank for long work, made and given up without a long stop of the garbage collector (see bank/twin)."""

from collections import deque
from collections.abc import Mapping
from typing import TypeVar

from sandbox.bank.ledger import Lines
from sandbox.bank.state import Bank
from sandbox.bank.twin import copies_of, twin_of
from sandbox.storage.collector import without_collections
from sandbox.storage.long_work import release

T = TypeVar("T")


def copy_bank(bank: Bank) -> Bank:
    """A bank of its own in the same state. The caller holds the lock of the world, and releases the copy in the end."""
    with without_collections():
        return twin_of(bank)


def copy_records(register: Mapping[str, T]) -> deque[T]:
    """The records of one register as they are now, for a caller that takes one after the other."""
    with without_collections():
        return deque(copies_of(register))


def release_bank(bank: Bank) -> None:
    """Frees a bank in slices, once its caller and all others have dropped their references."""
    registers = [value for value in vars(bank).values() if isinstance(value, dict | list)]
    lines = [lines.own for lines in bank.ledger.added().values() if isinstance(lines, Lines)]
    release(bank, [*registers, bank.agenda.promises, *lines])
