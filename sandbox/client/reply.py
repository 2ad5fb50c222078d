"""A reply, and its two errors: refused and unreadable."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A reply. Numbers with decimals are read as Decimal, as they are money."""

    status: int
    body: Any
    headers: Mapping[str, str]
    request_id: str | None = None
    asked: str = ""  # the method and the path

    @property
    def response_id(self) -> str | None:
        return self.headers.get("Response-ID")

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")


class Refused(Exception):
    """The server refused the call. `retry_after` is its request; the client does not wait by itself."""

    def __init__(self, reply: ClientReply) -> None:
        self.reply = reply
        content = reply.body if isinstance(reply.body, dict) else {}
        self.status = reply.status
        self.error = str(content.get("error", ""))
        self.error_code = str(content.get("error_code", ""))
        self.error_description = str(content.get("error_description", ""))
        self.response_id = reply.response_id
        self.retry_after = reply.headers.get("Retry-After")
        super().__init__(
            f"{reply.asked}: {self.status} {self.error} {self.error_code} {self.error_description}".strip()
        )

    def says(self, *errors: str) -> bool:
        """Whether the fixed-form token is one of these; its case is not compared, its code and its words change."""
        return self.error.upper() in errors

    @property
    def sca_address(self) -> str | None:
        """Where the PSU must authenticate again (choice 4), before a state is added to it."""
        return sca_link(self.reply.body)


class Unreadable(Exception):
    """An answer that breaks the contract: no JSON, or without a field that must be there."""

    def __init__(self, reply: ClientReply, why: str) -> None:
        self.reply = reply
        super().__init__(f"{reply.asked}: {reply.status}, {why}")


class NotJson(ValueError):
    """A body that cannot be read."""


def read_json(text: bytes) -> Any:
    """The body as JSON, None where there is none."""
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError:
        raise NotJson("the body is not JSON") from None


def field(reply: ClientReply, name: str, kind: type[Any] | tuple[type[Any], ...] = str, within: Any = None) -> Any:
    """A field that the contract promises; `within` is the object to look in, when it is not the body itself."""
    place = reply.body if within is None else within
    value = place.get(name) if isinstance(place, dict) else None
    if not isinstance(value, kind):
        raise Unreadable(reply, f"{name} is missing or of another type")
    return value


def maybe(reply: ClientReply, name: str, kind: type[Any] | tuple[type[Any], ...] = str, within: Any = None) -> Any:
    """A field that may be left out."""
    place = reply.body if within is None else within
    return None if not isinstance(place, dict) or place.get(name) is None else field(reply, name, kind, place)


def number(reply: ClientReply, name: str, within: Any = None) -> Decimal:
    text = str(field(reply, name, (int, Decimal, str), within))
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise Unreadable(reply, f"{name} is no number") from None
    if not value.is_finite():
        raise Unreadable(reply, f"{name} is no number")
    return value


def sca_link(body: Any) -> str | None:
    """Where the PSU signs or authenticates, when it is there."""
    for name in ("_links", "sca_redirect", "href"):
        body = body.get(name) if isinstance(body, dict) else None
    return body if isinstance(body, str) else None
