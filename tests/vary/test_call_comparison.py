"""Which call it was after which a test failed, and how its reply differs from that of the bank of today."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sandbox.client import Controls
from sandbox.extensions.vary.call_comparison import (
    LINES_MAX,
    RunCalls,
    describe_difference,
    find_counterpart,
    find_divergences,
)
from sandbox.extensions.vary.command_runs import find_last_line
from sandbox.extensions.vary.space import Variant

TODAY = [("POST pay", "a"), ("GET status", "b"), ("GET details", "c"), ("POST pay", "d"), ("GET status", "e")]


def calls(*names: str) -> list[dict[str, str]]:
    return [dict(zip(("method", "operation"), name.split(), strict=True)) for name in names]


@pytest.mark.parametrize(
    "names, places",
    [
        ([key for key, _ in TODAY], []),
        (["POST pay", "GET status", "GET details", "POST pay"], [3]),
        (["POST pay", "GET status", "GET details", "GET status"], [2]),
        (["POST pay", "GET status", "POST pay"], [1, 2]),
        ([], [0]),
    ],
)
def test_each_place_is_found_where_the_calls_go_on_no_more(names: list[str], places: list[int]) -> None:
    assert find_divergences(calls(*names), TODAY) == places


def test_a_reply_is_compared_with_that_of_the_same_call_in_order() -> None:
    again = calls("POST pay", "GET status", "POST pay", "GET status", "GET status")
    assert [find_counterpart(again, place, TODAY) for place in range(5)] == ["a", "b", "d", "e", None]


class Explained:
    """Controls that know the replies of calls, by number."""

    def __init__(self, *replies: str, met: str = "details_amount") -> None:
        self.replies = replies
        self.met = met

    def call(self, method: str, path: str) -> Any:
        number = int(path.rpartition("/")[2])
        rows = {"request": {"body": ""}, "reply": {"body": self.replies[number]}}
        return SimpleNamespace(body={"variants": {self.met: "number"}, "content": {"address": f"/{number}", **rows}})


@pytest.mark.parametrize(
    "replies, failed, shown",
    [
        ("a b 12.5 d e", 1, ["GET /2 200"]),
        ("a b 12.5 d 7", 2, ["GET /2 200", "GET /4 200"]),
        ("a b 12.5 d 7", 1, ["GET /2 200", "first of 2 replies that differ"]),
        ("a b c d e", 1, ["GET /4 200"]),
        ("a b 7 d e", 1, ["GET /2 200", "+7", "-c"]),
    ],
)
def test_where_the_calls_are_the_same_the_reply_that_differs_is_shown(
    replies: str, failed: int, shown: list[str]
) -> None:
    rows = [
        row | {"status": 200, "request_id": str(at), "path": f"/{at}"}
        for at, row in enumerate(calls(*(key for key, _ in TODAY)))
    ]
    variant = Variant.of([("details_amount", "number")])
    run = RunCalls(cast(Controls, Explained(*replies.split())), rows, variant, TODAY)
    found = run.describe_each(failed)
    assert len(found) == failed
    for text in shown:
        assert any(text in one for one in found)


def test_only_what_differs_is_shown_and_not_more_than_a_few_lines() -> None:
    assert describe_difference("one\ntwo\nthree", "one\n2\nthree") == ["  +2", "  -two"]
    assert describe_difference(None, "one\ntwo") == ["  < one", "  < two"]
    assert describe_difference("same", "same") == []
    assert describe_difference("-- a\nb", "++ c\nb") == ["  +++ c", "  --- a"]
    many = describe_difference("", "\n".join(map(str, range(50))))
    assert len(many) == LINES_MAX + 1 and many[-1].startswith("  and ")


@pytest.mark.parametrize(
    "output, line",
    [
        ("Error: no such order\n    at main.js:3\n\nNode.js v20.20.2\n", "Error: no such order"),
        (
            "--- FAIL: TestPay\n    pay_test.go:30: unexpected 503\nFAIL\nexit status 1\n",
            "pay_test.go:30: unexpected 503",
        ),
        ("java.lang.IllegalStateException: no\n\tat Pay.java\nBUILD FAILED\n", "java.lang.IllegalStateException: no"),
        ("first\nlast\n", "last"),
        ("\n", "nothing was said"),
    ],
)
def test_the_line_that_looks_like_an_error_is_what_a_command_said(output: str, line: str) -> None:
    assert find_last_line(output) == line


def test_headers_are_shown_where_they_differ() -> None:
    row = {"method": "GET", "operation": "pay", "status": 503, "request_id": "1", "path": "/"}
    reply = {"body": "no", "headers": {"Retry-After": "30", "Date": "now", "Content-Type": "text/html"}}
    content = {"address": "/", "request": {}, "reply": reply}
    rows = [row | {"explanation": {"variants": {"gateway": "503"}, "content": content}}]
    today = [("GET pay", "no\nContent-Type: application/json")]
    text = RunCalls(cast(Controls, None), rows, Variant.of([("gateway", "502")]), today).describe_last()
    assert text.splitlines()[1:] == [
        "  +Retry-After: 30",
        "  +Content-Type: text/html",
        "  -Content-Type: application/json",
    ]
