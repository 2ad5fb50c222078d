"""service 2.2 and choice 6: every field of a standing order, taken and refused."""

from typing import Any

import pytest

from tests.contracts import ALICE, SAVINGS, contract, order, variable
from tests.tpp import BELGIAN, FRENCH, Tpp, refused

MISSING, INVALID = "GEN-1201-100002", "GEN-1202-100002"
COUNTRY, NOT_POSITIVE, CURRENCY = "B14821ZZ-1227-000000", "B14821ZZ-1231-000000", "B14821ZZ-1232-000000"
BEGIN, OFF_PERIOD, END = "B14821ZZ-1259-000000", "B14821ZZ-1322-000000", "B14821ZZ-1345-000000"
FREQUENCIES = ("WEEKLY", "MONTHLY", "TWO_MONTHLY", "QUARTERLY", "HALF_YEARLY", "YEARLY")
CURRENT_OF_BRAM = "BE56539100003188"
TODAY = "2027-03-01"

TAKEN: tuple[dict[str, Any], ...] = (
    {"debtor_account": {"iban": ALICE}},
    {"debtor_account": {"iban": ALICE, "currency": "EUR"}},
    {"creditor_account": {"iban": FRENCH}},
    {"creditor_account": {"iban": SAVINGS}},  # FIXED may pay anywhere
    {"periodic_payment_type": "FIXED"},
    {"instructed_amount__currency": None},
    {"instructed_amount__amount": "0.01"},
    {"instructed_amount__amount": "9999999999999.99"},
    {"creditor_name": "x" * 70},
    {"endtoend_identification": "x" * 35},
    {"remittance_information_structured": "+++090/9337/55493+++"},
    {"remittance_information_unstructured": "x" * 140},
    {"start_date": "2027-03-02"},
    {"start_date": "2027-04-04"},  # a Sunday: the execution moves, the contract does not
    {"start_date": "2199-12-31"},
    {"execution_date": "2027-04-01"},  # the same as start_date
    {"end_date": "2027-04-01"},
    {"end_date": "2027-04-30"},
    {"end_date": "2028-01-01"},
    {"end_date": "9999-12-31"},
    {"frequency": "WEEKLY", "execution_date": "2027-04-01"},
    {"frequency": "WEEKLY", "execution_date": "2027-04-07"},
    {"frequency": "WEEKLY", "execution_date": "2027-04-07", "end_date": "2027-04-07"},
    {"frequency": "WEEKLY", "end_date": "2027-05-20"},
    {"frequency": "TWO_MONTHLY", "end_date": "2027-06-01"},
    {"frequency": "QUARTERLY", "end_date": "2027-07-31"},
    {"frequency": "HALF_YEARLY", "end_date": "2027-10-01"},
    {"frequency": "YEARLY", "end_date": "2029-04-30"},
    *({"frequency": frequency} for frequency in FREQUENCIES),
)

