"""Calls: which there were, which ones a matcher means, how often and in which order they came (choice 10)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import orjson

from sandbox.contract.errors import Error, Refusal
from sandbox.scenarios.matching import MISSING, differences, same
from sandbox.web.api.call_records import BODY_MAX, Content, contents_of_calls, error_of
from sandbox.web.controls.call_rows import NO_TIMES, read_matcher
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.calls import Exchange, describe_call
from sandbox.worlds.world import World


def requests(world: World, query: dict[str, Any]) -> list[dict[str, Any]]:
    """The kept calls after a number."""
    calls = world.calls_after(query.get("since", 0))
    return [describe_call(one) | error_of(one) | {"rule": one.rule} for one in calls]


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
    """What of a call does not fit, but for headers and body. A status may be a pattern too: 4*."""
    wrong = []
    for name, expected in matcher.call.items():
        found = getattr(exchange, "client_id" if name == "client" else name)
        if not same(expected, str(found) if isinstance(expected, str) and isinstance(found, int) else found):
            wrong.append(f"{name} {found}")
    return wrong


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


MATCHERS_MAX = 100  # of one order
LISTED_MAX = 10  # calls that a refusal names


class Times(NamedTuple):
    """How often; without a bound above, `most` is None."""

    least: int = 1
    most: int | None = None

    def holds(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    @property
    def words(self) -> str:
        if self.least == self.most:
            return f"exactly {_calls(self.least)}"
        above = "" if self.most is None else f"at most {_calls(self.most)}"
        below = f"at least {_calls(self.least)}" if self.least or not above else ""
        return " and ".join(filter(None, (below, above)))


def count(world: World, body: dict[str, Any]) -> dict[str, int]:
    """How many of the kept calls fit."""
    found = list(fitting(matcher_of(body, world.name), *_calls_of(world)))
    _demand_contents(found)
    return {"count": len(found)}


def verify(world: World, body: dict[str, Any]) -> dict[str, bool]:
    """Whether so many calls fit, or whether calls came in this order; 409 says what was found."""
    content = dict(body)
    times, order = content.pop("times", None), content.pop("in_order", None)
    if times is not None and order is not None:
        raise refuse("in_order", "an order has no times: take one of the two away")
    calls, contents = _calls_of(world)
    if order is None:
        _demand_times(matcher_of(content, world.name), times_of(times), calls, contents)
    else:
        _demand_order(_matchers(content, order, world), calls, contents)
    return {"verified": True}


def _calls_of(world: World) -> tuple[list[Exchange], Find]:
    return world.calls_after(0), contents_of_calls(world).get


def _matchers(shared: dict[str, Any], order: Any, world: World) -> list[Matcher]:
    """What stands beside the order holds for each of its matchers."""
    if not isinstance(order, list) or not 0 < len(order) <= MATCHERS_MAX:
        raise refuse("in_order", f"it must be a list of 1 to {MATCHERS_MAX} matchers")
    found = []
    for at, one in enumerate(order):
        try:
            found.append(matcher_of(shared | read_matcher(one), world.name))
        except ValueError as fault:
            raise refuse(f"in_order[{at}]", str(fault)) from None
    return found


def times_of(given: dict[str, int] | None) -> Times:
    """`exactly`, or `at_least` and `at_most`; left out, once or more."""
    if given is None:
        return Times()
    if not given:
        raise refuse("times", NO_TIMES)
    if "exactly" in given:
        if len(given) > 1:
            raise refuse("times", "exactly stands alone")
        return Times(given["exactly"], given["exactly"])
    times = Times(given.get("at_least", 0), given.get("at_most"))
    if times.most is not None and times.most < times.least:
        raise refuse("times.at_most", "it is below at_least")
    return times


def _demand_times(matcher: Matcher, times: Times, calls: list[Exchange], contents: Find) -> None:
    found = list(fitting(matcher, calls, contents))
    sure = [call for call, is_sure in found if is_sure]
    held = [times.holds(number) for number in range(len(sure), len(found) + 1)]
    if not any(held):
        found_instead = _list_calls(sure) if sure else _nearest(matcher, calls, contents)
        raise Refusal(Error.NOT_VERIFIED, expected=times.words, found=f"found {_calls(len(sure))}{found_instead}")
    if not all(held):
        _demand_contents(found)


def _demand_order(matchers: Sequence[Matcher], calls: list[Exchange], contents: Find) -> None:
    """Each call after the one before it; others may stand between."""
    after, unsure = 0, False
    for at, matcher in enumerate(matchers):
        left = [call for call in calls if call.seq > after]
        found = list(fitting(matcher, left, contents))
        unsure = unsure or any(not is_sure for _, is_sure in found)
        held = next((call for call, is_sure in found if is_sure), None)
        if held is None:
            if unsure:
                _demand_contents([(call, False) for call, is_sure in found if not is_sure])
            behind = f"after call {after} " if after else ""
            found_instead = f"nothing {behind}fits number {at + 1}{_nearest(matcher, left, contents)}"
            raise Refusal(Error.NOT_VERIFIED, expected=f"{len(matchers)} calls in this order", found=found_instead)
        after = held.seq


def _demand_contents(found: Iterable[tuple[Exchange, bool]]) -> None:
    unsure = sum(not is_sure for _, is_sure in found)
    if unsure:
        kept = f"headers and bodies of {unsure} calls that fit otherwise are not kept, or not whole"
        raise refuse("body", f"{kept}: raise the setting contents_kept, or ask earlier")


def _list_calls(calls: Sequence[Exchange]) -> str:
    more = f" and {len(calls) - LISTED_MAX} more" if len(calls) > LISTED_MAX else ""
    return f": {'; '.join(map(_call_line, calls[:LISTED_MAX]))}{more}"


def _call_line(call: Exchange) -> str:
    return f"call {call.seq} {call.method} {call.path} {call.status} of {call.client_id or 'nobody'}"


def _nearest(matcher: Matcher, calls: Sequence[Exchange], contents: Find) -> str:
    """The last of the calls that differ least, and in what."""
    best: tuple[int, Exchange, list[str]] | None = None
    for call in calls:
        wrong = misfits(matcher, call)
        wrong += (content_misfits(matcher, contents(call.seq)) or []) if len(wrong) < 2 else []
        if best is None or len(wrong) <= best[0]:
            best = len(wrong), call, wrong
    return f"; the nearest, {_call_line(best[1])}, differs in {', '.join(best[2])}" if best and best[2] else ""


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"
