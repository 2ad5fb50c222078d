"""`ready`: a client that makes one mistake fails the item of that mistake, and no other."""

from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.contract.decisions import AXES
from sandbox.extensions.referee.table import TABLE
from sandbox.extensions.vary.lies import LIES
from sandbox.extensions.vary.readiness import ConditionRun, Evidence, digest_of, make_document, write_document
from sandbox.extensions.vary.ready_items import BY_AXIS, BY_LIE, BY_RULE, ITEMS, item_of_axis, item_of_lie, item_of_rule
from sandbox.extensions.vary.runs import Result
from sandbox.extensions.vary.search import Break
from sandbox.extensions.vary.space import Variant, space_of
from sandbox.extensions.vary.verdict import Verdict
from tests.referee.actor import Actor
from tests.referee.test_mistakes import MISTAKES

NAMES = {item.name for item in ITEMS}
# The item that each mistake of a client must fail.
MISTAKEN = {
    "pays again after a time-out": "retries",
    "one reference for everything": "initiation",
    "Request-IDs that can be foretold": "retries",
    "client_secret in the form": "tokens",
    "exchanges an empty code": "signing",
    "another PSU's account": "consent",
    "psu_involved that is always true": "limits",
    "a refresh only ever after a 401": "tokens",
    "polls faster than settlement can be": "time",
    "a final status taken from the callback": "initiation",
    "the same file under a new MsgId": "files",
    "an id that is not there, again and again": "errors",
}
BROKEN = {
    "details_amount=number": "initiation",
    "gateway=502": "retries",
    "page_size=10": "paging",
    "bulks_while_rcvd=absent": "files",
    "callback_parameters=more": "signing",
    "calendar=belgian": "time",
}


def evidence(
    findings: Sequence[Any] = (), breaks: tuple[Break, ...] = (), flaky: dict[str, str] | None = None, night: str = ""
) -> Evidence:
    """Returns what a right client shows, with the mistakes that are given."""
    space = space_of()
    verdict = Verdict(space, 1, ("test",), frozenset(space.axes), breaks, flaky or {})
    cells = {
        "operation": {"payment_initiation": True, "token": True, "bulk_status": True},
        "error": {"NOT_FOUND": True},
    }
    nights = [ConditionRun("leap_day", True, {"test": night} if night else {})]
    return Evidence(verdict, findings, [{"cells": cells}], nights, [], "pytest", 1)


def failed(document: Any) -> set[str]:
    return {item["name"] for item in document["items"] if item["verdict"] == "fail"}


def test_each_axis_lie_and_rule_belongs_to_an_item() -> None:
    assert {item_of_axis(axis) for axis in AXES} | {item_of_lie(lie.name) for lie in LIES} <= NAMES
    assert {item_of_rule(rule.id, None) for rule in TABLE} <= NAMES
    assert BY_AXIS.keys() <= AXES.keys() and BY_LIE.keys() <= {lie.name for lie in LIES}
    for beginning in BY_RULE:
        assert any(rule.id.startswith(beginning) for rule in TABLE), beginning
    assert item_of_rule("company-invoice", "bulk_initiation") == "files"


def test_a_right_client_is_ready_and_items_without_calls_are_not_covered() -> None:
    document = make_document(evidence(), {})
    verdicts = {item["name"]: item["verdict"] for item in document["items"]}
    assert document["ready"] is True and failed(document) == set()
    assert verdicts["orders"] == verdicts["cancellation"] == "not_covered" and verdicts["files"] == "pass"


@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistake_fails_its_own_item_and_no_other(actor: Actor, name: str) -> None:
    MISTAKES[name][1](actor)
    findings = actor.tpp.control("GET", "/referee").get_json()["findings"]
    document = make_document(evidence(findings), {})
    known = [row for row in findings if row["severity"] != "advice"]
    assert failed(document) == ({MISTAKEN[name]} if known else set())
    assert {item["name"] for item in document["items"] if item["findings"]} == {MISTAKEN[name]}
    assert document["ready"] is not bool(known)


@pytest.mark.parametrize("text", BROKEN)
def test_a_break_fails_the_item_of_its_axis_and_no_other(text: str) -> None:
    axis, _, value = text.partition("=")
    assert value in AXES[axis].names
    broken = Break("test", Variant(((axis, value),)), Result(False, "it broke"))
    document = make_document(evidence(breaks=(broken,)), {})
    assert failed(document) == {BROKEN[text]} and document["ready"] is False


def test_a_night_fails_the_item_time_and_a_flaky_test_no_item() -> None:
    assert failed(make_document(evidence(night="February 29 is no date"), {})) == {"time"}
    document = make_document(evidence(flaky={"test": "passed once and failed once"}), {})
    assert failed(document) == set() and document["ready"] is False


def test_the_digest_is_that_of_the_content_on_every_machine() -> None:
    assert digest_of({"b": [1, True, None], "a": "Résidence", "digest": "x"}) == DIGEST
    assert digest_of({"a": "Résidence", "b": [1, True, None]}) == DIGEST
    document = make_document(evidence(), {})
    assert document["digest"] == digest_of(document) and write_document(document).endswith(b"}\n")


DIGEST = "5d043356413f8370d5386c4c943675a9610c2b09fb6b55398b6663d2d108acda"