REFUSED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"debtor_account": {}}, MISSING, "debtor_account.iban"),  # service 7.7
    ({"debtor_account": {"currency": "EUR"}}, MISSING, "debtor_account.iban"),
    ({"debtor_account": {"iban": ALICE.lower()}}, INVALID, "debtor_account.iban"),
    ({"debtor_account": {"iban": "BE17539100001774"}}, INVALID, "debtor_account.iban"),
    ({"debtor_account": {"iban": ALICE, "currency": "USD"}}, CURRENCY, "debtor_account.currency"),
    ({"debtor_account": {"iban": ALICE, "currency": "eur"}}, INVALID, "debtor_account.currency"),
    ({"debtor_account": {"iban": ALICE, "name": "Alice"}}, INVALID, "debtor_account.name"),
    ({"creditor_account": None}, MISSING, "creditor_account.iban"),
    ({"creditor_account": {}}, MISSING, "creditor_account.iban"),
    ({"creditor_account": {"iban": "BE69539007547034"}}, INVALID, "creditor_account.iban"),
    ({"creditor_account": {"iban": "be68539007547034"}}, INVALID, "creditor_account.iban"),
    ({"creditor_account": {"iban": "AE070331234567890123456"}}, COUNTRY, "creditor_account.iban"),
    ({"creditor_account__bic": "GKCCBEBB"}, INVALID, "creditor_account.bic"),
    ({"creditor_name": None}, MISSING, "creditor_name"),
    ({"creditor_name": ""}, INVALID, "creditor_name"),
    ({"creditor_name": "x" * 71}, INVALID, "creditor_name"),
    ({"endtoend_identification": None}, "B14821ZZ-1200-000000", "endtoend_identification"),
    ({"endtoend_identification": "RENT 1"}, INVALID, "endtoend_identification"),
    ({"endtoend_identification": "x" * 36}, INVALID, "endtoend_identification"),
    ({"periodic_payment_type": "fixed"}, INVALID, "periodic_payment_type"),
    ({"periodic_payment_type": "OTHER"}, INVALID, "periodic_payment_type"),
    ({"instructed_amount": None}, MISSING, "instructed_amount.amount"),
    ({"instructed_amount__amount": None}, MISSING, "instructed_amount.amount"),
    ({"instructed_amount__amount": 12.5}, INVALID, "instructed_amount.amount"),
    ({"instructed_amount__amount": "12,50"}, INVALID, "instructed_amount.amount"),
    ({"instructed_amount__amount": "12.505"}, INVALID, "instructed_amount.amount"),
    ({"instructed_amount__amount": "12345678901234"}, INVALID, "instructed_amount.amount"),
    ({"instructed_amount__amount": "0"}, NOT_POSITIVE, "instructed_amount.amount"),
    ({"instructed_amount__amount": "-0.00"}, NOT_POSITIVE, "instructed_amount.amount"),
    ({"instructed_amount__amount": "-1"}, NOT_POSITIVE, "instructed_amount.amount"),
    ({"instructed_amount__currency": "USD"}, CURRENCY, "instructed_amount.currency"),
    ({"instructed_amount__currency": "eur"}, INVALID, "instructed_amount.currency"),
    ({"instructed_amount__minimal_amount": "5"}, INVALID, "instructed_amount.minimal_amount"),
    ({"instructed_amount__maximal_amount": "5"}, INVALID, "instructed_amount.maximal_amount"),
    ({"start_date": None}, MISSING, "start_date"),
    ({"start_date": TODAY}, BEGIN, "start_date"),
    ({"start_date": "2027-02-28"}, BEGIN, "start_date"),
    ({"start_date": "2027-02-29"}, INVALID, "start_date"),
    ({"start_date": "20270401"}, INVALID, "start_date"),
    ({"start_date": "2027-04-01T06:00:00"}, INVALID, "start_date"),
    ({"start_date": "2200-01-01"}, INVALID, "start_date"),
    ({"start_date": "9999-12-31"}, INVALID, "start_date"),
    ({"execution_date": "2027-04-02"}, INVALID, "execution_date"),
    ({"execution_date": "2027-03-31"}, INVALID, "execution_date"),
    ({"frequency": "WEEKLY", "execution_date": "2027-03-31"}, INVALID, "execution_date"),
    ({"frequency": "WEEKLY", "execution_date": "2027-04-08"}, INVALID, "execution_date"),
    ({"frequency": None}, MISSING, "frequency"),
    ({"frequency": "DAILY"}, INVALID, "frequency"),
    ({"frequency": "monthly"}, INVALID, "frequency"),
    ({"end_date": "2027-03-31"}, END, "end_date"),
    ({"frequency": "WEEKLY", "end_date": "2027-03-31"}, END, "end_date"),
    ({"frequency": "WEEKLY", "execution_date": "2027-04-07", "end_date": "2027-04-06"}, INVALID, "end_date"),
    ({"frequency": "TWO_MONTHLY", "end_date": "2027-05-01"}, OFF_PERIOD, "end_date"),
    ({"frequency": "QUARTERLY", "end_date": "2027-06-30"}, OFF_PERIOD, "end_date"),
    ({"frequency": "HALF_YEARLY", "end_date": "2027-09-30"}, OFF_PERIOD, "end_date"),
    ({"frequency": "YEARLY", "end_date": "2028-03-31"}, OFF_PERIOD, "end_date"),
    ({"end_date": "soon"}, INVALID, "end_date"),
    ({"remittance_information_structured": "+++090/9337/55494+++"}, INVALID, "remittance_information_structured"),
    (
        {"remittance_information_structured": "+++090/9337/55493+++", "remittance_information_unstructured": "Rent"},
        INVALID,
        "remittance_information_structured",
    ),
    ({"remittance_information_unstructured": "x" * 141}, INVALID, "remittance_information_unstructured"),
    ({"requested_execution_date": "2027-04-01"}, INVALID, "requested_execution_date"),  # of single payments
    ({"colour": "red"}, INVALID, "colour"),
)

VARIABLE_TAKEN: tuple[dict[str, Any], ...] = (
    {},
    {"instructed_amount": None},
    {"instructed_amount__minimal_amount": "250.00"},
    {"instructed_amount__minimal_amount": "0"},
    {"instructed_amount__maximal_amount": "100"},
    {"instructed_amount__minimal_amount": "250.00", "instructed_amount__maximal_amount": "100.00"},
    {"creditor_account": {"iban": SAVINGS}, "debtor_account": {"iban": ALICE}},
)

