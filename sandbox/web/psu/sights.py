"""What waits for a PSU, read under the world's lock: an initiation or a consent (choice 8), and the ways to sign it."""

import math
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from sandbox.bank import accounts, confirmations, consent_sessions, consents, signing, signing_methods
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.grants import ConsentAddress, Session
from sandbox.bank.records import CARD_READER, Account, Customer, Debtor, Origin
from sandbox.bank.signing_methods import Offer
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.banking.calendar import brussels_date
from sandbox.banking.money import Money
from sandbox.web.psu.initiation_views import InitiationView, view_of


class AccountChoice(NamedTuple):
    """An open account in the electronic channels, with the balance of each compartment."""

    account: Account
    balances: list[Money]


@dataclass(frozen=True, slots=True)
class ConsentView:
    """A consent that a TPP asks for."""

    address: ConsentAddress
    tpp: str
    choices: list[AccountChoice]
    chosen: list[Account]
    days: int  # for how long
    until: date
    sca_days: int  # how long an authentication is enough
    earlier: date | None  # when the consent that this one replaces was given

    sources = ()  # nothing is paid

    @property
    def named(self) -> bool:
        """Whether there is nothing to choose."""
        return not consent_sessions.needs_choice(self.address)


View = InitiationView | ConsentView


class Ways(NamedTuple):
    """The methods that concern the customer, the one in use, and the approval that the page waits for."""

    offers: tuple[Offer, ...] = ()  # each with why it is refused
    method: str = CARD_READER  # as the customer chose, else the first that is permitted
    approval: str | None = None
    compare: str | None = None
    seconds_left: int = 0


class Option(NamedTuple):
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
class SigningPage:
    """An initiation or a consent in the eyes of the PSU: at its address, in the channel or in the app."""

    session: Session
    asked: Origin | ConsentAddress  # by which TPP, in which language, and where it wants the PSU back
    kind: str  # which words speak of it
    view: View
    tpp: str
    customers: list[Customer]
    customer: Customer | None  # who is logged in
    likely: str | None  # whom the initiation or the address itself speaks of
    ways: Ways
    ends_in: int | None  # seconds until its address ends; None in the channel
    id: str = ""  # of an initiation, as all that follows
    options: tuple[Option, ...] = ()
    signers: tuple[str, ...] = ()
    signatures_required: int = 1

    @property
    def language(self) -> str | None:
        """The one that the TPP asked for, else the customer's own, as soon as it is known who that is (choice 2)."""
        likely = next((one for one in self.customers if one.id == self.likely), None)
        known = self.customer or likely
        return self.asked.language or (known.language if known else None)

    @property
    def is_chosen(self) -> bool:
        return self.session.debtor is not None or bool(self.session.chosen)


def session_at(bank: Bank, session_id: str, address: str) -> Session | None:
    """The session as it stands, if it is one of that address."""
    session = bank.sessions.get(session_id)
    return copy(session) if session is not None and session.address == address else None


def in_app(bank: Bank, approval: str) -> SigningPage:
    """What the app has to approve."""
    session = confirmations.session_waiting(bank, approval)
    found = confirmations.occasion_at(bank, session).found
    return sight_of(bank, session, found or consent_sessions.waiting(bank, session.address))


def sight_of(bank: Bank, session: Session, about: Initiation | ConsentAddress) -> SigningPage:
    found = None if isinstance(about, ConsentAddress) else about
    asked = about if isinstance(about, ConsentAddress) else about.origin
    address = bank.sca_addresses.get(session.address) or bank.consent_addresses.get(session.address)
    sight = SigningPage(
        copy(session),
        asked,
        kind_of(about),
        consent_view(bank, session, about)
        if isinstance(about, ConsentAddress)
        else view_of(bank, about, session.debtor),
        tpp_name(bank, asked.client_id),
        list(bank.customers.values()),
        bank.customers[session.customer] if session.customer else None,
        likely_customer(bank, about),
        ways_of(bank, session, found),
        seconds_until(bank, address.until) if address else None,
    )
    if found is None:
        return sight
    return replace(
        sight,
        id=found.id,
        options=_options(bank, session.customer, found),
        signers=tuple(bank.customers[name].name for name in found.signatures),
        signatures_required=behaviour_of(found).signatures_required(bank, found, session.debtor or found.debtor),
    )


