"""service 2.1: the field table, every row for each of the three products, held and refused."""

from copy import deepcopy
from typing import Any

import pytest

from tests.spec.bodies import ALICE, STRUCTURED, to_america, to_the_emirates, to_tunisia
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

# r required, o optional (or a default), c conditional (its rules stand in test_2_1_beneficiary), - not applicable.
TABLE = {
    "debtor_account.iban": "o o o",
    "debtor_account.currency": "o o o",
    "charge_bearer": "- - r",
    "creditor_account.iban": "r r c",
    "creditor_account.bban": "- - c",
    "creditor_account.bic": "o o c",
    "creditor_account.bank_national_id": "- - c",
    "creditor_account.country": "o o o",
    "creditor_account.currency": "- - c",
    "creditor_name": "r r r",
    "creditor_address": "- - c",
    "endtoend_identification": "r r r",
    "instructed_amount.amount": "r r r",
    "instructed_amount.currency": "o o r",
    "instruction_priority": "o - o",
    "purpose_code": "- - c",
    "remittance_information_structured": "o o -",
    "remittance_information_unstructured": "o o o",
    "requested_execution_date": "o - o",
}
CELLS = [
    (field, product, use)
    for field, row in TABLE.items()
    for product, use in zip((SCT, ISCT, XB), row.split(), strict=True)
]

# A good value for each field that may be added to the plain body of every product.
GOOD: dict[str, Any] = {
    "debtor_account.iban": ALICE,
    "debtor_account.currency": "EUR",
    "charge_bearer": "SHAR",
    "creditor_account.iban": "BE68539007547034",
    "creditor_account.bban": "000123456789",
    "creditor_account.bic": "GKCCBEBB",
    "creditor_account.bank_national_id": "021000021",
    "creditor_account.country": "BE",
    "creditor_account.currency": "EUR",
    "creditor_name": "Jan Peeters",
    "creditor_address": {"city": "Gent", "country": "BE"},
    "endtoend_identification": "INVOICE-1",
    "instructed_amount.amount": "1.00",
    "instructed_amount.currency": "EUR",
    "instruction_priority": "NORM",
    "purpose_code": "SALA",
    "remittance_information_structured": STRUCTURED,
    "remittance_information_unstructured": "Invoice 7",
    "requested_execution_date": "2027-03-02",
}

# Where a conditional field belongs: bodies that hold it.
FITTING = {
    "creditor_account.iban": payment(XB),
    "creditor_account.bban": to_america(),
    "creditor_account.bic": to_tunisia(),
    "creditor_account.bank_national_id": to_america(),
    "creditor_account.currency": payment(XB, creditor_account__currency="USD"),
    "creditor_address": to_tunisia(),
    "purpose_code": to_the_emirates(),
}


def cells(*uses: str) -> list[tuple[str, str]]:
    return [(field, product) for field, product, use in CELLS if use in uses]


def with_field(product: str, field: str) -> dict[str, Any]:
    body = payment(product, **{field.replace(".", "__"): deepcopy(GOOD[field])})
    if field == "debtor_account.currency":
        body["debtor_account"]["iban"] = ALICE
    if field == "instructed_amount.currency" and product == XB:
        body["instructed_amount"]["currency"] = "USD"
    return body


def without_field(product: str, field: str) -> dict[str, Any]:
    if field == "debtor_account.iban":
        return payment(product)  # the whole object is left out; an empty one is another rule
    if field == "debtor_account.currency":
        return payment(product, debtor_account={"iban": ALICE})
    return payment(product, **{field.replace(".", "__"): None})


@pytest.mark.parametrize("field, product", cells("r", "o"))
def test_a_field_of_the_product_is_accepted(tpp: Tpp, field: str, product: str) -> None:
    reply = tpp.initiate(product, with_field(product, field))
    assert reply.status_code == 201, reply.text


@pytest.mark.parametrize("field, product", cells("o"))
def test_an_optional_field_may_be_left_out(tpp: Tpp, field: str, product: str) -> None:
    reply = tpp.initiate(product, without_field(product, field))
    assert reply.status_code == 201, reply.text


