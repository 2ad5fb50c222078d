"""A script says what did not hold: each kind of step and of expectation, held and failed."""

from typing import Any

import pytest

from tests.player.conftest import Play

PAY: dict[str, Any] = {"pay": {"debtor": "alice", "amount": "25.00"}, "as": "rent"}
SIGN = {"psu": {"approves": "rent"}}
CONSENT = {"consent": {"customer": "alice", "account": "alice-current"}, "as": "books"}


def test_a_step_that_fails_tells_its_line_what_was_found_and_the_exchange(play: Play) -> None:
    held, failed, after = play(PAY, {"status": {"of": "rent", "expect": {"status": "ACSC"}}}, SIGN)
    assert held.passed and not failed.passed and after.skipped
    assert failed.faults == ("status: expected ACSC, found RCVD",)
    told = "\n".join(failed.exchanges[-1].write_lines())
    assert "/payments/sepa-credit-transfers/" in told and '"status":"RCVD"' in told and "Request-ID:" in told
    assert failed.text.endswith("-> 200 RCVD")


def test_an_expectation_that_fails_lets_the_rest_go_on(play: Play) -> None:
    _, failed, held = play(PAY, {"expect": {"status": "PDNG"}}, {"expect": {"status": "RCVD"}})
    assert not failed.passed and held.passed


def test_an_account_that_a_step_added_is_read_by_its_name(play: Play) -> None:
    steps = (
        {"add": {"account": "holiday", "customer": "alice"}},
        {"consent": {"customer": "alice", "account": "holiday"}, "as": "books"},
        {"transactions": {"of": "books", "account": "holiday"}},
    )
    assert all(step.passed for step in play(*steps))


REFUSED: dict[str, Any] = {"pay": {"debtor": "poor", "amount": "9999.00"}}


def test_a_refusal_that_nobody_expects_ends_the_play(play: Play) -> None:
    failed, after = play(REFUSED, PAY)
    assert "it was refused" in failed.faults[0] and "INSUFFICIENT_FUNDS" in failed.faults[0]
    assert after.skipped


@pytest.mark.parametrize("wanted", ["INSUFFICIENT_FUNDS", "SBX-0403-000001", 403, True])
def test_a_step_may_say_how_it_is_refused(play: Play, wanted: Any) -> None:
    (held,) = play({"pay": {**REFUSED["pay"], "refused": wanted}})
    assert held.passed


@pytest.mark.parametrize(
    "after", [{"error": "INSUFFICIENT_FUNDS"}, {"error_code": "SBX-0403-000001"}, {"status": 403}], ids=str
)
def test_the_step_that_follows_may_expect_the_refusal(play: Play, after: dict[str, Any]) -> None:
    assert [step.passed for step in play(REFUSED, {"expect": after})] == [True, True]


def test_another_refusal_than_the_expected_one_fails(play: Play) -> None:
    (failed,) = play({"pay": {**REFUSED["pay"], "refused": "FORBIDDEN"}})
    assert "refused: expected FORBIDDEN, found" in failed.faults[0]


def test_a_step_that_should_be_refused_and_is_not_fails(play: Play) -> None:
    (failed,) = play({"pay": {**PAY["pay"], "refused": "FORBIDDEN"}})
    assert failed.faults == ("refused: expected FORBIDDEN; it was not refused, the status is 201",)


def test_a_reply_that_should_be_lost_and_comes_fails(play: Play) -> None:
    (failed,) = play({"pay": {**PAY["pay"], "lost": True}})
    assert "lost: expected" in failed.faults[0]


def test_a_reply_that_is_lost_fails_unless_it_is_said(play: Play) -> None:
    cut = [{"when": {"operation": "payment_status", "nth": 1}, "cut": "before"}]
    _, failed = play(PAY, {"status": "rent"}, faults=cut)
    assert "the line broke" in failed.faults[0]
    assert "the line broke" in failed.exchanges[-1].write_lines()[-1]


EXPECTATIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"payment": "rent", "status": "PDNG"}, {"payment": "rent", "status": "ACSC"}, "expected ACSC, found PDNG"),
    (
        {"payment": "rent", "went": ["RCVD", "PATC", "PDNG"]},
        {"payment": "rent", "went": ["RCVD"]},
        "expected 1 of them, found 3",
    ),
    ({"account": "alice", "balance": "unchanged"}, {"account": "alice", "balance": {"less": 5}}, "balance: expected"),
    ({"account": "alice", "balance": {"over": 0}}, {"account": "alice", "balance": {"more": "1.00"}}, "it was"),
    ({"account": "bram", "currency": "USD", "balance": "unchanged"}, {"account": "alice", "balance": 1}, "expected 1"),
    (
        {"journal": [{"to": "PATC"}, {"trigger": "signed"}], "of": "rent"},
        {"journal": [{"trigger": "signed"}, {"to": "PATC"}]},
        "journal[1]: nothing fits",
    ),
    (
        {"timeline": [{"subject": "rent", "trigger": "executed"}]},
        {"timeline": {"count": 0}},
        "their number: expected 0, found",
    ),
    ({"requests": {"count": 1}}, {"requests": [{"operation": "token"}]}, "requests[0]: nothing fits"),
    ({"callbacks": []}, {"callbacks": [{}]}, "there is none"),
    ({"clock": "2027-03-01T09:00"}, {"clock": "2027-03-02"}, "clock: expected 2027-03-02, found 2027-03-01T09"),
    ({"explain": "rent", "clause": "service 4.1"}, {"explain": "rent", "clause": "none"}, "clause: expected none"),
    ({"reply": "rent", "status": 201}, {"reply": "rent", "status": 200}, "status: expected 200, found 201"),
    ({"same": ["{rent.payment_id}", "{rent.payment_id}"]}, {"same": [1, 2]}, "these differ"),
    ({"differ": ["{rent.payment_id}", "x"]}, {"differ": [1, 1]}, "some of these are equal"),
    ({"redirect": "*code=*", "status": 200}, {"headers": {"Content-Type": "x"}}, "Content-Type: expected x"),
]


@pytest.mark.parametrize("holds, fails, told", EXPECTATIONS, ids=lambda value: next(iter(value), "") if value else "")
def test_an_expectation_holds_and_fails(play: Play, holds: Any, fails: Any, told: str) -> None:
    *_, held, failed = play(PAY, SIGN, {"expect": holds}, {"expect": fails})
    assert held.faults == ()
    assert told in failed.faults[0]


SCRIPT_FAULTS = [
    ({"status": "{rent.payment_id}"}, "nothing was captured as"),
    ({"token": "rent"}, "no customer came back from 'rent'"),
    ({"refresh": "rent"}, "'rent' has no tokens"),
    ({"accounts": None}, "no step brought tokens so far"),
    ({"status": {"of": "{rent.nothing}"}}, "'rent' has no nothing"),
    ({"expect": {"payment": "rent", "account": "alice"}}, "are two things to expect"),
    ({"expect": {"account": "alice"}}, "one expects its balance"),
    ({"expect": {"account": "alice", "balance": "some"}}, "a balance is a number"),
    ({"expect": {"account": "alice", "balance": {"less": "some"}}}, "less takes an amount"),
    ({"expect": {"account": "alice", "currency": "USD", "balance": 1}}, "there is no account 'alice' with USD"),
    ({"file": {"sample": "none"}}, "'none' is no sample file"),
]


@pytest.mark.parametrize("step, told", SCRIPT_FAULTS, ids=str)
def test_what_a_script_cannot_mean_is_said(play: Play, step: dict[str, Any], told: str) -> None:
    failed = play(PAY, step)[1]
    assert failed.faults[0].startswith("the script: ") and told in failed.faults[0]


