"""Views about calls of the bank's interface: their list, checks of the list, the explanation of a reply, and barriers.

A test asks how many calls fit a matcher, or whether calls came in an order (choice 10). A matcher is a set of
conditions, and a call fits if it meets all of them. The list has the last calls of the world, as many as the setting
requests_kept says. Older calls are not counted. Headers and bodies are stored only for the last calls, as many as the
setting contents_kept says, and only in part if they are long. So it may be unknown whether a call in the list fits.

A count is therefore two numbers: the calls that certainly fit, and the calls that possibly fit. A question is answered
only if the answer is the same whether or not the possible calls fit. Otherwise the control refuses the question. The
refusal names the setting by which the bank stores more contents. It would be simpler to count an unknown call as one
that does not fit. But then `at_most: 0` would succeed for calls whose contents nobody has seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import orjson
from flask import Request

from sandbox.bank.records import BulkFile, Debtor, Fact
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.banking.durations import write_instant
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger
from sandbox.reader.tree import suggest
from sandbox.scenarios.faults import read_hold
from sandbox.scenarios.matching import MISSING, find_differences, matches
from sandbox.web.api.call_records import BODY_MAX, Content, find_content, find_error, read_contents
from sandbox.web.api.call_texts import write_address, write_reply, write_request
from sandbox.web.api.faults import find_waiting, reserve_worker
from sandbox.web.controls.call_rows import NO_TIMES, read_matcher
from sandbox.web.controls.initiation_views import make_fact_row
from sandbox.web.controls.request_bodies import refuse, refuse_as
from sandbox.worlds.calls import Exchange, describe_call
from sandbox.worlds.faults import CallCondition
from sandbox.worlds.holds import CallHold
from sandbox.worlds.world import World

FORM = "application/x-www-form-urlencoded"
MATCHERS_MAX = 100  # of one order
LISTED_MAX = 10  # calls that a refusal names


def requests(world: World, query: dict[str, Any]) -> list[dict[str, Any]]:
    calls = world.calls.list_after(query.get("since", 0))
    return [describe_call(call) | find_error(call) | {"rule": call.rule} for call in calls]


# Questions


class CallMatcher:
    """The conditions by which calls of a world are searched. In a condition, a * stands for any text. The path in a
    condition may begin with the world's prefix, such as `/worlds/NAME/`."""

    def __init__(self, content: Mapping[str, Any], world: World) -> None:
        self.fields = {name: value for name, value in content.items() if name not in ("headers", "body")}
        prefix = f"/worlds/{world.name}/"
        if self.fields.get("path", "").startswith(prefix):
            self.fields["path"] = self.fields["path"][len(prefix) - 1 :]
        self.headers: Mapping[str, Any] = content.get("headers", {})  # by their names in small letters
        self.body = content.get("body", MISSING)

    def find_misfits(self, call: Exchange) -> list[str]:
        """Returns the fields of the call that do not meet their condition, each with its value. Does not look at the
        headers and the body."""
        wrong = []
        for name, condition in self.fields.items():
            value = getattr(call, "client_id" if name == "client" else name)
            if not matches(condition, str(value) if isinstance(condition, str) and isinstance(value, int) else value):
                wrong.append(f"{name} {value}")
        return wrong

    def find_content_misfits(self, content: Content | None) -> list[str] | None:
        """Returns the names of the headers and of the parts of the body that do not meet their condition. Leaves out
        the values, because they may be secrets. Returns None if headers or the body are needed for this and are not
        stored, or only in part."""
        if not self.headers and self.body is MISSING:
            return []
        if content is None or (content.cut and self.headers):
            return None
        if self.body is not MISSING and content.length > BODY_MAX:
            return None
        sent_headers = {"content-type": content.kind or None} | {
            name.removeprefix("HTTP_").replace("_", "-").lower(): value for name, value in content.headers.items()
        }
        wrong = [
            f"header {name}"
            for name, condition in self.headers.items()
            if not matches(condition, sent_headers.get(name))
        ]
        if self.body is not MISSING:
            faults = find_differences(self.body, read_body(self.body, content), "body")
            wrong += [fault.partition(":")[0] for fault in faults]
        return wrong


