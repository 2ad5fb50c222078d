"""What a TPP tests, against the bank at `bank_url`; each test in a world of its own."""

from collections.abc import Iterator

import pytest

from sandbox.client import Client, Controls


@pytest.fixture
def bank(bank_url: str, bank_key: str, request: pytest.FixtureRequest) -> Iterator[Controls]:
    with Controls(bank_url, key=bank_key) as server:
        yield server.world(request.node.name)


@pytest.fixture
def tpp(bank_url: str, request: pytest.FixtureRequest) -> Iterator[Client]:
    with Client(f"{bank_url}/worlds/{request.node.name}") as client:
        yield client


def test_a_signed_payment_settles(bank: Controls, tpp: Client) -> None:
    payment = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    assert payment.sca_address is not None
    bank.psu.approve(payment.sca_address, customer="alice")
    bank.clock.advance("60s")
    assert tpp.status(payment).status == "ACSC"


def test_nobody_signs(bank: Controls, tpp: Client) -> None:
    payment = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    bank.clock.advance("61m")
    assert tpp.status(payment).status == "CANC"
