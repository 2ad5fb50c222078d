"""The csv format of choice 7."""

import re
from datetime import date
from decimal import Decimal

import pytest

from sandbox.banking.iban import make_belgian
from sandbox.bulkfiles.report import FileReport, ValidationRules
from sandbox.bulkfiles.stages import read_file
from tests.bulkfiles.a_file import CREDITOR, DEBTOR, HEADER, TODAY, codes, csv, read, texts

OTHER = make_belgian("539", 1000055)
BOM = b"\xef\xbb\xbf"


# What holds


@pytest.mark.parametrize("bom", [b"", BOM])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_every_spelling_of_a_file_gives_the_same_transfers(bom: bytes, end: str, mark: str) -> None:
    rows = ({"remittance_structured": "+++090/9337/55493+++", "remittance_unstructured": ""}, {"amount": "2.5"})
    report = read_all(bom + csv(*rows, end=end, mark=mark))
    (batch,) = report.valid_batches
    assert (batch.payment_information_id, batch.debtor_iban) == ("BULK-1", DEBTOR)
    assert (batch.execution_date, batch.batch_booking) == (date(2027, 3, 2), False)
    assert (batch.number_of_transactions, batch.control_sum) == (2, Decimal("12.50"))
    first, second = batch.transfers
    assert (first.place, first.creditor_iban, first.structured) == ("2", CREDITOR, "+++090/9337/55493+++")
    assert (second.place, second.amount.text(), second.unstructured) == ("3", "2.50", "Wages")


def read_all(content: bytes) -> FileReport:
    from sandbox.bulkfiles.stages import admit, read_file

    admit("csv", content)
    return read_file("csv", content, ValidationRules(date(2027, 3, 1)))


def test_rows_of_the_same_debtor_and_date_form_a_bulk() -> None:
    rows = [{}, {"debtor_iban": OTHER}, {"requested_execution_date": "2027-03-01"}, {"debtor_iban": OTHER}, {}]
    report = read(csv(*rows))
    assert [(batch.payment_information_id, batch.number_of_transactions) for batch in report.valid_batches] == [
        ("BULK-1", 2),
        ("BULK-2", 2),
        ("BULK-3", 1),
    ]
    assert {batch.debtor_iban for batch in report.valid_batches} == {DEBTOR, OTHER}
    assert report.message_id is None


@pytest.mark.parametrize(
    "row",
    [
        {"creditor_bic": "KREDBEBB"},
        {"remittance_unstructured": ""},
        {"creditor_name": '"Peeters, Jan"'},
        {"creditor_name": '"Peeters ""Jan"""'},
        {"creditor_name": "A = B"},
        {"requested_execution_date": "2028-02-29"},
        {"endtoend_identification": "NOTPROVIDED"},
        {"remittance_structured": "RF18539007547034", "remittance_unstructured": ""},
    ],
)
def test_a_row_holds(row: dict[str, str]) -> None:
    assert codes(read(csv(row))) == []


def test_a_last_line_may_lack_its_end_and_blank_lines_are_passed_over() -> None:
    assert codes(read(csv({}).rstrip() + b"\n\n\n" + csv({}, {}).splitlines()[2])) == []


# What refuses a bulk


def test_a_day_that_the_calendar_does_not_have_is_told_as_such() -> None:
    report = read_all(csv({"requested_execution_date": "2027-02-30"}))
    assert texts(report) == ["requested_execution_date: 2027-02-30 does not exist: February 2027 has 28 days"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"debtor_iban": DEBTOR[:-1] + "0"}, "IBAN"),
        ({"debtor_iban": ""}, "IBAN"),
        ({"requested_execution_date": "2027-02-28"}, "DATE"),
        ({"requested_execution_date": "2028-03-01"}, "DATE"),
        ({"requested_execution_date": "02/03/2027"}, "DATE"),
        ({"requested_execution_date": "20270302"}, "DATE"),
        ({"requested_execution_date": "2027-02-30"}, "DATE"),
        ({"requested_execution_date": ""}, "DATE"),
        ({"creditor_name": ""}, "NAME"),
        ({"creditor_name": "n" * 71}, "NAME"),
        ({"creditor_iban": ""}, "IBAN"),
        ({"creditor_iban": CREDITOR.lower()}, "IBAN"),
        ({"creditor_iban": CREDITOR[:-1] + "0"}, "IBAN"),
        ({"creditor_iban": "TR330006100519786457841326"}, "COUNTRY"),
        ({"creditor_bic": "KRED"}, "BIC"),
        ({"creditor_bic": "ABNANL2A"}, "BIC"),
        ({"amount": '"10,00"'}, "AMOUNT"),
        ({"amount": "10.001"}, "AMOUNT"),
        ({"amount": "-10.00"}, "AMOUNT"),
        ({"amount": "0"}, "AMOUNT"),
        ({"amount": ""}, "AMOUNT"),
        ({"amount": "1e3"}, "AMOUNT"),
        ({"currency": "USD"}, "CURRENCY"),
        ({"currency": ""}, "CURRENCY"),
        ({"endtoend_identification": ""}, "ENDTOEND_ID"),
        ({"endtoend_identification": "E" * 36}, "ENDTOEND_ID"),
        ({"remittance_structured": "090933755494", "remittance_unstructured": ""}, "STRUCTURED"),
        ({"remittance_structured": "090933755493"}, "REMITTANCE"),
        ({"remittance_unstructured": "w" * 141}, "REMITTANCE"),
        ({"remittance_unstructured": "a\tb"}, "REMITTANCE"),
        ({"remittance_unstructured": "a\x00b"}, "REMITTANCE"),
        ({"creditor_name": "=1+1"}, "FORMULA"),
        ({"creditor_name": "+32"}, "FORMULA"),
        ({"creditor_name": "@SUM(A1)"}, "FORMULA"),
        ({"creditor_name": " =1+1"}, "FORMULA"),
        ({"endtoend_identification": "-1"}, "FORMULA"),
        ({"remittance_unstructured": "=HYPERLINK(1)"}, "FORMULA"),
    ],
)
def test_a_row_with_a_fault_refuses_its_bulk_alone(row: dict[str, str], code: str) -> None:
    sound = {"requested_execution_date": "2027-03-05"}
    report = read(csv(sound, row))
    assert codes(report) == [("3", code)]
    assert [batch.payment_information_id for batch in report.valid_batches] == ["BULK-1"]


