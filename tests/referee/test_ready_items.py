"""`ready`: a client that makes one mistake fails the item of that mistake, and no other."""

from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask

from sandbox.contract.decisions import AXES
from sandbox.extensions.referee.table import TABLE
from sandbox.extensions.vary.lies import LIES
from sandbox.extensions.vary.readiness import ConditionRun, Evidence, compute_digest, make_document, write_document
from sandbox.extensions.vary.ready_items import (
    BY_AXIS,
    BY_LIE,
    BY_RULE,
    ITEMS,
    find_item_of_axis,
    find_item_of_lie,
    find_item_of_rule,
)
from sandbox.extensions.vary.ready_page import as_page
from sandbox.extensions.vary.search import Break
from sandbox.extensions.vary.space import make_space
from sandbox.extensions.vary.verdict import Verdict
from sandbox.worlds.registry import WorldRegistry
from tests.referee.actor import Actor
from tests.referee.test_mistakes import MISTAKES, Mistake, play
from tests.variants.test_toys import Laboratory, clients, verdict_on

NAMES = {item.name for item in ITEMS}
# A broken client for each of the 12 items: of the referee by its mistake, of the verdict by the value that breaks it.
# No rule of the referee that fails an item is about standing orders or about time.
MISTAKEN = {
    "initiation": MISTAKES["one reference for everything"][1],
    "signing": MISTAKES["exchanges an empty code"][1],
    "cancellation": play("cancel-impossible"),
    "files": MISTAKES["the same file under a new MsgId"][1],
    "consent": MISTAKES["another PSU's account"][1],
    "tokens": MISTAKES["client_secret in the form"][1],
    "paging": play("paging-stopped"),
    "errors": MISTAKES["an id that is not there, again and again"][1],
    "retries": MISTAKES["pays again after a time-out"][1],
    "limits": MISTAKES["psu_involved that is always true"][1],
}
BROKEN = {
    "initiation": "details_amount",
    "signing": "callback_parameters",
    "cancellation": "cancel_again",
    "orders": "unsigned_order",
    "files": "bulks_while_rcvd",
    "consent": "consent_languages",
    "tokens": "token_type_case",
    "paging": "page_size",
    "errors": "error_codes",
    "retries": "gateway",
    "limits": "retry_after",
    "time": "closed_days",
}
ADVISED = {
    "a refresh only ever after a 401": "tokens",
    "polls faster than settlement can be": "time",
    "a final status taken from the callback": "initiation",
}


def evidence(
    findings: Sequence[Any] = (), breaks: tuple[Break, ...] = (), flaky: dict[str, str] | None = None, night: str = ""
) -> Evidence:
    """Returns what a right client shows, with the mistakes that are given."""
    space = make_space()
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
    assert {find_item_of_axis(axis) for axis in AXES} | {find_item_of_lie(lie.name) for lie in LIES} <= NAMES
    assert {find_item_of_rule(rule.id, None) for rule in TABLE} <= NAMES
    assert BY_AXIS.keys() <= AXES.keys() and BY_LIE.keys() <= {lie.name for lie in LIES}
    for beginning in BY_RULE:
        assert any(rule.id.startswith(beginning) for rule in TABLE), beginning
    assert find_item_of_rule("company-invoice", "bulk_initiation") == "files"


def test_a_right_client_is_ready_and_items_without_calls_are_not_covered() -> None:
    document = make_document(evidence(), {})
    verdicts = {item["name"]: item["verdict"] for item in document["items"]}
    assert document["ready"] is True and failed(document) == set()
    assert verdicts["orders"] == verdicts["cancellation"] == "not_covered" and verdicts["files"] == "pass"


def findings_of(actor: Actor, mistake: Mistake) -> Any:
    mistake(actor)
    return actor.tpp.control("GET", "/referee").get_json()["findings"]


def test_each_item_has_a_broken_client() -> None:
    assert set(BROKEN) == NAMES and NAMES - set(MISTAKEN) == {"orders", "time"}


@pytest.mark.parametrize("item", MISTAKEN)
def test_a_mistake_that_the_referee_finds_fails_its_own_item_and_no_other(actor: Actor, item: str) -> None:
    document = make_document(evidence(findings_of(actor, MISTAKEN[item])), {})
    assert failed(document) == {item} and document["ready"] is False


@pytest.mark.parametrize("name", ADVISED)
def test_what_the_referee_advises_is_shown_and_fails_no_item(actor: Actor, name: str) -> None:
    document = make_document(evidence(findings_of(actor, MISTAKES[name][1])), {})
    assert failed(document) == set() and document["ready"] is True
    assert {row["name"] for row in document["items"] if row["findings"]} == {ADVISED[name]}


@pytest.mark.parametrize("item", BROKEN)
def test_a_client_that_a_value_breaks_fails_the_item_of_its_axis_and_no_other(
    app: Flask, worlds: WorldRegistry, item: str
) -> None:
    axis = BROKEN[item]
    toy, on = next(clients(axis))
    breaks = verdict_on(Laboratory(app, worlds), toy, [axis], 1)
    document = make_document(evidence(breaks=breaks), {})
    names = {row["name"] for row in document["items"] for row in row["findings"]}
    assert names == {f"axis/{axis}={value}" for value in on}
    assert failed(document) == {item} and document["ready"] is False


def test_a_finding_that_the_world_waives_is_accepted_for_its_reason(actor: Actor) -> None:
    MISTAKEN["cancellation"](actor)
    actor.tpp.control("PATCH", "/settings", referee_waives=["cancel-impossible: it is what we try"])
    findings = actor.tpp.control("GET", "/referee").get_json()["findings"]
    document = make_document(evidence(findings), {})
    (row,) = (row for item in document["items"] for row in item["findings"])
    assert failed(document) == set() and row["accepted"] == {"reason": "it is what we try", "date": None}
    assert "Accepted: it is what we try" in as_page(document).decode()


def test_a_night_fails_the_item_time_and_a_flaky_test_no_item() -> None:
    assert failed(make_document(evidence(night="February 29 is no date"), {})) == {"time"}
    document = make_document(evidence(flaky={"test": "passed once and failed once"}), {})
    assert failed(document) == set() and document["ready"] is False


def test_the_digest_is_that_of_the_content_on_every_machine() -> None:
    assert compute_digest({"b": [1, True, None], "a": "Résidence", "digest": "x"}) == DIGEST
    assert compute_digest({"a": "Résidence", "b": [1, True, None]}) == DIGEST
    document = make_document(evidence(), {})
    assert document["digest"] == compute_digest(document) and write_document(document).endswith(b"}\n")


DIGEST = "5d043356413f8370d5386c4c943675a9610c2b09fb6b55398b6663d2d108acda"
