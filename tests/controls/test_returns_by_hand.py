"""choice 10: a tester returns or recalls a settled payment now."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.contracts import contract
from tests.contracts import order as standing_order
from tests.payer import signed
from tests.stories import journal_of
from tests.tpp import ISCT, SCT, XB, Tpp, refused

ILLEGAL, INVALID, NOT_FOUND = "SBX-0409-000002", "SBX-0400-000001", "SBX-0404-000001"
SATURDAY = "2027-03-06T10:00:00+01:00"


def send_back(tpp: Tpp, payment_id: str, back: str = "return", **body: Any) -> Any:
    return tpp.http.post(f"/_sandbox/payments/{payment_id}/{back}", json=body)


def settled(tpp: Tpp, product: str = SCT, customer: str = "bram", **changes: Any) -> str:
    paid = signed(tpp, product, customer, **changes)
    tpp.advance("60s")
    return paid.id


def lines(worlds: WorldRegistry, iban: str) -> list[tuple[str, Decimal]]:
    bank = worlds.get("default").bank
    assert not any(bank.ledger.sum_by_currency().values())
    added = [line for line in bank.ledger.list_lines(iban, "EUR") if line.number > bank.ledger.past.count]
    return [(line.entry.remark, line.posting.amount.number) for line in added]


@pytest.mark.parametrize("product", [SCT, ISCT, XB])
@pytest.mark.parametrize("back, reason", [("return", "AC04"), ("recall", "DUPL")])
def test_the_money_of_a_settled_payment_comes_back_at_once(
    tpp: Tpp, worlds: WorldRegistry, product: str, back: str, reason: str
) -> None:
    payment_id = settled(tpp, product)
    reply = send_back(tpp, payment_id, back, reason=reason)
    assert reply.status_code == 200, reply.text
    shown = reply.get_json()
    assert (shown["payment_id"], shown["status"]) == (payment_id, "ACSC")
    assert (shown["history"][-1]["status"], shown["history"][-1]["reason"]) == ("ACSC", reason)
    (_, left), (remark, came) = lines(worlds, tpp.iban_of("bram"))
    assert left == -came and remark.startswith(f"{back.upper()} {reason} ")
    world = worlds.get("default")
    assert hash_state(replay(world.beginning, world.log, world.bank.clock.now)) == hash_state(world.bank)


@pytest.mark.parametrize("back, reason", [("return", "AC04"), ("recall", "FOCR")])
def test_without_a_reason_the_usual_one_is_given(tpp: Tpp, back: str, reason: str) -> None:
    payment_id = settled(tpp)
    assert send_back(tpp, payment_id, back).status_code == 200
    assert journal_of(tpp, payment_id)[-1] == ("ACSC", reason, None)


def test_it_comes_back_on_a_closed_day_too_as_the_tester_says_now(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("POST", "/clock", set=SATURDAY)
    assert send_back(tpp, settled(tpp), reason="AC04").status_code == 200
    assert [amount for _, amount in lines(worlds, tpp.iban_of("bram"))] == [Decimal("-12.50"), Decimal("12.50")]


def test_a_beneficiary_in_this_bank_gives_it_back(tpp: Tpp, worlds: WorldRegistry) -> None:
    alice = tpp.iban_of("alice")
    send_back(tpp, settled(tpp, creditor_account={"iban": alice}), reason="AC04")
    assert [amount for _, amount in lines(worlds, alice)] == [Decimal("12.50"), Decimal("-12.50")]


def test_settlement_that_ends_at_acsp_is_settled_too(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", "/settings", settled_status="ACSP")
    assert send_back(tpp, settled(tpp), reason="AC04").get_json()["status"] == "ACSP"
    assert len(lines(worlds, tpp.iban_of("bram"))) == 2


@pytest.mark.parametrize("back", ["return", "recall"])
def test_what_is_not_settled_does_not_come_back(tpp: Tpp, worlds: WorldRegistry, back: str) -> None:
    paid = signed(tpp, SCT, "bram")
    assert refused(send_back(tpp, paid.id, back, reason="AC04"), 409, ILLEGAL, "is PDNG; only a settled payment can")
    tpp.advance("6s")
    assert refused(send_back(tpp, paid.id, back, reason="AC04"), 409, ILLEGAL, "is ACSP; only a settled payment can")
    tpp.control("POST", f"/payments/{paid.id}/move", status="RJCT", reason="AC04")
    assert refused(send_back(tpp, paid.id, back, reason="AC04"), 409, ILLEGAL, "is RJCT")
    assert refused(send_back(tpp, tpp.initiated(), back), 409, ILLEGAL, "is RCVD")
    assert len(lines(worlds, tpp.iban_of("bram"))) == 2


def test_nothing_comes_back_twice(tpp: Tpp, worlds: WorldRegistry) -> None:
    payment_id = settled(tpp, creditor_name="Test returned")
    assert send_back(tpp, payment_id, reason="AC04").status_code == 200
    for back in ("return", "recall"):
        assert refused(send_back(tpp, payment_id, back, reason="AC04"), 409, ILLEGAL, "came back before")
    tpp.advance("5d")  # the rule of the name has nothing left to return
    assert len(lines(worlds, tpp.iban_of("bram"))) == 2


def test_a_return_that_waits_for_monday_finds_nothing_after_the_testers(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", "/settings", variants={"after_debit": "return"})
    tpp.control("POST", "/clock", set=SATURDAY)
    paid = signed(tpp, ISCT, "bram")
    tpp.control("POST", f"/payments/{paid.id}/move", status="RJCT", reason="AC04")
    assert len(lines(worlds, tpp.iban_of("bram"))) == 1
    assert send_back(tpp, paid.id, reason="AC04").status_code == 200
    tpp.advance("3d")
    assert len(lines(worlds, tpp.iban_of("bram"))) == 2


@pytest.mark.parametrize("reason", ["", "ac04", "AC 04", 4, "A" * 36, ["AC04"]])
def test_a_reason_that_is_no_code_is_refused(tpp: Tpp, reason: object) -> None:
    reply = send_back(tpp, settled(tpp), reason=reason)
    assert refused(reply, 400, INVALID, "'reason' is not accepted: it is a reason code such as AC04")


def test_only_a_payment_is_returned(tpp: Tpp) -> None:
    assert refused(send_back(tpp, "unknown", reason="AC04"), 404, NOT_FOUND, "payment")
    order_id = standing_order(tpp, contract()).get_json()["payment_id"]
    assert refused(send_back(tpp, order_id, reason="AC04"), 404, NOT_FOUND, "payment")
