"""service 2.1 rule 8 and choice 5: the beneficiary's account and address, by product and country."""

from typing import Any

import pytest

from tests.spec.bodies import BRITISH, EMIRATI, SWISS, TUNISIAN, to_america, to_tunisia
from tests.tpp import BELGIAN, FRENCH, ISCT, SCT, XB, Tpp, payment, refused

INVALID = "GEN-1202-100002"
MISSING = "GEN-1201-100002"
BIC_WRONG = "B14821ZZ-2102-000000"
COUNTRY = "B14821ZZ-1227-000000"


def accepted(tpp: Tpp, product: str, body: dict[str, Any]) -> bool:
    reply = tpp.initiate(product, body)
    assert reply.status_code == 201, reply.text
    return True


# SEPA


@pytest.mark.parametrize("product", (SCT, ISCT))
@pytest.mark.parametrize("iban", (BELGIAN, FRENCH, SWISS, BRITISH))
def test_a_sepa_payment_goes_to_a_sepa_country(tpp: Tpp, product: str, iban: str) -> None:
    assert accepted(tpp, product, payment(product, creditor_account={"iban": iban}))


@pytest.mark.parametrize("product", (SCT, ISCT))
@pytest.mark.parametrize("iban", (TUNISIAN, EMIRATI))
def test_a_sepa_payment_to_another_country_is_refused(tpp: Tpp, product: str, iban: str) -> None:
    reply = tpp.initiate(product, payment(product, creditor_account={"iban": iban}))
    assert refused(reply, 400, COUNTRY, "'creditor_account.iban'")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("bic", ("GKCCBEBB", "GKCCBEBBXXX"))
def test_a_bic_of_the_country_of_the_iban_is_accepted(tpp: Tpp, product: str, bic: str) -> None:
    assert accepted(tpp, product, payment(product, creditor_account__bic=bic))


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_a_bic_of_another_country_than_the_iban_is_refused(tpp: Tpp, product: str) -> None:
    reply = tpp.initiate(product, payment(product, creditor_account__bic="BNPAFRPP"))
    assert refused(reply, 400, BIC_WRONG, "'creditor_account.bic'")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("bic", ("GKCC", "gkccbebb", "GKCCBEBBX", "GKCC12BB", ""))
def test_what_is_no_bic_is_refused(tpp: Tpp, product: str, bic: str) -> None:
    reply = tpp.initiate(product, payment(product, creditor_account__bic=bic))
    assert refused(reply, 400, INVALID, "'creditor_account.bic'")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("country", ("FR", "ZZ", "be", "BEL", ""))
def test_a_country_that_is_not_that_of_the_iban_is_refused(tpp: Tpp, product: str, country: str) -> None:
    reply = tpp.initiate(product, payment(product, creditor_account__country=country))
    assert refused(reply, 400, INVALID, "'creditor_account.country'")


# Cross-border: exactly one of iban and bban


def test_a_bban_with_country_and_bank_is_accepted(tpp: Tpp) -> None:
    assert accepted(tpp, XB, to_america())


def test_iban_and_bban_together_are_refused(tpp: Tpp) -> None:
    body = payment(XB, creditor_account__bban="000123456789")
    assert refused(tpp.initiate(XB, body), 400, INVALID, "'creditor_account.bban'")


def test_neither_iban_nor_bban_is_refused(tpp: Tpp) -> None:
    body = to_america(creditor_account__bban=None)
    assert refused(tpp.initiate(XB, body), 400, MISSING, "'creditor_account.iban'")


@pytest.mark.parametrize("field", ("country", "bank_national_id"))
def test_a_bban_needs_its_country_and_bank(tpp: Tpp, field: str) -> None:
    body = to_america(**{f"creditor_account__{field}": None})
    assert refused(tpp.initiate(XB, body), 400, MISSING, f"'creditor_account.{field}'")


def test_a_bban_with_a_bic_is_refused(tpp: Tpp) -> None:
    body = to_america(creditor_account__bic="CHASUS33")
    assert refused(tpp.initiate(XB, body), 400, "B14821ZZ-1236-000000", "'creditor_account.bban'")


def test_an_iban_outside_sepa_needs_a_bic(tpp: Tpp) -> None:
    body = to_tunisia(creditor_account__bic=None)
    assert refused(tpp.initiate(XB, body), 400, BIC_WRONG, "'creditor_account.bic'")


