"""The report of a bulk file's validation: its rules, its valid batches, and findings with their places (choice 7)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from sandbox.banking.money import Money
from sandbox.contract.decisions import Decisions
from sandbox.contract.moves import Status

TEXTS_MAX = 20  # stored findings of each batch, and of the file itself (choice 7)
# Limits of the sandbox's own, because a report must stay small. A file may have 100,000 faulty batches, and a finding
# may quote a value of a megabyte.
TEXTS_OF_FILE_MAX = 10_000
TEXT_LENGTH_MAX = 300

# All codes of findings. The rules of a scenario may add others (choice 13).
FindingCode = Literal[
    # the rest of the file cannot be read
    "ENCODING", "XML", "VERSION", "STRUCTURE", "TOO_MANY", "HEADER", "NO_TRANSACTION",
    "XSD", "CSV", "COLUMNS", "FORMULA",  # its form
    "MSG_ID", "DUPLICATE_MSGID", "NB_OF_TXS", "CTRL_SUM",  # its header
    "PMT_INF_ID", "DUPLICATE_PMT_INF", "PMT_MTD", "DATE", "DEBTOR_AGENT",  # bulks
    "NAME", "IBAN", "COUNTRY", "BIC", "AMOUNT", "CURRENCY", "STRUCTURED", "REMITTANCE",  # transfers
    "ENDTOEND_ID", "DUPLICATE_ENDTOEND", "REFERENCE_SLASHES",
    "CHARGE_BEARER", "SERVICE_LEVEL", "LOCAL_INSTRUMENT", "ADDRESS_LINES", "CHARACTERS",  # the SEPA rulebook
    "ACCOUNT", "PROFILE", "CHANNEL", "SIGNER",  # the bank's accounts and customers
]  # fmt: skip


class ValidationRules(NamedTuple):
    """The rules by which a bank validates the files of one day."""

    today: date
    days_ahead_max: int = Decisions.execution_days_ahead_max
    with_digits: bool = True  # whether check digits of communications are checked (axis creditor_reference_in_file)


@dataclass(frozen=True, slots=True)
class FileFinding:
    """A fault found in a file. `place` is a line number, written in digits, or the path of an element."""

    place: str
    code: str
    text: str

    @property
    def line(self) -> int | None:
        return int(self.place) if self.place.isdecimal() else None


def shorten(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[:TEXT_LENGTH_MAX]}..."


@dataclass(slots=True)
class Allowance:
    """How many more texts of findings may be stored. The findings of all batches of a file share one allowance."""

    left: int = TEXTS_OF_FILE_MAX


@dataclass(slots=True)
class FileFindings:
    """Counts findings by code. Stores the first TEXTS_MAX of them, while the allowance lasts."""

    allowance: Allowance = field(default_factory=Allowance, repr=False, compare=False)
    first: list[FileFinding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, code: FindingCode, text: str) -> None:
        self.counts[code] += 1
        if len(self.first) < TEXTS_MAX and self.allowance.left:
            self.allowance.left -= 1
            self.first.append(FileFinding(shorten(place), code, shorten(text)))

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __iter__(self) -> Iterator[FileFinding]:
        return iter(self.first)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A valid credit transfer."""

    place: str
    creditor_name: str
    creditor_iban: str
    creditor_bic: str | None
    amount: Money
    endtoend_identification: str
    structured: str | None
    unstructured: str | None


@dataclass(frozen=True, slots=True)
class RefusedTransfer:
    """A transfer with faults, for the status report of the file."""

    place: str
    endtoend_identification: str
    codes: tuple[str, ...]  # the codes of its faults, each once
    findings: tuple[FileFinding, ...]  # those of its findings that the batch stored


@dataclass(frozen=True, slots=True)
class BatchReport:
    """A valid batch, or the valid part of a batch with faulty transfers. The bank decides later whether its debtor may
    pay."""

    place: str
    payment_information_id: str
    debtor_iban: str
    debtor_currency: str
    execution_date: date
    batch_booking: bool
    transfers: tuple[Transfer, ...]
    number_of_transactions: int
    control_sum: Decimal
    findings: FileFindings  # the findings about the transfers in `refused`
    is_instant: bool = False  # whether it is executed as instant transfers are
    refused: tuple[RefusedTransfer, ...] = ()  # its transfers with faults, which are not executed


@dataclass(frozen=True, slots=True)
class RefusedBatch:
    """A batch with faults. Its number and sum were counted, because its own declarations may be wrong."""

    place: str
    payment_information_id: str | None
    number_of_transactions: int
    control_sum: Decimal
    findings: FileFindings
    rest: BatchReport | None = None  # the batch without its faulty transfers, if only some transfers have faults
    transfers: tuple[Transfer, ...] = ()  # if there is no `rest`: its valid transfers
    refused: tuple[RefusedTransfer, ...] = ()  # if there is no `rest`: its transfers with faults


@dataclass(frozen=True, slots=True)
class FileReport:
    """The validation of a whole file. A finding about the file itself refuses all of it."""

    message_id: str | None
    batches: tuple[BatchReport | RefusedBatch, ...]
    findings: FileFindings
    version: str | None = None  # such as pain.001.001.09; None for a csv

    @property
    def valid_batches(self) -> tuple[BatchReport, ...]:
        return () if self.findings else tuple(batch for batch in self.batches if isinstance(batch, BatchReport))

    @property
    def is_refused(self) -> bool:
        return not self.valid_batches

    @property
    def findings_count(self) -> int:
        return self.findings.count + sum(batch.findings.count for batch in self.batches)


class BatchStatus(NamedTuple):
    """A batch of a file with its status in the bank."""

    batch: BatchReport | RefusedBatch
    status: Status
    reason: str | None


class FileStatus(NamedTuple):
    """A validated file with its status in the bank, as the status report needs it."""

    file_id: str
    kind: str  # pain.001 or csv
    version: str | None
    message_id: str | None
    reference: str | None  # the TPP's own reference of the file
    status: Status
    reason: str | None
    findings: FileFindings
    batches: tuple[BatchStatus, ...]
    at: datetime


def render(report: FileReport) -> str:
    return "\n".join(_render_lines(report)) + "\n"


def _render_lines(report: FileReport) -> Iterator[str]:
    if report.is_refused:
        yield "The bank would refuse the whole file."
    elif len(report.valid_batches) < len(report.batches):
        yield f"The bank would take {len(report.valid_batches)} of {len(report.batches)} bulks."
    else:
        yield "The bank would take the whole file, if the debtor accounts are a business customer's."
    yield from _render_findings(report.findings, "")
    for batch in report.batches:
        name = batch.payment_information_id or "(no name)"
        verdict = "refused" if batch.findings else "holds"
        yield f"{name}: {verdict}; transactions: {batch.number_of_transactions}, sum: {batch.control_sum}"
        yield from _render_findings(batch.findings, "  ")


def _render_findings(findings: FileFindings, indent: str) -> Iterator[str]:
    for finding in findings:
        place_text = f"line {finding.place}" if finding.line is not None else finding.place
        yield f"{indent}{place_text}: {finding.code}: {finding.text}"
    if findings.count > len(findings.first):
        counts_text = ", ".join(f"{code} {count}" for code, count in sorted(findings.counts.items()))
        yield f"{indent}{findings.count} findings in all: {counts_text}"
