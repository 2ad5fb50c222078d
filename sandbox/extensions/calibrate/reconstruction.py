"""Makes the bank that a recording begins with, out of what its calls show.

Accounts of the shipped people keep their owners. For every other account of the recording there is a customer: accounts
that one reply lists together belong to one. Transactions that are older than the recording become the past of their
account, and the first balance that is shown is what it has. What no call shows is as in the shipped people.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.bank.ledger import OUTSIDE, Books, Ledger, LedgerEntry, Posting
from sandbox.bank.records import METHODS, Account, Customer, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking.calendar import brussels_date
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.contract.decisions import Decisions
from sandbox.extensions.calibrate.variables import plain
from sandbox.people import load_fixtures, open_bank, past_of
from sandbox.people.fixtures import Fixtures
from sandbox.recordings.recorded_calls import RecordedCall

SEEDS = (0, 1, 7)  # of the shipped people, whose past may be that of the recording
RICH = Decimal(100_000)  # the balance of an account of which no call shows one
OPENED = date(1990, 1, 2)
OLDER_LINES = 60  # behind the last page that was read, if it had a key
NAME = "Customer of the recording"
SAVINGS = ("savings-account", "SVGS")


@dataclass
class ShownAccount:
    """What the calls show of an account."""

    iban: str
    is_savings: bool = False
    balances: dict[str, Decimal] = field(default_factory=dict)  # the first that is shown, by currency
    lines: dict[str, list[LedgerEntry]] = field(default_factory=dict)  # newest first, by currency
    has_more: set[str] = field(default_factory=set)  # currencies of which older lines were not read
    together: set[str] = field(default_factory=set)  # accounts that a reply lists beside it
    is_business: bool = False


def in_plain_names(value: Any) -> dict[str, Any]:
    return {plain(name): inner for name, inner in value.items()} if isinstance(value, dict) else {}


def embedded(call: RecordedCall, name: str) -> list[dict[str, Any]]:
    rows = in_plain_names(in_plain_names(call.reply_json).get("embedded")).get(name)
    return [in_plain_names(row) for row in rows] if isinstance(rows, list) else []


class Shown:
    """The accounts of a recording, and who may read which of them."""

    def __init__(self, calls: Sequence[RecordedCall], opening: datetime) -> None:
        self.accounts: dict[str, ShownAccount] = {}
        self.by_logical_id: dict[str, str] = {}
        self.challenge_of: dict[str, str] = {}  # by access and refresh token
        self.ibans_of: dict[str, list[str]] = {}  # that were listed or read after the consent of a challenge
        self._first_day = brussels_date(opening)
        self._references: set[tuple[str, str]] = set()
        self._amounts = {amount for call in calls if call.method == "POST" for amount in amounts_in(call)}
        for call in calls:
            self._note_tokens(call)
            self._note_accounts(call)
        for call in calls:
            self._note_lines(call)

    def account(self, iban: Any) -> ShownAccount | None:
        if not isinstance(iban, str) or not is_iban(iban):
            return None
        return self.accounts.setdefault(iban, ShownAccount(iban))

    def _note_tokens(self, call: RecordedCall) -> None:
        if call.path != ("token",) or call.status != 200:
            return
        form = call.form
        challenge = self.challenge_of.get(form.get("refresh_token", "")) or next(iter(call.challenges), "")
        for name in ("access_token", "refresh_token"):
            if isinstance(call.reply_json.get(name), str):
                self.challenge_of[call.reply_json[name]] = challenge

    def _note_read(self, call: RecordedCall, iban: str) -> None:
        ibans = self.ibans_of.setdefault(self.challenge_of.get(call.access_token or "", ""), [])
        if iban not in ibans:
            ibans.append(iban)

    def _note_accounts(self, call: RecordedCall) -> None:
        body = call.json
        for name in ("debtor_account", "origin_account"):
            if isinstance(body.get(name), dict) and call.reply_json.get("error") != "INVALID_ACCOUNT":
                self.account(body[name].get("iban"))
        if call.path[0] == "bulk-payments" and call.method == "POST":
            for account in self.accounts.values():
                account.is_business |= account.iban in call.body
        if call.path[0] == "consent-uris" and call.status == 200:
            for name in ("iban", "account"):
                self.account(call.query.get(name))
        if call.path[0] != "accounts" or call.status != 200:
            return
        if len(call.path) == 1:
            rows = [row for row in embedded(call, "accounts") if self.account(row.get("iban"))]
            for row in rows:
                self.by_logical_id[str(row.get("logicalid"))] = row["iban"]
                self.accounts[row["iban"]].together |= {other["iban"] for other in rows}
                self._note_read(call, row["iban"])
        elif len(call.path) == 2:
            content = in_plain_names(call.reply_json)
            shown = self.account(content.get("iban"))
            if shown is not None:
                self.by_logical_id.setdefault(call.path[1], shown.iban)
                self._note_read(call, shown.iban)
                shown.is_savings |= content.get("type") in SAVINGS
                note_balances(shown, content)

    def _note_lines(self, call: RecordedCall) -> None:
        if call.path[0] != "accounts" or len(call.path) != 3 or call.status != 200:
            return
        shown = self.accounts.get(self.by_logical_id.get(call.path[1], ""))
        if shown is None:
            return
        rows = embedded(call, "transactions")
        entries = [entry for row in rows if (entry := self._line_of(shown.iban, row)) is not None]
        is_oldest_first = len(entries) > 1 and entries[0].on < entries[-1].on
        if is_oldest_first:
            entries.reverse()
        fresh: dict[str, list[LedgerEntry]] = {}
        for entry in entries:
            if (shown.iban, entry.reference) not in self._references:
                self._references.add((shown.iban, entry.reference))
                fresh.setdefault(entry.postings[0].amount.currency, []).append(entry)
        for currency, lines in fresh.items():
            earlier = shown.lines.get(currency, [])
            # A later page of a list that begins with the oldest line has newer ones.
            joined = [*lines, *earlier] if is_oldest_first else [*earlier, *lines]
            shown.lines[currency] = sorted(joined, key=lambda entry: entry.on, reverse=True)
        if (
            entries
            and not is_oldest_first
            and in_plain_names(in_plain_names(call.reply_json).get("embedded")).get("nextpagekey")
        ):
            shown.has_more.add(entries[-1].postings[0].amount.currency)

    def _line_of(self, iban: str, row: Mapping[str, Any]) -> LedgerEntry | None:
        """A line that is older than the recording. What a payment of the recording books is booked again."""
        number, currency = number_of(row.get("amount")), row.get("currency")
        if number is None or not isinstance(currency, str) or not is_currency(currency) or row.get("status"):
            return None
        if row.get("creditdebitindicator") == "DBIT":
            number = -abs(number)
        try:
            on = date.fromisoformat(str(row.get("executiondate"))[:10])
            value_on = date.fromisoformat(str(row.get("valuedate") or row.get("executiondate"))[:10])
        except ValueError:
            return None
        if on > self._first_day or (on == self._first_day and abs(number) in self._amounts):
            return None
        amount = Money(number, currency)
        name, account = row.get("counterpartyinfo") or None, row.get("counterpartyaccount") or None
        return LedgerEntry(
            str(row.get("transactionref")),
            on,
            value_on,
            (Posting(iban, amount, account, name), Posting(OUTSIDE, Money(-number, currency))),
            row.get("communication") or "",
            row.get("communicationtype") == "STRUCTURED",
            row.get("remittanceinfo") or "",
        )


def amounts_in(call: RecordedCall) -> Iterator[Decimal]:
    inner = call.json.get("instructed_amount")
    number = number_of(inner.get("amount") if isinstance(inner, dict) else call.json.get("amount"))
    if number is not None:
        yield abs(number)


def number_of(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def note_balances(shown: ShownAccount, content: Mapping[str, Any]) -> None:
    """Of all compartments, unless they are known already."""
    parts = content.get("othercompartments")
    for part in (content, *(map(in_plain_names, parts) if isinstance(parts, list) else ())):
        number, currency = number_of(part.get("balance")), part.get("currency")
        if number is not None and isinstance(currency, str) and is_currency(currency):
            shown.balances.setdefault(currency, number)


def make_bank(calls: Sequence[RecordedCall], shown: Shown, opening: datetime, seed: int, keys: tuple[str, ...]) -> Bank:
    """The bank of the recording at its first call. `keys` sign for every client."""
    fixtures = load_fixtures()
    customers, accounts = dict(fixtures.customers), dict(fixtures.accounts)
    for account in shown.accounts.values():
        if account.iban not in accounts:
            add_account(customers, accounts, account)
    entries = list(past_entries(fixtures, shown, opening))
    bank = open_bank(fixtures, seed, opening, Decisions())
    bank.customers, bank.accounts = customers, accounts
    bank.clients = clients_of(calls, fixtures, keys)
    bank.ledger = Ledger(lambda: Books(entries))
    return bank


def add_account(customers: dict[str, Customer], accounts: dict[str, Account], shown: ShownAccount) -> None:
    owner = next((accounts[iban].owners[0] for iban in sorted(shown.together) if iban in accounts), None)
    if owner is None:
        owner = f"customer-{len(customers) + 1}"
        kind = "business" if shown.is_business else "private"
        customers[owner] = Customer(owner, NAME, kind, "fr", methods=METHODS)
    currencies = tuple(dict.fromkeys((*shown.balances, *shown.lines, *(() if shown.balances else ("EUR",)))))
    kind = "savings-account" if shown.is_savings else "current-account"
    accounts[shown.iban] = Account(shown.iban, kind, (owner,), currencies)


def past_entries(fixtures: Fixtures, shown: Shown, opening: datetime) -> Iterator[LedgerEntry]:
    """The lines of all accounts before the recording."""
    first_day = brussels_date(opening)
    seed = next((seed for seed in SEEDS if is_past_of(fixtures, seed, first_day, shown)), SEEDS[1])
    books = past_of(fixtures, seed, first_day)
    is_shipped_past = is_past_of(fixtures, seed, first_day, shown)
    taken: set[str] = set()
    for (iban, currency), lines in books.lines.items():
        account = shown.accounts.get(iban)
        if is_shipped_past or account is None or not (account.lines or account.balances):
            yield from (replace_postings(line.entry, iban, currency) for line in lines)
        if is_shipped_past:
            taken.add(iban)
    for account in shown.accounts.values():
        if account.iban not in taken:
            yield from shown_entries(account, account.iban in fixtures.accounts)


def replace_postings(entry: LedgerEntry, iban: str, currency: str) -> LedgerEntry:
    """The side of one account alone, as the other one may have another past here."""
    own = [row for row in entry.postings if row.account == iban and row.amount.currency == currency]
    total = sum((row.amount.number for row in own), Decimal())
    return entry._replace(postings=(*own, Posting(OUTSIDE, Money(-total, currency))))


def is_past_of(fixtures: Fixtures, seed: int, first_day: date, shown: Shown) -> bool:
    """Whether the lines that are shown are those of the shipped people with this seed."""
    accounts = [account for account in shown.accounts.values() if account.lines and account.iban in fixtures.accounts]
    if not accounts:
        return not any(account.lines for account in shown.accounts.values())
    books = past_of(fixtures, seed, first_day)
    for account in accounts:
        for currency, entries in account.lines.items():
            lines = {(line.on, line.posting.amount) for line in books.lines.get((account.iban, currency), ())}
            known = [(entry.on, entry.postings[0].amount) in lines for entry in entries if entry.on < first_day]
            if known.count(False) > len(known) // 10:
                return False
    return True


def shown_entries(account: ShownAccount, is_shipped: bool) -> Iterator[LedgerEntry]:
    currencies = dict.fromkeys((*account.balances, *account.lines)) or {"EUR": None}
    for currency in currencies:
        entries = list(account.lines.get(currency, ()))
        if currency in account.has_more and entries:
            entries += older_lines(account.iban, currency, entries[-1].on)
        total = sum((entry.postings[0].amount.number for entry in entries), Decimal())
        opening = account.balances.get(currency, RICH) - total
        if opening:
            yield line_of(account.iban, Money(opening, currency), OPENED, "opening")
        yield from reversed(entries)


def older_lines(iban: str, currency: str, last: date) -> Iterator[LedgerEntry]:
    for number in range(1, OLDER_LINES + 1):
        with suppress(OverflowError):
            yield line_of(iban, Money(Decimal("-0.01"), currency), last - timedelta(days=number), f"older-{number}")


def line_of(iban: str, amount: Money, on: date, reference: str) -> LedgerEntry:
    return LedgerEntry(reference, on, on, (Posting(iban, amount), Posting(OUTSIDE, -amount)))


def clients_of(calls: Sequence[RecordedCall], fixtures: Fixtures, keys: tuple[str, ...]) -> dict[str, RegisteredClient]:
    """Clients whose calls the bank accepted, with the secrets and addresses that they sent."""
    clients = dict(fixtures.clients)
    secrets: dict[str, str] = {}
    addresses: dict[str, set[str]] = {}
    for call in calls:
        if call.status >= 400:
            continue
        if "client-id" in call.headers:
            addresses.setdefault(call.headers["client-id"], set()).add(call.headers.get("redirect-uri", ""))
        credentials = basic_credentials(call)
        if credentials is not None:
            secrets[credentials[0]] = credentials[1]
    for name in {*addresses, *secrets}:
        client = clients.get(name) or RegisteredClient(name, "", name, ("PIS", "AIS", "CAF"))
        uris = tuple(dict.fromkeys((*client.redirect_uris, *sorted(addresses.get(name, set()) - {""}))))
        secret = secrets.get(name) or client.secret or "secret"
        clients[name] = replace(client, secret=secret, redirect_uris=uris, active=True)
    return {name: replace(client, keys=(*client.keys, *keys)) for name, client in clients.items()}


def basic_credentials(call: RecordedCall) -> tuple[str, str] | None:
    scheme, _, encoded = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client, _, secret = b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return client, secret
