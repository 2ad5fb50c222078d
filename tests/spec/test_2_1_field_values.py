"""service 2.1 and choice 5: which values a field may have."""

import json
from typing import Any

import pytest

from tests.spec.bodies import ALICE, BRAM, STRUCTURED, to_america, to_the_emirates
from tests.tpp import BELGIAN, ISCT, SCT, XB, Tpp, payment, refused

INVALID = "GEN-1202-100002"
MISSING = "GEN-1201-100002"


def accepted(tpp: Tpp, product: str = SCT, **changes: Any) -> bool:
    reply = tpp.initiate(product, payment(product, **changes))
    assert reply.status_code == 201, reply.text
    return True


def refused_body(tpp: Tpp, code: str, named: str, product: str = SCT, **changes: Any) -> bool:
    return refused(tpp.initiate(product, payment(product, **changes)), 400, code, f"'{named}'")


# instructed_amount


@pytest.mark.parametrize("amount", ("0.01", "1", "1.5", "007.00", "1234567890123", "9999999999999.99"))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_an_amount_is_a_decimal_string(tpp: Tpp, product: str, amount: str) -> None:
    assert accepted(tpp, product, instructed_amount__amount=amount)


BAD_AMOUNTS = (
    "", " 1", "1 ", "1.", ".5", "1,50", "1.234", "12345678901234", "+1", "--1", "1e3", "1_000", "0x1", "NaN", "١",
    "1\n",
)  # fmt: skip


@pytest.mark.parametrize("amount", (*BAD_AMOUNTS, 12.5, 12))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_anything_else_is_no_amount(tpp: Tpp, product: str, amount: Any) -> None:
    assert refused_body(tpp, INVALID, "instructed_amount.amount", product, instructed_amount__amount=amount)


@pytest.mark.parametrize("amount", ("0", "0.00", "-0.01", "-5"))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_an_amount_is_above_zero(tpp: Tpp, product: str, amount: str) -> None:
    code = "B14821ZZ-1231-000000"
    assert refused_body(tpp, code, "instructed_amount.amount", product, instructed_amount__amount=amount)


@pytest.mark.parametrize("currency, amount", [("JPY", "125"), ("KWD", "1.25"), ("USD", "1.25")])
def test_an_amount_may_use_the_decimals_of_its_currency(tpp: Tpp, currency: str, amount: str) -> None:
    assert accepted(tpp, XB, instructed_amount={"currency": currency, "amount": amount})


@pytest.mark.parametrize("currency, amount", [("JPY", "1.5"), ("JPY", "1.00"), ("KRW", "2.5")])
def test_an_amount_cannot_have_more_decimals_than_its_currency(tpp: Tpp, currency: str, amount: str) -> None:
    money = {"currency": currency, "amount": amount}
    assert refused_body(tpp, INVALID, "instructed_amount.amount", XB, instructed_amount=money)


@pytest.mark.parametrize("currency", ("eur", "EU", "EURO", "E R", ""))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("field", ("instructed_amount", "debtor_account"))
def test_a_currency_is_three_upper_case_letters(tpp: Tpp, product: str, field: str, currency: str) -> None:
    debtor = {"iban": ALICE}
    changes = {"debtor_account": debtor, f"{field}__currency": currency}
    assert refused_body(tpp, INVALID, f"{field}.currency", product, **changes)


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_a_sepa_payment_without_currency_is_in_euro(tpp: Tpp, product: str) -> None:
    tpp.initiated(product, instructed_amount={"amount": "3.00"})
    assert tpp.listed("payments")[0]["order"]["instructed_amount"] == {"currency": "EUR", "amount": "3.00"}


@pytest.mark.parametrize("product", (SCT, ISCT))
@pytest.mark.parametrize("field", ("instructed_amount", "debtor_account"))
def test_a_sepa_payment_is_in_euro_only(tpp: Tpp, product: str, field: str) -> None:
    changes = {"debtor_account": {"iban": BRAM}, f"{field}__currency": "USD"}
    assert refused_body(tpp, "B14821ZZ-1232-000000", f"{field}.currency", product, **changes)


@pytest.mark.parametrize("currency", ("XAU", "XXX", "ZZZ", "KPW"))
@pytest.mark.parametrize("field", ("instructed_amount", "creditor_account", "debtor_account"))
def test_a_currency_that_the_bank_does_not_deal_in_is_refused(tpp: Tpp, field: str, currency: str) -> None:
    changes = {"debtor_account": {"iban": BRAM}, f"{field}__currency": currency}
    assert refused_body(tpp, "B14821ZZ-1232-000000", f"{field}.currency", XB, **changes)


