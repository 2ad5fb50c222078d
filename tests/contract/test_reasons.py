"""A reason is a row of contract/reasons: its form, and that no code stands anywhere else."""

import ast
import re
from pathlib import Path

import pytest

from sandbox.contract.reasons import CODE_FORM, ISO_CODES, USUAL_REASONS, Reason
from sandbox.scenarios import load
from sandbox.scenarios.reading import list_shipped

SANDBOX = Path(__file__).parents[2] / "sandbox"
PACKAGES = ("bank", "web/api", "web/psu", "extensions/lift")  # that give or read reasons
CODES = {reason.code for reason in Reason}
OF_ISO_20022 = re.compile(r"[A-Z]{2}[0-9]{2}")


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_a_code_of_the_form_and_says_what_it_means_and_where_it_is_used(reason: Reason) -> None:
    row = reason.value
    assert re.fullmatch(CODE_FORM, row.code) and [one for one in Reason if one.code == row.code] == [reason]
    assert row.meaning.endswith(".") and row.used and re.match(r"(service|choice) [0-9]", row.clause)
    assert row.iso_code or re.fullmatch(r"[A-Z]{2}[0-9]{2}|FOCR", row.code)


def test_reasons_in_words_have_a_code_of_iso_20022() -> None:
    assert ISO_CODES == {"TIME_OUT": "TM01", "PSU_REFUSED": "DS02", "CONTRACT_ENDED": "DS02"}
    assert set(USUAL_REASONS.values()) <= CODES


@pytest.mark.parametrize(
    "file", [file for name in PACKAGES for file in sorted((SANDBOX / name).rglob("*.py"))], ids=str
)
def test_no_reason_is_written_out_where_code_gives_or_reads_it(file: Path) -> None:
    texts = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
    literal = [text for text in texts if isinstance(text, str) and (text in CODES or OF_ISO_20022.fullmatch(text))]
    assert literal == []


def test_every_reason_of_the_shipped_scenarios_is_in_the_table() -> None:
    moves = [then for name, *_ in list_shipped() for rule in load(name).rules for then in rule.then]
    assert {then.reason for then in moves} - {None} <= CODES
