"""Makes the bank as it was at the first call of a recording, from what the calls show.

The sandbox ships with people: customers and accounts with a past. If the recording has an account of these people, the
account keeps its owner. Every other account of the recording gets a new customer. Accounts that one reply lists
together get the same customer. Transactions that are older than the recording become the past of their account. The
first balance of an account that a call shows becomes its balance. Whatever no call shows is as the sandbox ships it.
"""

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from sandbox.bank.ledger import NOTHING, OUTSIDE, Books, Compartment, Ledger, LedgerEntry, Posting
from sandbox.bank.records import METHODS, Account, Customer, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.contract.decisions import Decisions
from sandbox.extensions.calibrate.variables import simplify_name
from sandbox.people import find_past_books, load_fixtures, open_bank
from sandbox.people.fixtures import Fixtures
from sandbox.recordings.recorded_calls import RecordedCall

SEEDS = (0, 1, 7)  # seeds of shipped people whose past the recording may show
RICH = Decimal(100_000)  # the balance of an account if no call shows its balance
OPENED = date(1990, 1, 2)
OLDER_LINES = 60  # invented lines that come after the last page that was read, if this page had a key
ONE_READ = timedelta(seconds=10)  # the longest time in which a client reads all pages of a list
NAME = "Customer of the recording"
SAVINGS = ("savings-account", "SVGS")


class ShownLine(NamedTuple):
    """A booked line (a transaction) of an account, and the time at which a reply first showed it. The time is None if
    the recording has no times."""

    seen: datetime | None
    entry: LedgerEntry

    def is_booked(self, at: datetime) -> bool:
        return self.entry.on < find_brussels_date(at) or self.seen is None or self.seen <= at + ONE_READ


@dataclass
class ShownAccount:
    """What the calls show about an account."""

    iban: str
    is_savings: bool = False
    balances: dict[str, Decimal] = field(default_factory=dict)  # by currency: the first balance that a reply shows
    lines: list[LedgerEntry] = field(default_factory=list)  # lines older than the recording, newest first
    later: list[ShownLine] = field(default_factory=list)  # all other lines, oldest first
    # How often one list has each line. Lines are counted without their references.
    times: Counter[LedgerEntry] = field(default_factory=Counter)
    longest: list[LedgerEntry] = field(default_factory=list)  # the longest list, newest first, without references
    has_more: set[str] = field(default_factory=set)  # the currencies whose older lines the client did not read
    together: set[str] = field(default_factory=set)  # the accounts that a reply lists together with this one
    is_business: bool = False
    owner_name: str = NAME

    @property
    def currencies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.balances, *map(find_currency, self.lines)))) or ("EUR",)


def simplify_names(value: Any) -> dict[str, Any]:
    return {simplify_name(name): inner for name, inner in value.items()} if isinstance(value, dict) else {}


def list_embedded(call: RecordedCall, name: str) -> list[dict[str, Any]]:
    rows = simplify_names(simplify_names(call.reply_json).get("embedded")).get(name)
    return [simplify_names(row) for row in rows] if isinstance(rows, list) else []