@pytest.mark.parametrize("field, product", cells("r"))
def test_a_required_field_cannot_be_left_out(tpp: Tpp, field: str, product: str) -> None:
    code = "B14821ZZ-1200-000000" if field == "endtoend_identification" else "GEN-1201-100002"
    reply = tpp.initiate(product, without_field(product, field))
    assert refused(reply, 400, code, f"'{field}'")
    assert reply.get_json()["error"] == "MISSING_INPUT"


@pytest.mark.parametrize("field, product", cells("-"))
def test_a_field_that_is_not_of_the_product_is_refused(tpp: Tpp, field: str, product: str) -> None:
    reply = tpp.initiate(product, with_field(product, field))
    assert refused(reply, 400, "GEN-1202-100002", f"'{field}'")
    assert reply.get_json()["error"] == "INVALID_INPUT"


@pytest.mark.parametrize("field, product", cells("c"))
def test_a_conditional_field_is_accepted_where_it_fits(tpp: Tpp, field: str, product: str) -> None:
    reply = tpp.initiate(product, FITTING[field])
    assert reply.status_code == 201, reply.text


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize(
    "outer, field",
    [("creditor_account", "creditor_account.iban"), ("instructed_amount", "instructed_amount.amount")],
)
def test_an_object_that_is_left_out_misses_its_required_field(tpp: Tpp, product: str, outer: str, field: str) -> None:
    reply = tpp.initiate(product, payment(product, **{outer: None}))
    assert refused(reply, 400, "GEN-1201-100002", f"'{field}'")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("field", ("colour", "creditor_account.name", "instructed_amount.value", "debtor_account.bic"))
def test_an_unknown_field_is_refused_at_every_depth(tpp: Tpp, product: str, field: str) -> None:
    body = payment(product, debtor_account={"iban": ALICE}, **{field.replace(".", "__"): "x"})
    assert refused(tpp.initiate(product, body), 400, "GEN-1202-100002", f"'{field}'")


def test_the_first_of_several_unknown_fields_is_named(tpp: Tpp) -> None:
    # A set of 20 names has another order in each process, and the same call gets the same reply in all of them.
    unknown = {f"unknown_{number}": number for number in range(20)}
    assert refused(tpp.initiate(SCT, payment(SCT) | unknown), 400, "GEN-1202-100002", "'unknown_0'")
    body = payment(SCT, creditor_account={"iban": "BE68539007547034"} | unknown)
    assert refused(tpp.initiate(SCT, body), 400, "GEN-1202-100002", "'creditor_account.unknown_0'")


def test_an_unknown_field_of_an_address_is_refused(tpp: Tpp) -> None:
    body = to_tunisia(creditor_address={"city": "Tunis", "country": "TN", "planet": "Earth"})
    assert refused(tpp.initiate(XB, body), 400, "GEN-1202-100002", "'creditor_address.planet'")


def test_the_name_of_an_unknown_field_is_not_told_at_any_length(tpp: Tpp) -> None:
    reply = tpp.initiate(SCT, payment(SCT, **{"x" * 10_000: 1}))
    assert refused(reply, 400, "GEN-1202-100002", f"'{'x' * 100}'")


# An empty address is of the right kind; what it must hold stands in the beneficiary's chapter.
ODD: tuple[Any, ...] = (None, 7, True, [], {})
OF_ANOTHER_KIND = [
    (field, product, value)
    for field, product, _ in CELLS
    for value in ODD
    if (field, product, value) != ("creditor_address", XB, {})
]


@pytest.mark.parametrize("field, product, value", OF_ANOTHER_KIND)
def test_a_value_of_another_kind_is_refused(tpp: Tpp, field: str, product: str, value: Any) -> None:
    body = with_field(product, field)
    outer, _, inner = field.partition(".")
    if inner:
        body[outer][inner] = value
    else:
        body[outer] = value
    assert refused(tpp.initiate(product, body), 400, "GEN-1202-100002", f"'{field}'")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("field", ("debtor_account", "creditor_account", "instructed_amount"))
@pytest.mark.parametrize("value", (None, "text", 7, True, []))
def test_an_object_of_another_kind_is_refused(tpp: Tpp, product: str, field: str, value: Any) -> None:
    body = payment(product) | {field: value}
    assert refused(tpp.initiate(product, body), 400, "GEN-1202-100002", f"'{field}'")