def read_body(condition: Any, content: Content) -> Any:
    """Returns the body of a call in a form that can be compared with `condition`. If `condition` is a text, this is the
    whole body as text. Otherwise it depends on the body: for a form it is the fields, for JSON the value, for any other
    text the text, and for an empty body None."""
    text = content.sent.decode(errors="replace")
    if isinstance(condition, str):
        return text
    if content.kind.partition(";")[0].strip().lower() == FORM:
        return dict(parse_qsl(text, keep_blank_values=True))
    try:
        return orjson.loads(content.sent)
    except orjson.JSONDecodeError:
        return text or None


Matches = tuple[list[Exchange], list[Exchange]]  # the calls that certainly fit, and those that possibly fit


class KeptCalls:
    """The calls of a world at one moment. Only the last of them have contents (headers and bodies), because the world
    drops older contents."""

    def __init__(self, world: World) -> None:
        self.calls = world.calls.list_after(0)
        self._contents = read_contents(world)

    def find(self, matcher: CallMatcher, after: int = 0) -> Matches:
        certain, possible = [], []
        for call in self.calls:
            if call.seq > after and not matcher.find_misfits(call):
                wrong = matcher.find_content_misfits(self._contents.get(call.seq))
                if wrong is None:
                    possible.append(call)
                elif not wrong:
                    certain.append(call)
        return certain, possible

    def describe_nearest(self, matcher: CallMatcher, after: int = 0) -> str:
        """Looks at the calls after the number `after`. Returns a text about the call with the fewest differences from
        the conditions, and about these differences. If several calls have equally few, takes the last of them. Returns
        an empty text if there are no calls or no differences."""
        rows = []
        for call in reversed(self.calls):
            if call.seq > after:
                wrong = matcher.find_misfits(call)
                content = self._contents.get(call.seq)
                rows.append((wrong + ((matcher.find_content_misfits(content) or []) if len(wrong) < 2 else []), call))
        if not rows:
            return ""
        wrong, call = min(rows, key=lambda row: len(row[0]))
        return f"; the nearest, {_describe(call)}, differs in {', '.join(wrong)}" if wrong else ""


def count(world: World, body: dict[str, Any]) -> dict[str, int]:
    certain, possible = KeptCalls(world).find(CallMatcher(body, world))
    _demand_contents(possible)
    return {"count": len(certain)}


def _demand_contents(possible: list[Exchange]) -> None:
    """Raises a Refusal if `possible` is not empty. It is unknown whether the calls in it fit, because their contents
    are not stored, or only in part."""
    if possible:
        unknown = f"headers and bodies of {len(possible)} calls that fit otherwise are not kept, or not whole"
        raise refuse("body", f"{unknown}: raise the setting contents_kept, or ask earlier")


def verify(world: World, body: dict[str, Any]) -> dict[str, bool]:
    """Replies that the calls are verified, or raises a Refusal. With `times`, refuses if fewer or more calls fit. With
    `in_order`, refuses if the calls did not come in this order. Without both fields, at least 1 call must fit. Also
    refuses a body with both fields, and a question that the stored contents cannot answer."""
    matcher = dict(body)
    times, order = matcher.pop("times", None), matcher.pop("in_order", None)
    if order is None:
        _demand_times(CallMatcher(matcher, world), times, KeptCalls(world))
    elif times is None:
        _demand_order(_read_order(order, matcher, world), KeptCalls(world))
    else:
        raise refuse("in_order", "an order has no times: take one of the two away")
    return {"verified": True}


def _demand_times(matcher: CallMatcher, times: dict[str, int] | None, calls: KeptCalls) -> None:
    least, most = _read_bounds(times)
    certain, possible = calls.find(matcher)
    numbers = range(len(certain), len(certain) + len(possible) + 1)
    holds = [least <= number and (most is None or number <= most) for number in numbers]
    if not any(holds):
        listed = "; ".join(map(_describe, certain[:LISTED_MAX]))
        more = f" and {len(certain) - LISTED_MAX} more" if len(certain) > LISTED_MAX else ""
        instead = f": {listed}{more}" if certain else calls.describe_nearest(matcher)
        outcome = f"found {_count_in_words(len(certain))}{instead}"
        raise Refusal(Error.NOT_VERIFIED, expected=_write_bounds(least, most), found=outcome)
    if not all(holds):
        _demand_contents(possible)


