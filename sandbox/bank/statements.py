"""Pages of an account's lines (its booked transactions), by default newest first (service 4.10, choice 8)."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from hashlib import blake2b
from itertools import islice

from sandbox.bank import consents
from sandbox.bank.accounts import compute_unreserved_balance, convert_at_fixed_rate, demand_unblocked
from sandbox.bank.entries import debit_entry
from sandbox.bank.ledger import OUTSIDE, AccountLine, LedgerEntry, Posting, make_sort_key
from sandbox.bank.records import Account, Consent, Debtor, Grant, Payment
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status

ALL = "*"  # in the place of a currency: every compartment

LinePosition = tuple[date, int]
REFERENCE_BYTES = 8
FIRST, LAST = (date.min, 0), (date.max, 0)  # before and behind every line


@dataclass(frozen=True, slots=True)
class Query:
    """A request for one page of lines. The day `date_from` is included, the day `date_to` is not.

    `before` is the position of the last line on the previous page. `newest` is the number of the ledger's newest line
    at the time when the first page was read. Both are None in the request for the first page.
    """

    iban: str
    currency: str
    date_from: date | None
    date_to: date | None
    page_size: int
    before: LinePosition | None = None
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class LinePage:
    """A page of lines, by default newest first. `following` is the query of the next page, or None on the last page."""

    lines: Sequence[AccountLine]
    following: Query | None
    pending: Sequence[AccountLine] = ()  # signed payments that are not booked, where an axis shows them


def sum_in_euro(bank: Bank, account: Account) -> Money:
    """Returns the balance of an account (service 2.7): the sum of all compartments (one for each currency), converted
    to EUR at the bank's rates.

    In three cases returns the balance of the first compartment alone, in its own currency: if the account has only one
    compartment, if the decision `balance_of` is `euro`, or if that decision is `parameter` and the account does not
    have `globalised` as `balance_shown`.
    """
    first = read_balance(bank, account.iban, account.first_currency)
    if len(account.currencies) == 1:
        return first
    counted = bank.decisions.balance_of
    if counted == "euro" or (counted == "parameter" and account.balance_shown != "globalised"):
        return first
    balances = (
        convert_at_fixed_rate(read_balance(bank, account.iban, currency), "EUR") for currency in account.currencies
    )
    return sum(balances, Money.zero("EUR"))


def read_balance(bank: Bank, iban: str, currency: str) -> Money:
    """Returns the balance that account information shows. If the decision `balance_is` is `available`, reserved amounts
    are subtracted."""
    if bank.decisions.balance_is == "available":
        return Money(compute_unreserved_balance(bank, Debtor(iban, currency)), currency)
    return bank.ledger.read_balance(iban, currency)


def demand_consent(bank: Bank, grant: Grant) -> Consent:
    """Returns the consent of a grant. Raises a Refusal if the consent has ended, or if its customer blocked online
    access (service 1)."""
    consent = consents.demand_active(bank, grant.consent_id)
    demand_unblocked(bank, consent.customer)
    return consent


def open_accounts(bank: Bank, consent: Consent) -> list[tuple[str, Account]]:
    """Returns the accounts of a consent with their logical ids. Leaves out closed accounts (choice 10)."""
    accounts = ((logical_id, bank.accounts[iban]) for logical_id, iban in consent.logical_ids.items())
    return [(logical_id, account) for logical_id, account in accounts if not account.closed]


def demand_granted_account(bank: Bank, grant: Grant, logical_id: str) -> Account:
    """Returns the account with this logical id. Refuses an unknown id, an id of another consent, and a closed account.
    The first two are refused with the same error."""
    iban = demand_consent(bank, grant).logical_ids.get(logical_id)
    if iban is None:
        if bank.decisions.unknown_logical_id == "404":
            raise Refusal(Error.NOT_FOUND, input="logical-id")
        raise Refusal(
            Error.SECURITY_PROOF_REFUSED, input="logical-id", why="it is none of this consent", clause="choice 8"
        )
    account = bank.accounts[iban]
    if account.closed:
        raise Refusal(Error.ACCESS_DENIED, input="logical-id", why="the account is closed", clause="choice 10")
    return account


def is_fresh(bank: Bank, grant: Grant, sca_token: str | None) -> bool:
    """Whether the PSU authenticated a short time ago, by default in the last hour. This is so if the call has a valid
    SCA token, or if the consent was renewed recently.

    Refuses an unknown SCA token, and an SCA token of another consent. An expired token counts as missing (choice 2).
    """
    until = demand_consent(bank, grant).full_until
    renewed = until is not None and bank.clock.now <= until
    if sca_token is None:
        return renewed
    session = bank.sca_tokens.get(sca_token)
    if session is None or session.consent_id != grant.consent_id:
        raise Refusal(Error.SECURITY_PROOF_REFUSED, input="SCA-Token", why="it is none of this consent")
    return renewed or bank.clock.now <= session.until


def is_sca_due(bank: Bank, grant: Grant) -> bool:
    """Whether the last SCA of a consent is too old to read transactions (by default over 90 days). The balance can
    still be read."""
    return bank.clock.now - demand_consent(bank, grant).sca_at > bank.decisions.sca_renewal_after


def find_oldest_day(bank: Bank) -> date:
    return bank.clock.today - timedelta(days=consents.HISTORY_DAYS)


def asks_for_old(bank: Bank, query: Query) -> bool:
    """Whether the query names days before the oldest day that can be read without an SCA token. With `date_from`,
    returns whether it is before the oldest day. Without `date_from`, returns whether `date_to` is the oldest day or
    earlier, because the day `date_to` itself is not included. Returns False if the query has neither."""
    oldest = find_oldest_day(bank)
    if query.date_from is not None:
        return query.date_from < oldest
    return query.date_to is not None and query.date_to <= oldest


def read_page(bank: Bank, query: Query, oldest: date | None) -> LinePage:
    """Returns a page of lines, without lines before the day `oldest`. Finds the lines by binary search, so that the
    last page takes no longer than the first.

    Lines that were booked after the first page was read are left out, even if they have an earlier date. The first page
    can also have pending payments (signed, and not booked yet). If the decision `empty_page` is `first`, an empty page
    with a following page comes before the lines.
    """
    newest = bank.ledger.count if query.newest is None else query.newest
    backwards = bank.decisions.order_of_items == "newest_first"
    currencies = bank.accounts[query.iban].currencies if query.currency == ALL else (query.currency,)
    windows = (select_lines(bank.ledger.list_lines(query.iban, name), query, oldest, backwards) for name in currencies)
    first, *other_windows = windows
    lines = heapq.merge(first, *other_windows, key=make_sort_key, reverse=backwards) if other_windows else first
    is_first = query.before in (None, FIRST, LAST)  # the first page with lines; an empty page may come before it
    waiting = _list_pending(bank, query, currencies) if is_first else []
    size = query.page_size - len(waiting)
    found_lines = list(islice((line for line in lines if line.number <= newest), size + 1))
    if found_lines and query.before is None and bank.decisions.empty_page == "first":
        return LinePage((), replace(query, before=LAST if backwards else FIRST, newest=newest))
    more = len(found_lines) > size or (len(found_lines) == size and bank.decisions.exact_last_page == "key")
    following = replace(query, before=make_sort_key(found_lines[size - 1]), newest=newest) if more else None
    return LinePage(add_references(bank, found_lines[:size]), following, add_references(bank, waiting, pending=True))


def _list_pending(bank: Bank, query: Query, currencies: Sequence[str]) -> list[AccountLine]:
    """Returns the lines of signed payments that are not booked yet, newest first. Returns an empty list if the bank
    does not show them. Service 2.8 is silent about them. Returns at most one less than the page size, so that a booked
    line fits on the page too."""
    compartments = [Debtor(query.iban, name) for name in currencies]
    if not any(bank.reserved.get(debtor) or bank.reserved_later.get(debtor) for debtor in compartments):
        return []
    if not _shows_pending(bank):
        return []
    names = bank.leaving_from.get((bank.accounts[query.iban].owners[0], "payments"), ())
    payments = [bank.payments[name] for name in reversed(names) if name in bank.payments]
    waiting = [payment for payment in payments if payment.debtor in compartments and payment.status is Status.PDNG]
    days = (query.date_from or date.min, query.date_to or date.max)
    expected = (_make_expected_line(bank, payment) for payment in waiting)
    lines = [line for line in expected if days[0] <= line.on < days[1]]
    return lines[: query.page_size - 1]


def _shows_pending(bank: Bank) -> bool:
    """Whether pending payments are shown. This is so if the decision `pending_items` is `shown`, and also if another
    decision says how pending payments look."""
    decisions = bank.decisions
    return (
        decisions.pending_items == "shown"
        or decisions.pending_lines == "nearly_empty"
        or decisions.reference_when_booked == "changes"
        or decisions.text_when_booked == "changes"
    )


def _make_expected_line(bank: Bank, payment: Payment) -> AccountLine:
    """Returns the line of a pending payment. It is the line that the booking of the payment will have, but decisions
    can hide or replace its texts before the booking."""
    on, decisions = payment.executes_on or payment.signed_on, bank.decisions
    assert on is not None
    entry = debit_entry(bank, payment, on)
    posting = entry.postings[0]
    if decisions.text_when_booked == "changes":
        text = f"Payment order of {payment.signed_on}"
        entry = entry._replace(communication=text, structured=False, remark="PENDING")
    if decisions.pending_lines == "nearly_empty":
        posting = posting._replace(counterparty_account=None, counterparty_name=None)
        entry = entry._replace(communication="", structured=False, remark="")
    return AccountLine(on, 0, posting, entry)


def add_references(bank: Bank, lines: Sequence[AccountLine], *, pending: bool = False) -> Sequence[AccountLine]:
    """Returns the lines with the references that this bank shows for them at this moment. By default these are the
    lines' own references. Decisions can replace them. `pending` says that the lines are not booked yet.

    If the decision `reference_renumbered` is `changes`, a shown reference is a checksum of the line's reference, the
    bank's time and the number of postings. So all readers at one moment see the same reference, on every server and
    after a replay. The reference changes when time passes or, while the clock is frozen, when a posting is booked. A
    count of reads is not part of the checksum: reads are not in the log, so each server would have a different count.
    """
    if not lines:
        return lines
    decisions = bank.decisions
    repeats, renumbered = decisions.reference_repeats == "may", decisions.reference_renumbered == "changes"
    until_booked = pending and decisions.reference_when_booked == "changes"
    if not (repeats or renumbered or until_booked):
        return lines

    def shown(line: AccountLine) -> AccountLine:
        reference = f"{line.on:%Y-%j}" if repeats else line.entry.reference  # the statement of the n-th day of a year
        if until_booked:
            reference = f"PENDING-{reference}"
        if renumbered:
            moment = f"{reference} {bank.clock.now.timestamp()} {bank.ledger.count}"
            reference = blake2b(moment.encode(), digest_size=REFERENCE_BYTES).hexdigest()
        return line._replace(entry=line.entry._replace(reference=reference))

    return [shown(line) for line in lines]


def select_lines(
    lines: Sequence[AccountLine], query: Query, oldest: date | None, backwards: bool
) -> Iterator[AccountLine]:
    """Yields those of `lines` that match a query, newest first if `backwards`, else oldest first. Begins after the
    query's position `before`. Leaves out lines before the day `oldest`."""
    since = max(filter(None, (query.date_from, oldest)), default=None)
    first = 0 if since is None else bisect_left(lines, (since, 0), key=make_sort_key)
    end = len(lines) if query.date_to is None else bisect_left(lines, (query.date_to, 0), key=make_sort_key)
    if query.before is not None and backwards:
        end = min(end, bisect_left(lines, query.before, key=make_sort_key))
    elif query.before is not None:
        first = max(first, bisect_right(lines, query.before, key=make_sort_key))
    return map(lines.__getitem__, range(end - 1, first - 1, -1) if backwards else range(first, end))


def book_by_hand(
    bank: Bank,
    iban: str,
    amount: Money,
    on: date,
    other_account: str | None,
    other_name: str | None,
    text: str,
    structured: bool,
) -> AccountLine:
    """Books a transaction for a tester, such as an incoming salary, and returns its line (choice 10). Refuses an
    unknown or closed account, a currency that the account does not have, and a day in the future."""
    account = bank.accounts.get(iban)
    if account is None:
        raise Refusal(Error.NOT_FOUND, input="account")
    if account.closed:
        raise Refusal(Error.CONTROL_INVALID, input="account", why="it is closed")
    if amount.currency not in account.currencies:
        raise Refusal(Error.CONTROL_INVALID, input="currency", why="the account has no such compartment")
    if on > bank.clock.today:
        raise Refusal(Error.CONTROL_INVALID, input="date", why="it lies in the future")
    ours = Posting(iban, amount, other_account, other_name)
    entry = LedgerEntry(bank.mint.draw_id(), on, on, (ours, Posting(OUTSIDE, -amount)), text, structured, "BY HAND")
    bank.ledger.post(entry)
    lines = bank.ledger.list_lines(iban, amount.currency)
    return next(line for line in reversed(lines) if line.entry is entry)
