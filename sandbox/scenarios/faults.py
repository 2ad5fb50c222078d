"""The shapes of a scenario's `faults` and barriers. A shape reads a part of a file and notes its errors.

A fault is a bad answer to a call. A barrier holds a call until it is released. Both apply to calls that match their
`when` (choice 13).
"""

from dataclasses import replace
from typing import Any

import orjson

from sandbox.contract.operations import BY_NAME, GATEWAY, OPERATIONS, list_error_statuses
from sandbox.people.fixtures import Fixtures
from sandbox.reader import shapes
from sandbox.reader.tree import Wrong, join_names, make_tree
from sandbox.worlds.faults import (
    CALLBACKS,
    CHANGES,
    CONNECTION_SECONDS,
    CONNECTIONS,
    CUTS,
    EDGES,
    PAGE_ANSWERS,
    CallCondition,
    Fault,
    FaultAnswer,
)
from sandbox.worlds.holds import PLACES

DELAY_MAX = 600  # seconds of machine time
CONNECTION_SECONDS_MAX = 60
NTH_MAX = 1_000  # numbers of calls in a list
LATE_SECONDS = 5.0  # of a late callback without a delay of its own
PAGE_KEYS = ("title", "when", "answer", "delay", "cut", "connection", "for", "times")
TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"
MEDIA_TYPE = shapes.make_text(
    rf'{TOKEN}/{TOKEN}( ?; ?{TOKEN}=({TOKEN}|"[A-Za-z0-9 .:/_-]*"))*', "text/html; charset=utf-8"
)


WHEN = shapes.Table(
    {
        "operation": shapes.make_one_of((*BY_NAME, *EDGES), "operation"),
        "client": shapes.CLIENT,
        "nth": shapes.Either(shapes.NTH, shapes.Each(shapes.NTH, 1, NTH_MAX)),
        "chance": shapes.make_fraction(0, 1),
        "from": shapes.INSTANT,
        "until": shapes.INSTANT,
    },
    lambda rows: CallCondition(**shapes.read_window(rows)),
)


def _make_answer(rows: dict[str, Any]) -> FaultAnswer:
    try:
        orjson.dumps(rows.get("body"))
    except TypeError:
        raise Wrong("a JSON number has 64 bits at most, and NaN and Infinity are not JSON", key="body") from None
    return FaultAnswer(**rows)


ANSWER = shapes.Table(
    {
        "status": shapes.make_number(100, 599),
        "retry_after": shapes.make_number(0, 86_400),
        "body": shapes.make_any_content({}),
        "content_type": MEDIA_TYPE,
    },
    _make_answer,
    ("status",),
)


def _make_fault(rows: dict[str, Any]) -> Fault:
    when: CallCondition = rows.get("when", CallCondition())
    answer: FaultAnswer | None = rows.get("answer")
    if "callback" in rows and when.operation is None:
        when = replace(when, operation="callback")
    if "callback" in rows and when.operation != "callback":
        raise Wrong(f"{when.operation} leads no customer back", "take the operation away", "when.operation")
    if when.operation in EDGES:
        _check_edge(when, rows, answer)
    elif answer is not None:
        _check_answer(when.operation, answer.status)
    if rows.get("cut") == "before" and answer is not None:
        raise Wrong("a reply cut off before it begins has no content", "take one of the two away", "cut")
    delay = rows["delay"].total_seconds() if "delay" in rows else 0.0
    if delay > DELAY_MAX:
        raise Wrong(f"a delay is at most {DELAY_MAX} s: it passes on the machine's clock", key="delay")
    if rows.get("callback") == "late" and not delay:
        delay = LATE_SECONDS
    if "for" in rows and "connection" not in rows:
        raise Wrong("only a connection has a time", "say connection: closed", "for")
    seconds = rows["for"].total_seconds() if "for" in rows else CONNECTION_SECONDS
    if not 0 < seconds <= CONNECTION_SECONDS_MAX:
        raise Wrong(f"it lasts up to {CONNECTION_SECONDS_MAX} s of the machine's clock", key="for")
    if "times" in rows and "connection" in rows and when == CallCondition():
        raise Wrong("without `when` the connection fails now, and once", "say when", "times")
    values = {"title": ""} | {name: value for name, value in rows.items() if name != "for"}
    return Fault(**values | {"when": when, "delay": delay, "seconds": seconds})


