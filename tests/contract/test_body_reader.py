"""A body is read by its schema, or refused with what is wrong."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.bodies import CONTRACT_BODY, EARLIER_BODY, PAYMENT_BODY

PAYMENT: dict[str, Any] = {
    "debtor_account": {"iban": "BE16539100001774", "currency": "EUR"},
    "charge_bearer": "SHAR",
    "creditor_account": {
        "iban": "BE68539007547034",
        "bban": "000123456789",
        "bic": "GKCCBEBB",
        "bank_national_id": "021000021",
        "country": "US",
        "currency": "USD",
    },
    "creditor_name": "Jan Peeters",
    "creditor_address": {"street": "Rue", "building_number": "1", "postcode": "1000", "city": "X", "country": "BE"},
    "endtoend_identification": "INVOICE-1",
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
    "instruction_priority": "HIGH",
    "purpose_code": "SALA",
    "remittance_information_structured": "+++090/9337/55493+++",
    "remittance_information_unstructured": "Facture \u00e9\U0001f600",
    "requested_execution_date": "2027-03-02",
}
CONTRACT = {
    "creditor_account": {"iban": "BE68539007547034"},
    "creditor_name": "Jan Peeters",
    "endtoend_identification": "RENT-1",
    "periodic_payment_type": "VARIABLE",
    "instructed_amount": {"currency": "EUR", "amount": "1", "minimal_amount": "-1.00", "maximal_amount": "5"},
    "start_date": "2027-03-08",
    "end_date": "2028-03-08",
    "execution_date": "2027-03-08",
    "frequency": "MONTHLY",
}
EARLIER = {
    "origin_account": {"iban": "BE16539100001774"},
    "remote_account": {"name": "Jan", "iban": "BE68539007547034", "bic": "GKCCBEBB"},
    "amount": 12.5,
    "currency": "EUR",
    "communication": "Invoice",
    "communication_type": "FREETEXT",
    "execution_date": "2027-03-02",
    "payment_id": "R-1",
    "payment_treatment_type": "URGENT",
}
READERS = {
    "payment": (PAYMENT_BODY, PAYMENT),
    "contract": (CONTRACT_BODY, CONTRACT),
    "earlier": (EARLIER_BODY, EARLIER),
}
VALUES: tuple[Any, ...] = (
    None, True, 0, 7, 12.5, 1e13, -1e400, [], {}, ["EUR"], {"iban": "x"}, "", " ", "EUR", "eur", "EUR\n",
    "A\x00B", "A\u2028", "\ud800", "x" * 35, "x" * 36, "x" * 70, "x" * 71, "\U0001f600" * 70, "x" * 140, "x" * 141,
    "1", "1.5", "1.555", "-0", "1e3", "\u0661", "12.50\n", "2027-02-30", "2027-3-1", "20270301", "\u0662027-03-01",
    "HIGH", "NORM", "NORM|HIGH", "WEEKLY", "MONTHLY ", "URGENT", "STRUCTURED", "A-1", "A_1",
)  # fmt: skip


def places(body: dict[str, Any]) -> list[tuple[str, ...]]:
    inner = [(outer, name) for outer, part in body.items() if isinstance(part, dict) for name in (*part, "more")]
    return [*((outer,) for outer in body), ("more",), *inner]


@pytest.mark.parametrize("name", READERS)
def test_each_value_at_each_place_is_read_or_refused(name: str) -> None:
    reader, body = READERS[name]
    for outer, *inner in places(body):
        for value in VALUES:
            changed = deepcopy(body)
            (changed[outer] if inner else changed)[inner[0] if inner else outer] = value
            with suppress(Refusal):
                assert reader.load(changed).keys() == changed.keys()


def test_the_schema_says_why_a_body_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        PAYMENT_BODY.load(PAYMENT | {"creditor_name": "x" * 71})
    assert refused.value.error is Error.INPUT_INVALID
    assert refused.value.facts == {"input": "creditor_name", "why": "it must have 1 to 70 characters"}
