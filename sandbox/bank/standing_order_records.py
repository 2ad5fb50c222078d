"""Records of standing orders (service 2.2)."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import ClassVar, NamedTuple

from sandbox.bank.records import Debtor, Fact, Origin
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency
from sandbox.contract import kinds
from sandbox.contract.field_rows import EUR
from sandbox.contract.moves import Status


@dataclass(frozen=True, slots=True)
class Contract:
    """A standing order as it was asked for (service 2.2)."""

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

    @property
    def currency(self) -> str:
        """Standing orders are in euro (service 2.2)."""
        return EUR


class Run(NamedTuple):
    """An execution of a standing order; without an amount it failed."""

    number: int
    at: datetime
    amount: Money | None


@dataclass(slots=True)
class StandingOrder:
    """A contract and where it stands."""

    kind: ClassVar[kinds.Kind] = kinds.STANDING_ORDER
    sepa: ClassVar[bool] = True

    id: str
    order: Contract
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
    runs: list[Run] = field(default_factory=list)
    history: list[Fact] = field(default_factory=list)

    @property
    def reference_group(self) -> str:
        return self.kind.group

    @property
    def path(self) -> str:
        return "periodic-payments"

    @property
    def deferred(self) -> bool:
        return False

    @property
    def settled(self) -> bool:
        return False