def _check_answer(operation: str | None, status: int) -> None:
    """Raises Wrong unless the operation, or a gateway before it, can reply with the status. Without an operation, the
    status must be possible for every operation."""
    statuses = (*list_error_statuses(operation), *GATEWAY)
    if status in statuses:
        return
    if operation is None:
        reason = f"not every operation may answer {status}"
        names = [row.name for row in OPERATIONS if status in row.errors]
        raise Wrong(reason, f"name an operation: {join_names(names)}" if names else None, "answer.status")
    raise Wrong(
        f"{operation} never answers {status}", f"its statuses are {join_names(map(str, statuses))}", "answer.status"
    )


def _check_edge(when: CallCondition, rows: dict[str, Any], answer: FaultAnswer | None) -> None:
    """Checks a fault of a page or of a callback. Raises Wrong for a key or a status that it cannot have, for a
    condition on the client, and for a fault of a callback without the key `callback`. Pages have other statuses than
    the bank's interface, and a callback has no reply."""
    if when.client is not None:
        raise Wrong("a customer's browser is no client", "leave the client out", "when.client")
    keys = ("title", "when", "callback", "delay", "times") if when.operation == "callback" else PAGE_KEYS
    for name in rows:
        if name not in keys:
            raise Wrong(f"a fault of {when.operation} has no {name}", f"it has {join_names(keys[2:])}", name)
    if when.operation == "callback" and "callback" not in rows:
        raise Wrong("'callback' is missing", f"it is {join_names(CALLBACKS)}")
    if answer is not None and answer.status not in PAGE_ANSWERS:
        answers = join_names(map(str, PAGE_ANSWERS))
        raise Wrong(f"a page never answers {answer.status}", f"its statuses are {answers}", "answer.status")


FAULT = shapes.Table(
    {
        "title": shapes.TITLE,
        "when": WHEN,
        "answer": ANSWER,
        "delay": shapes.DURATION,
        "cut": shapes.make_one_of(CUTS, "place to cut"),
        "change": shapes.make_one_of(CHANGES, "change"),
        "callback": shapes.make_one_of(CALLBACKS, "fault of a callback"),
        "connection": shapes.make_one_of(CONNECTIONS, "fault of connections"),
        "for": shapes.DURATION,
        "times": shapes.NTH,
    },
    _make_fault,
    one_of=("answer", "delay", "cut", "change", "callback", "connection"),
    called="a fault",
)

# Barriers

HOLD_WHEN = shapes.Table(
    {name: shape for name, shape in WHEN.fields.items() if name != "chance"}
    | {"operation": shapes.make_one_of(BY_NAME, "operation"), "nth": shapes.NTH},  # it holds one call
    WHEN.make,
    called="what a barrier waits for",
)
PLACE = shapes.make_one_of(PLACES, "place of a barrier")
HOLD_NAME = shapes.make_text(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", "first-refresh")
HOLD = shapes.Table({"at": PLACE, "when": HOLD_WHEN, "as": HOLD_NAME}, required=("at",), called="a barrier")


def read_hold(content: Any, fixtures: Fixtures | None) -> tuple[str, CallCondition, str | None]:
    """Reads a barrier. Returns the place where it holds a call, the conditions on the call, and its name or None.
    Raises ScenarioErrors."""
    rows = shapes.Notes("hold", fixtures).read_whole(HOLD, make_tree(content, "hold"))
    return rows["at"], rows.get("when", CallCondition()), rows.get("as")
