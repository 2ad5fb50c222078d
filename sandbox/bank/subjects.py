"""The types of subjects: everything that has a status."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar, NamedTuple

from sandbox.bank.records import Debtor, Fact, Origin, Payment
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency
from sandbox.bulkfiles.reader import Kind
from sandbox.bulkfiles.report import BatchReport, FileFindings, RefusedBatch
from sandbox.contract import kinds
from sandbox.contract.field_rows import EUR
from sandbox.contract.moves import Status, cancellable


@dataclass(slots=True)
class Batch:
    """A bulk of a file."""

    rule: ClassVar[None] = None  # a scenario's rule is about the whole file
    path: ClassVar[str] = "bulk in a file"
    settled: ClassVar[bool] = False

    id: str
    bulk_id: str
    batch: BatchReport | RefusedBatch
    status: Status = Status.RCVD
    reason: str | None = None
    executes_on: date | None = None
    tries: int = 0
    history: tuple[Fact, ...] = ()

    @property
    def paying(self) -> BatchReport:
        """The batch to pay; a refused bulk has none."""
        assert isinstance(self.batch, BatchReport)
        return self.batch

    @property
    def debtor(self) -> Debtor:
        return Debtor(self.paying.debtor_iban, self.paying.debtor_currency)

    @property
    def findings(self) -> FileFindings:
        return self.batch.findings

    @property
    def is_payable(self) -> bool:
        return self.status in (Status.PATC, Status.PDNG)

    @property
    def deferred(self) -> bool:
        return self.executes_on is not None


@dataclass(slots=True)
class BulkFile:
    """A file."""

    kind: ClassVar[kinds.InitiationKind] = kinds.BULK
    path: ClassVar[str] = "bulk-payments"
    settled: ClassVar[bool] = False
    sepa: ClassVar[bool] = True
    debtor: ClassVar[None] = None  # each of its bulks names its own

    id: str
    format: Kind
    origin: Origin
    packed: bytes  # its content, until it is validated
    reference: str | None = None  # the TPP's own
    status: Status = Status.RCVD
    reason: str | None = None
    customer: str | None = None
    signatures: tuple[str, ...] = ()
    signed_on: date | None = None  # the last signature
    unpaid: int = 0  # bulks that were signed and wait for their execution
    message_id: str | None = None
    sca_token: str | None = None
    rule: int | None = None  # of the scenario
    parts: list[Batch] = field(default_factory=list)
    findings: FileFindings = field(default_factory=FileFindings)
    history: tuple[Fact, ...] = ()

    @property
    def reference_group(self) -> str:
        return self.kind.group_of(self.format)

    @property
    def payable_parts(self) -> list[Batch]:
        """Bulks that may still be paid."""
        return [part for part in self.parts if part.is_payable]

    @property
    def total(self) -> Decimal:
        """The sum of the payable bulks."""
        return sum((part.paying.control_sum for part in self.payable_parts), Decimal())

    @property
    def deferred(self) -> bool:
        """Whether all payable bulks are future-dated or in recycling (service 3.4)."""
        return all(part.deferred for part in self.payable_parts)


@dataclass(frozen=True, slots=True)
class StandingOrderRequest:
    """A standing order as it was asked for (service 2.2)."""

    product: ClassVar[str] = kinds.STANDING_ORDER.products[0]
    currency: ClassVar[str] = EUR  # service 2.2

    creditor_iban: str
    creditor_name: str
    endtoend_identification: str
    frequency: Frequency
    start_date: date
    debtor: Debtor | None = None
    amount: Money | None = None  # FIXED
    variable: bool = False
    minimal: Money | None = None  # stays on the account
    maximal: Money | None = None  # leaves it at the most
    end_date: date | None = None
    execution_date: date | None = None
    structured: str | None = None
    unstructured: str | None = None

    @property
    def first(self) -> date:
        """The day of the first execution; a weekly one may have a weekday of its own."""
        return self.execution_date or self.start_date

    @property
    def periodic_payment_type(self) -> str:
        return "VARIABLE" if self.variable else "FIXED"


class Execution(NamedTuple):
    """An execution of a standing order; without an amount it failed."""

    number: int
    at: datetime
    amount: Money | None


@dataclass(slots=True)
class StandingOrder:
    """A contract and where it stands."""

    kind: ClassVar[kinds.InitiationKind] = kinds.STANDING_ORDER
    path: ClassVar[str] = "periodic-payments"
    deferred: ClassVar[bool] = False
    settled: ClassVar[bool] = False
    sepa: ClassVar[bool] = True

    id: str
    order: StandingOrderRequest
    origin: Origin
    status: Status
    debtor: Debtor | None = None
    customer: str | None = None
    reason: str | None = None
    signatures: tuple[str, ...] = ()
    active_since: datetime | None = None
    next_number: int = 1
    rule: int | None = None  # of the scenario
    sca_token: str | None = None
    runs: tuple[Execution, ...] = ()
    history: tuple[Fact, ...] = ()

    @property
    def reference_group(self) -> str:
        return self.kind.group


UNSIGNED = (Status.RCVD, Status.PATC)
Initiation = Payment | StandingOrder | BulkFile
Subject = Initiation | Batch


def cancellation_facts(subject: Subject) -> dict[str, object]:
    """What decides whether a DELETE may be: the status, since when, and the statuses that permit it (service 3.4)."""
    return {
        "status": subject.status.value,
        "since": subject.history[-1].at if subject.history else None,
        "cancellable_while": list(cancellable(subject.path)),
    }
