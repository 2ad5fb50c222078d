"""Who signs a file, and what follows a refusal: service 1 and 6.1, choice 7."""

from dataclasses import replace
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest

from sandbox.banking.money import Money
from sandbox.worlds.registry import WorldRegistry
from tests.spec import files
from tests.spec.files import (
    BAKKERIJ,
    NOTARIS,
    RESERVE,
    TOMORROW,
    address_of,
    approve,
    bulk,
    csv,
    pain,
    status,
    statuses,
    validated,
)
from tests.tpp import CALLBACK, Tpp, refused

LONDON = "GB33BUKB20201555555555"


def signs(tpp: Tpp, payment_file_id: str, customer: str) -> int:
    """In the bank's channel."""
    return tpp.control("POST", "/psu/sign", payment_id=payment_file_id, customer=customer).status_code


def test_a_signed_file_waits_for_its_bulks(tpp: Tpp) -> None:
    payment_file_id = files.signed(tpp, pain(bulk(), bulk(day=TOMORROW, name="B")))
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG", "PDNG"]


@pytest.mark.parametrize("kind", ["pain.001", "csv"])
def test_no_code_comes_back_with_the_customer(tpp: Tpp, kind: str) -> None:
    content = pain() if kind == "pain.001" else csv()
    address = address_of(tpp, validated(tpp, content, kind), kind)
    redirect = approve(tpp, f"{address}?state=xyz").get_json()["redirect"]
    assert redirect == f"{CALLBACK}?state=xyz"


def test_a_customer_who_refuses_cancels_the_file_and_its_bulks(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk("0.00", name="B"), bulk(name="C")))
    reply = tpp.control("POST", "/psu/refuse", address=f"{address_of(tpp, payment_file_id)}?state=xyz")
    query = dict(parse_qsl(urlsplit(reply.get_json()["redirect"]).query))
    assert (query["error"], query["state"]) == ("access_denied", "xyz")
    assert statuses(tpp, payment_file_id) == ["CANC", "CANC", "RJCT", "CANC"]
    assert status(tpp, payment_file_id)["reason"] == "PSU_REFUSED"
    assert address_of(tpp, payment_file_id) is None


def test_only_who_may_sign_for_the_account_does(tpp: Tpp) -> None:
    address = address_of(tpp, validated(tpp, pain()))
    assert refused(approve(tpp, address, "alice"), 403, "B14800ZZ-3004-000000")
    assert approve(tpp, address, "bakkerij").status_code == 200


def test_a_second_signature_is_given_in_the_channel(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(of=NOTARIS)))
    assert signs(tpp, payment_file_id, "griet") == 409  # the first is given at the address
    approve(tpp, address_of(tpp, payment_file_id), "notaris")
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC"]
    assert address_of(tpp, payment_file_id) is None
    assert signs(tpp, payment_file_id, "notaris") == 403
    assert signs(tpp, payment_file_id, "bakkerij") == 403
    assert signs(tpp, payment_file_id, "griet") == 200
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


def test_a_half_signed_file_waits_too(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(of=NOTARIS)))
    approve(tpp, address_of(tpp, payment_file_id), "griet")
    tpp.advance("30d")
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC"]
    assert signs(tpp, payment_file_id, "notaris") == 200


def limited(worlds: WorldRegistry, iban: str, **changes: object) -> None:
    bank = worlds.get("default").bank
    bank.accounts = bank.accounts | {iban: replace(bank.accounts[iban], **changes)}  # type: ignore[arg-type]


@pytest.mark.parametrize("amounts, code", [(("60.00", "40.00"), 200), (("60.00", "40.01"), 403)])
def test_all_bulks_of_an_account_count_against_its_limit(
    tpp: Tpp, worlds: WorldRegistry, amounts: tuple[str, str], code: int
) -> None:
    limited(worlds, BAKKERIJ, limit_day=Money(Decimal(100), "EUR"))
    first, second = amounts
    content = pain(bulk(first), bulk(second, name="B", day=TOMORROW), bulk("500.00", name="C", of=RESERVE))
    assert approve(tpp, address_of(tpp, validated(tpp, content))).status_code == code


@pytest.mark.parametrize("end, code", [("signed", 403), ("cancelled", 200)])
def test_a_signed_file_counts_until_it_is_cancelled(tpp: Tpp, worlds: WorldRegistry, end: str, code: int) -> None:
    limited(worlds, BAKKERIJ, limit_day=Money(Decimal(100), "EUR"))
    first = files.signed(tpp, pain(bulk("60.00", day=TOMORROW)))
    if end == "cancelled":
        assert files.delete(tpp, first).status_code == 204
    second = validated(tpp, pain(bulk("60.00"), message_id="M-2"))
    assert approve(tpp, address_of(tpp, second)).status_code == code