def _read_bounds(times: dict[str, int] | None) -> tuple[int, int | None]:
    """Returns the lowest and the highest number of calls that may fit. The highest is None if there is no upper bound.
    Without `times`, at least 1 call must fit. Raises a Refusal if `times` is empty or contradicts itself."""
    if times is None:
        return 1, None
    if not times:
        raise refuse("times", NO_TIMES)
    if "exactly" in times:
        if len(times) > 1:
            raise refuse("times", "exactly stands alone")
        return times["exactly"], times["exactly"]
    least, most = times.get("at_least", 0), times.get("at_most")
    if most is not None and most < least:
        raise refuse("times.at_most", "it is below at_least")
    return least, most


def _write_bounds(least: int, most: int | None) -> str:
    if least == most:
        return f"exactly {_count_in_words(least)}"
    below = f"at least {_count_in_words(least)}" if least or most is None else ""
    above = "" if most is None else f"at most {_count_in_words(most)}"
    return " and ".join(filter(None, (below, above)))


def _read_order(order: Any, shared: dict[str, Any], world: World) -> list[CallMatcher]:
    """Reads the list `in_order` and returns a matcher for each entry. Each matcher also has the conditions in `shared`.
    If an entry has a condition of the same name, the entry's condition replaces the shared one. Raises a Refusal for a
    wrong list."""
    if not isinstance(order, list) or not 0 < len(order) <= MATCHERS_MAX:
        raise refuse("in_order", f"it must be a list of 1 to {MATCHERS_MAX} matchers")
    matchers = []
    for place, content in enumerate(order):
        try:
            matchers.append(CallMatcher(shared | read_matcher(content), world))
        except ValueError as fault:
            raise refuse(f"in_order[{place}]", str(fault)) from None
    return matchers


def _demand_order(matchers: Sequence[CallMatcher], calls: KeptCalls) -> None:
    """Raises a Refusal unless some calls fit the matchers one after the other. Other calls may come between these
    calls. Looks for the earliest order of calls that certainly fit, and for the earliest order that may also use calls
    which possibly fit. If only the second exists, the Refusal says that contents are not stored."""
    certain_end: int | None = 0  # the last call so far of the first order, or None if there is none
    possible_end = 0  # the last call so far of the second order
    unknown: dict[int, Exchange] = {}  # by number
    for number, matcher in enumerate(matchers, 1):
        certain, possible = calls.find(matcher, possible_end)
        unknown |= {call.seq: call for call in possible}
        fitting = [call.seq for call in certain + possible]
        if not fitting:
            behind = f"after call {possible_end} " if possible_end else ""
            instead = f"nothing {behind}fits number {number}{calls.describe_nearest(matcher, possible_end)}"
            raise Refusal(Error.NOT_VERIFIED, expected=f"{len(matchers)} calls in this order", found=instead)
        if certain_end is not None:
            certain_end = next((call.seq for call in certain if call.seq > certain_end), None)
        possible_end = min(fitting)
    if certain_end is None:
        _demand_contents(list(unknown.values()))


def _describe(call: Exchange) -> str:
    return f"call {call.seq} {call.method} {call.path} {call.status} of {call.client_id or 'nobody'}"


