"""A copy of an account's transactions, which stays right even if the bank's references of transactions are unreliable.

A bank's transaction_ref may be shared by two transactions, may change when a payment is booked, and may differ from one
read to the next. So the copy never identifies a transaction by its reference alone. Each update reads all transactions
of a period again and replaces the copy's lines of that period. Then the copy has each line as often as the bank lists
it. The copy gives each line an id of its own, to which a user's notes may refer. An old line passes its id to the new
line with the same content. If several lines have the same content, it does not matter which of them gets which id.

A payment that is not booked yet may show less than its booked line, or another text. So a pending line may also pass
its id to a booked line that only has the same amount and currency. This happens only if the bank no longer lists the
payment as pending.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import count

from sandbox.client.records import Tokens, TransactionInfo
from sandbox.client.tpp import Client

OVERLAP = timedelta(days=30)  # how long after its date a transaction may still appear


@dataclass(frozen=True, slots=True)
class CopiedLine:
    """A transaction in the copy, with the id that the copy gave it."""

    id: int
    info: TransactionInfo


@dataclass(slots=True)
class AccountCopy:
    """The transactions of an account in one currency since a day, including pending ones."""

    since: date
    currency: str = "EUR"
    lines: list[CopiedLine] = field(default_factory=list)
    ids: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    @property
    def booked(self) -> list[CopiedLine]:
        return [line for line in self.lines if not line.info.pending]

    @property
    def pending(self) -> list[CopiedLine]:
        return [line for line in self.lines if line.info.pending]

    @property
    def total(self) -> Decimal:
        """The sum of the booked transactions. Pending payments do not count, because they have not left the account."""
        return sum((line.info.amount for line in self.booked), Decimal())

    @property
    def reads_from(self) -> date:
        """The first day that the next update reads: 30 days before the newest booked line, but never before the copy's
        first day. Without a booked line, this is the copy's first day."""
        newest = max((date.fromisoformat(line.info.execution_date) for line in self.booked), default=None)
        return self.since if newest is None else max(self.since, newest - OVERLAP)

    def update(self, client: Client, logical_id: str, tokens: Tokens) -> None:
        """Reads the transactions since `reads_from` from the bank and replaces those in the copy. If the reading fails,
        the copy does not change."""
        first = self.reads_from
        self.replace(first, client.all_transactions(logical_id, tokens, date_from=first, currency=self.currency))

    def replace(self, first: date, infos: Iterable[TransactionInfo]) -> None:
        """Replaces all booked lines from the day `first` on, and all pending lines, by the transactions that the bank
        listed. A new line gets the id of the old line that it replaces, or a new id if it replaces none."""
        listed = list(infos)
        stay = [line for line in self.booked if line.info.execution_date < first.isoformat()]
        earlier = [line for line in self.booked if line.info.execution_date >= first.isoformat()]
        taken_ids: dict[int, int] = {}  # the id of each listed line, by its place in the list
        booked = [place for place, info in enumerate(listed) if not info.pending]
        waiting = [place for place, info in enumerate(listed) if info.pending]
        pass_ids(listed, booked, earlier, taken_ids, content_of)
        open_payments = self.pending
        # The same reference first, then the same content: either may change, or be shared.
        for key in (identity_of, content_of):
            open_payments = pass_ids(listed, waiting, open_payments, taken_ids, key)
        # A payment that is no longer pending was booked. Its booked line may have the same reference, the same
        # counterparty, or only the same amount.
        for key in (reference_of, counterparty_of, amount_of):
            open_payments = pass_ids(listed, booked, open_payments, taken_ids, key)
        copied = [CopiedLine(taken_ids.get(place) or next(self.ids), info) for place, info in enumerate(listed)]
        self.lines = [*copied, *stay]


Key = Callable[[TransactionInfo], Hashable]


def pass_ids(
    listed: list[TransactionInfo], places: list[int], old: list[CopiedLine], taken_ids: dict[int, int], key: Key
) -> list[CopiedLine]:
    """Gives the ids of old lines to listed transactions that have the same key and no id yet. `places` are the
    transactions' places in `listed`, and `taken_ids` gets the ids by place. Returns the old lines that passed no id
    on."""
    free: dict[Hashable, list[int]] = defaultdict(list)
    for place in reversed(places):
        if place not in taken_ids:
            free[key(listed[place])].append(place)
    remaining_lines = []
    for line in old:
        same = free[key(line.info)]
        if same:
            taken_ids[same.pop()] = line.id
        else:
            remaining_lines.append(line)
    return remaining_lines


def content_of(info: TransactionInfo) -> Hashable:
    """Returns the values by which a transaction is recognized. The reference and the value date are left out, because a
    bank may change the reference and omit the value date."""
    texts = (info.communication, info.communication_type, info.remittance_info)
    return info.execution_date, counterparty_of(info), texts


def identity_of(info: TransactionInfo) -> Hashable:
    return info.transaction_ref, content_of(info)


def reference_of(info: TransactionInfo) -> Hashable:
    return info.transaction_ref, amount_of(info)


def counterparty_of(info: TransactionInfo) -> Hashable:
    return info.counterparty_account, info.counterparty_info, amount_of(info)


def amount_of(info: TransactionInfo) -> Hashable:
    return info.amount, info.currency
