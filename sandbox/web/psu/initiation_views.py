"""What a PSU sees of an initiation: one record per kind, taken under the world's lock."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.bank import accounts, standing_orders
from sandbox.bank.execution import day_of, execution_day
from sandbox.bank.records import Debtor, Payment, PaymentRequest
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Batch, BulkFile, Initiation, StandingOrder, StandingOrderRequest
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Occurrence
from sandbox.bulkfiles.report import BatchReport
from sandbox.contract import kinds
from sandbox.contract.kinds import InitiationKind

# Of a file of 100,000 transactions a page shows the beginning.
BULKS_SHOWN = 20
TRANSFERS_SHOWN = 5


class PayingCompartment(NamedTuple):
    """The compartment that pays, and whose it is."""

    debtor: Debtor
    owners: str


@dataclass(frozen=True, slots=True)
class SingleView:
    """An initiation that one account pays."""

    order: Any
    source: PayingCompartment | None  # None until the PSU picks one

    @property
    def named(self) -> bool:
        """Whether the TPP named what pays."""
        return self.order.debtor is not None

    @property
    def sources(self) -> tuple[PayingCompartment, ...]:
        return (self.source,) if self.source else ()


@dataclass(frozen=True, slots=True)
class PaymentView(SingleView):
    """A single payment."""

    order: PaymentRequest
    today: date
    due: date  # the day on which it is executed
    taken: Money | None  # out of the debtor's compartment, where that is another currency


@dataclass(frozen=True, slots=True)
class OrderView(SingleView):
    """A standing order, with its first and its last execution."""

    order: StandingOrderRequest
    first: Occurrence
    last: Occurrence | None


@dataclass(frozen=True, slots=True)
class Leaving:
    """All that a file takes from one account."""

    source: PayingCompartment
    amount: Money
    count: int


@dataclass(frozen=True, slots=True)
class FileView:
    """A file: what would be paid, and apart from it what was refused."""

    message_id: str | None
    leaving: tuple[Leaving, ...]
    payable: list[dict[str, Any]]  # the first bulks
    payable_count: int
    refused: list[dict[str, Any]]
    refused_count: int

    named = True  # it names the account of each of its bulks

    @property
    def sources(self) -> tuple[PayingCompartment, ...]:
        return tuple(one.source for one in self.leaving)

    @property
    def count(self) -> int:
        return sum(one.count for one in self.leaving)

    @property
    def amount(self) -> Money:
        """Files are in euro (choice 7)."""
        return Money(sum((one.amount.number for one in self.leaving), Decimal()), "EUR")


InitiationView = PaymentView | OrderView | FileView


def view_of(bank: Bank, found: Initiation, picked: Debtor | None) -> InitiationView:
    """`picked` is the account that the PSU chose in this session."""
    return VIEWS[found.kind](bank, found, picked or found.debtor)


def listed_view(bank: Bank, found: Initiation) -> InitiationView:
    """As a list names it, also when it is over: a file with all of its bulks that the bank took."""
    if isinstance(found, BulkFile):
        return _file(bank, found, None, [part for part in found.parts if not part.findings])
    return view_of(bank, found, None)


def source_of(bank: Bank, debtor: Debtor) -> PayingCompartment:
    owners = bank.accounts[debtor.iban].owners
    return PayingCompartment(debtor, ", ".join(bank.customers[owner].name for owner in owners))


def _payment(bank: Bank, found: Payment, debtor: Debtor | None) -> PaymentView:
    order = found.order
    taken = accounts.cost(order.amount, debtor.currency) if debtor else order.amount
    return PaymentView(
        order,
        source_of(bank, debtor) if debtor else None,
        bank.clock.today,
        day_of(bank, order) or bank.clock.today,
        taken if taken.currency != order.amount.currency else None,
    )


def _order(bank: Bank, found: StandingOrder, debtor: Debtor | None) -> OrderView:
    last = standing_orders.last_of(found)
    return OrderView(
        found.order,
        source_of(bank, debtor) if debtor else None,
        standing_orders.nth(bank, found, 1),
        standing_orders.nth(bank, found, last) if last else None,
    )


def _file(bank: Bank, bulk: BulkFile, debtor: Debtor | None, shown: list[Batch] | None = None) -> FileView:
    payable = bulk.payable_parts if shown is None else shown
    refused = [part for part in bulk.parts if not part.is_payable]
    return FileView(
        bulk.message_id,
        _leaving(bank, payable),
        [_payable(bank, part.paying) for part in payable[:BULKS_SHOWN]],
        len(payable),
        [_refused(part) for part in refused[:BULKS_SHOWN]],
        len(refused),
    )


def _leaving(bank: Bank, payable: list[Batch]) -> tuple[Leaving, ...]:
    sums: dict[Debtor, Decimal] = defaultdict(Decimal)
    counts: dict[Debtor, int] = defaultdict(int)
    for part in payable:
        sums[part.debtor] += part.paying.control_sum
        counts[part.debtor] += part.paying.number_of_transactions
    return tuple(
        Leaving(source_of(bank, debtor), Money(number, debtor.currency), counts[debtor])
        for debtor, number in sums.items()
    )


def _payable(bank: Bank, batch: BatchReport) -> dict[str, Any]:
    """A bulk that would be paid, with its first beneficiaries."""
    return {
        "name": batch.payment_information_id,
        "debtor": batch.debtor_iban,
        "amount": Money(batch.control_sum, batch.debtor_currency),
        "count": batch.number_of_transactions,
        "planned": batch.execution_date,
        "on": execution_day(bank, batch.execution_date) or bank.clock.today,
        "first": batch.transfers[:TRANSFERS_SHOWN],
    }


def _refused(part: Batch) -> dict[str, Any]:
    batch = part.batch
    return {
        "name": batch.payment_information_id,
        "amount": Money(batch.control_sum, "EUR"),
        "count": batch.number_of_transactions,
        "faults": part.findings.count,
    }


VIEWS: dict[InitiationKind, Callable[[Bank, Any, Debtor | None], InitiationView]] = {
    kinds.PAYMENT: _payment,
    kinds.STANDING_ORDER: _order,
    kinds.BULK: _file,
}
