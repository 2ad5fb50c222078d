"""What a page shows, read under the world's lock."""

from copy import copy
from dataclasses import dataclass

from sandbox.bank import accounts, app_approvals, channel_acts, consents, signing, signing_methods, signing_sessions
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.grants import Session
from sandbox.bank.records import Account, Customer, Debtor, Origin
from sandbox.bank.signing_methods import CARD_READER, Offer
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.psu.consent_views import Allowed, allowed_by
from sandbox.web.psu.initiation_views import InitiationView, view_of
from sandbox.web.psu.shared_views import seconds_until, tpp_name


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
    """An initiation in the eyes of the PSU at its address, or in the channel; what it wants differs by kind."""

    session: Session
    id: str
    origin: Origin
    view: InitiationView
    tpp: str
    customers: list[Customer]
    customer: Customer | None  # who is logged in
    likely: str | None  # whom the initiation itself speaks of
    options: list[Option]
    signers: list[str]
    signatures_required: int
    offers: tuple[Offer, ...] = ()  # the ways to sign that concern the customer, each with why it is refused
    seconds_left: int = 0  # of the approval that a page waits for
    ends_in: int | None = None  # seconds until its address ends; None in the channel

    @property
    def method(self) -> str:
        """The one that was chosen, else the first that is permitted."""
        permitted = (offer.method for offer in self.offers if not offer.cause)
        return self.session.method or next(permitted, CARD_READER)

    @property
    def kind(self) -> str:
        """Which words speak of it."""
        return self.view.words

    @property
    def language(self) -> str | None:
        return self.origin.language

    @property
    def redirect_uri(self) -> str:
        return self.origin.redirect_uri

    @property
    def is_chosen(self) -> bool:
        return self.session.debtor is not None

    @property
    def given(self) -> bool:
        """Whether there is no account to pick."""
        return self.view.named


def at_address(bank: Bank, session_id: str, token: str) -> Sight:
    """What waits at an address; over or outdated ones are refused first."""
    found = signing.waiting(bank, token)
    return _sight(bank, signing_sessions.session_of(bank, session_id, token), found)


def in_app(bank: Bank, approval: str) -> Sight:
    """What the app has to approve."""
    session = app_approvals.session_waiting(bank, approval)
    return _sight(bank, session, signing.waiting(bank, session.address))


def callback_of(bank: Bank, session_id: str, token: str) -> str | None:
    """Where the page that waited leads, once the app has answered."""
    session = bank.sessions.get(session_id)
    return session.callback if session is not None and session.address == token else None


def _offers(bank: Bank, session: Session, found: Initiation) -> tuple[Offer, ...]:
    """Those that are permitted or that a risk refuses; of what the customer does not have no page speaks."""
    if session.customer is None:
        return ()
    known = signing_methods.offers(bank, found, session.customer)
    return tuple(offer for offer in known if offer.cause not in ("inactive", "bank"))


def _seconds_left(bank: Bank, session: Session) -> int:
    until = session.approval_until
    return 0 if until is None else seconds_until(bank, until)


def _ends_in(bank: Bank, session: Session) -> int | None:
    address = bank.sca_addresses.get(session.address)
    return None if address is None else seconds_until(bank, address.until)


def in_channel(bank: Bank, session_id: str, subject_id: str) -> Sight:
    """What waits for a further signature of the customer who logged in."""
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    if session.customer is not None:
        for found in signing.to_sign(bank, session.customer):
            if found.id == subject_id:
                return _sight(bank, session, found)
    raise Refusal(Error.NOT_FOUND, input="payment")


@dataclass(frozen=True, slots=True)
class Folder:
    """A customer's own channel: balances, what waits for their signature, what they signed, and who reads."""

    customers: list[Customer]
    customer: Customer | None
    waiting: list[Sight]
    allowed: list[Allowed]
    held: list[tuple[Account, list[Money]]]  # their accounts, and the balance of each compartment
    own: list[tuple[Sight, Status, bool]]  # what they signed, newest first, and whether it may be cancelled


def folder(bank: Bank, session_id: str) -> Folder:
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    waiting = signing.to_sign(bank, session.customer) if session.customer else []
    allowed = consents.valid_consents(bank, session.customer) if session.customer else []
    own = channel_acts.signed_by(bank, session.customer) if session.customer else []
    return Folder(
        list(bank.customers.values()),
        bank.customers.get(session.customer or ""),
        [_sight(bank, session, found) for found in waiting],
        [allowed_by(bank, consent) for consent in allowed],
        _held(bank, session.customer),
        [(_sight(bank, session, one), one.status, channel_acts.may_cancel(bank, one)) for one in own],
    )


def _held(bank: Bank, customer: str | None) -> list[tuple[Account, list[Money]]]:
    """The open accounts of a customer in the electronic channels."""
    accounts_here = consents.choosable(bank, customer) if customer else []
    return [(one, [bank.ledger.balance(one.iban, currency) for currency in one.currencies]) for one in accounts_here]


def _sight(bank: Bank, session: Session, found: Initiation) -> Sight:
    return Sight(
        copy(session),
        found.id,
        found.origin,
        view_of(bank, found, session.debtor),
        tpp_name(bank, found.origin.client_id),
        list(bank.customers.values()),
        bank.customers[session.customer] if session.customer else None,
        found.origin.customer or _likely(bank, found),
        _options(bank, session.customer, found),
        [bank.customers[name].name for name in found.signatures],
        _signatures_required(bank, found, session.debtor),
        _offers(bank, session, found),
        _seconds_left(bank, session),
        _ends_in(bank, session),
    )


def _signatures_required(bank: Bank, found: Initiation, picked: Debtor | None) -> int:
    """Of the account in sight, also of one that was only picked yet."""
    return behaviour_of(found).signatures_required(bank, found, picked or found.debtor)


def _likely(bank: Bank, found: Initiation) -> str | None:
    """The first owner of the account that it names, or who signs for a whole file."""
    behaviour = behaviour_of(found)
    if found.kind.one_account:
        return behaviour.owner(bank, found)
    return next(iter(behaviour.may_sign(bank, found)), None)


def _options(bank: Bank, customer: str | None, found: Initiation) -> list[Option]:
    """Every compartment in the electronic channels; within SEPA those in euro (service 2.1 rule 1)."""
    return [
        Option(account, currency, bank.ledger.balance(*debtor), accounts.available(bank, debtor))
        for account in (signing.accounts_of(bank, customer) if customer else ())
        if account.online
        for currency in account.currencies
        if currency == "EUR" or not found.sepa
        for debtor in (Debtor(account.iban, currency),)
    ]