def test_an_iban_outside_sepa_needs_a_bic_of_its_own_country(tpp: Tpp) -> None:
    body = to_tunisia(creditor_account__bic="CHASUS33")
    assert refused(tpp.initiate(XB, body), 400, BIC_WRONG, "'creditor_account.bic'")


def test_an_iban_within_sepa_needs_no_bic(tpp: Tpp) -> None:
    assert accepted(tpp, XB, payment(XB))


@pytest.mark.parametrize("body", (to_tunisia(), to_america()), ids=("iban", "bban"))
def test_euro_may_leave_sepa(tpp: Tpp, body: dict[str, Any]) -> None:
    euro = body | {"instructed_amount": {"currency": "EUR", "amount": "12.50"}}
    assert accepted(tpp, XB, euro)


def test_euro_to_a_sepa_iban_is_a_sepa_payment(tpp: Tpp) -> None:
    reply = tpp.initiate(XB, payment(XB, instructed_amount__currency="EUR"))
    assert refused(reply, 400, INVALID, "'creditor_account")


@pytest.mark.parametrize("country", ("KP", "IR", "CU"))
def test_a_country_that_is_not_published_is_not_accepted(tpp: Tpp, country: str) -> None:
    body = to_america(creditor_account__country=country, creditor_address__country=country)
    assert refused(tpp.initiate(XB, body), 400, COUNTRY, "'creditor_account.country'")


def test_what_is_no_country_is_a_bad_value(tpp: Tpp) -> None:
    body = to_america(creditor_account__country="ZZ")
    assert refused(tpp.initiate(XB, body), 400, INVALID, "'creditor_account.country'")


@pytest.mark.parametrize("currency", ("USD", "EUR", "TND"))
def test_the_currency_of_the_beneficiary_s_compartment_may_be_given(tpp: Tpp, currency: str) -> None:
    assert accepted(tpp, XB, to_tunisia(creditor_account__currency=currency))


# creditor_address


def test_within_the_eea_no_address_is_needed(tpp: Tpp) -> None:
    assert accepted(tpp, XB, payment(XB, creditor_account={"iban": FRENCH}))


@pytest.mark.parametrize("iban", (SWISS, BRITISH))
def test_outside_the_eea_an_address_is_required_also_within_sepa(tpp: Tpp, iban: str) -> None:
    body = payment(XB, creditor_account={"iban": iban})
    assert refused(tpp.initiate(XB, body), 400, MISSING, "'creditor_address")
    whole = body | {"creditor_address": {"city": "Bern", "country": iban[:2]}}
    assert accepted(tpp, XB, whole)


@pytest.mark.parametrize("body", (to_tunisia(), to_america()), ids=("iban", "bban"))
def test_outside_the_eea_an_address_is_required(tpp: Tpp, body: dict[str, Any]) -> None:
    body = {name: value for name, value in body.items() if name != "creditor_address"}
    assert refused(tpp.initiate(XB, body), 400, MISSING, "'creditor_address")


@pytest.mark.parametrize("field", ("city", "country"))
def test_outside_the_eea_an_address_has_city_and_country(tpp: Tpp, field: str) -> None:
    body = to_tunisia(**{f"creditor_address__{field}": None})
    assert refused(tpp.initiate(XB, body), 400, MISSING, f"'creditor_address.{field}'")


def test_an_address_has_five_parts_of_up_to_70_characters(tpp: Tpp) -> None:
    parts = dict.fromkeys(("street", "building_number", "postcode", "city"), "x" * 70)
    assert accepted(tpp, XB, to_tunisia(creditor_address=parts | {"country": "TN"}))


@pytest.mark.parametrize("field", ("street", "building_number", "postcode", "city"))
@pytest.mark.parametrize("value", ("", "x" * 71, "a\nb"))
def test_a_longer_or_controlling_part_of_an_address_is_refused(tpp: Tpp, field: str, value: str) -> None:
    body = to_tunisia(**{f"creditor_address__{field}": value})
    assert refused(tpp.initiate(XB, body), 400, INVALID, f"'creditor_address.{field}'")


@pytest.mark.parametrize("country", ("ZZ", "tn", "TUN"))
def test_the_country_of_an_address_is_one_of_iso_3166(tpp: Tpp, country: str) -> None:
    body = to_tunisia(creditor_address__country=country)
    assert refused(tpp.initiate(XB, body), 400, INVALID, "'creditor_address.country'")
