"""The samples that ship, and files of an independent library."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from sepaxml import SepaTransfer

from sandbox.banking.iban import BANK_BIC
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.samples import DAYS, SAMPLES, fill_sample
from sandbox.bulkfiles.stages import Kind, admit, read_file
from tests.bulkfiles.a_file import CREDITOR, DEBTOR

FOLDER = Path(__file__).parents[2] / "fixtures" / "bulk"
DAYS_OF_THE_BANK = (date(2027, 3, 1), date(2024, 2, 29), date(2031, 12, 31))

# How many bulks each takes of how many, and what it finds.
VERDICTS: dict[str, tuple[int, int, set[str]]] = {
    "three-bulks.pain.001.001.03.xml": (3, 3, set()),
    "three-bulks.pain.001.001.09.xml": (3, 3, set()),
    "three-bulks.csv": (3, 3, set()),
    "spreadsheet.csv": (1, 1, set()),
    "one-bad-bulk.pain.001.001.03.xml": (1, 2, {"IBAN", "AMOUNT", "CURRENCY", "DUPLICATE_ENDTOEND"}),
    "one-bad-bulk.csv": (
        1,
        2,
        {"FORMULA", "IBAN", "AMOUNT", "CURRENCY", "STRUCTURED", "DUPLICATE_ENDTOEND"},
    ),
    "bad-dates.pain.001.001.09.xml": (0, 2, {"DATE"}),
    "bad-schema.pain.001.001.09.xml": (0, 1, {"XSD"}),
    "bad-rulebook.pain.001.001.09.xml": (
        0,
        1,
        {"CHARGE_BEARER", "SERVICE_LEVEL", "CHARACTERS", "REFERENCE_SLASHES", "DEBTOR_AGENT"},
    ),
    "bad-sums.pain.001.001.03.xml": (0, 1, {"NB_OF_TXS", "CTRL_SUM"}),
    "bad-columns.csv": (0, 1, {"COLUMNS", "AMOUNT"}),
    "bad-header.csv": (0, 0, {"HEADER"}),
}


def kind_of(name: str) -> Kind:
    return "csv" if name.endswith(".csv") else "pain.001"


@pytest.mark.parametrize("today", DAYS_OF_THE_BANK)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_what_it_says_on_every_day(name: str, today: date) -> None:
    content = fill_sample(name, today)
    admit(kind_of(name), content)
    report = read_file(kind_of(name), content, ValidationRules(today))
    found = set(report.findings.counts)
    for batch in report.batches:
        found |= set(batch.findings.counts)
    assert (len(report.valid_batches), len(report.batches), found) == VERDICTS[name]
    assert SAMPLES[name].split()[0] == ("holds:" if not found else "one" if report.valid_batches else "refused:")


def test_every_sample_is_listed() -> None:
    assert {file.name for file in FOLDER.iterdir()} == set(SAMPLES) == set(VERDICTS)


def test_no_sample_names_a_fixed_day() -> None:
    for name in SAMPLES:
        words = [word.encode() for word in DAYS]
        assert any(word in (FOLDER / name).read_bytes() for word in words)
        assert not any(word in fill_sample(name, date(2027, 3, 1)) for word in words)


def test_the_spreadsheet_sample_is_spelled_as_one() -> None:
    content = fill_sample("spreadsheet.csv", date(2027, 3, 1))
    assert content.startswith(b"\xef\xbb\xbf") and content.count(b"\r\n") == content.count(b"\n") == 3
    assert b";" in content


# An independent library


@pytest.mark.parametrize("schema", ["pain.001.001.03", "pain.001.001.09"])
@pytest.mark.parametrize("in_batches", [True, False])
def test_files_of_an_independent_library_hold(schema: str, in_batches: bool) -> None:
    debtor = {"name": "Bakkerij", "IBAN": DEBTOR, "BIC": BANK_BIC, "batch": in_batches, "currency": "EUR"}
    transfers = SepaTransfer(debtor, schema=schema, clean=True)
    today = date(2027, 3, 1)
    for number in range(4):
        transfers.add_payment(
            {
                "name": "Ren\u00e9 Peeters",
                "IBAN": CREDITOR,
                "BIC": "KREDBEBB",
                "amount": 1250 + number,
                "execution_date": today + timedelta(number % 2),
                "description": f"Wages {number}",
            }
        )
    content = transfers.export(validate=True)
    admit("pain.001", content)
    report = read_file("pain.001", content, ValidationRules(today))
    assert report.findings_count == 0
    assert len(report.valid_batches) == (2 if in_batches else 4)
    assert {batch.batch_booking for batch in report.valid_batches} == {in_batches}
    paid = [transfer.amount.text() for batch in report.valid_batches for transfer in batch.transfers]
    assert sorted(paid) == ["12.50", "12.51", "12.52", "12.53"]