VARIABLE_REFUSED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"instructed_amount__amount": "12.50"}, INVALID, "instructed_amount.amount"),
    ({"instructed_amount__minimal_amount": "-1"}, INVALID, "instructed_amount.minimal_amount"),
    ({"instructed_amount__minimal_amount": "1.001"}, INVALID, "instructed_amount.minimal_amount"),
    ({"instructed_amount__minimal_amount": 1}, INVALID, "instructed_amount.minimal_amount"),
    ({"instructed_amount__maximal_amount": "0"}, NOT_POSITIVE, "instructed_amount.maximal_amount"),
    ({"instructed_amount__maximal_amount": "-1"}, NOT_POSITIVE, "instructed_amount.maximal_amount"),
    ({"instructed_amount__maximal_amount": "x"}, INVALID, "instructed_amount.maximal_amount"),
    ({"instructed_amount__currency": "USD"}, CURRENCY, "instructed_amount.currency"),
    ({"creditor_account": {"iban": BELGIAN}}, INVALID, "creditor_account.iban"),  # another bank
    ({"creditor_account": {"iban": ALICE}}, INVALID, "creditor_account.iban"),  # no savings account
    ({"creditor_account": {"iban": CURRENT_OF_BRAM}}, INVALID, "creditor_account.iban"),
)


def named(case: Any) -> str:
    changes = case[0] if isinstance(case, tuple) else case
    return " ".join(f"{name}={value}"[:48] for name, value in changes.items()) or "as it is"


def test_the_reply_is_that_of_a_payment_but_waits_for_its_signature_at_once(tpp: Tpp) -> None:
    reply = order(tpp, contract())
    assert reply.status_code == 201
    path = f"/periodic-payments/sepa-credit-transfers/{reply.get_json()['payment_id']}"
    assert reply.json == {
        "payment_id": reply.get_json()["payment_id"],
        "endtoend_identification": "INVOICE-2027-001",
        "status": "PATC",
        "_links": {
            "sca_redirect": {"href": reply.headers["Location"], "templated": False},
            "self": {"href": f"{path}/details", "templated": False},
            "status": {"href": f"{path}/status", "templated": False},
        },
    }


@pytest.mark.parametrize("changes", TAKEN, ids=named)
def test_a_fixed_standing_order_is_taken(tpp: Tpp, changes: dict[str, Any]) -> None:
    reply = order(tpp, contract(**changes))
    assert reply.status_code == 201, reply.text


@pytest.mark.parametrize("case", REFUSED, ids=named)
def test_a_fixed_standing_order_is_refused(tpp: Tpp, case: tuple[dict[str, Any], str, str]) -> None:
    changes, code, field = case
    assert refused(order(tpp, contract(**changes)), 400, code, f"'{field}'")
    assert tpp.listed("standing-orders") == []


@pytest.mark.parametrize("changes", VARIABLE_TAKEN, ids=named)
def test_a_variable_standing_order_is_taken(tpp: Tpp, changes: dict[str, Any]) -> None:
    reply = order(tpp, variable(**changes))
    assert reply.status_code == 201, reply.text


@pytest.mark.parametrize("case", VARIABLE_REFUSED, ids=named)
def test_a_variable_standing_order_is_refused(tpp: Tpp, case: tuple[dict[str, Any], str, str]) -> None:
    changes, code, field = case
    assert refused(order(tpp, variable(**changes)), 400, code, f"'{field}'")
    assert tpp.listed("standing-orders") == []


@pytest.mark.parametrize("body", ([], "x", 1, None))
def test_a_body_that_is_no_object_is_refused(tpp: Tpp, body: Any) -> None:
    assert refused(order(tpp, body), 400 if body is not None else 415, "GEN" if body is not None else "SBX-0415")


def test_today_is_the_date_in_brussels(tpp: Tpp) -> None:
    tpp.control("POST", "/clock", set="2027-03-01T23:59:59+01:00")
    assert order(tpp, contract(start_date="2027-03-02")).status_code == 201
    tpp.advance("1s")
    assert refused(order(tpp, contract(start_date="2027-03-02")), 400, BEGIN, "'start_date'")


def test_the_listing_of_the_furthest_contract_stays_inside_the_calendar(tpp: Tpp) -> None:
    reply = order(tpp, contract(start_date="2199-12-31", frequency="YEARLY", end_date="9999-12-31"))
    found = tpp.control("GET", f"/standing-orders/{reply.get_json()['payment_id']}")
    assert found.status_code == 200 and len(found.get_json()["occurrences"]) == 12


def test_the_refusal_of_a_variable_order_says_where_it_may_pay(tpp: Tpp) -> None:
    reply = order(tpp, variable(creditor_account={"iban": BELGIAN}))
    assert refused(reply, 400, INVALID, "a variable standing order pays into a savings account of this bank")