@pytest.mark.parametrize("countries, code", [(("BE", "GB"), 200), (("BE",), 403)])
def test_the_customers_own_countries_are_looked_at(
    tpp: Tpp, worlds: WorldRegistry, countries: tuple[str, ...], code: int
) -> None:
    limited(worlds, BAKKERIJ, countries=countries)
    address = address_of(tpp, validated(tpp, pain(bulk(), bulk(name="B", to=LONDON))))
    assert approve(tpp, address).status_code == code


# The funds of a file of today


def balance(worlds: WorldRegistry, iban: str) -> Decimal:
    return worlds.get("default").ask(lambda bank: bank.ledger.read_balance(iban, "EUR").number)


@pytest.mark.parametrize("more, code", [("0.00", 200), ("0.01", 403)])
def test_the_funds_of_a_file_of_today_are_looked_at_when_it_is_signed(
    tpp: Tpp, worlds: WorldRegistry, more: str, code: int
) -> None:
    """All bulks of an account count together, and those of another account by themselves."""
    most = balance(worlds, BAKKERIJ)
    content = pain(bulk("1.00"), bulk(f"{most - 1 + Decimal(more)}", name="B"), bulk("1.00", name="C", of=RESERVE))
    payment_file_id = validated(tpp, content)
    reply = approve(tpp, address_of(tpp, payment_file_id))
    assert reply.status_code == code
    if code == 200:
        assert statuses(tpp, payment_file_id)[0] == "PDNG"
        return
    assert refused(reply, 403, "SBX-0403-000001", BAKKERIJ)
    assert statuses(tpp, payment_file_id) == ["PATC"] * 4
    tpp.control("POST", f"/accounts/{BAKKERIJ}/transactions", amount="0.01", counterparty="A lender")
    assert approve(tpp, address_of(tpp, payment_file_id)).status_code == 200


def test_a_file_of_a_later_day_may_be_signed_without_funds(tpp: Tpp, worlds: WorldRegistry) -> None:
    payment_file_id = files.signed(tpp, pain(bulk(f"{balance(worlds, BAKKERIJ) + 1}", day=TOMORROW)))
    assert statuses(tpp, payment_file_id) == ["PDNG", "PDNG"]


def test_the_last_signature_asks_for_the_funds_too(tpp: Tpp, worlds: WorldRegistry) -> None:
    payment_file_id = validated(tpp, pain(bulk(f"{balance(worlds, NOTARIS)}", of=NOTARIS)))
    approve(tpp, address_of(tpp, payment_file_id), "notaris")
    tpp.control("POST", f"/accounts/{NOTARIS}/transactions", amount="-0.01", counterparty="A shop")
    assert signs(tpp, payment_file_id, "griet") == 403
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC"]


# A tester forces moves (choice 10)


@pytest.mark.parametrize(
    "target, file, one",
    [("PDNG", "PDNG", "PDNG"), ("CANC", "CANC", "CANC"), ("RJCT", "RJCT", "RJCT")],
)
def test_a_tester_forces_a_legal_move_and_the_bulks_go_along(tpp: Tpp, target: str, file: str, one: str) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk("0.00", name="B")))
    reply = tpp.control("POST", f"/payments/{payment_file_id}/move", status=target, reason="MS03")
    assert (reply.status_code, reply.get_json()["status"]) == (200, target)
    assert statuses(tpp, payment_file_id) == [file, one, "RJCT"]


def test_a_signed_file_can_be_rejected_and_then_counts_no_more(tpp: Tpp, worlds: WorldRegistry) -> None:
    limited(worlds, BAKKERIJ, limit_day=Money(Decimal(100), "EUR"))
    first = files.signed(tpp, pain(bulk("60.00")))
    assert tpp.control("POST", f"/payments/{first}/move", status="RJCT", reason="MS03").status_code == 200
    assert (statuses(tpp, first), status(tpp, first)["reason"]) == (["RJCT", "RJCT"], "MS03")
    tpp.advance("1d")
    assert statuses(tpp, first) == ["RJCT", "RJCT"]
    second = validated(tpp, pain(bulk("60.00", day="2027-03-03"), message_id="M-2"))
    assert approve(tpp, address_of(tpp, second)).status_code == 200


@pytest.mark.parametrize("target", ["PATC", "ACSC", "ACSP"])
def test_an_illegal_move_is_refused(tpp: Tpp, target: str) -> None:
    payment_file_id = files.sent(tpp, pain())
    assert tpp.control("POST", f"/payments/{payment_file_id}/move", status=target).status_code == 409
