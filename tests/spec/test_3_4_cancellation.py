"""service 3.4, 4.4, 7.6: which status of which product may be cancelled, and what a cancellation leaves."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask

from sandbox.contract.decisions import Decisions
from sandbox.worlds.registry import WorldRegistry
from tests.payer import (
    Begun,
    approve,
    balance,
    begin,
    cancel,
    clock_to,
    cosign,
    is_balanced,
    move,
    refreshed,
    refuse,
    signed,
    status,
    tokens,
    told,
)
from tests.spec.bodies import ALICE
from tests.tpp import ISCT, SCT, XB, Tpp, refused

Stage = Callable[[Tpp, str], Begun]
HUGE = "90000.00"
TOMORROW = "2027-03-02"
SIX = "2027-03-02T06:00:00+01:00"


def received(tpp: Tpp, product: str) -> Begun:
    return begin(tpp, product, debtor_account__iban=ALICE)


def waiting(tpp: Tpp, product: str) -> Begun:
    begun = received(tpp, product)
    tpp.advance("1s")
    return begun


def pending(tpp: Tpp, product: str) -> Begun:
    return signed(tpp, product, debtor_account__iban=ALICE)


def dated(tpp: Tpp, product: str) -> Begun:
    return signed(tpp, product, debtor_account__iban=ALICE, requested_execution_date="2027-03-09")


def recycling(tpp: Tpp, product: str) -> Begun:
    begun = signed(
        tpp, product, debtor_account__iban=ALICE, requested_execution_date=TOMORROW, instructed_amount__amount=HUGE
    )
    clock_to(tpp, SIX)
    return begun


def settling(tpp: Tpp, product: str) -> Begun:
    begun = pending(tpp, product)
    if product != ISCT:
        tpp.advance("5s")
    return begun


def settled(tpp: Tpp, product: str) -> Begun:
    begun = pending(tpp, product)
    tpp.advance("60s")
    return begun


def rejected(tpp: Tpp, product: str) -> Begun:
    begun = settling(tpp, product)
    assert move(tpp, begun.id, "RJCT", reason="AC04").status_code == 200
    return begun


def turned_down(tpp: Tpp, product: str) -> Begun:
    begun = received(tpp, product)
    refuse(tpp, begun.address)
    return begun


def timed_out(tpp: Tpp, product: str) -> Begun:
    begun = received(tpp, product)
    tpp.advance("60m")
    return begun


STAGES: dict[str, tuple[str, Stage]] = {
    "received": ("RCVD", received),
    "waiting for the signature": ("PATC", waiting),
    "signed": ("PDNG", pending),
    "future-dated": ("PDNG", dated),
    "in recycling": ("PDNG", recycling),
    "settling": ("ACSP", settling),
    "settled": ("ACSC", settled),
    "rejected": ("RJCT", rejected),
    "refused by the PSU": ("CANC", turned_down),
    "timed out": ("CANC", timed_out),
}
ALLOWED = {
    SCT: {"received", "waiting for the signature", "future-dated", "in recycling"},
    ISCT: {"received", "waiting for the signature"},
}
NEVER = {ISCT: {"signed", "future-dated", "in recycling"}}  # an instant payment is never PDNG, and has no date
CELLS = [(product, stage) for product in (SCT, ISCT, XB) for stage in STAGES if stage not in NEVER.get(product, ())]


@pytest.mark.parametrize("product, stage", CELLS)
def test_the_matrix_of_cancellation(tpp: Tpp, worlds: WorldRegistry, product: str, stage: str) -> None:
    pair = tokens(tpp)
    expected, reach = STAGES[stage]
    begun = reach(tpp, product)
    pair = refreshed(tpp, pair)
    before = told(tpp, begun)
    assert before[0] == expected
    reply = cancel(tpp, begun, pair)
    if product == XB:
        assert refused(reply, 405, "SBX-0405-000001") and "Allow" in reply.headers
    elif stage in ALLOWED[product]:
        assert (reply.status_code, reply.data) == (204, b"")
        assert "Content-Type" not in reply.headers and reply.headers["Response-ID"]
        assert told(tpp, begun) == ("CANC", None)
        tpp.advance("30d")
        assert told(tpp, begun) == ("CANC", None)
        assert refused(cancel(tpp, begun, refreshed(tpp, pair)), 403, "SBX-0403-000002", "CANC")
    else:
        assert refused(reply, 403, "SBX-0403-000002", expected)
        assert reply.get_json()["error"] == "NOT_CANCELLABLE"
    if reply.status_code != 204:
        assert told(tpp, begun) == before
    assert is_balanced(worlds.get("default").bank)


@pytest.mark.parametrize("stage", ["future-dated", "in recycling"])
def test_a_cancelled_payment_frees_what_it_reserved(tpp: Tpp, worlds: WorldRegistry, stage: str) -> None:
    pair, before = tokens(tpp), balance(worlds.get("default").bank, ALICE)
    begun = STAGES[stage][1](tpp, SCT)
    assert cancel(tpp, begun, refreshed(tpp, pair)).status_code == 204
    bank = worlds.get("default").bank
    tpp.advance("10s")
    assert not bank.reserved and not bank.reserved_later
    assert balance(bank, ALICE) == before - 1  # the euro that the tokens came with
    everything = {"debtor_account__iban": ALICE, "instructed_amount__amount": f"{before - 1:.2f}"}
    assert status(tpp, signed(tpp, SCT, **everything)) == "PDNG"


def test_a_partly_signed_payment_may_be_cancelled_and_then_not_signed(tpp: Tpp) -> None:
    pair = tokens(tpp, "bakkerij")
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    address = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"), instructed_amount__amount="1.00").address
    approve(tpp, address)
    assert approve(tpp, begun.address).status_code == 200
    assert refused(cancel(tpp, begun, pair), 403, "B14800ZZ-3004")
    pair = tokens_of_notaris(tpp)
    assert cancel(tpp, begun, pair).status_code == 204
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409")


def tokens_of_notaris(tpp: Tpp) -> dict[str, str]:
    """The first of two signatures gives a code already."""
    return tokens(tpp, "notaris")


@pytest.mark.parametrize("stage", ["signed", "settling", "settled"])
def test_with_settlement_at_ACSP_the_same_is_refused(worlds: WorldRegistry, app: Flask, stage: str) -> None:
    worlds.make("schema", replace(worlds.beginning, settings=Decisions(settled_status="ACSP")))
    tpp = Tpp(app, "schema")
    pair, begun = tokens(tpp), STAGES[stage][1](tpp, SCT)
    assert refused(cancel(tpp, begun, pair), 403, "SBX-0403-000002", "PDNG" if stage == "signed" else "ACSP")


def test_a_signature_after_the_cancellation_is_too_late(tpp: Tpp) -> None:
    pair, begun = tokens(tpp), received(tpp, SCT)
    assert cancel(tpp, begun, pair).status_code == 204
    assert refused(approve(tpp, begun.address), 409, "SBX-0409-000003", "CANC")
    assert refused(refuse(tpp, begun.address), 409, "SBX-0409-000003", "CANC")
