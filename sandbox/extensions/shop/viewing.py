"""Accounts: the customer's consent, balances, transactions page by page, and what to do when access ends."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, abort, render_template, request

from sandbox.client import AccountEntry, AccountInfo, ConsentAddresses, Refused, Tokens, TransactionList
from sandbox.extensions.shop.line import Keys
from sandbox.extensions.shop.visitors import (
    MARGIN,
    RENEWAL_LIFE,
    AccountLink,
    AccountStatement,
    PendingRedirect,
    Visitor,
    go,
    language,
    line,
    visitor,
)

pages = Blueprint("viewing", __name__, url_prefix="/accounts")

PERIODS = ((30, "30 days"), (90, "90 days"), (365, "A year"))
DEFAULT_DAYS = 90
RECENT = timedelta(days=90)  # what a bank shows without asking for the customer
KEPT = timedelta(minutes=1)  # what was read that short a time ago is shown again; the bank is not asked
CALLS_MAX = 200  # pages of one statement: of a busier account the newest 10,000 transactions
LINES = 25  # on a page of the shop
BANK_ZONE = ZoneInfo("Europe/Brussels")
PLACE = "<int(max=999):place>"


# Letting the shop in


@pages.get("")
def accounts() -> str:
    owner = visitor()
    if owner.link is None:
        return render_template("connect.html")
    entries = entries_of(owner.link)
    found = [(entry, balance_if_shown(owner.link, entry)) for entry in entries]
    return render_template("accounts.html", accounts=found, link=owner.link)


@pages.post("/connect")
def connect() -> Response:
    """To the bank, where the customer picks accounts. Not while a consent lives: a new one would end it."""
    owner = visitor()
    if owner.link is None:
        consent = line().ask("consent_addresses", line().tpp(language()).consent_addresses)
        owner.remember(PendingRedirect(consent.flow))
        return go(consent.address)
    return go("/accounts")


def came_back(owner: Visitor, errand: PendingRedirect, code: str | None) -> None:
    """The customer agreed: the code buys tokens. After a second authentication there is none, the same token reads."""
    if errand.renews:
        if owner.link is not None:
            owner.link.renewal, owner.link.authenticated, owner.link.blind = None, line().now(), False
            owner.link.statements.clear()
            owner.notice = "Thank you: your bank lets us read on."
        return
    if not code:
        abort(400)
    since = line().now()
    tokens = line().ask("token", lambda: line().tpp().exchange(code, errand.flow))
    owner.link = AccountLink(Keys(tokens, since), since)
    owner.notice = "Your accounts are connected."


@pages.post("/disconnect")
def disconnect() -> Response:
    """Forgets the tokens and all that was read. The consent itself is the customer's to end, at the bank."""
    visitor().link = None
    visitor().notice = (
        "We have forgotten your accounts, and can no longer read them. "
        "To end the permission itself, withdraw it at your bank."
    )
    return go("/accounts")


# Reading


def entries_of(link: AccountLink) -> list[AccountEntry]:
    """The accounts of the consent: they stay the same for as long as it lives."""
    if link.entries is None:
        link.entries = line().ask_with(link.keys, "accounts", line().tpp().accounts)
    return link.entries


def balance_if_shown(link: AccountLink, entry: AccountEntry) -> AccountInfo | None:
    """The account with its balance; None where the bank wants the customer to authenticate before, as some do."""
    if link.blind and renewal_of(link) is not None:
        return None
    earlier = link.accounts.get(entry.logical_id)
    if earlier is not None and line().now() < earlier[0] + KEPT:
        return earlier[1]
    try:
        found = line().ask_with(link.keys, "account", lambda tokens: line().tpp().account(entry.logical_id, tokens))
    except Refused as refused:
        ask_for_renewal(link, refused)
        link.blind = True
        return None
    link.accounts[entry.logical_id] = line().now(), found
    return found


