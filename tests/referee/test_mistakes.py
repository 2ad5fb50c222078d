"""Twenty-nine mistakes of clients: each way to make one is found by its own rule alone."""

from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

import pytest

from sandbox.web.api.faults import Cut
from tests.referee.actor import Actor
from tests.referee.clients import PLAYS

Mistake = Callable[[Actor], object]


def pays_again_under_a_new_reference(actor: Actor, **fault: object) -> None:
    actor.fault("payment_initiation", nth=1, **fault)
    with suppress(Cut):
        actor.post(reference="INVOICE-1", request_id=str(uuid4())).get_data()
    actor.pay(reference="INVOICE-1-BIS")


def exchanges(actor: Actor, code: str) -> None:
    flow = actor.signed()
    flow.code = code
    assert actor.exchange(flow).status_code in (400, 401)


def play(rule: str) -> Mistake:
    return lambda actor: PLAYS[rule](actor, True)


def says_through_one_night_that_the_psu_asked(actor: Actor) -> None:
    tokens = actor.reader()
    account = actor.ids(tokens)[0]
    actor.advance("15h")  # midnight
    for _ in range(5):
        tokens = actor.refresh(tokens).get_json()
        actor.page(tokens, account, {"psu_involved": "true"})
        actor.advance("1h")


AGAIN = "payment-again-after-doubt"
MISTAKES: dict[str, tuple[str, Mistake]] = {
    "pays again after a reply that was cut": (AGAIN, lambda it: pays_again_under_a_new_reference(it, cut="before")),
    "pays again after half a reply": (AGAIN, lambda it: pays_again_under_a_new_reference(it, cut="within")),
    "pays again after a reset": (AGAIN, lambda it: pays_again_under_a_new_reference(it, cut="reset")),
    "pays again after a 500": (AGAIN, lambda it: pays_again_under_a_new_reference(it, answer={"status": 500})),
    "pays again after a 502": (AGAIN, lambda it: pays_again_under_a_new_reference(it, answer={"status": 502})),
    "pays again after a time-out": (AGAIN, lambda it: pays_again_under_a_new_reference(it, answer={"status": 504})),
    "pays again while the first recycles": ("payment-again-while-recycled", play("payment-again-while-recycled")),
    "one reference for everything": ("reference-constant", play("reference-constant")),
    "Request-IDs that can be foretold": ("request-id-foretold", play("request-id-foretold")),
    "one Request-ID for everything": ("request-id-constant", play("request-id-constant")),
    "client_secret in the form": ("client-secret-in-form", play("client-secret-in-form")),
    "exchanges None": ("code-never-came", lambda it: exchanges(it, "None")),
    "exchanges undefined": ("code-never-came", lambda it: exchanges(it, "undefined")),
    "exchanges an empty code": ("code-never-came", lambda it: exchanges(it, "")),
    "exchanges after a refusal": ("code-never-came", play("code-never-came")),
    "another PSU's account": ("account-of-another-psu", play("account-of-another-psu")),
    "more unattended reads than allowed": ("unattended-too-often", play("unattended-too-often")),
    "psu_involved that is always true": ("psu-involved-always", play("psu-involved-always")),
    "a refresh only ever after a 401": ("token-refreshed-late", play("token-refreshed-late")),
    "polls faster than settlement can be": ("status-before-its-day", play("status-before-its-day")),
    "a final status taken from the callback": ("final-by-callback", play("final-by-callback")),
    "a signature taken for the credit": ("status-never-asked", play("status-never-asked")),
    "one poll a second for long": ("status-polled-long", play("status-polled-long")),
    "a code that is never exchanged": ("code-never-exchanged", play("code-never-exchanged")),
    "the same file under a new MsgId": ("bulk-file-doubled", play("bulk-file-doubled")),
    "an id that is not there, again and again": ("not-found-again", play("not-found-again")),
    "five refusals for missing funds": ("refused-for-psu-again", play("refused-for-psu-again")),
    "pays from another customer's account": ("payment-of-another-psu", play("payment-of-another-psu")),
    "psu_involved through one night": ("psu-involved-always", says_through_one_night_that_the_psu_asked),
}


def test_there_are_twenty_nine() -> None:
    assert len(MISTAKES) == 29
    assert {rule for rule, _ in MISTAKES.values()} <= set(PLAYS)  # each with a good client beside it


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_found_and_proven_by_a_call(actor: Actor, name: str) -> None:
    rule, make = MISTAKES[name]
    make(actor)
    findings = actor.tpp.control("GET", "/referee").get_json()["findings"]
    assert {row["rule"] for row in findings} == {rule}
    assert all(row["call"]["request_id"] for row in findings)
