"""Records of bulk files and their bulks."""

from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar

from sandbox.bank.records import Debtor, Fact, Origin
from sandbox.contract import kinds
from sandbox.contract.moves import Status
from sandbox.files.reader import Kind
from sandbox.files.report import Batch, Findings, RefusedBatch


@dataclass(slots=True)
class Part:
    """A bulk of a file."""

    rule: ClassVar[None] = None  # a scenario's rule is about the whole file

    id: str
    bulk_id: str
    batch: Batch | RefusedBatch
    status: Status = Status.RCVD
    reason: str | None = None
    executes_on: date | None = None
    tries: int = 0
    history: list[Fact] = field(default_factory=list)

    @property
    def path(self) -> str:
        return "bulk in a file"

    @property
    def paying(self) -> Batch:
        """The batch to pay; a refused bulk has none."""
        assert isinstance(self.batch, Batch)
        return self.batch

    @property
    def debtor(self) -> Debtor:
        return Debtor(self.paying.debtor_iban, self.paying.debtor_currency)

    @property
    def findings(self) -> Findings:
        return self.batch.findings

    @property
    def is_payable(self) -> bool:
        return self.status in (Status.PATC, Status.PDNG)

    @property
    def deferred(self) -> bool:
        return self.executes_on is not None

    @property
    def settled(self) -> bool:
        return False


@dataclass(slots=True)
class Bulk:
    """A file."""

    kind: ClassVar[kinds.Kind] = kinds.BULK
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
    parts: list[Part] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    history: list[Fact] = field(default_factory=list)

    @property
    def reference_group(self) -> str:
        return self.kind.group_of(self.format)

    @property
    def path(self) -> str:
        return "bulk-payments"

    @property
    def payable_parts(self) -> list[Part]:
        """Bulks that may still be paid."""
        return [part for part in self.parts if part.is_payable]

    @property
    def deferred(self) -> bool:
        """Whether all payable bulks are future-dated or in recycling (service 3.4)."""
        return all(part.deferred for part in self.payable_parts)

    @property
    def settled(self) -> bool:
        return False
