"""service 1, choice 10: a further signer refuses in the bank's channel, a payment or a file."""

from typing import Any

import pytest

from sandbox.bank.state import Bank
from sandbox.worlds.registry import WorldRegistry
from tests.payer import Begun, approve, balance, begin, cosign, is_balanced, refuse_further, signed, status, told
from tests.spec import files
from tests.spec.files import NOTARIS, bulk, pain, statuses, validated
from tests.tpp import ISCT, SCT, XB, Tpp, refused

OVER, DENIED = "SBX-0409-000003", "B14800ZZ-3004-000000"


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


def half_signed(tpp: Tpp, product: str = SCT, first: str = "notaris", **changes: Any) -> Begun:
    begun = begin(tpp, product, debtor_account__iban=NOTARIS, **changes)
    assert approve(tpp, begun.address, first).status_code == 200
    return begun


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("first, second", [("notaris", "griet"), ("griet", "notaris")])
def test_a_further_signer_who_refuses_cancels_the_payment(tpp: Tpp, product: str, first: str, second: str) -> None:
    begun = half_signed(tpp, product, first)
    reply = refuse_further(tpp, begun.id, second)
    cancelled = {"payment_id": begun.id, "status": "CANC", "reason": "PSU_REFUSED"}
    assert (reply.status_code, reply.json) == (200, cancelled)
    assert told(tpp, begun) == ("CANC", "PSU_REFUSED")
    assert refused(cosign(tpp, begun.id, second), 409, OVER, "CANC")
    assert refused(refuse_further(tpp, begun.id, second), 409, OVER, "CANC")


@pytest.mark.parametrize("customer", ("notaris", "alice"))
def test_nobody_else_refuses_it(tpp: Tpp, customer: str) -> None:
    begun = half_signed(tpp)
    reply = refuse_further(tpp, begun.id, customer)
    assert refused(reply, 403, DENIED) and reply.get_json()["error"] == "ACCESS_DENIED"
    assert status(tpp, begun) == "PATC"
    assert cosign(tpp, begun.id, "griet").status_code == 200


def test_what_is_signed_or_waits_for_its_first_signature_is_not_refused_in_the_channel(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=NOTARIS)
    assert refused(refuse_further(tpp, begun.id, "griet"), 409, OVER, "RCVD")
    approve(tpp, begun.address, "notaris")
    cosign(tpp, begun.id, "griet")
    assert refused(refuse_further(tpp, begun.id, "griet"), 409, OVER, "PDNG")
    assert refused(refuse_further(tpp, signed(tpp).id, "alice"), 409, OVER)


def test_what_timed_out_is_no_longer_refused(tpp: Tpp) -> None:
    begun = half_signed(tpp)
    tpp.advance("60m")
    assert refused(refuse_further(tpp, begun.id, "griet"), 409, OVER, "CANC")
    assert told(tpp, begun) == ("CANC", "TIME_OUT")


def test_what_is_unknown_is_not_refused(tpp: Tpp) -> None:
    assert refused(refuse_further(tpp, "none", "griet"), 404, "SBX-0404-000001")
    assert refused(refuse_further(tpp, half_signed(tpp).id, "nobody"), 400, "SBX-0400-000001", "customer")


@pytest.mark.parametrize(
    "body, named",
    [
        ({"payment_id": "HERE"}, "customer"),
        ({"payment_id": "HERE", "customer": ""}, "customer"),
        ({"payment_id": None, "customer": "griet"}, "payment_id"),
        ({"payment_id": ["HERE"], "customer": "griet"}, "payment_id"),
        ({"payment_id": "HERE", "customer": "griet", "address": "http://localhost/psu/sign/x"}, "address"),
        ({"payment_id": "HERE", "customer": "griet", "account": NOTARIS}, "account"),
        ({"payment_id": "HERE", "customer": "griet", "colour": "red"}, "colour"),
    ],
)
def test_a_bad_body_refuses_nothing(tpp: Tpp, body: dict[str, Any], named: str) -> None:
    begun = half_signed(tpp)
    sent = {name: begun.id if value == "HERE" else value for name, value in body.items()}
    reply = tpp.control("POST", "/psu/refuse", **sent)
    assert reply.status_code == 400 and named in reply.text
    assert status(tpp, begun) == "PATC"


def test_the_books_the_journal_and_the_timeline_agree(tpp: Tpp, bank: Bank) -> None:
    before = balance(bank, NOTARIS)
    begun = half_signed(tpp, instructed_amount__amount="750.00")
    refuse_further(tpp, begun.id, "griet")
    rows = [row for row in tpp.listed("journal") if row["subject"] == begun.id]
    assert [(row["trigger"], row["to"]) for row in rows[-2:]] == [("cosigned", "PATC"), ("refused", "CANC")]
    assert [row for row in tpp.listed("timeline") if row["subject"] == begun.id] == []
    tpp.advance("2d")
    assert told(tpp, begun) == ("CANC", "PSU_REFUSED")
    assert balance(bank, NOTARIS) == before and is_balanced(bank)
    assert not any(bank.reserved.values()) and not any(bank.spent.values()) and not bank.partly_signed


def test_a_refused_payment_leaves_its_limit_and_funds_to_the_next(tpp: Tpp, bank: Bank) -> None:
    whole = f"{balance(bank, NOTARIS):.2f}"
    first, second = (half_signed(tpp, instructed_amount__amount=whole) for _ in range(2))
    refuse_further(tpp, first.id, "griet")
    assert cosign(tpp, second.id, "griet").status_code == 200


def test_a_further_signer_who_refuses_cancels_the_file_and_its_bulks(tpp: Tpp) -> None:
    file_id = validated(tpp, pain(bulk(of=NOTARIS), bulk("0.00", of=NOTARIS, name="B")))
    assert refuse_further(tpp, file_id, "griet").status_code == 409  # the first signature is given at the address
    files.approve(tpp, files.address_of(tpp, file_id), "notaris")
    assert refuse_further(tpp, file_id, "notaris").status_code == 403
    assert refuse_further(tpp, file_id, "bakkerij").status_code == 403
    assert refuse_further(tpp, f"{file_id}/1", "griet").status_code == 404
    assert refuse_further(tpp, file_id, "griet").get_json()["status"] == "CANC"
    assert statuses(tpp, file_id) == ["CANC", "CANC", "RJCT"]
    assert files.status(tpp, file_id)["reason"] == "PSU_REFUSED"
    assert files.address_of(tpp, file_id) is None
    assert cosign(tpp, file_id, "griet").status_code == 409
