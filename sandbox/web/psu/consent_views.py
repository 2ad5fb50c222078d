"""Consents as a PSU sees them: one that is asked for, and those that stand (choice 8)."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from sandbox.bank import consent_sessions, consents
from sandbox.bank.grants import ConsentAddress, Session
from sandbox.bank.records import Account
from sandbox.bank.state import Bank
from sandbox.banking.calendar import brussels_date
from sandbox.banking.money import Money


class Choice(NamedTuple):
    """An open account in the electronic channels, with the balance of each compartment."""

    account: Account
    balances: list[Money]


@dataclass(frozen=True, slots=True)
class ConsentView:
    """A consent that a TPP asks for."""

    address: ConsentAddress
    tpp: str
    choices: list[Choice]
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


def consent_view(bank: Bank, session: Session, address: ConsentAddress) -> ConsentView:
    renewed = bank.consents[address.renews] if address.renews else None
    until = renewed.until if renewed else bank.clock.now + bank.settings.consent_life
    return ConsentView(
        address,
        tpp_name(bank, address.client_id),
        choices_of(bank, session.customer) if session.customer else [],
        [bank.accounts[iban] for iban in session.chosen],
        bank.settings.consent_life.days,
        brussels_date(until),
        bank.settings.sca_renewal_after.days,
        _earlier(bank, address, session.customer),
    )


def tpp_name(bank: Bank, client_id: str) -> str:
    client = bank.clients.get(client_id)
    return client.name if client else client_id


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
