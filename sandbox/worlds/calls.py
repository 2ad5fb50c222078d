"""The records of answered calls."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant

PATH_MAX = 1_000  # characters
NAME_MAX = 200  # of a client
RULE_MAX = 1_000
DESCRIBED = ("request_id", "at", "operation", "method", "path", "status", "client_id", "seq")
FIXED = 700  # bytes: about what a call weighs without its texts


def cut(text: str, most: int) -> str:
    """Returns the text, or if it is too long, its first `most` characters and a note of its length."""
    return text if len(text) <= most else f"{text[:most]}... (cut: {len(text):,} characters)"


class Exchange(NamedTuple):
    """An answered call in the list of calls."""

    seq: int
    request_id: str
    at: datetime
    operation: str | None
    method: str
    path: str
    status: int
    client_id: str | None
    # Why it was answered so: the rule, its clause, and what it was judged on.
    error: str | None = None
    rule: str = ""
    clause: str = ""
    subject: str | None = None
    state: str | None = None
    scenario_rule: str | None = None
    variants: str = ""  # the axes that it met and that are not at their default: `axis=value`, with blanks between
    decided: str = ""  # the numbers and dates that decided a refusal, as JSON

    @property
    def weight(self) -> int:
        """The bytes of a call, approximately."""
        return FIXED + len(self.path) + len(self.client_id or "") + len(self.rule) + len(self.decided)


def shorten(exchange: Exchange) -> Exchange:
    """Returns the call with a path, rule and client name that are cut if they are too long."""
    client, path, rule = exchange.client_id, exchange.path, exchange.rule
    if len(path) <= PATH_MAX and len(rule) <= RULE_MAX and (client is None or len(client) <= NAME_MAX):
        return exchange
    client_id = None if client is None else cut(client, NAME_MAX)
    return exchange._replace(path=cut(path, PATH_MAX), rule=cut(rule, RULE_MAX), client_id=client_id)


def describe_call(exchange: Exchange) -> dict[str, Any]:
    """Returns the fields of a call that are shown in a list of calls or in a report. The time `at` is text."""
    return {name: getattr(exchange, name) for name in DESCRIBED} | {"at": write_instant(exchange.at)}


class Record(Protocol):
    """An answered call with its reply, as the web package adds it to the world."""

    @property
    def request_id(self) -> str:
        """The id that the caller gave to the call. Empty if the caller gave none."""

    @property
    def has_entered(self) -> bool:
        """Whether the call entered the world, where the bank's checks run. False if it was refused before that."""

    @property
    def observe(self) -> "Observe":
        """The function that gets this call after its reply. If several calls in a row have the same function, it gets
        them together, in order."""


R = TypeVar("R", bound=Record, covariant=True)


class NumberedCall(NamedTuple, Generic[R]):
    """An answered call with its number, its id and the bank's time."""

    seq: int
    request_id: str
    at: datetime
    record: R


# Gets the world, its bank and the calls. What the calls are judged by is in the bank as it was when they were answered.
Observe = Callable[[Any, Bank, list[NumberedCall[Any]]], None]


class Weighed(Protocol):
    @property
    def weight(self) -> int:
        """The approximate bytes of the item in memory."""


Item = TypeVar("Item", bound=Weighed)


class Recent(deque[Item]):
    """The newest items, bounded in number and in bytes. The newest item stays even if it alone has too many bytes."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        super().__init__(items)
        self.weight = sum(item.weight for item in self)
        self._lock = threading.Lock()

    def add(self, items: Sequence[Item], most: int, weight_max: int) -> int:
        """Adds items, and drops the oldest items beyond the bounds. Returns the weight of the added items."""
        with self._lock:
            self.extend(items)
            weight = sum([item.weight for item in items])
            self.weight += weight
            while len(self) > most or (self.weight > weight_max and len(self) > 1):
                self.weight -= self.popleft().weight
            return weight

    def forget(self, count: int) -> None:
        """Drops the `count` oldest items."""
        with self._lock:
            for _ in range(min(count, len(self))):
                self.weight -= self.popleft().weight