def test_captures_are_forgotten_by_a_reset_and_balances_begin_anew(play: Play) -> None:
    book = {"book": {"account": "alice", "amount": "100.00"}}
    more = {"expect": {"account": "alice", "balance": {"more": "100.00"}}}
    unchanged = {"expect": {"account": "alice", "balance": "unchanged"}}
    again = {"repeat": {"times": 2, "steps": [{"status": "rent"}, {"reset": None}]}}
    *held, failed, _not_played = play(PAY, book, more, {"reset": None}, unchanged, PAY, again)
    assert all(step.passed for step in held)
    assert failed.text == "round 2: status rent"
    assert failed.faults[0] == "the script: nothing was captured as 'rent'"


def test_settings_faults_and_moves_are_the_testers(play: Play) -> None:
    steps = play(
        {"settings": {"unsigned_after": "10s"}},
        {"fault": {"when": {"operation": "payment_status", "nth": 2}, "answer": {"status": 503}}},
        PAY,
        {"clock": "10s"},
        {"status": {"of": "rent", "expect": {"status": "CANC"}}},
        {"status": {"of": "rent", "refused": 503}},
        {"pay": PAY["pay"], "as": "other"},
        {"psu": {"approves": "other"}},
        {"move": {"of": "other", "status": "RJCT", "reason": "AC04"}},
        {"status": {"of": "other", "expect": {"status": "RJCT", "reason": "AC04"}}},
        {"move": {"of": "other", "status": "ACSC", "refused": 409}},
    )
    assert [step.faults for step in steps if not step.passed] == []


def test_a_step_returns_or_recalls_a_settled_payment(play: Play) -> None:
    steps = play(
        PAY,
        {"return": {"of": "rent", "refused": 409}},
        {"psu": {"approves": "rent"}},
        {"clock": "2m"},
        {"recall": {"of": "rent", "reason": "DUPL", "expect": {"status": "ACSC"}}},
        {"expect": {"account": "alice", "balance": "unchanged"}},
        {"return": {"of": "rent", "reason": "AC04", "refused": 409}},
    )
    assert [step.faults for step in steps if not step.passed] == []


def test_a_world_as_the_story_wants_it_runs_when_it_says_so(play: Play) -> None:
    call = {"call": {"path": "/_sandbox/clock", "expect": {"mode": "running", "rate": 60}}}
    (held,) = play(call, clock={"at": "2027-03-01T09:00", "rate": 60})
    assert held.passed
    (held,) = play({"call": {"path": "/_sandbox/clock", "expect": {"mode": "frozen"}}})
    assert held.passed


def test_an_accounts_id_is_asked_for_once(play: Play) -> None:
    *_, one, two = play(CONSENT, {"account": "alice-current"}, {"account": "alice-current"})
    assert (len(one.exchanges), len(two.exchanges)) == (2, 1)


def test_a_further_signer_refuses_by_a_step(play: Play) -> None:
    deed = {"pay": {"debtor": "notaris", "amount": "25.00"}, "as": "deed"}
    no = {"of": "deed", "customer": "griet"}
    early, late = {"refuse": {**no, "refused": 409}}, {"refuse": {**no, "expect": {"reason": "PSU_REFUSED"}}}
    went = {"expect": {"payment": "deed", "went": ["RCVD", "PATC", "CANC"]}}
    told = play(deed, early, {"psu": {"approves": "deed", "customer": "notaris"}}, late, went)
    assert [step.passed for step in told] == [True] * 5


def test_a_step_that_refuses_for_the_wrong_customer_fails(play: Play) -> None:
    deed = {"pay": {"debtor": "notaris", "amount": "25.00"}, "as": "deed"}
    signed = {"psu": {"approves": "deed", "customer": "notaris"}}
    *_, failed = play(deed, signed, {"refuse": {"of": "deed", "customer": "alice"}})
    assert not failed.passed and "ACCESS_DENIED" in failed.faults[0]


def test_a_script_verifies_the_calls_that_were_made(play: Play) -> None:
    once = {"verify": {"operation": "payment_initiation", "times": {"exactly": 1}}}
    twice = {"verify": {"operation": "payment_initiation", "times": {"exactly": 2}}}
    _, held, wrong = play(PAY, once, twice)
    assert held.passed
    assert "Expected exactly 2 calls; found 1 call" in wrong.faults[0]
