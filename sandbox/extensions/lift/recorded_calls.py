"""Recorded calls, and which of them go to the bank.

A reader of one format, such as `har`, makes recorded calls of its entries. What uses a record, such as the making of a
scenario, knows recorded calls alone, and so takes them from any reader.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

import orjson

from sandbox.banking.pkce import challenge_of
from sandbox.contract import kinds

ROOTS = ("payments", "periodic-payments", "bulk-payments", "consent-uris", "token", "accounts", "_sandbox")
PRODUCTS = frozenset(name for kind in kinds.KINDS.values() for name in kind.products)
ACCEPT = re.compile(r"application/vnd\.[^;,]+;\s*version=")


class RecordError(ValueError):
    """The file cannot be read, or has no call to a bank."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of a record. A status of 0 means that no reply came."""

    number: int
    method: str
    path: tuple[str, ...]  # below the address of the bank
    query: Mapping[str, str]
    headers: Mapping[str, str]  # by their names in small letters
    body: str
    status: int
    reply_headers: Mapping[str, str]
    reply: Any
    began: datetime | None = None  # None: the record does not say
    ended: datetime | None = None
    host: str = ""

    @property
    def json(self) -> dict[str, Any]:
        """The body that was sent, if it is a JSON object."""
        try:
            content = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body, keep_blank_values=True))

    @property
    def reply_json(self) -> dict[str, Any]:
        """The body of the reply, if it is a JSON object."""
        return self.reply if isinstance(self.reply, dict) else {}

    @property
    def access_token(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def challenges(self) -> tuple[str, ...]:
        """The challenges, S256 and plain, that belong to the verifier of a token call."""
        verifier = self.form.get("code_verifier", "") if self.path == ("token",) else ""
        return (challenge_of("S256", verifier), verifier) if verifier and verifier.isascii() else ()

    @property
    def is_lost(self) -> bool:
        return self.status == 0

    def overlaps(self, later: "RecordedCall") -> bool:
        """Whether the later call began before this one was answered."""
        return self.ended is not None and later.began is not None and later.began < self.ended

    def __str__(self) -> str:
        shown = self.path[:1] if self.path[0] == "accounts" else self.path[:2]  # the second part there is an id
        return f"call {self.number}, {self.method} /{'/'.join(shown)}"


def path_at_bank(path: str) -> tuple[str, ...] | None:
    """The part of a path below the address of a bank; None for a path that no bank has."""
    segments = [part for part in path.split("/") if part]
    start = next((at for at, part in enumerate(segments) if part in ROOTS), None)
    return None if start is None else tuple(segments[start:])


def calls_to_bank(record: Sequence[RecordedCall | None]) -> list[RecordedCall]:
    """The calls to the bank, in the order in which they began. None stands for a call whose path no bank has."""
    calls = [call for call in record if call is not None]
    hosts = bank_hosts(calls)
    calls = [call for call in calls if call.host in hosts]
    if not calls:
        reason = f"none of its {len(record)} calls goes to a bank" if record else "it has no calls"
        example = f"POST /payments/{kinds.PAYMENT.products[0]}"
        raise RecordError(f"{reason}: expected are calls such as {example} or GET /accounts")
    if all(call.began is not None for call in calls):
        calls.sort(key=lambda call: (call.began, call.number))  # browsers list calls as they ended
    return calls


def bank_hosts(calls: Sequence[RecordedCall]) -> set[str]:
    """The hosts of the bank: those that a call has the bank's headers for.

    A path alone proves little, as a shop has /accounts and an identity provider /token. In a record without headers the
    bank is the one host with most calls whose path or reply only the bank has."""
    marked = {call.host for call in calls if has_headers_of_bank(call)}
    if marked:
        return marked
    return {host for host, _ in Counter(call.host for call in calls if looks_like_bank(call)).most_common(1)}


def has_headers_of_bank(call: RecordedCall) -> bool:
    return (
        call.path[0] == "_sandbox"
        or ACCEPT.search(call.headers.get("accept", "")) is not None
        or {"client-id", "request-id"} <= call.headers.keys()
        or "response-id" in call.reply_headers
    )


def looks_like_bank(call: RecordedCall) -> bool:
    has_product = len(call.path) > 1 and call.path[1] in PRODUCTS
    return has_product or call.path[0] == "consent-uris" or bool({"_embedded", "error_code"} & call.reply_json.keys())
