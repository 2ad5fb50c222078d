"""Consents as a PSU sees them: one that is asked for, and those that stand (choice 8)."""

from copy import copy
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from sandbox.bank import consent_sessions, consents, signing, signing_sessions
from sandbox.bank.grants import Consent, ConsentAddress, Session
from sandbox.bank.records import Account, Customer
from sandbox.bank.state import Bank
from sandbox.banking.calendar import brussels_date
from sandbox.banking.money import Money
from sandbox.web.psu.shared_views import Ways, seconds_until, tpp_name, ways_of


class Allowed(NamedTuple):
    """A consent that stands: who may read what, since when and until when."""

    id: str
    tpp: str
    scope: str
    accounts: list[Account]
    given: date
    until: date


class Choice(NamedTuple):
    """An open account in the electronic channels, with the balance of each compartment."""

    account: Account
    balances: list[Money]


@dataclass(frozen=True, slots=True)
class ConsentSight:
    """A consent address in the eyes of the PSU."""

    session: Session
    address: ConsentAddress
    tpp: str
    customers: list[Customer]
    customer: Customer | None  # who is logged in
    likely: str | None  # whom the address itself speaks of
    choices: list[Choice]
    chosen: list[Account]
    days: int  # for how long
    until: date
    sca_days: int  # how long an authentication is enough
    earlier: date | None  # when the consent that this one replaces was given
    ends_in: int  # seconds until the address ends
    ways: Ways

    @property
    def kind(self) -> str:
        """Which words speak of it."""
        return "renewal" if self.renewal else "consent"

    @property
    def language(self) -> str:
        return self.address.language

    @property
    def redirect_uri(self) -> str:
        return self.address.redirect_uri

    @property
    def is_chosen(self) -> bool:
        return bool(self.chosen)

    @property
    def given(self) -> bool:
        """Whether there is nothing to choose."""
        return not consent_sessions.needs_choice(self.address)

    @property
    def renewal(self) -> bool:
        return self.address.renews is not None


def consent_at(bank: Bank, session_id: str, token: str) -> ConsentSight:
    """What waits at an address; over or outdated ones are refused first."""
    consent_sessions.waiting(bank, token)
    return consent_of(bank, signing_sessions.session_of(bank, session_id, token))


def consent_of(bank: Bank, session: Session) -> ConsentSight:
    """What waits for a session."""
    address = consent_sessions.waiting(bank, session.address)
    renewed = bank.consents[address.renews] if address.renews else None
    until = renewed.until if renewed else bank.clock.now + bank.settings.consent_life
    return ConsentSight(
        copy(session),
        address,
        tpp_name(bank, address.client_id),
        list(bank.customers.values()),
        bank.customers[session.customer] if session.customer else None,
        _likely(bank, address),
        choices_of(bank, session.customer) if session.customer else [],
        [bank.accounts[iban] for iban in session.chosen],
        bank.settings.consent_life.days,
        brussels_date(until),
        bank.settings.sca_renewal_after.days,
        _earlier(bank, address, session.customer),
        seconds_until(bank, address.until),
        ways_of(bank, session, None),
    )


def standing_one(bank: Bank, session_id: str, consent_id: str) -> tuple[Customer, Allowed]:
    """A consent that the customer in the channel may withdraw."""
    session = signing_sessions.session_of(bank, session_id, signing_sessions.CHANNEL)
    if session.customer is not None:
        signing.demand_own_channel(bank, session.customer)
    found = consents.find_valid(bank, session.customer, consent_id)
    return bank.customers[found.customer], allowed_by(bank, found)


def allowed_by(bank: Bank, consent: Consent) -> Allowed:
    return Allowed(
        consent.id,
        tpp_name(bank, consent.client_id),
        consent.scope,
        [bank.accounts[iban] for iban in consent.logical_ids.values()],
        brussels_date(consent.given),
        brussels_date(consent.until),
    )


def _likely(bank: Bank, address: ConsentAddress) -> str | None:
    if address.renews is not None:
        return bank.consents[address.renews].customer
    return bank.accounts[address.iban].owners[0] if address.iban is not None else None


def choices_of(bank: Bank, customer: str) -> list[Choice]:
    return [
        Choice(account, [bank.ledger.balance(account.iban, currency) for currency in account.currencies])
        for account in consents.choosable(bank, customer)
    ]


def _earlier(bank: Bank, address: ConsentAddress, customer: str | None) -> date | None:
    if customer is None or address.renews is not None:
        return None
    key = (address.client_id, customer, address.scope, address.iban)
    name = bank.consent_of.get(key)
    stands = [one for one in consents.valid_consents(bank, customer) if one.id == name]
    return brussels_date(stands[0].given) if stands else None
