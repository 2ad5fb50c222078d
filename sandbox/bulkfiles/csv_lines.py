"""The csv format: one transfer a line; lines of the same debtor and date form a bulk (choice 7)."""

import csv
from collections.abc import Iterator
from datetime import date
from io import BytesIO, TextIOWrapper
from itertools import chain

from sandbox.bulkfiles import checks
from sandbox.bulkfiles.admission import Breathe
from sandbox.bulkfiles.checks import TRANSACTIONS_MAX, Draft, Fault, TransferText
from sandbox.bulkfiles.report import Allowance, FileFindings, FileReport

HEADER = (
    "debtor_iban",
    "requested_execution_date",
    "creditor_name",
    "creditor_iban",
    "creditor_bic",
    "amount",
    "currency",
    "endtoend_identification",
    "remittance_structured",
    "remittance_unstructured",
)
TEXT_COLUMNS = ("creditor_name", "endtoend_identification", "remittance_unstructured")
FORMULA = ("=", "+", "-", "@")  # a spreadsheet that opens the file would run such a cell
COLUMNS = {"structured": "remittance_structured", "unstructured": "remittance_unstructured"}
LINE_MAX = 10_000  # characters; ours
LINES_MAX = 2 * TRANSACTIONS_MAX  # ours: blank ones count here
LINES_A_BREATH = 200

Line = tuple[int, str]


class CsvFileReader:
    """Takes the lines of one file as they come."""

    def __init__(self, today: date, days_ahead_max: int, *, with_digits: bool = True) -> None:
        self.today, self.days_ahead_max = today, days_ahead_max
        self.with_digits = with_digits  # of structured communications (axis creditor_reference_in_file)
        self.allowance = Allowance()
        self.findings = FileFindings(self.allowance)
        self.drafts: dict[tuple[str, str], Draft] = {}
        self.endtoend: set[str] = set()
        self.count = 0

    def read(self, content: bytes, breathe: Breathe) -> FileReport:
        try:
            self._take_all(lines(content), breathe)
        except UnicodeDecodeError:
            self.findings.add("1", "ENCODING", "the file is not UTF-8")
        return FileReport(None, tuple(draft.close() for draft in self.drafts.values()), self.findings)

    def _take_all(self, found: Iterator[Line], breathe: Breathe) -> None:
        _, first = next(found, (1, ""))
        separator = next((mark for mark in ",;" if header_row(first, mark)), None)
        if separator is None:
            self.findings.add("1", "HEADER", f"the header row is not {','.join(HEADER)}")
            return
        for number, line in found:
            if number % LINES_A_BREATH == 0:
                breathe()
            if line:
                self._line(number, line, separator)
            if self.count > TRANSACTIONS_MAX or number > LINES_MAX:
                self.findings.add(str(number), "TOO_MANY", f"more than {TRANSACTIONS_MAX} transactions")
                return
        if not self.count:
            self.findings.add("1", "NO_TRANSACTION", "the file has no transaction")

    def _line(self, number: int, line: str, separator: str) -> None:
        """A line that cannot be cut belongs to no bulk, so it refuses the whole file."""
        self.count += 1
        try:
            cells = cut(line, separator)
        except ValueError as error:
            self.findings.add(str(number), "CSV", str(error))
            return
        if len(cells) != len(HEADER):
            self.findings.add(str(number), "COLUMNS", f"it has {len(cells)} columns, not {len(HEADER)}")
            return
        self._row(str(number), dict(zip(HEADER, cells, strict=True)))

    def _row(self, place: str, row: dict[str, str]) -> None:
        draft = self._draft(place, row["debtor_iban"], row["requested_execution_date"])
        order, before = order_of(place, row), draft.findings.count
        draft.sum.add(order.amount)
        references = checks.references(order, with_digits=self.with_digits)
        found = (checks.faults(order), references, formulas(row), checks.repeated(order, self.endtoend))
        for name, code, text in chain(*found):
            draft.findings.add(place, code, f"{COLUMNS.get(name, name)}: {text}")
        if draft.findings.count == before:
            draft.transfers.append(checks.transfer(order))

    def _draft(self, place: str, debtor: str, day: str) -> Draft:
        draft = self.drafts.get((debtor, day))
        if draft is None:
            name = f"BULK-{len(self.drafts) + 1}"
            draft = Draft(place, FileFindings(self.allowance), self.today, name, debtor)
            self.drafts[debtor, day] = draft
            if (why := checks.iban_fault(debtor)) is not None:
                draft.findings.add(place, "IBAN", f"debtor_iban: {why}")
            try:
                draft.execution_date = checks.read_date(day, self.today, self.days_ahead_max)
            except ValueError as error:
                draft.findings.add(place, "DATE", f"requested_execution_date: {error}")
            draft.has_sound_head = not draft.findings
        return draft


def formulas(row: dict[str, str]) -> Iterator[Fault]:
    for column in TEXT_COLUMNS:
        if row[column].lstrip().startswith(FORMULA):
            yield column, "FORMULA", "a text may not begin as a formula does"


def order_of(place: str, row: dict[str, str]) -> TransferText:
    structured, unstructured = row["remittance_structured"], row["remittance_unstructured"]
    return TransferText(
        place,
        row["creditor_name"],
        row["creditor_iban"],
        row["creditor_bic"],
        row["amount"],
        row["currency"],
        row["endtoend_identification"],
        [structured] if structured else [],
        [unstructured] if unstructured else [],
    )


def lines(content: bytes) -> Iterator[Line]:
    """Numbered from 1, without their ends; one that is too long comes cut, and so will not fit."""
    text = TextIOWrapper(BytesIO(content), encoding="utf-8-sig", newline="\n")
    number = 0
    while line := text.readline(LINE_MAX):
        number += 1
        yield number, line.removesuffix("\n").removesuffix("\r")


def cut(line: str, separator: str) -> list[str]:
    """The cells of one line: no cell of ours may hold a line end, so a quote must close where it opened."""
    if len(line) >= LINE_MAX:
        raise ValueError(f"it is over {LINE_MAX} characters long")
    try:
        (cells,) = csv.reader([line], delimiter=separator, strict=True)
    except (csv.Error, ValueError) as error:
        raise ValueError(f"it cannot be read: {error}") from None
    return cells


def header_row(line: str, separator: str) -> bool:
    try:
        return tuple(cut(line, separator)) == HEADER
    except ValueError:
        return False
