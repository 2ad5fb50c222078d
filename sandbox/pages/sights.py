"""What a page shows, read under the world's lock."""

from copy import copy
from dataclasses import dataclass
from datetime import date

from sandbox.bank import accounts, bulk_checks, screens, signing
from sandbox.bank.bulk_records import Bulk
from sandbox.bank.contracts import StandingOrder
from sandbox.bank.execution import day_of
from sandbox.bank.grants import Session
from sandbox.bank.records import Account, Customer, Debtor, Payment
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.errors import Error, Refusal
from sandbox.rules.money import Money
from sandbox.rules.products import PRODUCTS


@dataclass(frozen=True, slots=True)
class Option:
    """A compartment that the PSU may pick."""

    account: Account
    currency: str
    balance: Money
    available: Money

    @property
    def value(self) -> str:
        """What the form sends."""
        return f"{self.account.iban} {self.currency}"


@dataclass(frozen=True, slots=True)
class Sight:
    """An initiation in the eyes of the PSU at its address, or in the channel."""

    session: Session
    payment: Initiation
    tpp: str
    customers: list[Customer]
    customer: Customer | None  # who is logged in
    likely: str | None  # whom the initiation itself speaks of
    options: list[Option]
    today: date
    due: date  # the day on which it is executed
    taken: Money | None  # out of the debtor's compartment, where that is another currency
    debtor_name: str
    signers: list[str]
    signatures_required: int

    @property
    def given(self) -> bool:
        """Whether the TPP named the account."""
        return isinstance(self.payment, Bulk) or self.payment.order.debtor is not None

    @property
    def kind(self) -> str:
        """Which words speak of it."""
        return KINDS[type(self.payment)]


# A payment's words are the plain ones.
KINDS: dict[type[Initiation], str] = {Payment: "", StandingOrder: "order", Bulk: "bulk"}


def session_at(bank: Bank, session_id: str, address: str) -> Session | None:
    """The session as it stands, if it is one of that address."""
    session = bank.sessions.get(session_id)
    return copy(session) if session is not None and session.address == address else None


def at_address(bank: Bank, session_id: str, token: str) -> Sight:
    """What waits at an address; over or outdated ones are refused first."""
    payment = signing.waiting(bank, token)
    return _sight(bank, screens.session_of(bank, session_id, token), payment)


def in_channel(bank: Bank, session_id: str, payment_id: str) -> Sight:
    """A payment that waits for a further signature of the customer who logged in."""
    session = screens.session_of(bank, session_id, screens.CHANNEL)
    if session.customer is not None:
        for payment in signing.to_sign(bank, session.customer):
            if payment.id == payment_id:
                return _sight(bank, session, payment)
    raise Refusal(Error.NOT_FOUND, input="payment")


@dataclass(frozen=True, slots=True)
class Folder:
    """A customer's own channel: what waits there for their signature."""

    customers: list[Customer]
    customer: Customer | None
    waiting: list[Sight]


def folder(bank: Bank, session_id: str) -> Folder:
    session = screens.session_of(bank, session_id, screens.CHANNEL)
    waiting = signing.to_sign(bank, session.customer) if session.customer else []
    sights = [_sight(bank, session, payment) for payment in waiting]
    return Folder(list(bank.customers.values()), bank.customers.get(session.customer or ""), sights)


def _sight(bank: Bank, session: Session, payment: Initiation) -> Sight:
    named = signing.debtor_of(payment)
    debtor = session.debtor or named
    account = bank.accounts[debtor.iban] if debtor else None
    given = _likely(bank, payment, named)
    signatures = bank.accounts[debtor.iban].signatures_required if debtor else 1
    return Sight(
        copy(session),
        copy(payment),
        tpp_name(bank, payment),
        list(bank.customers.values()),
        bank.customers[session.customer] if session.customer else None,
        payment.origin.customer or given,
        _options(bank, session.customer, payment),
        bank.clock.today,
        (day_of(bank, payment.order) if isinstance(payment, Payment) else None) or bank.clock.today,
        _taken(payment, debtor),
        ", ".join(bank.customers[owner].name for owner in account.owners) if account else "",
        [bank.customers[name].name for name in payment.signatures],
        bulk_checks.signatures_required(bank, payment) if isinstance(payment, Bulk) else signatures,
    )


def _likely(bank: Bank, payment: Initiation, named: Debtor | None) -> str | None:
    """The first owner of the account that it names, or of a file's first one."""
    if isinstance(payment, Bulk):
        return next(iter(bulk_checks.signers(bank, payment)), None)
    return bank.accounts[named.iban].owners[0] if named else None


def _taken(payment: Initiation, debtor: Debtor | None) -> Money | None:
    if not isinstance(payment, Payment) or debtor is None or debtor.currency == payment.order.amount.currency:
        return None
    return accounts.cost(payment.order.amount, debtor.currency)


def tpp_name(bank: Bank, payment: Initiation) -> str:
    client = bank.clients.get(payment.origin.client_id)
    return client.name if client else payment.origin.client_id


def _options(bank: Bank, customer: str | None, payment: Initiation) -> list[Option]:
    """Every compartment in the electronic channels; within SEPA those in euro (service 2.1 rule 1)."""
    sepa = not isinstance(payment, Payment) or PRODUCTS[payment.order.product].sepa
    return [
        Option(account, currency, bank.ledger.balance(*debtor), accounts.available(bank, debtor))
        for account in (signing.accounts_of(bank, customer) if customer else ())
        if account.online
        for currency in account.currencies
        if currency == "EUR" or not sepa
        for debtor in (Debtor(account.iban, currency),)
    ]
