"""Reads a HAR file: the calls of the bank's interface and of the sandbox's controls, in the order of the record."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

HAR_BYTES_MAX = 100_000_000
ROOTS = ("payments", "periodic-payments", "bulk-payments", "consent-uris", "token", "accounts", "_sandbox")


class HarError(ValueError):
    """The file is no HAR."""


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
    found: Mapping[str, Any] = field(default_factory=dict)

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

    def __str__(self) -> str:
        return f"call {self.number}, {self.method} /{'/'.join(self.path[:2])}"


def read_har(content: bytes) -> list[Recorded]:
    """All calls to a bank; calls to other places are left out."""
    if len(content) > HAR_BYTES_MAX:
        raise HarError(f"it is over {HAR_BYTES_MAX:,} bytes long")
    try:
        entries = json.loads(content)["log"]["entries"]
        found = [_recorded(number, entry) for number, entry in enumerate(entries, 1)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise HarError(f"it is no HAR: {type(fault).__name__} {fault}") from None
    return [one for one in found if one is not None]


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
    )


def _headers(part: Mapping[str, Any]) -> dict[str, str]:
    return {str(row["name"]).lower(): str(row["value"]) for row in part.get("headers") or ()}
