"""Registers that grow with every call and hold no money: the oldest entries go first, several at once.

What goes depends on nothing but what was done, so the same acts give the same bank.
"""

from collections.abc import Callable
from itertools import islice
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

SHARE = 10  # a tenth at once: one by one, a map would be walked from its emptied front each time


def forget_oldest(register: dict[Key, Value], most: int) -> list[Key]:
    """Keeps at most so many; the answer is what went."""
    if len(register) <= most:
        return []
    gone = list(islice(register, len(register) - most + most // SHARE))
    for key in gone:
        del register[key]
    return gone


def forget_first(register: list[Value], most: int) -> None:
    """The same of a list."""
    if len(register) > most:
        del register[: len(register) - most + most // SHARE]


def forget_replaced(register: dict[Key, Value], standing: int, most: int, stands: Callable[[Key, Value], bool]) -> None:
    """Keeps what stands, however much that is, and at most so many beside it."""
    if len(register) - standing <= most:
        return
    replaced = [key for key, value in register.items() if not stands(key, value)]
    for key in islice(replaced, max(0, len(replaced) - most + most // SHARE)):
        del register[key]
