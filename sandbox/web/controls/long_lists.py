"""Lists of all that a world holds: written by a copy of the bank, and in slices, so that no call waits for them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import orjson
from orjson import Fragment

from sandbox.bank.state import Bank
from sandbox.world.log import apart
from sandbox.world.world import World

SLICE = 1_000  # rows

Rows = Callable[[Bank], Iterable[Any]]


def read_list(world: World, rows: Rows) -> Fragment:
    """The rows of a bank as it stands now, as JSON."""
    return Fragment(world.ask(apart.ask, partial(_write, rows)).whole())


def write_list(rows: Iterable[Any]) -> Fragment:
    return Fragment(b"".join(_pieces(rows)))


def _write(rows: Rows, bank: Bank, write: apart.Write) -> None:
    for piece in _pieces(rows(bank)):
        write(piece)


def _pieces(rows: Iterable[Any]) -> Iterator[bytes]:
    rest, between = iter(rows), b"["
    while part := list(islice(rest, SLICE)):
        yield between + orjson.dumps(part)[1:-1]
        between = b","
    yield b"[]" if between == b"[" else b"]"
