"""Reads a HAR file: the calls of the bank's interface and of the sandbox's controls, in the order of the record."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from sandbox.banking.durations import bounded_instant
from sandbox.contract import kinds
from sandbox.storage.transfer.form import FORMAT

HAR_BYTES_MAX = 100_000_000
GZIP = b"\x1f\x8b"  # how a packed export begins
MONTH_MS = 31 * 86_400_000  # no call lasts longer
ROOTS = ("payments", "periodic-payments", "bulk-payments", "consent-uris", "token", "accounts", "_sandbox")
PRODUCTS = frozenset(name for kind in kinds.KINDS.values() for name in kind.products)
ACCEPT = re.compile(r"application/vnd\.[^;,]+;\s*version=")


class HarError(ValueError):
    """The file is no HAR, or has no call to a bank."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call of the record; a status of 0 is a reply that never came."""

    number: int
    method: str
    path: tuple[str, ...]  # below the address of the bank
    query: Mapping[str, str]
    headers: Mapping[str, str]  # by their names in small letters
    sent: str
    status: int
    reply_headers: Mapping[str, str]
    reply: Any
    began: datetime | None = None  # None: the record does not say
    ended: datetime | None = None
    host: str = ""

    @property
    def json(self) -> dict[str, Any]:
        """The body that was sent, where it is a JSON object."""
        try:
            content = orjson.loads(self.sent)
        except orjson.JSONDecodeError:
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.sent, keep_blank_values=True))

    @property
    def outcome(self) -> dict[str, Any]:
        """The body of the reply, where it is a JSON object."""
        return self.reply if isinstance(self.reply, dict) else {}

    @property
    def token(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def is_lost(self) -> bool:
        """Whether its reply never came."""
        return self.status == 0

    def overlaps(self, later: "Recorded") -> bool:
        """Whether this call was not answered yet when the later one began."""
        return self.ended is not None and later.began is not None and later.began < self.ended

    def __str__(self) -> str:
        shown = self.path[:1] if self.path[0] == "accounts" else self.path[:2]  # the second part there is an id
        return f"call {self.number}, {self.method} /{'/'.join(shown)}"


def read_har(content: bytes) -> list[Recorded]:
    """All calls to the bank, in the order in which they began; calls to other places are left out."""
    if content.startswith(GZIP) or FORMAT.encode() in content[:200]:
        raise HarError("it is the export of a world: use `bank-sandbox import`, which plays it again")
    if len(content) > HAR_BYTES_MAX:
        raise HarError(f"it is over {HAR_BYTES_MAX:,} bytes long")
    try:
        entries = json.loads(content)["log"]["entries"]
        found = [_recorded(number, entry) for number, entry in enumerate(entries, 1)]
    except HarError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise HarError(f"it is no HAR: {type(fault).__name__} {fault}") from None
    calls = [one for one in found if one is not None]
    hosts = _bank_hosts(calls)
    calls = [call for call in calls if call.host in hosts]
    if not calls:
        has = f"none of its {len(entries)} calls goes to a bank" if entries else "it has no calls"
        raise HarError(f"{has}: expected are calls such as POST /payments/{kinds.PAYMENT.products[0]} or GET /accounts")
    if all(call.began is not None for call in calls):
        calls.sort(key=lambda call: (call.began, call.number))  # browsers list calls as they ended
    return calls


def _bank_hosts(calls: Sequence[Recorded]) -> set[str]:
    """The hosts that are the bank: those that a call has the bank's headers for.

    A path alone proves little, as a shop has /accounts and an identity provider /token. In a record without headers the
    bank is the one host with most calls whose path or reply only the bank has."""
    marked = {call.host for call in calls if _has_headers_of_bank(call)}
    if marked:
        return marked
    return {host for host, _ in Counter(call.host for call in calls if _looks_like_bank(call)).most_common(1)}


def _has_headers_of_bank(call: Recorded) -> bool:
    sent = call.headers
    return (
        call.path[0] == "_sandbox"
        or ACCEPT.search(sent.get("accept", "")) is not None
        or {"client-id", "request-id"} <= sent.keys()
        or "response-id" in call.reply_headers
    )


def _looks_like_bank(call: Recorded) -> bool:
    has_product = len(call.path) > 1 and call.path[1] in PRODUCTS
    return has_product or call.path[0] == "consent-uris" or bool({"_embedded", "error_code"} & call.outcome.keys())


def _recorded(number: int, entry: Mapping[str, Any]) -> Recorded | None:
    asked, answer = entry["request"], entry["response"]
    parts = urlsplit(asked["url"])
    segments = [part for part in parts.path.split("/") if part]
    start = next((at for at, part in enumerate(segments) if part in ROOTS), None)
    if start is None:
        return None
    text = (answer.get("content") or {}).get("text") or ""
    try:
        reply = orjson.loads(text)
    except orjson.JSONDecodeError:
        reply = text
    return Recorded(
        number,
        str(asked["method"]).upper(),
        tuple(segments[start:]),
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        _headers(asked),
        str((asked.get("postData") or {}).get("text") or ""),
        int(answer["status"]),
        _headers(answer),
        reply,
        *_times(entry),
        parts.netloc.rpartition("@")[2].lower(),
    )


def _times(entry: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When a call began and when its reply had come."""
    started, milliseconds = entry.get("startedDateTime"), entry.get("time")
    if not isinstance(started, str) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < MONTH_MS:
        return None, None
    began = datetime.fromisoformat(started)
    if began.tzinfo is None:
        return None, None
    try:
        began = bounded_instant(began)
    except ValueError as fault:
        raise HarError(f"its startedDateTime is {started!a}, and {fault}") from None
    return began, began + timedelta(milliseconds=milliseconds)


def _headers(part: Mapping[str, Any]) -> dict[str, str]:
    return {str(row["name"]).lower(): str(row["value"]) for row in part.get("headers") or ()}
