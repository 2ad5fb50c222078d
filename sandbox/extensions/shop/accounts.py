"""The pages about accounts: the customer's consent, balances, transactions page by page, and the end of access."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, abort, render_template, request

from sandbox.client import AccountEntry, AccountInfo, ConsentAddresses, Refused, Tokens, TransactionList
from sandbox.extensions.shop.bank_client import BankSilent, DatedTokens
from sandbox.extensions.shop.visitors import (
    MARGIN,
    RENEWAL_LIFE,
    AccountLink,
    AccountStatement,
    PendingRedirect,
    Visitor,
    choose_bank_language,
    get_bank_client,
    get_visitor,
    go,
    say,
)

pages = Blueprint("accounts", __name__, url_prefix="/accounts")

PERIODS = ((30, "30 days"), (90, "90 days"), (365, "A year"))
DEFAULT_DAYS = 90
RECENT = timedelta(days=90)  # what a bank shows without asking for the customer
FRESH = timedelta(minutes=1)  # what was read within it is shown again without a call
CALLS_MAX = 200  # pages of one statement: of a busier account the newest 10,000 transactions
LINES = 25  # on a page of the shop
DIGITS_MAX = 1_000  # of the number of a page; Python reads no number of more than 4,300
BANK_ZONE = ZoneInfo("Europe/Brussels")
PLACE = "<int(max=999):place>"


# The consent


@pages.get("")
def accounts() -> str:
    link = get_visitor().link
    if link is None:
        return render_template("connect.html")
    rows = [(entry, read_balance_if_shown(link, entry)) for entry in list_entries(link)]
    return render_template("accounts.html", accounts=rows, link=link)


@pages.post("/connect")
def connect() -> Response:
    """Sends the customer to the bank to give a consent and choose accounts. If the shop has access to accounts already,
    shows these instead, because a new consent would end the old one."""
    owner = get_visitor()
    if owner.link is None:
        consent = get_bank_client().ask(
            "consent_addresses", get_bank_client().make_tpp(choose_bank_language()).consent_addresses
        )
        owner.add_redirect(PendingRedirect(consent.flow))
        return go(consent.address)
    return go("/accounts")


def receive_consent(owner: Visitor, pending: PendingRedirect, code: str | None) -> None:
    """Handles the return of a customer who agreed at the bank. After a new consent, exchanges the code of the callback
    for tokens, and replies 400 if the callback has no code. After a second authentication there is no code, and the
    shop keeps its tokens: the bank lets them read again. If the shop has forgotten the accounts meanwhile, a second
    authentication changes nothing."""
    if pending.renews:
        if owner.link is not None:
            owner.link.renewal, owner.link.authenticated, owner.link.balances_hidden = (
                None,
                get_bank_client().now(),
                False,
            )
            owner.link.renewed = True
            owner.link.statements.clear()
            owner.notice = say("Thank you: your bank lets us read on.")
        return
    if not code:
        abort(400)
    since = get_bank_client().now()
    tokens = get_bank_client().ask("token", lambda: get_bank_client().make_tpp().exchange(code, pending.flow))
    owner.link = AccountLink(DatedTokens(tokens, since), since)
    owner.notice = say("Your accounts are connected.")


@pages.post("/disconnect")
def disconnect() -> Response:
    """Forgets the tokens and everything that was read. The consent stays valid, because only the customer can end it at
    the bank."""
    get_visitor().link = None
    get_visitor().notice = say(
        "We have forgotten your accounts, and can no longer read them. To end the permission itself, withdraw it at "
        "your bank."
    )
    return go("/accounts")


# Reading


def list_entries(link: AccountLink) -> list[AccountEntry]:
    """Returns the accounts of the consent. Asks the bank only once, because they do not change while the consent is
    valid."""
    if link.entries is None:
        link.entries = get_bank_client().ask_with(link.tokens, "accounts", get_bank_client().make_tpp().accounts)
    return link.entries


def read_balance_if_shown(link: AccountLink, entry: AccountEntry) -> AccountInfo | None:
    """Returns the account with its balance. A balance that was read within the last minute is returned without a call.
    Returns None if the bank refuses to show the balance until the customer has authenticated again. After such a
    refusal, makes no call as long as the address for the authentication is valid. Raises BankSilent if the reply is
    about another account."""
    if link.balances_hidden and find_renewal(link) is not None:
        return None
    earlier = link.accounts.get(entry.logical_id)
    if earlier is not None and get_bank_client().now() < earlier[0] + FRESH:
        return earlier[1]
    try:
        account = get_bank_client().ask_with(
            link.tokens, "account", lambda tokens: get_bank_client().make_tpp().account(entry.logical_id, tokens)
        )
    except Refused as refused:
        ask_for_renewal(link, refused)
        link.balances_hidden = True
        return None
    if account.iban != entry.iban:
        raise BankSilent  # a balance of another account is no usable reply
    link.accounts[entry.logical_id] = get_bank_client().now(), account
    return account


def read_statement(link: AccountLink, entry: AccountEntry, days: int, currency: str) -> AccountStatement:
    """Returns an account's transactions of the last `days` days in one currency. Reads at most CALLS_MAX pages of the
    bank, and leaves out what is on further pages. If an earlier call of this function was interrupted, continues after
    the last page that was read. For a minute, returns a complete statement again without asking the bank."""
    key = (entry.logical_id, days, currency)
    statement = link.statements.get(key)
    if statement is None or (statement.complete and get_bank_client().now() >= statement.read + FRESH):
        statement = link.statements[key] = AccountStatement(get_bank_client().now())
    for _ in range(CALLS_MAX):
        if statement.complete:
            break
        page = read_next_page(link, entry, statement, days, currency)
        statement.lines += page.transactions
        statement.next_page_key = page.next_page_key
        statement.complete = page.next_page_key is None
    statement.complete = True
    statement.lines.sort(key=lambda line: line.execution_date, reverse=True)  # a bank may list the oldest first
    return statement


def read_next_page(
    link: AccountLink, entry: AccountEntry, statement: AccountStatement, days: int, currency: str
) -> TransactionList:
    """Reads the next page of transactions. Sends the filters with each call, because some banks require them beside the
    key of the next page."""
    since = statement.read.astimezone(BANK_ZONE).date() - timedelta(days=days)
    tpp = get_bank_client().make_tpp(choose_bank_language())

    def read(tokens: Tokens) -> TransactionList:
        return tpp.transactions(
            entry.logical_id,
            tokens,
            date_from=since,
            currency=currency,
            psu_involved=True,
            pagesize=50,
            next_page_key=statement.next_page_key,
        )

    return get_bank_client().ask_with(link.tokens, "transactions", read)


@pages.get(f"/{PLACE}")
def account(place: int) -> str | Response:
    link = get_visitor().link
    if link is None:
        return go("/accounts")
    entries = list_entries(link)
    if place >= len(entries):
        abort(404)
    entry, days = entries[place], read_days()
    info = read_balance_if_shown(link, entry)
    if info is None:
        return render_template("renewal.html", place=place, entry=entry, days=days)
    currencies = [info.currency, *(part.currency for part in info.other_compartments)]
    currency = request.args.get("currency", info.currency)
    if currency not in currencies:
        abort(404)
    statement = None
    if may_read(link, days):
        try:
            statement = read_statement(link, entry, days, currency)
        except Refused as refused:
            link.statements.clear()  # a reading that was begun cannot go on
            ask_for_renewal(link, refused)
    return render_template(
        "account.html",
        place=place,
        entry=entry,
        account=info,
        currency=currency,
        currencies=currencies,
        days=days,
        periods=PERIODS,
        statement=statement,
        **list_lines_of_page(statement),
    )


def read_days() -> int:
    text = request.args.get("days", "")
    return next((days for days, _ in PERIODS if str(days) == text), DEFAULT_DAYS)


def list_lines_of_page(statement: AccountStatement | None) -> dict[str, object]:
    """Returns the lines of one page of a statement, the number of this page and of the last page, and the count of all
    lines. The query parameter `page` chooses the page. Without it, or if it is no number, this is the first page. For a
    number that is too large, it is the last page."""
    lines = [] if statement is None else statement.lines
    text = request.args.get("page", "1")
    last = max(1, -(-len(lines) // LINES))
    number = min(max(int(text), 1), last) if text.isascii() and text.isdigit() and len(text) < DIGITS_MAX else 1
    return {"lines": lines[(number - 1) * LINES : number * LINES], "number": number, "last": last, "count": len(lines)}


# A second authentication


def ask_for_renewal(link: AccountLink, refused: Refused) -> None:
    """If the bank refused with SCA_REQUIRED, stores the address at which the customer must authenticate again. Raises
    any other refusal."""
    if not refused.says("SCA_REQUIRED"):
        raise refused
    link.renewal = get_bank_client().now(), get_bank_client().make_tpp(choose_bank_language()).renewal(refused)


def find_renewal(link: AccountLink) -> ConsentAddresses | None:
    """Returns the address for a second authentication. Returns None if the bank asked for none, or if the address has
    expired or expires within MARGIN. Forgets such an address."""
    if link.renewal is not None and get_bank_client().now() >= link.renewal[0] + RENEWAL_LIFE - MARGIN:
        link.renewal = None
    return None if link.renewal is None else link.renewal[1]


def may_read(link: AccountLink, days: int) -> bool:
    """Whether the shop may read a period of this many days. If the bank has asked for a second authentication, the shop
    may only read the last 90 days, and only until 90 days after the customer was last at the bank."""
    is_recent = get_bank_client().now() < link.authenticated + RECENT
    return find_renewal(link) is None or (is_recent and days <= RECENT.days)


@pages.post(f"/{PLACE}/authenticate")
def authenticate(place: int) -> Response:
    link = get_visitor().link
    back = f"/accounts/{place}?days={read_days()}"
    consent = None if link is None else find_renewal(link)
    if consent is None:
        return go(back)  # the page reads again, and gets a fresh address if it still needs one
    get_visitor().add_redirect(PendingRedirect(consent.flow, back=back, renews=True))
    return go(consent.address)
