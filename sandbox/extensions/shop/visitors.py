"""What the shop remembers of its visitors, and what every page needs: who is there, and forms only the shop can send.

It stays on the server: the browser has a name for it, and nothing else."""

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
from sandbox.extensions.shop.goods import GOODS
from sandbox.extensions.shop.line import BankClient, Keys

T = TypeVar("T")
VISITORS_MAX = 500  # the one who was away longest is forgotten first
ERRANDS_MAX = 20
ORDERS_MAX = 50
ADDRESS_LIFE = timedelta(minutes=5)  # of the page where a payment is signed: "a few minutes"
RENEWAL_LIFE = timedelta(minutes=15)  # of the page where the customer authenticates again
MARGIN = timedelta(seconds=10)
FINAL = ("ACSC", "RJCT", "CANC")
UNSIGNED = ("RCVD", "PATC")


@dataclass
class Attempt:
    """One payment of an order at the bank."""

    initiation: Initiation
    address: str
    begun: datetime
    status: str
    reason: str | None = None
    returned: bool = False  # the customer came back from the bank with a signature
    left: datetime | None = None  # since when the shop knows that the money left the account
    has_news: bool = False  # the bank told the status since then
    looked: float | None = None  # when the bank was asked last, by the shop's stopwatch
    looks: int = 0

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def is_unsigned(self) -> bool:
        return self.status in UNSIGNED and not self.returned

    def is_old(self, now: datetime) -> bool:
        """Whether the address can no longer be signed at: nobody is sent there any more."""
        return now >= self.begun + ADDRESS_LIFE - MARGIN


@dataclass
class ShopOrder:
    """An order of the shop and its payment."""

    number: str
    basket: dict[str, int]
    debtor_iban: str | None = None  # None: the customer picks an account at the bank
    attempts: list[Attempt] = field(default_factory=list)
    tries: int = 0
    paid_by: str | None = None
    paid_from: str | None = None

    @property
    def total(self) -> Decimal:
        return total_of(self.basket)

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None


@dataclass
class PendingRedirect:
    """Why a visitor was sent to the bank: found again by the state that comes back."""

    flow: Flow
    order: ShopOrder | None = None  # None: for access to accounts
    back: str = "/accounts"
    renews: bool = False  # a second authentication, after which no code comes
    place: str = ""  # where the return led, once it was taken


@dataclass
class AccountStatement:
    """Transactions of one account and period, read page by page to the end."""

    read: datetime
    lines: list[TransactionInfo] = field(default_factory=list)
    following: str | None = None  # the key of the next page
    complete: bool = False


@dataclass
class AccountLink:
    """Access to a customer's accounts: one consent."""

    keys: Keys
    authenticated: datetime  # when the customer was at the bank last
    entries: list[AccountEntry] | None = None
    accounts: dict[str, tuple[datetime, AccountInfo]] = field(default_factory=dict)
    statements: dict[tuple[str, int, str], AccountStatement] = field(default_factory=dict)
    renewal: tuple[datetime, ConsentAddresses] | None = None  # the bank asked for a second authentication
    blind: bool = False  # until then it shows no balance either


@dataclass
class Visitor:
    name: str = field(default_factory=lambda: token_urlsafe(32))
    proof: str = field(default_factory=lambda: token_urlsafe(24))  # stands in every form, so that no other site posts
    basket: dict[str, int] = field(default_factory=dict)
    orders: OrderedDict[str, ShopOrder] = field(default_factory=OrderedDict)
    errands: OrderedDict[str, PendingRedirect] = field(default_factory=OrderedDict)
    link: AccountLink | None = None
    notice: str = ""
    lock: RLock = field(default_factory=RLock)  # one act of a visitor at a time: no payment twice, no refresh twice

    def remember(self, errand: PendingRedirect) -> None:
        put(self.errands, errand.flow.state, errand, ERRANDS_MAX)

    def keep(self, order: ShopOrder) -> None:
        put(self.orders, order.number, order, ORDERS_MAX)

    def take_notice(self) -> str:
        """The notice, once."""
        notice, self.notice = self.notice, ""
        return notice


def put(kept: OrderedDict[str, T], name: str, value: T, most: int) -> None:
    """The last that was put in stands at the end; the first are forgotten."""
    kept[name] = value
    kept.move_to_end(name)
    while len(kept) > most:
        kept.popitem(last=False)


class Visitors:
    """By the name in their cookie; a name that was not given out here is nobody's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_name: OrderedDict[str, Visitor] = OrderedDict()

    def of(self, name: str) -> Visitor:
        with self._lock:
            visitor = self._by_name.get(name) or Visitor()
            put(self._by_name, visitor.name, visitor, VISITORS_MAX)
            return visitor

    def __iter__(self) -> Iterator[Visitor]:
        with self._lock:
            everyone = list(self._by_name.values())
        return iter(everyone)


def total_of(basket: dict[str, int]) -> Decimal:
    return sum((GOODS[code].price * count for code, count in basket.items()), Decimal(0))


# What every page needs


def line() -> BankClient:
    return cast(BankClient, current_app.extensions["line"])


def visitor() -> Visitor:
    return cast(Visitor, g.visitor)


def language() -> str:
    """What the visitor's browser prefers of what the bank's pages speak."""
    return request.accept_languages.best_match(SCREENS) or next(iter(SCREENS))


def go(address: str) -> Response:
    """On with a GET: a page that is loaded again does nothing twice."""
    response = redirect(address, 303)
    assert isinstance(response, Response)
    return response
