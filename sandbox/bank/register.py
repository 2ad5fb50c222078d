"""A register of plain values, which may grow large."""

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Register(dict[Key, Value]):
    """A dict that Python's garbage collector knows for good.

    It forgets a dict of plain tuples and texts at each full collection, finds it again at the next entry, and then
    looks through all of it three times, which stops every thread.
    """