def test_a_finding_names_its_column() -> None:
    (batch,) = read(csv({"currency": "USD"})).batches
    assert batch.findings.first[0].line == 2
    assert batch.findings.first[0].text.startswith("currency: ")


def test_an_identification_is_given_once_in_a_file() -> None:
    again = {"endtoend_identification": "E-1", "debtor_iban": OTHER}
    report = read(csv({}, again))
    assert codes(report) == [("3", "DUPLICATE_ENDTOEND")]
    assert [batch.debtor_iban for batch in report.valid_batches] == [DEBTOR]


# What refuses the whole file


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (csv(), ("1", "NO_TRANSACTION")),
        (csv({}, header=HEADER.upper()), ("1", "HEADER")),
        (csv({}, header=HEADER.replace("currency,", "")), ("1", "HEADER")),
        (csv({}, mark="\t"), ("1", "HEADER")),
        (csv({}, end="\r"), ("1", "HEADER")),
        (csv({}).split(b"\n", 1)[1], ("1", "HEADER")),
        (csv({}, {"creditor_name": "Peeters, Jan"}), ("3", "COLUMNS")),
        (csv({}) + b"a,b\n", ("3", "COLUMNS")),
        (csv({}, {"creditor_name": '"Peeters'}), ("3", "CSV")),
        (csv({}, {"creditor_name": '"Pee"ters'}), ("3", "CSV")),
        (csv({}, {"creditor_name": '"Jan\nPeeters"'}), ("3", "CSV")),
        (csv({}, {"creditor_name": "n" * 20_000}), ("3", "CSV")),
    ],
)
def test_what_cannot_be_cut_into_cells_refuses_the_whole_file(content: bytes, found: tuple[str, str]) -> None:
    from sandbox.bulkfiles.stages import read_file

    report = read_file("csv", content, ValidationRules(date(2027, 3, 1)))
    assert codes(report)[0] == found
    assert report.is_refused


def test_a_line_that_is_too_long_is_one_line() -> None:
    long = {"remittance_unstructured": "x" * 31_000}
    report = read(csv({}, long, {"amount": "x"}))
    assert codes(report) == [("3", "CSV"), ("4", "AMOUNT")]


def test_too_many_rows_refuse_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.bulkfiles.csv_reader.TRANSACTIONS_MAX", 2)
    assert codes(read(csv({}, {}))) == []
    assert codes(read(csv({}, {}, {}))) == [("4", "TOO_MANY")]


def test_too_many_blank_lines_refuse_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.bulkfiles.csv_reader.LINES_MAX", 4)
    assert codes(read(csv({}) + b"\n\n")) == []
    assert codes(read(csv({}) + b"\n\n\n")) == [("5", "TOO_MANY")]


def test_the_columns_are_those_of_the_contract() -> None:
    from sandbox.bulkfiles import csv_reader

    assert ",".join(csv_reader.HEADER) == HEADER
    assert set(csv_reader.TEXT_COLUMNS) < set(re.split(",", HEADER))


def test_where_a_bank_takes_references_as_texts_their_digits_are_not_checked() -> None:
    for text, taken in (("RF19539007547034", True), ("INVOICE 118", True), ("A" * 36, False), ("a_b", False)):
        report = read_file(
            "csv",
            csv({"remittance_structured": text, "remittance_unstructured": ""}),
            ValidationRules(TODAY, with_digits=False),
        )
        assert codes(report) == ([] if taken else [("2", "STRUCTURED")]), text
