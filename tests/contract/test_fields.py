"""A field is a row of contract/fields: what is made of it, and what a new one touches."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from sandbox.client import payment_body, standing_order_body
from sandbox.contract.field_rows import AmountKind, BodyRow, fill
from sandbox.contract.fields import BODIES, PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.contract.products import PRODUCTS
from sandbox.scenarios.step_rows import STEPS
from sandbox.web.api.bodies import NAMES
from sandbox.web.api.body_schemas import ContractBody, EarlierBody, PaymentBody, request_schema

ROOT = Path(__file__).parents[2]
COPY = "with_one_field_more"
MINE = "GAMMA"[1:]
MORNING = "2027-03-01T09:00:00+01:00"

# A new field of a product: its row, the attribute of the record that the bank keeps, and its label in each language.
ROW = """\
        Field(
            "project_code", TextKind(4, "[A-Z]{4}", "it must be four letters"), "o-o", "The project that pays.",
            label="project",
        ),
"""
ADDITIONS = {
    "contract/fields.py": ('        Field(\n            "remittance_information_structured"', ROW),
    "bank/records.py": (
        "    debtor: Debtor | None = None\n    creditor_address",
        "    project_code: str | None = None\n",
    ),
    "web/psu/catalogues/fr.po": ('msgid "review.purpose"', 'msgid "review.project"\nmsgstr "Projet"\n\n'),
    "web/psu/catalogues/nl.po": ('msgid "review.purpose"', 'msgid "review.project"\nmsgstr "Project"\n\n'),
}


def test_a_new_field_is_a_row_an_attribute_and_a_label(tmp_path: Path) -> None:
    """It is read, refused, written, documented, said by the client and in a scenario, and shown to the customer."""
    home = tmp_path / COPY
    for folder in ("sandbox", "fixtures", "scenarios"):
        copytree(ROOT / folder, home / folder)
    for name, (before, addition) in ADDITIONS.items():
        file = home / "sandbox" / name
        text = file.read_text()
        assert text.count(before) == 1, name
        file.write_text(text.replace(before, addition + before))
    told = subprocess.run(
        [sys.executable, "-m", "tests.contract.new_field"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (told.returncode, told.stdout) == (0, "done\n"), told.stderr


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.request)
def test_each_row_fits_its_body(body: BodyRow) -> None:
    assert len({field.path for field in body.fields}) == len(body.fields)
    for field in body.fields:
        assert len(field.uses) in (0, len(body.columns)) and set(field.uses) <= set("ro-"), field.path
        assert field.outer in body.by_path, field.path


def test_the_readers_take_the_fields_of_the_table_in_its_order() -> None:
    for body, schema in ((PAYMENT, PaymentBody), (STANDING_ORDER, ContractBody), (VERSION_1, EarlierBody)):
        made = request_schema(body)().fields
        assert list(schema().fields) == list(made) == [field.path for field in body.outers()]


def test_a_step_takes_the_words_of_the_table() -> None:
    amounts = {word for field in STANDING_ORDER.fields if isinstance(field.kind, AmountKind) for word in field.words}
    assert {*PAYMENT.paths} <= {*STEPS["pay"].keys}
    assert {*PAYMENT.paths, *STANDING_ORDER.paths} <= {*STEPS["order"].keys}
    assert {*STANDING_ORDER.paths} - {*PAYMENT.paths} - amounts == {*STEPS["order"].keys} - {*STEPS["pay"].keys}


def test_a_body_is_filled_by_words_and_nothing_is_sent_for_what_is_none() -> None:
    assert fill(VERSION_1, {"creditor_iban": "BE1", "creditor_name": "Jan", "structured": None}) == {
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