# debtor_account


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("debtor", ({}, {"currency": "EUR"}))
def test_a_debtor_account_that_is_present_carries_an_iban(tpp: Tpp, product: str, debtor: dict[str, str]) -> None:
    assert refused_body(tpp, MISSING, "debtor_account.iban", product, debtor_account=debtor)


BAD_IBANS = (
    BELGIAN.lower(), "be" + BELGIAN[2:], BELGIAN[:-1] + "5", BELGIAN + "1", BELGIAN[:-1], f" {BELGIAN}",
    "BE68 5390 0754 7034", "ZZ68539007547034", "BE68", "", "DE8937040044053201300A",
)  # fmt: skip


@pytest.mark.parametrize("iban", BAD_IBANS)
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("account", ("debtor_account", "creditor_account"))
def test_an_iban_has_the_length_shape_and_check_digits_of_its_country(
    tpp: Tpp, product: str, account: str, iban: str
) -> None:
    assert refused_body(tpp, INVALID, f"{account}.iban", product, **{account: {"iban": iban}})


# Words


@pytest.mark.parametrize("name", ("J", "é" * 70, "O'Brien & Zonen <bv>", "Łukasz 株式会社"))
def test_a_creditor_name_has_1_to_70_characters(tpp: Tpp, name: str) -> None:
    assert accepted(tpp, creditor_name=name)


@pytest.mark.parametrize("name", ("", "x" * 71, "a\nb", "a\tb", "a\x00b", "a\x7fb", "a\x85b"))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_a_longer_or_controlling_creditor_name_is_refused(tpp: Tpp, product: str, name: str) -> None:
    assert refused_body(tpp, INVALID, "creditor_name", product, creditor_name=name)


@pytest.mark.parametrize("reference", ("a", "Z", "-", "INV-2027-001", "x" * 35))
def test_an_end_to_end_identification_has_1_to_35_letters_digits_and_dashes(tpp: Tpp, reference: str) -> None:
    assert accepted(tpp, endtoend_identification=reference)


@pytest.mark.parametrize("reference", ("", "x" * 36, "a b", "a_b", "a/b", "é", "٣", "a\n", "a.b"))
@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_any_other_end_to_end_identification_is_refused(tpp: Tpp, product: str, reference: str) -> None:
    assert refused_body(tpp, INVALID, "endtoend_identification", product, endtoend_identification=reference)


@pytest.mark.parametrize("bearer", ("SHAR", "DEBT", "CRED"))
def test_a_charge_bearer_is_one_of_three(tpp: Tpp, bearer: str) -> None:
    assert accepted(tpp, XB, charge_bearer=bearer)


@pytest.mark.parametrize("bearer", ("SLEV", "shar", "", "OUR"))
def test_another_charge_bearer_is_refused(tpp: Tpp, bearer: str) -> None:
    assert refused_body(tpp, INVALID, "charge_bearer", XB, charge_bearer=bearer)


@pytest.mark.parametrize("priority", ("NORM", "HIGH"))
@pytest.mark.parametrize("product", (SCT, XB))
def test_an_instruction_priority_is_norm_or_high(tpp: Tpp, product: str, priority: str) -> None:
    assert accepted(tpp, product, instruction_priority=priority)


@pytest.mark.parametrize("priority", ("URGENT", "high", ""))
@pytest.mark.parametrize("product", (SCT, XB))
def test_another_instruction_priority_is_refused(tpp: Tpp, product: str, priority: str) -> None:
    assert refused_body(tpp, INVALID, "instruction_priority", product, instruction_priority=priority)


@pytest.mark.parametrize("purpose", ("SALA", "RENT", "GDDS"))
def test_a_purpose_is_a_code_of_iso_20022(tpp: Tpp, purpose: str) -> None:
    assert accepted(tpp, XB, purpose_code=purpose)


@pytest.mark.parametrize("purpose", ("sala", "SAL", "SALAR", "ZZZZ", "SAL1", ""))
def test_another_purpose_is_refused(tpp: Tpp, purpose: str) -> None:
    assert refused_body(tpp, INVALID, "purpose_code", XB, purpose_code=purpose)


def test_a_purpose_is_required_where_the_countries_file_says_so(tpp: Tpp) -> None:
    body = to_the_emirates(purpose_code=None)
    assert refused(tpp.initiate(XB, body), 400, MISSING, "'purpose_code'")


def test_a_purpose_is_one_that_the_country_accepts(tpp: Tpp) -> None:
    body = to_the_emirates(purpose_code="ACCT")  # in the ISO list, not in the country's
    assert refused(tpp.initiate(XB, body), 400, INVALID, "'purpose_code'")


def test_where_the_countries_file_asks_for_no_purpose_none_is_needed(tpp: Tpp) -> None:
    assert tpp.initiate(XB, to_america()).status_code == 201


