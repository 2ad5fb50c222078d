"""A field is a row of contract/fields: what is made of it, and what a new one touches."""

from typing import Any

import pytest

from sandbox.client import payment_body, standing_order_body
from sandbox.contract.field_rows import AmountKind, BodyRow, make_body
from sandbox.contract.fields import BODIES, PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.contract.products import PRODUCTS
from sandbox.scenarios.step_words import STEPS
from sandbox.web.api.bodies import NAMES
from sandbox.web.api.body_schemas import ContractBody, EarlierBody, PaymentBody, make_request_schema


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.request)
def test_each_row_fits_its_body(body: BodyRow) -> None:
    assert len({field.path for field in body.fields}) == len(body.fields)
    for field in body.fields:
        assert len(field.uses) in (0, len(body.columns)) and set(field.uses) <= set("ro-"), field.path
        assert field.outer in body.by_path, field.path


def test_the_readers_take_the_fields_of_the_table_in_its_order() -> None:
    for body, schema in ((PAYMENT, PaymentBody), (STANDING_ORDER, ContractBody), (VERSION_1, EarlierBody)):
        made = make_request_schema(body)().fields
        assert list(schema().fields) == list(made) == [field.path for field in body.list_outers()]


def test_a_step_takes_the_words_of_the_table() -> None:
    amounts = {word for field in STANDING_ORDER.fields if isinstance(field.kind, AmountKind) for word in field.words}
    assert {*PAYMENT.paths} <= {*STEPS["pay"].keys}
    assert {*PAYMENT.paths, *STANDING_ORDER.paths} <= {*STEPS["order"].keys}
    assert {*STANDING_ORDER.paths} - {*PAYMENT.paths} - amounts == {*STEPS["order"].keys} - {*STEPS["pay"].keys}


def test_a_body_is_filled_by_words_and_nothing_is_sent_for_what_is_none() -> None:
    assert make_body(VERSION_1, {"creditor_iban": "BE1", "creditor_name": "Jan", "structured": None}) == {
        "remote_account": {"name": "Jan", "iban": "BE1"}
    }


def test_the_client_takes_any_other_word_of_the_body_and_refuses_an_unknown_one() -> None:
    given: dict[str, Any] = {"creditor_iban": "BE1", "creditor_name": "Jan", "amount": "1"}
    assert payment_body(**given, creditor_bic="GKCCBEBB")["creditor_account"] == {"iban": "BE1", "bic": "GKCCBEBB"}
    with pytest.raises(TypeError, match="'amout' is no field of PaymentBody"):
        payment_body(**given, amout="1")
    with pytest.raises(TypeError, match="'charge_bearer' is no field of ContractBody"):
        standing_order_body(**given, start="2027-03-08", charge_bearer="SHAR")


def test_an_input_has_its_name_of_version_1() -> None:
    assert NAMES["debtor_account.iban"] == "origin_account.iban"
    assert NAMES["requested_execution_date"] == "execution_date"
    assert NAMES["endtoend_identification"] == "payment_id"


def test_the_columns_of_a_payment_are_the_products() -> None:
    assert PAYMENT.columns == tuple(PRODUCTS)
