"""What a page shows, read under the world's lock."""

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from sandbox.bank import accounts, app_approvals, signing, signing_sessions
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.grants import Session
from sandbox.bank.records import Account, Customer, Debtor, Origin
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.banking.money import Money
from sandbox.web.psu.consent_views import ConsentSight, consent_of
from sandbox.web.psu.initiation_views import InitiationView, view_of
from sandbox.web.psu.shared_views import Ways, seconds_until, tpp_name, ways_of


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
    ways: Ways
    ends_in: int | None = None  # seconds until its address ends; None in the channel

    @property
    def kind(self) -> str:
        """Which words speak of it."""
        return self.view.words

    @property
    def language(self) -> str | None:
        """The one that the TPP asked for, else the customer's own, as soon as it is known who that is (choice 2)."""
        likely = next((one for one in self.customers if one.id == self.likely), None)
        known = self.customer or likely
        return self.origin.language or (known.language if known else None)

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
    return sight_of(bank, signing_sessions.session_of(bank, session_id, token), found)


def in_app(bank: Bank, approval: str) -> Sight | ConsentSight:
    """What the app has to approve."""
    session = app_approvals.session_waiting(bank, approval)
    found = app_approvals.occasion_at(bank, session).found
    return consent_of(bank, session) if found is None else sight_of(bank, session, found)


def callback_of(bank: Bank, session_id: str, token: str) -> str | None:
    """Where the page that waited leads, once the app has answered."""
    session = bank.sessions.get(session_id)
    return session.callback if session is not None and session.address == token else None


def _ends_in(bank: Bank, session: Session) -> int | None:
    address = bank.sca_addresses.get(session.address)
    return None if address is None else seconds_until(bank, address.until)


def sight_of(bank: Bank, session: Session, found: Initiation) -> Sight:
    return Sight(
        copy(session),
        found.id,
        found.origin,
        view_of(bank, found, session.debtor),
        tpp_name(bank, found.origin.client_id),
        list(bank.customers.values()),
        bank.customers[session.customer] if session.customer else None,
        likely_signer(bank, found),
        _options(bank, session.customer, found),
        [bank.customers[name].name for name in found.signatures],
        _signatures_required(bank, found, session.debtor),
        ways_of(bank, session, found),
        _ends_in(bank, session),
    )


def _signatures_required(bank: Bank, found: Initiation, picked: Debtor | None) -> int:
    """Of the account in sight, also of one that was only picked yet."""
    return behaviour_of(found).signatures_required(bank, found, picked or found.debtor)


def likely_signer(bank: Bank, found: Initiation) -> str | None:
    """The token's PSU, the first owner of the account that it names, or who signs for a whole file."""
    if found.origin.customer is not None:
        return found.origin.customer
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
