"""The csv format: one transfer per line. Lines of the same debtor and date form a batch (choice 7)."""

import csv
import re
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from itertools import chain

from sandbox.bulkfiles import checks
from sandbox.bulkfiles.admission import Progress
from sandbox.bulkfiles.checks import TRANSACTIONS_MAX, BatchDraft, Fault, FileReader, TransferText
from sandbox.bulkfiles.report import FileFindings, FileReport, ValidationRules

HEADER = (
    "debtor_iban", "requested_execution_date", "creditor_name", "creditor_iban", "creditor_bic", "amount", "currency",
    "endtoend_identification", "remittance_structured", "remittance_unstructured",
)  # fmt: skip
TEXT_COLUMNS = ("creditor_name", "endtoend_identification", "remittance_unstructured")
FORMULA_SIGNS = ("=", "+", "-", "@")  # a spreadsheet would run a cell that begins with one of these
COLUMNS = {"structured": "remittance_structured", "unstructured": "remittance_unstructured"}
# The characters that the SEPA rulebook allows in an identification. Choice 5 allows fewer.
IDENTIFICATION = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]{1,35}")
NO_IDENTIFICATION = "it takes 1 to 35 characters of the SEPA set"
LINE_MAX = 10_000  # characters; a limit of the sandbox's own
LINES_MAX = 2 * TRANSACTIONS_MAX  # a limit of the sandbox's own; blank lines count too
LINES_PER_PROGRESS = 200  # between two calls of `progress`

NumberedLine = tuple[int, str]


class CsvFileReader(FileReader):
    """Reads a csv file into a report, line by line."""

    def __init__(self, rules: ValidationRules) -> None:
        super().__init__(rules)
        self.drafts: dict[tuple[str, str], BatchDraft] = {}
        self.count = 0

    def read(self, content: bytes, progress: Progress) -> FileReport:
        try:
            self._read_lines(read_lines(content), progress)
        except UnicodeDecodeError:
            self.findings.add("1", "ENCODING", "the file is not UTF-8")
        return FileReport(None, tuple(draft.close() for draft in self.drafts.values()), self.findings)

    def _read_lines(self, lines: Iterator[NumberedLine], progress: Progress) -> None:
        _, first = next(lines, (1, ""))
        separator = next((mark for mark in ",;" if is_header(first, mark)), None)
        if separator is None:
            self.findings.add("1", "HEADER", f"the header row is not {','.join(HEADER)}")
            return
        for number, line in lines:
            if number % LINES_PER_PROGRESS == 0:
                progress()
            if line:
                self._read_line(str(number), line, separator)
            if self.count > TRANSACTIONS_MAX or number > LINES_MAX:
                self.findings.add(str(number), "TOO_MANY", f"more than {TRANSACTIONS_MAX} transactions")
                return
        if not self.count:
            self.findings.add("1", "NO_TRANSACTION", "the file has no transaction")

    def _read_line(self, place: str, line: str, separator: str) -> None:
        """Reads one transfer. A line that cannot be split into ten cells refuses the whole file, because it belongs to
        no batch."""
        self.count += 1
        try:
            cells = split_cells(line, separator)
        except ValueError as error:
            self.findings.add(place, "CSV", str(error))
            return
        if len(cells) != len(HEADER):
            self.findings.add(place, "COLUMNS", f"it has {len(cells)} columns, not {len(HEADER)}")
            return
        row = dict(zip(HEADER, cells, strict=True))
        draft = self._find_draft(place, row["debtor_iban"], row["requested_execution_date"])
        structured, unstructured = row["remittance_structured"], row["remittance_unstructured"]
        transfer = TransferText(
            place,
            creditor_name=row["creditor_name"],
            creditor_iban=row["creditor_iban"],
            creditor_bic=row["creditor_bic"],
            amount=row["amount"],
            currency=row["currency"],
            endtoend_identification=row["endtoend_identification"],
            structured=[structured] if structured else [],
            unstructured=[unstructured] if unstructured else [],
        )
        draft.sum.add(transfer.amount)
        faults = chain(
            checks.find_transfer_faults(transfer),
            find_column_faults(row, self.rules.with_digits),
            checks.find_repetition(transfer, self.endtoend_ids),
        )
        draft.add(transfer, ((place, code, f"{COLUMNS.get(name, name)}: {text}") for name, code, text in faults))

    def _find_draft(self, place: str, debtor: str, day: str) -> BatchDraft:
        if (debtor, day) in self.drafts:
            return self.drafts[debtor, day]
        name = f"BULK-{len(self.drafts) + 1}"
        draft = BatchDraft(place, FileFindings(self.allowance), self.rules.today, name, debtor)
        self.drafts[debtor, day] = draft
        if (fault := checks.find_iban_fault(debtor)) is not None:
            draft.findings.add(place, "IBAN", f"debtor_iban: {fault}")
        try:
            draft.execution_date = checks.read_date(day, self.rules)
        except ValueError as error:
            draft.findings.add(place, "DATE", f"requested_execution_date: {error}")
        draft.has_valid_head = not draft.findings
        return draft


def find_column_faults(row: dict[str, str], with_digits: bool) -> Iterator[Fault]:
    """Yields the faults that are checked in a csv only: wrong identifications and references, and texts that a
    spreadsheet would run as formulas. References have rules of their own here, because the SEPA rulebook does not
    regulate them in a csv (service 2.3). If `with_digits`, their check digits are checked, else only their length and
    characters."""
    structured = row["remittance_structured"]
    if not IDENTIFICATION.fullmatch(row["endtoend_identification"]):
        yield "endtoend_identification", "ENDTOEND_ID", NO_IDENTIFICATION
    if structured and not with_digits and not IDENTIFICATION.fullmatch(structured):
        yield "remittance_structured", "STRUCTURED", NO_IDENTIFICATION
    elif structured and with_digits and checks.read_reference(structured) is None:
        yield "remittance_structured", "STRUCTURED", f"{structured} is neither a Belgian communication nor ISO 11649"
    for column in TEXT_COLUMNS:
        if row[column].lstrip().startswith(FORMULA_SIGNS):
            yield column, "FORMULA", "a text may not begin as a formula does"


def read_lines(content: bytes) -> Iterator[NumberedLine]:
    """Yields the lines from number 1, without their ends. A line that is too long is cut to LINE_MAX characters, and
    refused later."""
    text = TextIOWrapper(BytesIO(content), encoding="utf-8-sig", newline="\n")
    number = 0
    while line := text.readline(LINE_MAX):
        number += 1
        yield number, line.removesuffix("\n").removesuffix("\r")
        while len(line) == LINE_MAX and not line.endswith("\n"):  # the rest of this line
            line = text.readline(LINE_MAX)


def split_cells(line: str, separator: str) -> list[str]:
    """Returns the cells of one line. Raises ValueError if the line is too long, or if its quotes are wrong. A quote
    must close on the same line, because a cell cannot contain a line break."""
    if len(line) >= LINE_MAX:
        raise ValueError(f"it is over {LINE_MAX} characters long")
    try:
        (cells,) = csv.reader([line], delimiter=separator, strict=True)
    except (csv.Error, ValueError) as error:
        raise ValueError(f"it cannot be read: {error}") from None
    return cells


def is_header(line: str, separator: str) -> bool:
    try:
        return tuple(split_cells(line, separator)) == HEADER
    except ValueError:
        return False
