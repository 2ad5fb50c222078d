"""service 2.1 rules 6 and 7, choice 5: urgent and instant transfers bear the fee of the customer's tariff."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.banking.iban import make_belgian
from sandbox.world.registry import Worlds
from tests.seed.living import fixtures_of
from tests.spec.bodies import BAKKERIJ
from tests.tpp import ISCT, SCT, Tpp, payment

ATELIER = make_belgian("539", 1000123)  # of the customer whose tariff has fees
URGENT = {"instruction_priority": "HIGH"}


def moved(tpp: Tpp, worlds: Worlds, iban: str, product: str, **changes: Any) -> list[tuple[str, Decimal]]:
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


def lines(worlds: Worlds, iban: str) -> list[tuple[str, Decimal]]:
    bank = worlds.get("default").bank
    past = len(bank.ledger.past.lines.get((iban, "EUR"), ()))
    assert not any(bank.ledger.totals().values())
    return [(line.entry.reference, line.posting.amount.number) for line in bank.ledger.lines(iban, "EUR")[past:]]


@pytest.mark.parametrize(
    "product, changes, fee", [(SCT, URGENT, Decimal("-7.50")), (ISCT, {}, Decimal("-0.90"))], ids=["urgent", "instant"]
)
def test_a_paid_payment_bears_its_fee_as_a_transaction_of_its_own(
    tpp: Tpp, worlds: Worlds, product: str, changes: dict[str, Any], fee: Decimal
) -> None:
    assert moved(tpp, worlds, ATELIER, product, **changes) == [("-D", Decimal("-12.50")), ("-F", fee)]


def test_an_ordinary_payment_bears_none(tpp: Tpp, worlds: Worlds) -> None:
    assert moved(tpp, worlds, ATELIER, SCT) == [("-D", Decimal("-12.50"))]


@pytest.mark.parametrize("product, changes", [(SCT, URGENT), (ISCT, {})], ids=["urgent", "instant"])
def test_a_customer_whose_tariff_names_none_pays_none(
    tpp: Tpp, worlds: Worlds, product: str, changes: dict[str, Any]
) -> None:
    assert moved(tpp, worlds, BAKKERIJ, product, **changes) == [("-D", Decimal("-12.50"))]


def tariff(**fees: Any) -> dict[str, Any]:
    customer = {"name": "A", "kind": "business", "language": "nl", "fees": fees}
    return {"customers": {"a": customer}, "accounts": {}, "clients": {}}


def test_a_scenario_gives_a_tariff_of_its_own() -> None:
    found = fixtures_of(tariff(urgent="3.00"), "x").customers["a"]
    fee = found.fee("urgent")
    assert fee is not None and fee.text() == "3.00" and found.fee("instant") is None


@pytest.mark.parametrize("fees", [{"urgent": "-1.00"}, {"urgent": 1}, {"speed": "1.00"}, {"instant": "0.001"}])
def test_a_tariff_that_is_none_is_refused(fees: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fees"):
        fixtures_of(tariff(**fees), "x")
