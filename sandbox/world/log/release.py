"""Gives the memory of a large bank or log back in slices: all at once would stop every thread."""

import gc
import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

from sandbox.bank.ledger import Lines
from sandbox.bank.state import Bank

Register = dict[Any, Any] | list[Any]
AT_ONCE = 500  # entries
SMALL = 2_000  # entries of all registers: to give them back takes no longer than a slice
LOOKS = 1_000  # at an owner that a caller still uses
PAUSE = 0.01  # seconds between two looks

_pausing = threading.Event()


def release_bank(bank: Bank) -> None:
    """For a caller that drops its own reference then; what another caller still uses is not taken from it."""
    registers: list[Register] = [value for value in vars(bank).values() if isinstance(value, dict | list)]
    lines = [lines.own for lines in bank.ledger.added().values() if isinstance(lines, Lines)]
    release(bank, [*registers, bank.agenda.promises, *lines])


def release(owner: object, registers: list[Register]) -> None:
    """The registers of an owner that nobody will look at again."""
    if sum(map(len, registers)) > SMALL:
        _begin(_release, ref(owner), registers, AT_ONCE)


def release_pieces(pieces: list[list[Any]], owner: object = None) -> None:
    """A list of lists, some of which others may hold too. Without an owner nobody else has it."""
    if sum(map(len, pieces)) > SMALL:
        _begin(_release, (lambda: None) if owner is None else ref(owner), [pieces], 1)


def _begin(work: Callable[..., None], *given: Any) -> None:
    threading.Thread(target=work, args=given, name="release", daemon=True).start()


def _release(owner: Callable[[], object], registers: list[Register], at_once: int) -> None:
    """Registers that are held here outlast their owner; then nobody else has them."""
    for _ in range(LOOKS):
        if owner() is None:
            break
        _pausing.wait(PAUSE)
    else:
        return
    for register in registers:
        while register:
            if isinstance(register, dict):
                for _ in range(min(at_once, len(register))):  # other threads go on between any two
                    register.popitem()
            else:
                del register[-at_once:]
            gc.collect(0)  # Python counts what is freed against what calls make, and would leave their garbage for long