class Shown:
    """What a recording shows about accounts: their lines (booked transactions), their balances, and the tokens that may
    read them."""

    def __init__(self, calls: Sequence[RecordedCall], opening: datetime) -> None:
        self.accounts: dict[str, ShownAccount] = {}
        self.by_logical_id: dict[str, str] = {}
        self.challenge_of: dict[str, str] = {}  # the challenge of a consent, by its tokens
        self.sca_token_of: dict[str, str] = {}  # by access token: the SCA token that was first sent with it
        self.ibans_of: dict[str, list[str]] = {}  # by grant: the IBANs that its tokens listed or read
        self.payer_of: dict[str, str] = {}  # by the id of an initiation: the IBAN that pays, as its details show
        self._first_day = find_brussels_date(opening)
        self._amounts = {amount for call in calls if call.method == "POST" for amount in list_amounts(call)}
        for call in calls:
            self._note_tokens(call)
            self._note_accounts(call)
            self._note_payer(call)
        self._note_lines(calls)

    def find_account(self, iban: Any) -> ShownAccount | None:
        if not isinstance(iban, str) or not is_iban(iban):
            return None
        return self.accounts.setdefault(iban, ShownAccount(iban))

    def _note_tokens(self, call: RecordedCall) -> None:
        if call.access_token:
            sent = self.sca_token_of.get(call.access_token)
            self.sca_token_of[call.access_token] = sent or read_sca_token(call)
        if call.path != ("token",) or call.status != 200:
            return
        challenge = self.find_grant(call.form.get("refresh_token", "")) or next(iter(call.challenges), "")
        brought = simplify_names(call.reply)
        for name in ("accesstoken", "refreshtoken", "scatoken"):
            if isinstance(brought.get(name), str):
                self.challenge_of[brought[name]] = challenge

    def has_older_secret(self, call: RecordedCall) -> bool:
        """Whether the call succeeded with a token from before the recording for which the played bank can have no token
        of its own. This is an SCA token, or the token of a consent whose accounts no call shows. The differences of
        such a call prove nothing."""
        token, sca_token = call.access_token or call.form.get("refresh_token"), read_sca_token(call)
        if call.status >= 400 or not token:
            return False
        if token in self.challenge_of:
            return bool(sca_token) and sca_token not in self.challenge_of
        return not self.ibans_of.get(self.find_grant(token))

    def find_grant(self, token: str) -> str:
        """Returns a key that all tokens of one consent share. It is the PKCE challenge of the consent. A token from
        before the recording has no known challenge, so its key is the token itself."""
        return self.challenge_of.get(token, token)

    def _note_read(self, call: RecordedCall, iban: str) -> None:
        ibans = self.ibans_of.setdefault(self.find_grant(call.access_token or ""), [])
        if iban not in ibans:
            ibans.append(iban)

    def _note_accounts(self, call: RecordedCall) -> None:
        body = call.json
        for name in ("debtor_account", "origin_account"):
            if isinstance(body.get(name), dict) and call.reply_json.get("error") != "INVALID_ACCOUNT":
                self.find_account(body[name].get("iban"))
        if call.path[0] == "bulk-payments" and call.method == "POST":
            for account in self.accounts.values():
                account.is_business |= account.iban in call.body
        if call.path[0] == "consent-uris" and call.status == 200:
            for name in ("iban", "account"):
                self.find_account(call.query.get(name))
        if call.path[0] != "accounts" or call.status != 200:
            return
        if len(call.path) == 1:
            rows = [row for row in list_embedded(call, "accounts") if self.find_account(row.get("iban"))]
            for row in rows:
                self.by_logical_id[str(row.get("logicalid"))] = row["iban"]
                self.accounts[row["iban"]].together |= {other["iban"] for other in rows}
                self._note_read(call, row["iban"])
        elif len(call.path) == 2:
            content = simplify_names(call.reply_json)
            shown = self.find_account(content.get("iban"))
            if shown is not None:
                self.by_logical_id.setdefault(call.path[1], shown.iban)
                self._note_read(call, shown.iban)
                shown.is_savings |= content.get("type") in SAVINGS
                note_balances(shown, content)

    def _note_payer(self, call: RecordedCall) -> None:
        if call.path[3:] != ("details",) or call.status != 200:
            return
        content = simplify_names(call.reply_json)
        for name in ("debtoraccount", "originaccount"):
            shown = self.find_account(simplify_names(content.get(name)).get("iban"))
            if shown is not None:
                self.payer_of[call.path[2]] = shown.iban
                shown.owner_name = str(content.get("psuname") or shown.owner_name)

    def _note_lines(self, calls: Sequence[RecordedCall]) -> None:
        listings: list[tuple[ShownAccount, list[RecordedCall]]] = []
        for call in calls:
            if call.path[0] != "accounts" or len(call.path) != 3 or call.status != 200:
                continue
            shown = self.accounts.get(self.by_logical_id.get(call.path[1], ""))
            if shown is None:
                continue
            if "next" in call.query and listings and listings[-1][0] is shown:
                listings[-1][1].append(call)
            else:
                listings.append((shown, [call]))
        for shown, pages in listings:
            self._note_listing(shown, pages)
        for shown in self.accounts.values():
            shown.later.sort(key=lambda line: line.entry.on)
            order = {entry: place for place, entry in enumerate(shown.longest)}
            shown.lines.sort(key=lambda entry: (-entry.on.toordinal(), order.get(entry._replace(reference=""), 0)))

    def _note_listing(self, shown: ShownAccount, pages: Sequence[RecordedCall]) -> None:
        """Adds to the account the lines of these pages that no earlier list of the account had. Compares lines without
        their references, because the bank may give a line another reference at each read, or several lines the same
        reference."""
        lines = [ShownLine(page.began, entry) for page in pages for entry in list_entries(page, shown.iban)]
        is_oldest_first = bool(lines) and lines[0].entry.on < lines[-1].entry.on
        if is_oldest_first:
            lines.reverse()
        if len(lines) > len(shown.longest):
            shown.longest = [line.entry._replace(reference="") for line in lines]
        times, fresh = Counter[LedgerEntry](), []
        for line in lines:
            entry = line.entry._replace(reference="")
            times[entry] += 1
            if times[entry] > shown.times[entry]:
                shown.times[entry] = times[entry]
                fresh.append(line)
        shown.later += reversed([line for line in fresh if not self._is_past(line.entry)])
        shown.lines += [line.entry for line in fresh if self._is_past(line.entry)]
        has_key = simplify_names(simplify_names(pages[-1].reply_json).get("embedded")).get("nextpagekey")
        if lines and has_key and not is_oldest_first:
            shown.has_more.add(find_currency(lines[-1].entry))

    def _is_past(self, entry: LedgerEntry) -> bool:
        """Whether the line was booked before the recording began.

        For a line of the first day, the recording does not say whether it was. If a recorded payment has the amount of
        the line, the line counts as booked by this payment, because playing the payment books it. Otherwise it counts
        as booked before.
        """
        amount = abs(entry.postings[0].amount.number)
        return entry.on < self._first_day or (entry.on == self._first_day and amount not in self._amounts)


