"""Toy clients: each takes one point for granted that an axis decides otherwise, and breaks there as real code would."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.test import TestResponse

from tests.tpp import Tpp

Toy = Callable[[Tpp], object]
# Of an axis: a client that breaks on all values but the first and lenient ones, or clients by what they break on.
Toys = Mapping[str, Toy | Mapping[str, Toy]]


def ok(reply: TestResponse) -> Any:
    """What a client reads that knows success alone."""
    assert reply.status_code < 300, f"{reply.status_code} {reply.text[:200]}"
    return reply.get_json()


@dataclass(frozen=True)
class Expects:
    """A client that knows one outcome, and takes no other; `part` is what it looks at."""

    seen: Callable[[Tpp], Any]
    expected: object
    part: int | None = None

    def __call__(self, tpp: Tpp) -> None:
        self.judge(self.seen(tpp))

    def judge(self, seen: Any) -> None:
        found = seen if self.part is None else seen[self.part]
        assert found == self.expected, found
