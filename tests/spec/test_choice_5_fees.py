"""service 2.1 rules 6 and 7, choice 5: urgent and instant transfers bear the fee of the customer's tariff."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.banking.iban import make_belgian
from sandbox.worlds.registry import WorldRegistry
from tests.people.living import fixtures_of
from tests.spec.bodies import BAKKERIJ
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

ATELIER = make_belgian("539", 1000123)  # of the customer whose tariff has fees
URGENT = {"instruction_priority": "HIGH"}


def moved(tpp: Tpp, worlds: WorldRegistry, iban: str, product: str, **changes: Any) -> list[tuple[str, Decimal]]:
    """What a payment of 12.50 that was carried out booked on the account: reference and amount."""
    body = payment(product, debtor_account={"iban": iban}, instructed_amount__amount="12.50", **changes)
    begun = tpp.initiate(product, body)
    assert begun.status_code == 201, begun.text
    assert tpp.control("POST", "/psu/approve", address=begun.headers["Location"]).status_code == 200
    if product == SCT:
        assert lines(worlds, iban) == []  # nothing before ACSP
    tpp.advance("60s")
    name = begun.get_json()["payment_id"]
    return [(reference.removeprefix(name), amount) for reference, amount in lines(worlds, iban)]


def lines(worlds: WorldRegistry, iban: str) -> list[tuple[str, Decimal]]:
    bank = worlds.get("default").bank
    past = len(bank.ledger.past.lines.get((iban, "EUR"), ()))
    assert not any(bank.ledger.sum_by_currency().values())
    return [(line.entry.reference, line.posting.amount.number) for line in bank.ledger.list_lines(iban, "EUR")[past:]]


@pytest.mark.parametrize(
    "product, changes, fee", [(SCT, URGENT, Decimal("-7.50")), (ISCT, {}, Decimal("-0.90"))], ids=["urgent", "instant"]
)
def test_a_paid_payment_bears_its_fee_as_a_transaction_of_its_own(
    tpp: Tpp, worlds: WorldRegistry, product: str, changes: dict[str, Any], fee: Decimal
) -> None:
    assert moved(tpp, worlds, ATELIER, product, **changes) == [("-D", Decimal("-12.50")), ("-F", fee)]


def test_an_ordinary_payment_bears_none(tpp: Tpp, worlds: WorldRegistry) -> None:
    assert moved(tpp, worlds, ATELIER, SCT) == [("-D", Decimal("-12.50"))]


@pytest.mark.parametrize("product, changes", [(SCT, URGENT), (ISCT, {})], ids=["urgent", "instant"])
def test_a_customer_whose_tariff_names_none_pays_none(
    tpp: Tpp, worlds: WorldRegistry, product: str, changes: dict[str, Any]
) -> None:
    assert moved(tpp, worlds, BAKKERIJ, product, **changes) == [("-D", Decimal("-12.50"))]


# The check of funds includes the fee (axis fee_check)

INSTANT_FEE, URGENT_FEE = Decimal("0.90"), Decimal("7.50")


def euros(worlds: WorldRegistry, iban: str) -> Decimal:
    return worlds.get("default").bank.ledger.read_number((iban, "EUR"))


def of(iban: str, amount: Decimal, product: str = ISCT, **changes: Any) -> dict[str, Any]:
    return payment(product, debtor_account={"iban": iban}, instructed_amount__amount=f"{amount:.2f}", **changes)


@pytest.mark.parametrize(
    "product, changes, fee", [(SCT, URGENT, URGENT_FEE), (ISCT, {}, INSTANT_FEE)], ids=["urgent", "instant"]
)
def test_a_payment_that_leaves_nothing_for_its_fee_is_refused(
    tpp: Tpp, worlds: WorldRegistry, product: str, changes: dict[str, Any], fee: Decimal
) -> None:
    whole = euros(worlds, ATELIER)
    over = whole - fee + Decimal("0.01")
    reply = tpp.initiate(product, of(ATELIER, over, product, **changes))
    assert refused(reply, 403, "SBX-0403-000001", ATELIER)
    decided = tpp.control("GET", f"/explain/{reply.headers['Response-ID']}").get_json()["decided_by"]
    assert (decided["needed"], decided["fee"]) == (f"{whole + Decimal('0.01'):.2f} EUR", f"{fee:.2f} EUR")


def test_a_payment_may_leave_exactly_its_fee(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.signed(tpp.initiate(ISCT, of(ATELIER, euros(worlds, ATELIER) - INSTANT_FEE)))
    tpp.advance("1m")
    assert euros(worlds, ATELIER) == 0
    assert [name[-2:] for name, _ in lines(worlds, ATELIER)] == ["-D", "-F"]


def test_an_account_that_the_customer_picks_must_pay_the_fee_too(tpp: Tpp, worlds: WorldRegistry) -> None:
    body = payment(ISCT, instructed_amount__amount=f"{euros(worlds, ATELIER):.2f}")
    begun = tpp.initiate(ISCT, body)
    reply = tpp.control("POST", "/psu/approve", address=begun.headers["Location"], customer="atelier")
    assert refused(reply, 403, "SBX-0403-000001", ATELIER)


def test_a_bank_that_books_the_fee_later_looks_at_the_amount_alone(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", "/settings", variants={"fee_check": "later"})
    whole = euros(worlds, ATELIER)
    assert refused(tpp.initiate(ISCT, of(ATELIER, whole + Decimal("0.01"))), 403, "SBX-0403-000001")
    tpp.signed(tpp.initiate(ISCT, of(ATELIER, whole)))
    tpp.advance("1m")
    assert euros(worlds, ATELIER) == -INSTANT_FEE


def test_an_overdraft_pays_a_fee(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", f"/accounts/{ATELIER}", overdraft="0.90")
    tpp.signed(tpp.initiate(ISCT, of(ATELIER, euros(worlds, ATELIER))))
    assert euros(worlds, ATELIER) == -INSTANT_FEE


def test_the_fee_is_reserved_with_the_amount(tpp: Tpp, worlds: WorldRegistry) -> None:
    whole = euros(worlds, ATELIER)
    tpp.signed(tpp.initiate(SCT, of(ATELIER, Decimal("100.00"), SCT, **URGENT)))
    free = whole - Decimal("100.00") - URGENT_FEE
    assert refused(tpp.initiate(SCT, of(ATELIER, free + Decimal("0.01"), SCT)), 403, "SBX-0403-000001")
    tpp.signed(tpp.initiate(SCT, of(ATELIER, free, SCT)))
    tpp.advance("1m")
    assert euros(worlds, ATELIER) == 0
    assert worlds.get("default").bank.reserved == {}


def test_a_payment_on_its_day_waits_until_there_is_money_for_its_fee(tpp: Tpp, worlds: WorldRegistry) -> None:
    whole = euros(worlds, ATELIER)
    body = of(ATELIER, whole, SCT, **URGENT, requested_execution_date="2027-03-02")
    begun = tpp.initiate(SCT, body)
    tpp.signed(begun)
    tpp.advance("1d")
    assert euros(worlds, ATELIER) == whole
    assert tpp.status(begun.get_json()["payment_id"]).get_json()["status"] == "PDNG"
    booked = tpp.control("POST", f"/accounts/{ATELIER}/transactions", amount="7.50", date="2027-03-02")
    assert booked.status_code == 201, booked.text
    tpp.advance("1d")
    assert euros(worlds, ATELIER) == 0
    assert tpp.status(begun.get_json()["payment_id"]).get_json()["status"] == "ACSC"


def test_a_change_of_the_bank_is_for_payments_that_are_signed_later(tpp: Tpp, worlds: WorldRegistry) -> None:
    """What was reserved is released, and the fee that was reserved is the one that is booked."""
    tpp.signed(tpp.initiate(SCT, of(BAKKERIJ, Decimal("10.00"), SCT, **URGENT)))
    tpp.signed(tpp.initiate(SCT, of(ATELIER, Decimal("10.00"), SCT, **URGENT)))
    tpp.control("PATCH", "/settings", variants={"fees": "everybody", "fee_check": "later"})
    tpp.advance("1m")
    assert [amount for _, amount in lines(worlds, BAKKERIJ)] == [Decimal("-10.00")]
    assert [amount for _, amount in lines(worlds, ATELIER)] == [Decimal("-10.00"), -URGENT_FEE]
    assert worlds.get("default").bank.reserved == {}


def test_a_fee_abroad_is_checked_in_the_compartment_that_pays(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", "/settings", variants={"fees": "abroad"})
    bank = worlds.get("default").bank
    dollars = bank.ledger.read_number((ATELIER, "USD"))
    debtor = {"iban": ATELIER, "currency": "USD"}
    amount = {"amount": f"{dollars:.2f}", "currency": "USD"}
    reply = tpp.initiate(XB, payment(XB, debtor_account=debtor, instructed_amount=amount))
    assert refused(reply, 403, "SBX-0403-000001")
    amount["amount"] = f"{dollars - 5:.2f}"
    tpp.signed(tpp.initiate(XB, payment(XB, debtor_account=debtor, instructed_amount=amount)))
    tpp.advance("1m")
    assert 0 < bank.ledger.read_number((ATELIER, "USD")) < 5
    assert not any(bank.ledger.sum_by_currency().values())


# The tariff


def tariff(**fees: Any) -> dict[str, Any]:
    customer = {"name": "A", "kind": "business", "language": "nl", "fees": fees}
    return {"customers": {"a": customer}, "accounts": {}, "clients": {}}


def test_a_scenario_gives_a_tariff_of_its_own() -> None:
    found = fixtures_of(tariff(urgent="3.00"), "x").customers["a"]
    fee = found.find_fee("urgent")
    assert fee is not None and fee.text() == "3.00" and found.find_fee("instant") is None


@pytest.mark.parametrize("fees", [{"urgent": "-1.00"}, {"urgent": 1}, {"speed": "1.00"}, {"instant": "0.001"}])
def test_a_tariff_that_is_none_is_refused(fees: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fees"):
        fixtures_of(tariff(**fees), "x")
