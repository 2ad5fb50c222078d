"""Recorded calls, and which of them go to the bank.

A reader of one format, such as `har`, makes recorded calls of the entries of a file. All other code uses only recorded
calls, so it works with every format.
"""

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

import orjson

from sandbox.banking.durations import bound_instant
from sandbox.banking.pkce import compute_challenge
from sandbox.contract import kinds

ROOTS = ("payments", "periodic-payments", "bulk-payments", "consent-uris", "token", "accounts", "_sandbox")
PRODUCTS = frozenset(name for kind in kinds.KINDS.values() for name in kind.products)
ACCEPT = re.compile(r"application/vnd\.[^;,]+;\s*version=")
MONTH_MS = 31 * 86_400_000  # no call lasts longer


class RecordingError(ValueError):
    """Raised if the file cannot be read, or has no call to a bank."""


@dataclass(frozen=True)
class RecordedCall:
    """One call of a recording. Its status is 0 if no reply came."""

    number: int  # the number of its entry in the file
    method: str
    url: str  # the URL of the call; without a host if the recording does not name the host
    headers: Mapping[str, str]  # by their names in small letters
    body: str
    status: int
    reply_headers: Mapping[str, str]
    reply_body: str
    began: datetime | None = None  # None if the recording does not say
    ended: datetime | None = None
    has_contents: bool = True  # False if the recording lacks bodies, queries and most headers
    base: str = ""  # the address of the bank, if the user gave one
    reply_names: tuple[str, ...] = ()  # the names of the headers of the reply as they were written; empty if unknown

    def __post_init__(self) -> None:
        """Raises ValueError if the record has a value that a call cannot have."""
        if not self.method.isascii() or not self.method.isalpha():
            raise ValueError(f"its method is {self.method[:20]!a}")
        parts = (self.url, self.body, self.reply_body, *self.headers.values(), *self.reply_headers.values())
        try:
            for text in parts:
                text.encode()
        except UnicodeEncodeError:
            raise ValueError("it has half of a surrogate pair, which no text has") from None
        _ = self.split.port  # urlsplit reads it only now

    @cached_property
    def split(self) -> SplitResult:
        return urlsplit(self.url)

    @cached_property
    def host(self) -> str:
        return self.split.netloc.rpartition("@")[2].lower()

    @cached_property
    def path(self) -> tuple[str, ...]:
        """The segments of the path below the address of the bank. Empty if no bank has such a path."""
        return find_path_at_bank(self.split.path.removeprefix(urlsplit(self.base).path)) or ()

    @cached_property
    def address(self) -> str:
        """The address of the bank that this call went to. It is the URL of the call up to the path of the bank's own
        interface."""
        segments = self.split.path.split("/")
        filled_places = [at for at, part in enumerate(segments) if part]
        base_segments = segments[: filled_places[-len(self.path)]] if self.path else segments
        return self.split._replace(path="/".join(base_segments).rstrip("/"), query="", fragment="").geturl()

    @cached_property
    def query(self) -> Mapping[str, str]:
        return dict(parse_qsl(self.split.query, keep_blank_values=True))

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body that was sent, if it is a JSON object. Otherwise an empty dictionary."""
        return _read_json_object(_read_json(self.body))

    @cached_property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body, keep_blank_values=True))

    @cached_property
    def reply(self) -> Any:
        """The body of the reply: its value if it is JSON, else its text."""
        return _read_json(self.reply_body)

    @property
    def reply_json(self) -> dict[str, Any]:
        """The body of the reply, if it is a JSON object. Otherwise an empty dictionary."""
        return _read_json_object(self.reply)

    @property
    def access_token(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def challenges(self) -> tuple[str, ...]:
        """The two PKCE challenges that fit the verifier of a token call: by method S256, and by method plain. Empty for
        any other call."""
        verifier = self.form.get("code_verifier", "") if self.path == ("token",) else ""
        return (compute_challenge("S256", verifier), verifier) if verifier and verifier.isascii() else ()

    @property
    def is_lost(self) -> bool:
        return self.status == 0

    def overlaps(self, later: "RecordedCall") -> bool:
        """Whether the later call began before this one was answered. False if the recording has no times."""
        return self.ended is not None and later.began is not None and later.began < self.ended

    def __str__(self) -> str:
        shown_path = (
            self.path[:1] if self.path[:1] == ("accounts",) else self.path[:2]
        )  # the second part there is an id
        return f"call {self.number}, {self.method} /{'/'.join(shown_path)}"


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _read_json_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# Parts of entries


def read_headers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """Returns headers by name in lower case. The values of a name that occurs several times are joined by a comma, as
    HTTP allows. Cookies are joined by a line break."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = str(name).lower()
        joint = "\n" if key == "set-cookie" else ", "
        headers[key] = f"{headers[key]}{joint}{value}" if key in headers else str(value)
    return headers


def read_status(value: Any) -> int:
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,3}", str(value)):
        raise ValueError(f"its status is {str(value)[:20]!a}")
    return int(value)


def decode_text(content: bytes) -> str:
    return content.decode(errors="replace")


def decode_base64(text: Any) -> str:
    return decode_text(b64decode(str(text)))


def read_times(began: datetime | None, milliseconds: Any) -> tuple[datetime | None, datetime | None]:
    """Returns the time at which a call began, and the time at which its reply had arrived, `milliseconds` later. A time
    that the recording does not say is None, and so is the second time if `milliseconds` is no number from 0 to a month.
    Both are None if `began` has no time zone. Raises ValueError for an impossible year."""
    if began is None or began.tzinfo is None:
        return None, None
    try:
        began = bound_instant(began)
    except ValueError as fault:
        raise ValueError(f"it began at {began.isoformat()}, and {fault}") from None
    is_span = isinstance(milliseconds, int | float) and 0 <= milliseconds < MONTH_MS
    return began, began + timedelta(milliseconds=milliseconds) if is_span else None


# The calls to the bank


def find_path_at_bank(path: str) -> tuple[str, ...] | None:
    """Returns the segments of a path from the first segment with which a path of the bank's interface begins. The
    segments before it belong to the address of the bank. Returns None if there is no such segment."""
    segments = [part for part in path.split("/") if part]
    start = next((at for at, part in enumerate(segments) if part in ROOTS), None)
    return None if start is None else tuple(segments[start:])


def find_bank_hosts(calls: Sequence[RecordedCall]) -> set[str]:
    """Returns the hosts that got calls with the bank's headers or calls of the sandbox's controls. If there are no such
    calls, guesses: returns the one host that got the most calls that look like a bank's by their path or reply (see
    `looks_like_bank`). Returns an empty set if no call looks like that.

    A guess is only one host, and no host is taken for a bank because of a path like /accounts or /token: a shop or an
    identity provider may have such paths too.
    """
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