def statement_of(link: AccountLink, entry: AccountEntry, days: int, currency: str) -> AccountStatement:
    """All transactions of a period. A reading that the bank broke off goes on from the page where it stopped."""
    key = (entry.logical_id, days, currency)
    statement = link.statements.get(key)
    if statement is None or (statement.complete and line().now() >= statement.read + KEPT):
        statement = link.statements[key] = AccountStatement(line().now())
    for _ in range(CALLS_MAX):
        if statement.complete:
            break
        page = next_page(link, entry, statement, days, currency)
        statement.lines += page.transactions
        statement.following = page.next_page_key
        statement.complete = statement.following is None
    statement.complete = True
    statement.lines.sort(key=lambda one: one.execution_date, reverse=True)  # a bank may list the oldest first
    return statement


def next_page(
    link: AccountLink, entry: AccountEntry, statement: AccountStatement, days: int, currency: str
) -> TransactionList:
    """Each call says what is wanted, and from the second on where to go on: the key alone may not be enough."""
    since = statement.read.astimezone(BANK_ZONE).date() - timedelta(days=days)
    tpp, key = line().tpp(language()), statement.following

    def read(tokens: Tokens) -> TransactionList:
        return tpp.transactions(
            entry.logical_id,
            tokens,
            date_from=since,
            currency=currency,
            psu_involved=True,
            pagesize=50,
            next_page_key=key,
        )

    return line().ask_with(link.keys, "transactions", read)


@pages.get(f"/{PLACE}")
def account(place: int) -> str | Response:
    link = visitor().link
    if link is None:
        return go("/accounts")
    entries = entries_of(link)
    if place >= len(entries):
        abort(404)
    entry, days = entries[place], days_asked()
    found = balance_if_shown(link, entry)
    if found is None:
        return render_template("renewal.html", place=place, entry=entry, days=days)
    currencies = [found.currency, *(part.currency for part in found.other_compartments)]
    currency = request.args.get("currency", found.currency)
    if currency not in currencies:
        abort(404)
    statement = None
    if may_read(link, days):
        try:
            statement = statement_of(link, entry, days, currency)
        except Refused as refused:
            link.statements.clear()  # what was begun cannot be gone on with
            ask_for_renewal(link, refused)
    return render_template(
        "account.html",
        place=place,
        entry=entry,
        account=found,
        currency=currency,
        currencies=currencies,
        days=days,
        periods=PERIODS,
        statement=statement,
        **part_of(statement),
    )


def days_asked() -> int:
    asked = request.args.get("days", str(DEFAULT_DAYS))
    return next((days for days, _ in PERIODS if str(days) == asked), DEFAULT_DAYS)


def part_of(statement: AccountStatement | None) -> dict[str, object]:
    """The lines of one page of the shop."""
    lines = [] if statement is None else statement.lines
    asked = request.args.get("page", "1")
    last = max(1, -(-len(lines) // LINES))
    number = min(max(int(asked), 1), last) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 1
    return {"lines": lines[(number - 1) * LINES : number * LINES], "number": number, "last": last, "count": len(lines)}


# A second authentication


def ask_for_renewal(link: AccountLink, refused: Refused) -> None:
    """Notes where the customer authenticates; raises what was refused for another reason."""
    if not refused.says("SCA_REQUIRED"):
        raise refused
    link.renewal = line().now(), line().tpp(language()).renewal(refused)


def renewal_of(link: AccountLink) -> ConsentAddresses | None:
    """The one that the bank asked for, while its address lives."""
    if link.renewal is not None and line().now() >= link.renewal[0] + RENEWAL_LIFE - MARGIN:
        link.renewal = None
    return None if link.renewal is None else link.renewal[1]


def may_read(link: AccountLink, days: int) -> bool:
    """While the bank waits for the customer, what needs them is not tried: all, or what lies more than 90 days back."""
    lately = line().now() < link.authenticated + RECENT
    return renewal_of(link) is None or (lately and days <= RECENT.days)


@pages.post(f"/{PLACE}/authenticate")
def authenticate(place: int) -> Response:
    link = visitor().link
    back = f"/accounts/{place}?days={days_asked()}"
    consent = None if link is None else renewal_of(link)
    if consent is None:
        return go(back)  # the page reads again, and is told a fresh address if it still needs one
    visitor().remember(PendingRedirect(consent.flow, back=back, renews=True))
    return go(consent.address)