def find_currency(entry: LedgerEntry) -> str:
    return entry.postings[0].amount.currency


def list_entries(call: RecordedCall, iban: str) -> Iterator[LedgerEntry]:
    """Yields the lines of an account that a reply shows as booked. Skips rows that are not booked yet or cannot be
    read."""
    for row in list_embedded(call, "transactions"):
        number, currency = read_number(row.get("amount")), row.get("currency")
        if number is None or not isinstance(currency, str) or not is_currency(currency) or row.get("status"):
            continue
        if row.get("creditdebitindicator") == "DBIT":
            number = -abs(number)
        try:
            on = date.fromisoformat(str(row.get("executiondate"))[:10])
            value_on = date.fromisoformat(str(row.get("valuedate") or row.get("executiondate"))[:10])
        except ValueError:
            continue
        amount = Money(number, currency)
        name, account = row.get("counterpartyinfo") or None, row.get("counterpartyaccount") or None
        yield LedgerEntry(
            str(row.get("transactionref")),
            on,
            value_on,
            (Posting(iban, amount, account, name), Posting(OUTSIDE, Money(-number, currency))),
            row.get("communication") or "",
            row.get("communicationtype") == "STRUCTURED",
            row.get("remittanceinfo") or "",
        )


def list_amounts(call: RecordedCall) -> Iterator[Decimal]:
    inner = call.json.get("instructed_amount")
    number = read_number(inner.get("amount") if isinstance(inner, dict) else call.json.get("amount"))
    if number is not None:
        yield abs(number)


