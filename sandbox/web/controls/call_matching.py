"""Matchers of calls: which calls of the bank's interface a question is about (choice 10)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import orjson

from sandbox.scenario.matching import MISSING, differences, same
from sandbox.web.api.call_contents import Content
from sandbox.web.api.call_record import BODY_MAX
from sandbox.world.calls import Exchange

FORM = "application/x-www-form-urlencoded"


class Matcher(NamedTuple):
    """What a call must have; what is left out always fits. Texts with a * are patterns."""

    call: Mapping[str, Any]  # fields of an exchange
    headers: Mapping[str, Any]  # by their names in small letters
    body: Any = MISSING

    @property
    def needs_content(self) -> bool:
        return bool(self.headers) or self.body is not MISSING


Find = Callable[[int], Content | None]


def misfits(matcher: Matcher, exchange: Exchange) -> list[str]:
    """What of a call does not fit, but for headers and body."""
    found = [(name, getattr(exchange, "client_id" if name == "client" else name)) for name in matcher.call]
    return [f"{name} {value}" for name, value in found if not fits_text(matcher.call[name], value)]


def fits_text(expected: Any, found: Any) -> bool:
    """A status may be a pattern too: 4*."""
    return same(expected, str(found) if isinstance(expected, str) and isinstance(found, int) else found)


def content_misfits(matcher: Matcher, content: Content | None) -> list[str] | None:
    """The headers and parts of the body that do not fit, by name only, as they may be secrets.

    None: it cannot be told, as the contents of the call are kept no longer, or not whole."""
    if not matcher.needs_content:
        return []
    if content is None or (content.cut and matcher.headers):
        return None
    if matcher.body is not MISSING and content.length > BODY_MAX:
        return None
    sent = {"content-type": content.kind or None} | {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value for name, value in content.headers.items()
    }
    found = [f"header {name}" for name, expected in matcher.headers.items() if not same(expected, sent.get(name))]
    if matcher.body is not MISSING:
        faults = differences(matcher.body, body_of(matcher.body, content), "body")
        found += [one.partition(":")[0] for one in faults]
    return found


def body_of(expected: Any, content: Content) -> Any:
    """As JSON, as the fields of a form, or as text where a text is wanted."""
    text = content.sent.decode(errors="replace")
    if isinstance(expected, str):
        return text
    if content.kind.partition(";")[0].strip().lower() == FORM:
        return dict(parse_qsl(text, keep_blank_values=True))
    try:
        return orjson.loads(content.sent)
    except orjson.JSONDecodeError:
        return text or None


def matcher_of(content: Mapping[str, Any], world: str) -> Matcher:
    """A matcher of what was read of a body."""
    call = {name: value for name, value in content.items() if name not in ("headers", "body")}
    prefix = f"/worlds/{world}/"
    if call.get("path", "").startswith(prefix):
        call["path"] = call["path"][len(prefix) - 1 :]
    return Matcher(call, content.get("headers", {}), content.get("body", MISSING))


def fitting(matcher: Matcher, calls: list[Exchange], content: Find) -> Iterator[tuple[Exchange, bool]]:
    """The calls that fit; False beside one of which it cannot be told."""
    for exchange in calls:
        if misfits(matcher, exchange):
            continue
        missing = content_misfits(matcher, content(exchange.seq) if matcher.needs_content else None)
        if not missing:
            yield exchange, missing is not None
