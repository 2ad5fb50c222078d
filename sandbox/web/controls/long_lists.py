"""Lists of all that a world holds, such as its journal.

They are written by a copy of the bank, and in slices, so that no call waits for them.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import orjson
from flask import Response

from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.web.api.replies import MEDIA, Reply
from sandbox.world.log import apart
from sandbox.world.world import World

SLICE = 1_000  # rows

Rows = Callable[[Bank], Iterable[Any]]


def read_list(world: World, rows: Rows) -> list[bytes]:
    """The rows of a bank as it stands now, as JSON in pieces."""
    return list(world.ask(apart.ask, partial(_write, rows)))


def list_reply(*names: str, pieces: Iterable[bytes]) -> Response:
    """An object with the same list under each name. The pieces are sent as they are: nothing large is copied."""
    rows, body = list(pieces), [b"{"]
    for name in names:
        body += [orjson.dumps(name) + b":", *rows, b","]
    return Reply([*body[:-1], b"}"], content_type=MEDIA)


def _write(rows: Rows, bank: Bank, write: apart.Write) -> None:
    for piece in pieces_of(rows(bank)):
        write(piece)


def pieces_of(rows: Iterable[Any]) -> Iterator[bytes]:
    rest, between = iter(rows), b"["
    while part := list(islice(rest, SLICE)):
        yield between + orjson.dumps(part)[1:-1]
        between = b","
    yield b"[]" if between == b"[" else b"]"


def journal(world: World, query: dict[str, Any]) -> Response:
    since = query.get("since", 0)
    bank, count = world.ask(lambda bank: (bank, len(bank.journal)))  # it only grows, so its lines are not copied
    return list_reply("journal", pieces=pieces_of(fact_row(bank.journal[place]) for place in range(since, count)))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {
        "seq": fact.seq,
        "at": write_instant(fact.at),
        "subject": fact.subject,
        "trigger": fact.trigger.value,
        "from": fact.source and fact.source.value,
        "to": fact.target and fact.target.value,
        "reason": fact.reason,
        "rule": fact.rule,
    }