def read_number(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def note_balances(shown: ShownAccount, content: Mapping[str, Any]) -> None:
    """Stores the balances that a reply shows, one for each currency. Does not replace the balance of an earlier
    reply."""
    parts = content.get("othercompartments")
    for part in (content, *(map(simplify_names, parts) if isinstance(parts, list) else ())):
        number, currency = read_number(part.get("balance")), part.get("currency")
        if number is not None and isinstance(currency, str) and is_currency(currency):
            shown.balances.setdefault(currency, number)


def make_bank(
    calls: Sequence[RecordedCall],
    shown: Shown,
    opening: datetime,
    seed: int,
    keys: tuple[str, ...],
    corrections: Mapping[Compartment, Decimal],
) -> Bank:
    """Makes the bank of the recording as it was at the first call. Each client gets the public `keys` in addition to
    its own. `corrections` are added to the balances. They are known only after the calls were played once."""
    fixtures = load_fixtures()
    customers, accounts = dict(fixtures.customers), dict(fixtures.accounts)
    for account in shown.accounts.values():
        if account.iban not in accounts:
            add_account(customers, accounts, account)
        elif account.owner_name != NAME:
            owner = accounts[account.iban].owners[0]
            customers[owner] = replace(customers[owner], name=account.owner_name)
    books = make_past_books(fixtures, shown, opening, corrections)
    bank = open_bank(fixtures, seed, opening, Decisions())
    bank.customers, bank.accounts = customers, accounts
    bank.clients = list_clients(calls, fixtures, keys)
    bank.ledger = Ledger(lambda: books)
    return bank


def add_account(customers: dict[str, Customer], accounts: dict[str, Account], shown: ShownAccount) -> None:
    owner = next((accounts[iban].owners[0] for iban in sorted(shown.together) if iban in accounts), None)
    if owner is None:
        owner = f"customer-{len(customers) + 1}"
        kind = "business" if shown.is_business else "private"
        customers[owner] = Customer(owner, shown.owner_name, kind, "fr", methods=METHODS)
    kind = "savings-account" if shown.is_savings else "current-account"
    accounts[shown.iban] = Account(shown.iban, kind, (owner,), shown.currencies)


def make_past_books(
    fixtures: Fixtures, shown: Shown, opening: datetime, corrections: Mapping[Compartment, Decimal]
) -> Books:
    """Returns the lines of all accounts from before the recording, and their balances. The accounts of the shipped
    people keep their shipped lines if these fit the recording with one of the SEEDS. If not, those of which the
    recording shows lines or balances get the lines that it shows, as all other accounts do."""
    first_day = find_brussels_date(opening)
    seed = next((seed for seed in SEEDS if is_past_of(fixtures, seed, first_day, shown)), None)
    shipped = find_past_books(fixtures, SEEDS[1] if seed is None else seed, first_day)
    made_anew = [
        account
        for account in shown.accounts.values()
        if account.iban not in fixtures.accounts or (seed is None and (account.lines or account.balances))
    ]
    shipped_kept = shipped.lines.keys() - {
        (account.iban, currency) for account in made_anew for currency in account.currencies
    }
    entries = [keep_own_side(line.entry, *key) for key in shipped_kept for line in shipped.lines[key]]
    books = Books([*entries, *(entry for account in made_anew for entry in list_shown_entries(account))])
    balances = {
        (account.iban, currency): account.balances.get(currency, RICH)
        for account in made_anew
        for currency in account.currencies
    }
    for key, balance in balances.items():
        balances[key] = balance - books.balances.get(key, NOTHING)
    for (iban, currency), more in (*balances.items(), *corrections.items()):  # no line shows where this is from
        for account, number in ((iban, more), (OUTSIDE, -more)):
            books.balances[account, currency] = books.balances.get((account, currency), NOTHING) + number
    return books


def keep_own_side(entry: LedgerEntry, iban: str, currency: str) -> LedgerEntry:
    """Returns the entry with the postings of this account only. A posting of OUTSIDE takes the place of the postings of
    other accounts, because these accounts may have another past in this bank."""
    own = [row for row in entry.postings if row.account == iban and row.amount.currency == currency]
    total = sum((row.amount.number for row in own), Decimal())
    return entry._replace(postings=(*own, Posting(OUTSIDE, Money(-total, currency))))


def is_past_of(fixtures: Fixtures, seed: int, first_day: date, shown: Shown) -> bool:
    """Whether the lines that the recording shows from before its first day are lines of the shipped people with this
    seed. A tenth of the lines of each account may be missing there, or may have another communication. If the recording
    shows lines only of other accounts, returns False; if it shows no lines at all, returns True."""
    accounts = [account for account in shown.accounts.values() if account.lines and account.iban in fixtures.accounts]
    if not accounts:
        return not any(account.lines for account in shown.accounts.values())
    books = find_past_books(fixtures, seed, first_day)
    for account in accounts:
        lines = {
            (line.on, line.posting.amount, communication)
            for currency in account.currencies
            for line in books.lines.get((account.iban, currency), ())
            for communication in (line.entry.communication, "")
        }
        known = [
            (entry.on, entry.postings[0].amount, entry.communication) in lines
            for entry in account.lines
            if entry.on < first_day
        ]
        if known.count(False) > len(known) // 10:
            return False
    return True


def list_shown_entries(account: ShownAccount) -> Iterator[LedgerEntry]:
    for currency in account.has_more:
        last = min(entry.on for entry in account.lines if find_currency(entry) == currency)
        yield from make_older_lines(account.iban, currency, last)
    yield from reversed(account.lines)


def make_older_lines(iban: str, currency: str, last: date) -> Iterator[LedgerEntry]:
    for number in range(1, OLDER_LINES + 1):
        with suppress(OverflowError):
            yield make_line(iban, Money(Decimal("-0.01"), currency), last - timedelta(days=number), f"older-{number}")


def make_line(iban: str, amount: Money, on: date, reference: str) -> LedgerEntry:
    return LedgerEntry(reference, on, on, (Posting(iban, amount), Posting(OUTSIDE, -amount)))


def list_clients(
    calls: Sequence[RecordedCall], fixtures: Fixtures, keys: tuple[str, ...]
) -> dict[str, RegisteredClient]:
    """Returns the shipped clients, and all clients in calls that the bank accepted. The latter have the secrets that
    they sent, and the redirect addresses that they sent in addition to their shipped ones. Each client also gets
    `keys`."""
    clients = dict(fixtures.clients)
    secrets: dict[str, str] = {}
    addresses: dict[str, set[str]] = {}
    for call in calls:
        if call.status >= 400:
            continue
        if "client-id" in call.headers:
            addresses.setdefault(call.headers["client-id"], set()).add(call.headers.get("redirect-uri", ""))
        credentials = read_basic_credentials(call)
        if credentials is not None:
            secrets[credentials[0]] = credentials[1]
    for name in {*addresses, *secrets}:
        client = clients.get(name) or RegisteredClient(name, "", name, ("PIS", "AIS", "CAF"))
        uris = tuple(dict.fromkeys((*client.redirect_uris, *sorted(addresses.get(name, set()) - {""}))))
        secret = secrets.get(name) or client.secret or "secret"
        clients[name] = replace(client, secret=secret, redirect_uris=uris, active=True)
    return {name: replace(client, keys=(*client.keys, *keys)) for name, client in clients.items()}


def read_sca_token(call: RecordedCall) -> str:
    return call.headers.get("sca-token") or call.query.get("sca_token", "")


def read_basic_credentials(call: RecordedCall) -> tuple[str, str] | None:
    scheme, _, encoded = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client, _, secret = b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return client, secret
