"""What a run has met of the tables, and what it has not."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.extensions.referee.coverage import KINDS, describe_cell, merge_coverage
from sandbox.web.api.faults import Cut
from tests.referee.actor import Actor


def coverage(actor: Actor) -> dict[str, Any]:
    found: dict[str, Any] = actor.tpp.control("GET", "/coverage").get_json()
    return found


def met(found: dict[str, Any], kind: str) -> set[str]:
    return {cell for cell, was_met in found["cells"][kind].items() if was_met}


def test_nothing_was_met_before_the_first_call(actor: Actor) -> None:
    found = coverage(actor)
    assert found["percent"] == 0
    assert [row["kind"] for row in found["table"]] == list(KINDS)
    assert len(found["most_useful_not_met"]) == 10


def test_a_run_is_told_by_operation_version_status_error_and_move(actor: Actor) -> None:
    flow = actor.signed()
    actor.post(instructed_amount__amount="0.00")
    found = coverage(actor)
    assert met(found, "operation") == {"payment_initiation", "payment_status"}
    assert met(found, "version") == {"payment_initiation 3", "payment_status 3"}
    assert met(found, "answer") == {"payment_initiation 201", "payment_initiation 400", "payment_status 200"}
    assert met(found, "status") == {"payment_status PDNG"}
    assert met(found, "error") == {"AMOUNT_NOT_POSITIVE"}
    assert "sepa-credit-transfers: PATC signed PDNG" in met(found, "move")
    actor.advance("61s")
    actor.status(flow)
    later = coverage(actor)
    assert "payment_status ACSC" in met(later, "status") and later["percent"] > found["percent"] > 0
    assert "sepa-credit-transfers: ACSP settled ACSC" in met(later, "move")


def test_an_error_by_a_fault_rule_counts(actor: Actor) -> None:
    flow = actor.pay()
    assert "error UNAVAILABLE" in coverage(actor)["most_useful_not_met"]
    actor.fault("payment_status", answer={"status": 503})
    actor.status(flow)
    assert "error UNAVAILABLE" not in coverage(actor)["most_useful_not_met"]


ON_STATUS = {"when": {"operation": "payment_status"}}
ANSWERED = {"operation payment_status", "version payment_status 3", "answer payment_status 200"}
AT_THE_EDGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"answer": {"status": 502}, **ON_STATUS}, set()),
    ({"answer": {"status": 504, "body": "", "content_type": "text/html"}, **ON_STATUS}, set()),
    ({"answer": {"status": 503}, **ON_STATUS}, {"answer payment_status 503", "error UNAVAILABLE"}),
    ({"cut": "before", **ON_STATUS}, set()),
    ({"cut": "within", **ON_STATUS}, set()),
    ({"cut": "reset", **ON_STATUS}, set()),
    ({"change": "malformed", **ON_STATUS}, set()),
    ({"change": "key_order", **ON_STATUS}, {*ANSWERED, "status payment_status PATC"}),
    # The page that failed moved nothing; the one that was shown is that of the address.
    ({"answer": {"status": 503}, "when": {"operation": "psu_page"}}, {*ANSWERED, "status payment_status RCVD"}),
    ({"callback": "lost"}, {*ANSWERED, "status payment_status PATC"}),
]


@pytest.mark.parametrize(("fault", "expected"), AT_THE_EDGES)
def test_a_fault_at_the_edge_counts_as_a_fault_only(actor: Actor, fault: dict[str, Any], expected: set[str]) -> None:
    """What the bank would have answered is not met, unless the client could read it."""
    flow = actor.pay()
    before = cells(actor)
    assert actor.tpp.control("POST", "/faults", **fault).status_code == 201
    actor.tpp.http.get(urlsplit(flow.address).path)
    with suppress(Cut):
        actor.status(flow)
    assert {cell for cell in cells(actor) - before if not cell.startswith("move")} == expected


def cells(actor: Actor) -> set[str]:
    found = coverage(actor)
    return {f"{kind} {cell}" for kind in KINDS for cell in met(found, kind)}


def test_an_error_that_only_the_controls_give_is_not_asked_for(actor: Actor) -> None:
    wanted = set(coverage(actor)["cells"]["error"])
    assert wanted == {error.name for error in Error} - {error.name for error in OF_CONTROLS}


def test_an_error_is_said_as_a_client_sees_it() -> None:
    assert describe_cell("error UNAVAILABLE") == "error UNAVAILABLE: 503 SERVICE_UNAVAILABLE SBX-0503-000001"
    assert describe_cell("status payment_status RJCT") == "status payment_status RJCT"


def test_the_table_adds_up(actor: Actor) -> None:
    actor.signed()
    found = coverage(actor)
    for row in found["table"]:
        assert (row["met"], row["all"]) == (len(met(found, row["kind"])), len(found["cells"][row["kind"]]))
        assert row["percent"] == pytest.approx(100 * row["met"] / row["all"], abs=0.05)


def test_the_moves_are_those_of_the_setting(actor: Actor) -> None:
    assert not any("(ACSP)" in cell for cell in coverage(actor)["cells"]["move"])
    actor.tpp.control("PATCH", "/settings", settled_status="ACSP")
    cells = coverage(actor)["cells"]["move"]
    assert any(cell.startswith("sepa-credit-transfers (ACSP): ") for cell in cells)
    assert not any(cell.startswith("sepa-credit-transfers: ") for cell in cells)


def test_runs_are_merged(actor: Actor) -> None:
    actor.pay()
    first = coverage(actor)
    actor.tpp.control("POST", "/reset")
    actor.file()
    second = coverage(actor)
    both = merge_coverage([first, second])
    assert met(both, "operation") == {"payment_initiation", "bulk_initiation"}
    assert both["percent"] > max(first["percent"], second["percent"])
    assert merge_coverage([both]) == both
