"""service 9 and choice 3: which versions each operation has, on both sides of the table."""

import pytest

from sandbox.contract.operations import BY_NAME
from tests.tpp import ISCT, SCT, XB, Tpp, refused, version

# choice 3: one table. Version 1 of an initiation is for one product only.
VERSIONS = {
    "payment_initiation": {3, 1},
    "payment_status": {1, 2, 3},
    "payment_details": {1, 2, 3},
    "payment_cancellation": {2},
    "standing_order_initiation": {2},
    "standing_order_status": {1, 2},
    "standing_order_details": {1, 2},
    "standing_order_cancellation": {1, 2},
    "bulk_initiation": {1, 2},
    "bulk_status": {1, 2},
    "bulk_cancellation": {1, 2},
    "consent_addresses": {4, 3},
    "token": {3, 2},
    "accounts": {2},
    "account": {1, 2},
    "transactions": {1, 2},
}
ASKED = range(7)
PRODUCTS = (SCT, ISCT, XB)


@pytest.mark.parametrize("name, numbers", VERSIONS.items())
def test_an_operation_has_the_versions_of_the_contract(name: str, numbers: set[int]) -> None:
    assert set(BY_NAME[name].versions) == numbers


def test_the_contract_names_every_operation() -> None:
    assert set(BY_NAME) == set(VERSIONS)


INITIATIONS = {SCT: {3, 1}, ISCT: {3}, XB: {3}}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_initiation_is_served_in_version_3(tpp: Tpp, product: str) -> None:
    assert tpp.initiate(product, accept=version(3)).status_code == 201


@pytest.mark.parametrize(
    "product, number", [(product, n) for product in PRODUCTS for n in ASKED if n not in INITIATIONS[product]]
)
def test_an_initiation_in_another_version_is_not_acceptable(tpp: Tpp, product: str, number: int) -> None:
    assert refused(tpp.initiate(product, accept=version(number)), 406, "SBX-0406-000001")


def test_a_sepa_credit_transfer_in_version_1_has_another_body(tpp: Tpp) -> None:
    earlier = {
        "remote_account": {"name": "Jan Peeters", "iban": "BE68539007547034"},
        "amount": "12.50",
        "currency": "EUR",
        "payment_id": "MINE-1",
    }
    assert tpp.initiate(body=earlier, accept=version(1)).status_code == 201
    assert tpp.initiate(accept=version(1)).status_code == 400
    assert tpp.initiate(body=earlier, accept=version(3)).status_code == 400


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("number", ASKED)
def test_a_status_is_served_in_versions_1_2_and_3_alone(tpp: Tpp, product: str, number: int) -> None:
    reply = tpp.status(tpp.initiated(product), product, accept=version(number))
    if number in (1, 2, 3):
        assert (reply.status_code, reply.get_json()["status"]) == (200, "RCVD")
    else:
        assert refused(reply, 406, "SBX-0406-000001")


def test_of_several_versions_the_most_wanted_that_is_there_is_served(tpp: Tpp) -> None:
    both = f"{version(1)}; q=0.4, {version(3)}; q=0.9, {version(8)}"
    assert "_links" in tpp.initiate(accept=both).get_json()
