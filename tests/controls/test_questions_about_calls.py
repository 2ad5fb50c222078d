"""How many calls fit a matcher, how often they came and in which order (choice 10)."""

from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from tests.tpp import Tpp, payment, refused, version

PAID = {"operation": "payment_initiation"}


@pytest.fixture
def called(tpp: Tpp) -> Tpp:
    """An initiation, its status, and a second initiation that is refused."""
    made = tpp.initiate(accept_language="nl").get_json()["payment_id"]
    tpp.call("GET", f"/payments/sepa-credit-transfers/{made}/status", accept=version(3))
    tpp.initiate(body=payment(creditor_name="Anna Maes", instructed_amount__amount="0"))
    return tpp


def ask(tpp: Tpp, word: str, body: dict[str, Any]) -> Any:
    return tpp.http.post(f"{tpp.prefix}/_sandbox/requests/{word}", json=body)


COUNTS: list[tuple[dict[str, Any], int]] = [
    ({}, 3),
    (PAID, 2),
    ({"operation": "payment_*"}, 3),
    ({"method": "get"}, 1),
    ({"path": "/payments/*/status"}, 1),
    ({"path": "/worlds/default/payments/sepa-credit-transfers"}, 2),
    ({"status": 201}, 1),
    ({"status": "4*"}, 1),
    ({"client": "demo-tpp"}, 3),
    ({"client": "other-*"}, 0),
    ({"headers": {"accept-language": "nl"}}, 1),
    ({"headers": {"Authorization": None, "Content-Type": "application/json*"}}, 2),
    ({"body": {"creditor_name": "Anna*"}}, 1),
    ({"body": {"instructed_amount": {"amount": {"over": 10}}}}, 1),
    ({"body": "*Peeters*"}, 1),
    ({**PAID, "status": 201, "body": {"creditor_name": "Anna*"}}, 0),
]


@pytest.mark.parametrize(("matcher", "count"), COUNTS)
def test_calls_are_counted(called: Tpp, matcher: dict[str, Any], count: int) -> None:
    assert ask(called, "count", matcher).json == {"count": count}


VERIFIED: list[dict[str, Any]] = [
    PAID,
    {**PAID, "times": {"exactly": 2}},
    {**PAID, "times": {"at_least": 1, "at_most": 2}},
    {"operation": "token", "times": {"exactly": 0}},
    {"operation": "token", "times": {"at_most": 3}},
    {"in_order": [{"status": 201}, {"operation": "payment_status"}, PAID]},
    {"client": "demo-tpp", "in_order": [{"status": 201}, {"status": 400}]},
]
FOUND: list[tuple[dict[str, Any], str]] = [
    (
        {**PAID, "status": 202},
        "Expected at least 1 call; found 0 calls; the nearest, call 3 POST "
        "/payments/sepa-credit-transfers 400 of demo-tpp, differs in status 400.",
    ),
    ({"status": 201, "times": {"exactly": 2}}, "Expected exactly 2 calls; found 1 call: call 1 POST "),
    ({**PAID, "times": {"at_most": 1}}, "Expected at most 1 call; found 2 calls: call 1 POST "),
    ({"body": {"creditor_name": "Anna Maas"}}, "differs in body.creditor_name"),
    ({"headers": {"authorization": "Bearer x"}}, "differs in header authorization"),
    ({"in_order": [{"status": 400}, {"status": 201}]}, "Expected 2 calls in this order; nothing after call 3 fits"),
]


@pytest.mark.parametrize("question", VERIFIED)
def test_what_holds_is_verified(called: Tpp, question: dict[str, Any]) -> None:
    reply = ask(called, "verify", question)
    assert (reply.status_code, reply.json) == (200, {"verified": True})


@pytest.mark.parametrize(("question", "found"), FOUND)
def test_what_does_not_hold_is_409_with_what_was_found(called: Tpp, question: dict[str, Any], found: str) -> None:
    reply = ask(called, "verify", question)
    assert refused(reply, 409, "SBX-0409-000007")
    assert found in reply.get_json()["error_description"]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"operation": "payment_initation"}, "did you mean 'payment_initiation'?"),
    ({"statuss": 201}, "'statuss'"),
    ({"status": 99}, "100 to 599"),
    ({"status": True}, "100 to 599"),
    ({"path": "/a?b=c"}, "the query"),
    ({"headers": {"accept": 3}}, "must be a text"),
    ({"times": {"exactly": 1, "at_most": 2}}, "stands alone"),
    ({"times": {"at_least": 2, "at_most": 1}}, "below"),
    ({"times": {"exact": 1}}, "did you mean 'exactly'?"),
    ({"times": {"exactly": -1}}, "0 or more"),
    ({"in_order": []}, "1 to 100"),
    ({"in_order": [{"stat": 1}]}, "in_order[0]"),
    ({"in_order": [{}], "times": {"exactly": 1}}, "take one of the two away"),
]


@pytest.mark.parametrize(("question", "why"), WRONG)
def test_a_wrong_question_is_refused_by_name(called: Tpp, question: dict[str, Any], why: str) -> None:
    reply = ask(called, "verify", question)
    assert refused(reply, 400, "SBX-0400-000001")
    assert why in reply.get_json()["error_description"]


def test_a_body_that_is_kept_no_longer_is_no_guess(called: Tpp) -> None:
    called.control("PATCH", "/settings", contents_kept=1)
    called.initiate()
    gone = ask(called, "count", {"body": {"creditor_name": "Anna*"}})
    assert gone.status_code == 400 and "contents_kept" in gone.json["error_description"]
    assert ask(called, "verify", {"body": {"creditor_name": "Jan*"}, "times": {"at_least": 1}}).status_code == 200
    assert ask(called, "verify", {"body": {"creditor_name": "Jan*"}, "times": {"exactly": 1}}).status_code == 400


def test_an_order_that_only_calls_without_kept_contents_could_make_is_no_guess(called: Tpp) -> None:
    """The first initiation may be Jan's. The last one certainly is, and no status was asked after it."""
    called.control("PATCH", "/settings", contents_kept=1)
    called.initiate()
    jan, status, refused_one = {"body": {"creditor_name": "Jan*"}}, {"operation": "payment_status"}, {"status": 400}
    unknown = ask(called, "verify", {"in_order": [jan, status]})
    assert unknown.status_code == 400 and "contents_kept" in unknown.json["error_description"]
    assert ask(called, "verify", {"in_order": [status, refused_one, jan]}).status_code == 200
    assert ask(called, "verify", {"in_order": [jan, {"operation": "token"}]}).status_code == 409


def test_a_form_is_asked_by_its_fields(tpp: Tpp) -> None:
    tpp.http.post(f"{tpp.prefix}/token", data={"grant_type": "refresh_token", "refresh_token": "x"})
    assert ask(tpp, "count", {"operation": "token", "body": {"grant_type": "refresh_token"}}).json == {"count": 1}


def test_a_header_is_written_with_its_name_and_value() -> None:
    told = CliRunner().invoke(main, ["verify", "--header", "Accept"])
    assert told.exit_code == 2 and "Accept-Language=fr" in told.output
