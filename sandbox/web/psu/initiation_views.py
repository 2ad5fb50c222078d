"""What an initiation wants of the PSU, one record per kind, taken under the world's lock."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sandbox.bank import accounts, bulk_checks, standing_orders
from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.execution import day_of
from sandbox.bank.records import Debtor, Order, Payment
from sandbox.bank.standing_order_records import Contract, StandingOrder
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Occurrence
from sandbox.files.report import Batch, Transfer

# Of a file of 100,000 transactions a page shows the beginning.
BULKS_SHOWN = 20
TRANSFERS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Source:
    """The compartment that pays, and whose it is."""

    debtor: Debtor
    owners: str


@dataclass(frozen=True, slots=True)
class PaymentWanted:
    """A single payment."""

    order: Order
    source: Source | None  # None until the PSU picks one
    today: date
    due: date  # the day on which it is executed
    taken: Money | None  # out of the debtor's compartment, where that is another currency

    words = ""  # a payment's words are the plain ones

    @property
    def named(self) -> bool:
        """Whether the TPP named what pays."""
        return self.order.debtor is not None


@dataclass(frozen=True, slots=True)
class OrderWanted:
    """A standing order, with its first and its last execution."""

    contract: Contract
    source: Source | None
    first: Occurrence
    last: Occurrence | None

    words = "order"

    @property
    def named(self) -> bool:
        return self.contract.debtor is not None


@dataclass(frozen=True, slots=True)
class Leaving:
    """All that a file takes from one account."""

    source: Source
    amount: Money
    count: int


@dataclass(frozen=True, slots=True)
class BulkSeen:
    """A bulk of a file that would be paid, with its first beneficiaries."""

    name: str
    source: Source
    amount: Money
    count: int
    planned: date
    on: date
    first: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class BulkRefused:
    """A bulk of a file that the bank does not pay."""

    name: str
    amount: Money
    count: int
    faults: int


@dataclass(frozen=True, slots=True)
class FileWanted:
    """A file: what would be paid, and apart from it what was refused."""

    message_id: str | None
    leaving: tuple[Leaving, ...]
    living: tuple[BulkSeen, ...]
    living_count: int
    refused: tuple[BulkRefused, ...]
    refused_count: int

    words = "bulk"
    named = True  # it names the account of each of its bulks

    @property
    def count(self) -> int:
        return sum(one.count for one in self.leaving)

    @property
    def amount(self) -> Money:
        """Files are in euro (choice 7)."""
        return Money(sum((one.amount.number for one in self.leaving), Decimal()), "EUR")


Wanted = PaymentWanted | OrderWanted | FileWanted


def wanted_of(bank: Bank, found: Initiation, picked: Debtor | None) -> Wanted:
    """`picked` is the account that the PSU chose in this session."""
    match found:
        case Payment():
            return _payment(bank, found.order, picked or found.debtor)
        case StandingOrder():
            return _order(bank, found, picked or found.debtor)
        case Bulk():
            return _file(bank, found)


def source_of(bank: Bank, debtor: Debtor) -> Source:
    owners = bank.accounts[debtor.iban].owners
    return Source(debtor, ", ".join(bank.customers[owner].name for owner in owners))


def _payment(bank: Bank, order: Order, debtor: Debtor | None) -> PaymentWanted:
    taken = accounts.cost(order.amount, debtor.currency) if debtor else order.amount
    return PaymentWanted(
        order,
        source_of(bank, debtor) if debtor else None,
        bank.clock.today,
        day_of(bank, order) or bank.clock.today,
        taken if taken.currency != order.amount.currency else None,
    )


def _order(bank: Bank, found: StandingOrder, debtor: Debtor | None) -> OrderWanted:
    last = standing_orders.last_of(found)
    return OrderWanted(
        found.order,
        source_of(bank, debtor) if debtor else None,
        standing_orders.nth(found, 1),
        standing_orders.nth(found, last) if last else None,
    )


def _file(bank: Bank, bulk: Bulk) -> FileWanted:
    living = bulk.payable_parts
    refused = [part for part in bulk.parts if not part.is_payable]
    return FileWanted(
        bulk.message_id,
        _leaving(bank, living),
        tuple(_bulk_seen(bank, part.paying) for part in living[:BULKS_SHOWN]),
        len(living),
        tuple(_bulk_refused(part) for part in refused[:BULKS_SHOWN]),
        len(refused),
    )


def _leaving(bank: Bank, living: list[Part]) -> tuple[Leaving, ...]:
    sums: dict[Debtor, Decimal] = defaultdict(Decimal)
    counts: dict[Debtor, int] = defaultdict(int)
    for part in living:
        sums[part.debtor] += part.paying.control_sum
        counts[part.debtor] += part.paying.number_of_transactions
    return tuple(
        Leaving(source_of(bank, debtor), Money(number, debtor.currency), counts[debtor])
        for debtor, number in sums.items()
    )


def _bulk_seen(bank: Bank, batch: Batch) -> BulkSeen:
    debtor = Debtor(batch.debtor_iban, batch.debtor_currency)
    return BulkSeen(
        batch.payment_information_id,
        source_of(bank, debtor),
        Money(batch.control_sum, batch.debtor_currency),
        batch.number_of_transactions,
        batch.execution_date,
        bulk_checks.execution_day(bank, batch.execution_date) or bank.clock.today,
        batch.transfers[:TRANSFERS_SHOWN],
    )


def _bulk_refused(part: Part) -> BulkRefused:
    batch = part.batch
    return BulkRefused(
        batch.payment_information_id or "",
        Money(batch.control_sum, "EUR"),
        batch.number_of_transactions,
        part.findings.count,
    )
