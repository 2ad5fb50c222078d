"""A copy of an account's transactions that stays right whatever the bank's references do.

A bank's transaction_ref may be shared by two transactions, change when a payment is booked, or be another one at each
read. So the copy identifies nothing by it alone. At each update it reads a period again as a whole and replaces what it
had of that period. What the bank lists is then in the copy, each line as often as the bank lists it. The copy's own
ids, to which a user's notes may refer, pass from an old line to the new one with the same content. Of lines with the
same content it does not matter which is which.

A payment that is not booked yet may show less than its booked line, or another text. So it passes its id to a line that
was booked since, of the same amount and currency, and only if the bank no longer lists it as pending.
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
    """A transaction under an id that the copy gave it."""

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
        """The sum of the booked transactions. Pending payments do not count, as they have not left the account."""
        return sum((line.info.amount for line in self.booked), Decimal())

    @property
    def reads_from(self) -> date:
        """The first day that the next update reads. It is some days before the newest booked line, but never before the
        copy's first day."""
        newest = max((date.fromisoformat(line.info.execution_date) for line in self.booked), default=None)
        return self.since if newest is None else max(self.since, newest - OVERLAP)

    def update(self, client: Client, logical_id: str, tokens: Tokens) -> None:
        """Reads the transactions since `reads_from`. If that fails, nothing changes: a period is replaced as a
        whole."""
        first = self.reads_from
        self.replace(first, client.all_transactions(logical_id, tokens, date_from=first, currency=self.currency))

    def replace(self, first: date, infos: Iterable[TransactionInfo]) -> None:
        """Replaces all transactions from a day on by the bank's list, including pending lines."""
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
        # What is no longer pending was booked, with its reference, its counterparty, or nothing but its amount.
        for key in (reference_of, counterparty_of, amount_of):
            open_payments = pass_ids(listed, booked, open_payments, taken_ids, key)
        copied = [CopiedLine(taken_ids.get(place) or next(self.ids), info) for place, info in enumerate(listed)]
        self.lines = [*copied, *stay]


Key = Callable[[TransactionInfo], Hashable]


def pass_ids(
    listed: list[TransactionInfo], places: list[int], old: list[CopiedLine], taken_ids: dict[int, int], key: Key
) -> list[CopiedLine]:
    """Gives the ids of old lines to listed lines that have the same key and no id yet. Returns the unmatched old
    lines."""
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
    """Returns the values that identify a transaction. The reference and the value date are not among them, because a
    bank may omit them."""
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