# remittance_information


@pytest.mark.parametrize("text", (STRUCTURED, "090933755493"))
@pytest.mark.parametrize("product", (SCT, ISCT))
def test_a_structured_communication_has_the_belgian_form(tpp: Tpp, product: str, text: str) -> None:
    assert accepted(tpp, product, remittance_information_structured=text)


BAD_STRUCTURED = (
    "+++090/9337/55494+++", "090933755494", "09093375549", "090/9337/55493", "***090/9337/55493***",
    f" {STRUCTURED}", "RF18539007547034", "", "free text",
)  # fmt: skip


@pytest.mark.parametrize("text", BAD_STRUCTURED)
@pytest.mark.parametrize("product", (SCT, ISCT))
def test_another_structured_communication_is_refused(tpp: Tpp, product: str, text: str) -> None:
    field = "remittance_information_structured"
    assert refused_body(tpp, INVALID, field, product, **{field: text})


@pytest.mark.parametrize("product", (SCT, ISCT))
def test_a_structured_communication_cannot_go_with_an_unstructured_one(tpp: Tpp, product: str) -> None:
    field = "remittance_information_structured"
    both = {field: STRUCTURED, "remittance_information_unstructured": "x"}
    assert refused_body(tpp, INVALID, field, product, **both)


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_an_unstructured_communication_has_up_to_140_characters(tpp: Tpp, product: str) -> None:
    field = "remittance_information_unstructured"
    assert accepted(tpp, product, **{field: "ç" * 140})
    assert refused_body(tpp, INVALID, field, product, **{field: "ç" * 141})


# requested_execution_date: the bank's day is Monday 2027-03-01


@pytest.mark.parametrize("day", ("2027-03-01", "2027-03-02", "2027-03-06", "2028-02-29"))
@pytest.mark.parametrize("product", (SCT, XB))
def test_an_execution_date_lies_from_today_to_365_days_ahead(tpp: Tpp, product: str, day: str) -> None:
    assert accepted(tpp, product, requested_execution_date=day)


@pytest.mark.parametrize("day", ("2027-02-28", "2026-03-01", "2028-03-01", "9999-12-31"))
@pytest.mark.parametrize("product", (SCT, XB))
def test_a_date_before_today_or_beyond_365_days_is_refused(tpp: Tpp, product: str, day: str) -> None:
    assert refused_body(tpp, INVALID, "requested_execution_date", product, requested_execution_date=day)


@pytest.mark.parametrize(
    "day", ("20270302", "2027-3-2", "02/03/2027", "2027-02-30", "2027-W10-2", "2027-03-02T00:00", "", "tomorrow")
)
def test_a_date_is_written_year_month_day(tpp: Tpp, day: str) -> None:
    assert refused_body(tpp, INVALID, "requested_execution_date", requested_execution_date=day)


def test_a_day_that_the_calendar_does_not_have_is_told_as_such(tpp: Tpp) -> None:
    reply = tpp.initiate(SCT, payment(SCT, requested_execution_date="2027-02-30"))
    assert refused(reply, 400, INVALID, "2027-02-30 does not exist: February 2027 has 28 days")


def test_today_is_the_day_in_brussels(tpp: Tpp) -> None:
    tpp.control("POST", "/clock", set="2027-03-02T00:30:00+01:00")  # still the 1st in UTC
    assert accepted(tpp, requested_execution_date="2027-03-02")
    assert refused_body(tpp, INVALID, "requested_execution_date", requested_execution_date="2027-03-01")


# The body itself


BAD_BODIES = (
    b"", b"{", b"not json", b"[]", b'"text"', b"7", b"null", b"true", b'{"a": NaN}', b'{"a": 1e400}', b"{'a': 1}",
    b'{"creditor_name": "\xff"}', b'{"creditor_name": "\\ud800"}', b'{"a": ' * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("body", BAD_BODIES, ids=lambda body: body[:20].decode(errors="replace"))
def test_a_body_that_is_no_json_object_is_refused(tpp: Tpp, body: bytes) -> None:
    reply = tpp.call("POST", f"/payments/{SCT}", data=body, content_type="application/json")
    assert refused(reply, 400, INVALID, "'body'")


def test_a_body_in_utf_8_with_a_charset_is_read(tpp: Tpp) -> None:
    body = json.dumps(payment(creditor_name="Zoë"), ensure_ascii=False).encode()
    reply = tpp.call("POST", f"/payments/{SCT}", data=body, content_type="application/json; charset=utf-8")
    assert reply.status_code == 201
    assert tpp.listed("payments")[0]["order"]["creditor_name"] == "Zoë"