def kind_of(about: Initiation | ConsentAddress) -> str:
    """Which words speak of it."""
    if isinstance(about, ConsentAddress):
        return "renewal" if about.renews else "consent"
    return about.kind.words


def likely_customer(bank: Bank, about: Initiation | ConsentAddress) -> str | None:
    """The token's PSU, the first owner of the account that is named, or who signs for a whole file."""
    if isinstance(about, ConsentAddress):
        return consents.likely_customer(bank, about)
    if about.origin.customer is not None:
        return about.origin.customer
    behaviour = behaviour_of(about)
    if about.kind.one_account:
        return behaviour.owner(bank, about)
    return next(iter(behaviour.may_sign(bank, about)), None)


def _options(bank: Bank, customer: str | None, found: Initiation) -> tuple[Option, ...]:
    """Every compartment in the electronic channels; within SEPA those in euro (service 2.1 rule 1)."""
    return tuple(
        Option(account, currency, bank.ledger.balance(*debtor), accounts.available(bank, debtor))
        for account in (signing.accounts_of(bank, customer) if customer else ())
        if account.online
        for currency in account.currencies
        if currency == "EUR" or not found.sepa
        for debtor in (Debtor(account.iban, currency),)
    )


def seconds_until(bank: Bank, end: datetime) -> int:
    """Bank time that is left, in whole seconds; 0 when the end has passed."""
    return max(0, math.ceil((end - bank.clock.now).total_seconds()))


def ways_of(bank: Bank, session: Session, found: Initiation | None) -> Ways:
    """Methods that are permitted or that a risk refuses; of what the customer does not have no page speaks."""
    if session.customer is None:
        return Ways()
    methods = signing_methods.offers(bank, found, session.customer)
    offers = tuple(offer for offer in methods if offer.cause not in ("inactive", "bank"))
    first = next((offer.method for offer in offers if not offer.cause), CARD_READER)
    if session.subject is not None and (found is None or found.id != session.subject):
        return Ways(offers, first)  # in the channel: what was chosen is about another initiation
    until = session.approval_until
    left = 0 if until is None else seconds_until(bank, until)
    return Ways(offers, session.method or first, session.approval, session.compare, left)


def consent_view(bank: Bank, session: Session, address: ConsentAddress) -> ConsentView:
    renewed = bank.consents[address.renews] if address.renews else None
    until = renewed.until if renewed else bank.clock.now + bank.decisions.consent_life
    return ConsentView(
        address,
        tpp_name(bank, address.client_id),
        choices_of(bank, session.customer) if session.customer else [],
        [bank.accounts[iban] for iban in session.chosen],
        bank.decisions.consent_life.days,
        brussels_date(until),
        bank.decisions.sca_renewal_after.days,
        _earlier(bank, address, session.customer),
    )


def tpp_name(bank: Bank, client_id: str) -> str:
    client = bank.clients.get(client_id)
    return client.name if client else client_id


def choices_of(bank: Bank, customer: str) -> list[AccountChoice]:
    return [
        AccountChoice(account, [bank.ledger.balance(account.iban, currency) for currency in account.currencies])
        for account in consents.choosable(bank, customer)
    ]


def _earlier(bank: Bank, address: ConsentAddress, customer: str | None) -> date | None:
    if customer is None or address.renews is not None:
        return None
    key = (address.client_id, customer, address.scope, address.iban)
    name = bank.consent_of.get(key)
    stands = [one for one in consents.valid_consents(bank, customer) if one.id == name]
    return brussels_date(stands[0].given) if stands else None
