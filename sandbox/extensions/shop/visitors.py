"""What the shop stores about its visitors, and functions that every page needs.

The data stays on the server. The browser has only a cookie with a random text, by which the shop finds the data.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from secrets import token_urlsafe
from threading import Lock, RLock
from typing import TypeVar, cast

from flask import Response, current_app, g, redirect, request

from sandbox.client import AccountEntry, AccountInfo, ConsentAddresses, Flow, Initiation, TransactionInfo
from sandbox.contract.languages import SCREENS
from sandbox.extensions.shop.bank_client import BankClient, DatedTokens
from sandbox.extensions.shop.goods import GOODS
from sandbox.extensions.shop.shop_words import LANGUAGES, translate

T = TypeVar("T")
VISITORS_MAX = 500  # the one who was away longest is forgotten first
REDIRECTS_MAX = 20
ORDERS_MAX = 50
ADDRESS_LIFE = timedelta(minutes=5)  # of the page where a payment is signed: "a few minutes"
RENEWAL_LIFE = timedelta(minutes=15)  # of the page where the customer authenticates again
MARGIN = timedelta(seconds=10)
FINAL = ("ACSC", "RJCT", "CANC")
UNSIGNED = ("RCVD", "PATC")


@dataclass
class PaymentAttempt:
    """An attempt to pay an order: one payment at the bank."""

    initiation: Initiation
    address: str
    begun: datetime
    status: str
    reason: str | None = None
    refunded: bool = False  # the shop sent the money back
    returned: bool = False  # the customer came back from the bank with a signature
    has_news: bool = False  # the bank told the status since then
    left: datetime | None = None  # since when the shop knows that the money left the account
    asked: float | None = None  # when the bank was asked last, by the shop's stopwatch
    times_asked: int = 0

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def is_unsigned(self) -> bool:
        return self.status in UNSIGNED and not self.returned

    def is_expired(self, now: datetime) -> bool:
        """Whether the address has expired, or will within MARGIN, which is too soon for the customer to sign."""
        return now >= self.begun + ADDRESS_LIFE - MARGIN


@dataclass
class ShopOrder:
    """An order of the shop and its payments."""

    number: str
    basket: dict[str, int]
    debtor_iban: str | None = None  # None: the customer picks an account at the bank
    attempts: list[PaymentAttempt] = field(default_factory=list)
    tries: int = 0
    paid_by: str | None = None
    paid_from: str | None = None

    @property
    def total(self) -> Decimal:
        return compute_total(self.basket)

    @property
    def last(self) -> PaymentAttempt | None:
        return self.attempts[-1] if self.attempts else None


@dataclass
class PendingRedirect:
    """A redirect of a visitor to the bank: what it is for, and where the visitor goes afterwards. The shop finds it by
    the `state` of the callback."""

    flow: Flow
    order: ShopOrder | None = None  # None: for access to accounts
    back: str = "/accounts"
    renews: bool = False  # a second authentication, after which no code comes
    destination: str = ""  # the page to which the first return led


@dataclass
class AccountStatement:
    """The transactions of an account in a period, from the pages that were read so far."""

    read: datetime
    lines: list[TransactionInfo] = field(default_factory=list)
    next_page_key: str | None = None
    complete: bool = False


@dataclass
class AccountLink:
    """The access to a customer's accounts by one consent."""

    tokens: DatedTokens
    authenticated: datetime  # when the customer was at the bank last
    renewed: bool = False  # the customer authenticated a second time
    entries: list[AccountEntry] | None = None
    accounts: dict[str, tuple[datetime, AccountInfo]] = field(default_factory=dict)
    statements: dict[tuple[str, int, str], AccountStatement] = field(default_factory=dict)
    renewal: tuple[datetime, ConsentAddresses] | None = None  # the bank asked for a second authentication
    balances_hidden: bool = False  # the bank shows no balance before it


@dataclass
class Visitor:
    name: str = field(default_factory=lambda: token_urlsafe(32))
    proof: str = field(default_factory=lambda: token_urlsafe(24))  # in every form, so that no other site can post one
    basket: dict[str, int] = field(default_factory=dict)
    orders: OrderedDict[str, ShopOrder] = field(default_factory=OrderedDict)
    redirects: OrderedDict[str, PendingRedirect] = field(default_factory=OrderedDict)
    link: AccountLink | None = None
    notice: str = ""
    language: str = ""  # that was chosen; empty: that of the browser
    seen: set[str] = field(default_factory=set)  # what the visitor looked at outside the shop
    lock: RLock = field(default_factory=RLock)  # one request of a visitor at a time: no payment and no refresh twice

    def add_redirect(self, pending: PendingRedirect) -> None:
        put(self.redirects, pending.flow.state, pending, REDIRECTS_MAX)

    def add_order(self, order: ShopOrder) -> None:
        put(self.orders, order.number, order, ORDERS_MAX)

    def take_notice(self) -> str:
        """Returns the notice and removes it, so that it is shown once."""
        notice, self.notice = self.notice, ""
        return notice


def put(items: OrderedDict[str, T], name: str, value: T, most: int) -> None:
    """Stores a value as the newest, and drops the oldest values if there are more than `most`."""
    items[name] = value
    items.move_to_end(name)
    while len(items) > most:
        items.popitem(last=False)


class Visitors:
    """All visitors. Each is found by the value of the shop's cookie. A new visitor is made for an unknown value."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_name: OrderedDict[str, Visitor] = OrderedDict()

    def find_visitor(self, name: str) -> Visitor:
        with self._lock:
            visitor = self._by_name.get(name) or Visitor()
            put(self._by_name, visitor.name, visitor, VISITORS_MAX)
            return visitor

    def __iter__(self) -> Iterator[Visitor]:
        with self._lock:
            return iter(list(self._by_name.values()))


def compute_total(basket: dict[str, int]) -> Decimal:
    return sum((GOODS[code].price * count for code, count in basket.items()), Decimal(0))


def get_bank_client() -> BankClient:
    return cast(BankClient, current_app.extensions["bank"])


def get_visitor() -> Visitor:
    return cast(Visitor, g.visitor)


def choose_page_language() -> str:
    """Returns the language of the shop's pages: the language that the visitor chose, else the language that the browser
    prefers, else English."""
    chosen_language = get_visitor().language if "visitor" in g else ""
    return chosen_language or request.accept_languages.best_match(LANGUAGES) or "en"


def say(text: str, **facts: object) -> str:
    """Returns a text of the shop in the language of the visitor."""
    return translate(choose_page_language(), text, **facts)


def choose_bank_language() -> str:
    """Returns the language for the bank's pages: the language of the shop's page if the bank has it, else the one of
    the bank's languages that the browser prefers, else the bank's first language."""
    page = choose_page_language()
    return page if page in SCREENS else request.accept_languages.best_match(SCREENS) or next(iter(SCREENS))


def find_path_back(path: str) -> str:
    """Returns the path that a form sent as the page to return to. Returns `/` if it is not a path of this shop, because
    it could lead to another site."""
    return path if path.startswith("/") and path.isprintable() and not path.startswith(("//", "/\\")) else "/"


def go(address: str) -> Response:
    """Redirects with 303, so that reloading the page does not send the form again."""
    response = redirect(address, 303)
    assert isinstance(response, Response)
    return response