def _count_in_words(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"


# Why a call was answered so

MOVES_SHOWN = 30  # of the subject, the last ones before the reply
FUNDS = (Trigger.FUNDS_MISSING, Trigger.GIVEN_UP)
NO_CALL = "No call with Request-ID {input} in world {world}. List them: `bank-sandbox requests`."
MOVE = ("at", "from", "to", "trigger", "reason")  # of a line of the journal
NOT_EXPLAINED = ("seq", "decided", "variants")


def explain(world: World, request_id: str) -> dict[str, Any]:
    call = world.calls.find(request_id)
    if call is None:
        raise Refusal(Error.NOT_FOUND, input=request_id[:100], world=world.name, sentence=NO_CALL)
    row = {name: value for name, value in call._asdict().items() if name not in NOT_EXPLAINED}
    return row | {
        "at": write_instant(call.at),
        "variants": dict(pair.split("=", 1) for pair in call.variants.split()),
        "decided_by": orjson.loads(call.decided) if call.decided else {},
        "would_succeed": find_remedy(call),
        "history": world.ask(lambda bank: list(list_moves_before(bank, call))),
        "content": _make_content_row(world, call),
    }


def _make_content_row(world: World, call: Exchange) -> dict[str, Any] | None:
    """Returns the request and the reply of a call, without secrets. Returns None if they are no longer stored."""
    content = find_content(world, call.seq)
    if content is None:
        return None
    parts = {"request": write_request(content), "reply": write_reply(content)}
    rows = {name: {"headers": dict(part.headers), "body": part.body, "cut": part.cut} for name, part in parts.items()}
    return {"address": write_address(call.path, content), **rows}


def find_remedy(call: Exchange) -> str | None:
    """Returns a hint at what the bank would accept instead of a refused call. Returns None for an accepted call, and
    for an error without a hint."""
    return Error[call.error].value.remedy or None if call.error else None


def list_moves_before(bank: Bank, call: Exchange) -> Iterator[dict[str, Any]]:
    """Yields the last moves (at most MOVES_SHOWN) of the initiation that the call is about, up to the time of the call.
    Yields nothing for a call that is about no initiation. If a move happened because funds were missing, adds the
    balance that was too low."""
    subject = bank.find_subject(call.subject) if call.subject else None
    if subject is None:
        return
    debtor = None if isinstance(subject, BulkFile) else getattr(subject, "debtor", None)
    for fact in [fact for fact in subject.history if fact.at <= call.at][-MOVES_SHOWN:]:
        row = {name: value for name, value in make_fact_row(fact).items() if name in MOVE}
        if fact.trigger in FUNDS and debtor is not None:
            balance = _compute_balance_before(bank, debtor, fact)
            row["balance"] = {"amount": f"{balance.number:.2f}", "currency": balance.currency}
        yield row


def _compute_balance_before(bank: Bank, debtor: Debtor, fact: Fact) -> Money:
    """Returns the booked balance at the end of the day before `fact`. The bank checks funds before it books the lines
    of a day (choice 5)."""
    day = find_brussels_date(fact.at)
    balance = bank.ledger.read_balance(debtor.iban, debtor.currency)
    for line in reversed(bank.ledger.list_lines(debtor.iban, debtor.currency)):
        if line.on < day:
            break
        balance -= line.posting.amount
    return balance


# Barriers

NO_HOLD = "There is no hold {input} in world {world}{hint}."


def list_holds(world: World) -> list[dict[str, Any]]:
    return [hold_row(hold) for hold in world.holds.list_all()]


def show_hold(world: World, request: Request, query: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the row of a barrier. With `within` in the query, first waits at most that long until a call is held
    there."""
    hold = find_hold(world, name)
    if query.get("within"):
        with reserve_worker(request.environ):
            find_waiting(request.environ)(hold.arrived, query["within"].total_seconds())
    return hold_row(hold)


def add_hold(world: World, body: dict[str, Any]) -> dict[str, Any]:
    with refuse_as("hold"):
        place, when, name = read_hold(body, world.beginning.fixtures)
    return hold_row(world.holds.add(name, place, when))


def release_hold(world: World, name: str) -> None:
    find_hold(world, name)
    world.holds.release(name)


def release_holds(world: World) -> None:
    world.holds.release_all()


def find_hold(world: World, name: str) -> CallHold:
    hold = world.holds.find(name)
    if hold is None:
        nearest = suggest(name, [other.name for other in world.holds.list_all()])
        hint = f" ({nearest})" if nearest else ""
        raise Refusal(Error.NOT_FOUND, input=name[:64], world=world.name, hint=hint, sentence=NO_HOLD)
    return hold


def hold_row(hold: CallHold) -> dict[str, Any]:
    return {
        "name": hold.name,
        "at": hold.at,
        "when": _describe_condition(hold.when),
        "state": hold.state,
        "call": None if hold.call is None else hold.call._asdict(),
    }


def _describe_condition(when: CallCondition) -> dict[str, Any]:
    row = {
        "operation": when.operation,
        "client": when.client,
        "nth": when.nth,
        "from": when.since and write_instant(when.since),
        "until": when.until and write_instant(when.until),
    }
    return {name: value for name, value in row.items() if value is not None}
