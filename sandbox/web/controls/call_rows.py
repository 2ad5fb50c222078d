"""Rows of the controls under `/requests` and `/holds`. They count and verify calls of the bank's interface, and set and
release barriers that hold calls."""

from datetime import timedelta
from typing import Any

from marshmallow import ValidationError, fields

from sandbox.banking.durations import read_duration
from sandbox.contract.operations import BY_NAME
from sandbox.reader.tree import SHOWN_MAX, suggest
from sandbox.web.api.body_schemas import find_first_fault
from sandbox.web.controls.body_fields import (
    SPAN,
    FunctionField,
    ObjectField,
    TextFunctionField,
    any_value,
    body,
    query,
    reply,
    whole_number,
)
from sandbox.web.controls.control_row import Button, Command, Control, create, delete, get, post
from sandbox.worlds.holds import HELD_SECONDS_MAX, HOLDS_MAX

PATTERN = "A * stands for any text."
HEADERS_MAX = 50
PATH_MAX = 1_000


def _check_pattern(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= PATH_MAX:
        raise ValueError(f"it must be a text of up to {PATH_MAX} characters; a * stands for any")
    return value


def _read_operation(value: Any) -> str:
    name = _check_pattern(value)
    if "*" not in name and name not in BY_NAME:
        raise ValueError(f"there is no operation '{name[:SHOWN_MAX]}'; {suggest(name, BY_NAME)}")
    return name


def _read_path(value: Any) -> str:
    path = _check_pattern(value)
    if "?" in path:
        raise ValueError("the query is no part of it")
    return path


def _read_status(value: Any) -> int | str:
    if isinstance(value, str) and "*" in value and 0 < len(value) <= 3 and value.replace("*", "0").isdigit():
        return value
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise ValueError("it must be a number from 100 to 599, or a pattern such as 4*")
    return value


def _read_within(value: Any) -> timedelta:
    span = read_duration(value)
    if span > timedelta(seconds=HELD_SECONDS_MAX):
        raise ValueError(f"{HELD_SECONDS_MAX:.0f}s at most: it passes on the machine's clock")
    return span


def _read_headers(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > HEADERS_MAX:
        raise ValueError(f"it must be an object of up to {HEADERS_MAX} names and values")
    for name, pattern in value.items():
        if pattern is not None and not isinstance(pattern, str):
            raise ValueError(f"the value of '{name[:SHOWN_MAX]}' must be a text, or null for a header that is absent")
    return {name.lower(): pattern for name, pattern in value.items()}


MATCHER = {
    "operation": TextFunctionField(
        _read_operation, about=f"Of the bank's interface, such as {next(iter(BY_NAME))}. {PATTERN}"
    ),
    "method": TextFunctionField(lambda value: _check_pattern(value).upper()),
    "path": TextFunctionField(_read_path, about=f"Without the world's prefix and the query. {PATTERN}"),
    "status": FunctionField(_read_status, about="A number, or a pattern such as 4*."),
    "client": TextFunctionField(_check_pattern, about=f"The Client-ID. {PATTERN}"),
    "headers": FunctionField(
        _read_headers, about=f"Names and values; null: the header is absent. {PATTERN}", shape={"type": "object"}
    ),
    "body": any_value(about="Parts of a JSON body or of a form, or a text with a *."),
}
CALL_MATCHER = body("CallMatcher", **MATCHER)


def read_matcher(value: Any) -> dict[str, Any]:
    """Reads an entry of the list `in_order`: a matcher, which is a set of conditions for a call. Raises ValueError if
    the entry is wrong."""
    if not isinstance(value, dict):
        raise ValueError("a matcher is an object")
    for name in value:
        if name not in MATCHER:
            raise ValueError(f"a matcher has no '{name[:SHOWN_MAX]}'; {suggest(name, MATCHER)}")
    try:
        matcher: dict[str, Any] = CALL_MATCHER.load(value)
    except ValidationError as fault:
        assert isinstance(fault.messages, dict)
        raise ValueError(": ".join(find_first_fault(fault.messages))) from None
    return matcher


NO_TIMES = "it must be an object with exactly, or with at_least and at_most"
TIMES = body("CallTimes", exactly=whole_number(), at_least=whole_number(), at_most=whole_number())
KEPT_CONTENTS = "Headers and bodies are known of the last calls only, as many as the setting contents_kept says."

CALL_ROWS: tuple[Control, ...] = (
    post(
        "/requests/count",
        "call_views.count",
        f"How many of the kept calls fit a matcher: all that it names must fit. {KEPT_CONTENTS}",
        CALL_MATCHER,
        {"operation": "payment_initiation", "status": 201, "client": "demo-tpp"},
        reply=reply("CallCount", count=fields.Integer()),
    ),
    post(
        "/requests/verify",
        "call_views.verify",
        "Whether calls came so often (`times`; left out: once or more), or one after the other (`in_order`, with "
        f"others between; what stands beside it holds for each). 409 says what was found. {KEPT_CONTENTS}",
        body(
            "CallVerification",
            **MATCHER
            | {
                "times": ObjectField(TIMES, error_text=NO_TIMES),
                "in_order": any_value(about="Matchers.", shape={"type": "array", "items": {"type": "object"}}),
            },
        ),
        {"operation": "payment_initiation", "body": {"creditor_name": "Jan*"}, "times": {"at_most": 1}},
        reply=reply("VerifiedCalls", verified=fields.Boolean()),
    ),
    get(
        "/holds",
        "call_views.list_holds",
        "The barriers of this world: `waiting` for a call, or with the call that is `held` there. `expired`: the call "
        f"went on by itself after {HELD_SECONDS_MAX:.0f} s; `passed`: it got 503, as too many calls wait.",
        command=Command(
            "holds", "Shows the barriers and the calls held there.", columns="name at state call", group="Break"
        ),
        reply=["Hold"],
    ),
    create(
        "/holds",
        "call_views.add_hold",
        "Sets a barrier for one call: the next one that fits `when` (`operation`, `client`, `nth`, `from`, `until`) "
        "stands there until it is released. `before_act`: its headers were checked, nothing was done; `after_act`: it "
        "is done, not yet listed; `before_reply`: it is done and listed, its reply is not sent. All other calls "
        f"go on. At most {HOLDS_MAX} of a world, {HELD_SECONDS_MAX:.0f} s each by the machine's clock.",
        body("HoldCreation", **{"at": any_value(required=True), "when": any_value(), "as": any_value()}),
        {"at": "after_act", "when": {"operation": "token"}, "as": "first-refresh"},
        buttons=(Button("hold", "The next call that fits is held {at}."),),
        reply="Hold",
    ),
    get(
        "/holds/<name>",
        "call_views.show_hold",
        "One barrier; `?within=5s` waits so long, by the machine's clock, until a call is held there.",
        reply="Hold",
        query=query(within=TextFunctionField(_read_within, about=f"{SPAN} Waits so long for its call.")),
    ),
    delete(
        "/holds/<name>",
        "call_views.release_hold",
        "Lets the call go that is held there, and takes the barrier away.",
        buttons=(Button("release", "{name} is released."),),
    ),
    delete(
        "/holds",
        "call_views.release_holds",
        "Releases all barriers.",
        buttons=(
            Button(
                "release all",
                "All barriers are gone.",
                asks="Every call that is held goes on at once, and no barrier waits for a call any more.",
            ),
        ),
    ),
)
