"""Addresses at which a PSU signs (service 4.6 rule 3, choice 5)."""

from datetime import timedelta

from sandbox.bank.records import ScaAddress
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal


def new_address(bank: Bank, subject_id: str, life: timedelta) -> str:
    """A fresh address for a subject; its token is what the URL carries."""
    token = bank.mint.secret()
    until = bank.clock.now + life
    bank.sca_addresses[token] = ScaAddress(token, subject_id, until)
    return token


def address_of(bank: Bank, token: str) -> ScaAddress:
    """The address, whether or not it still lives."""
    address = bank.sca_addresses.get(token)
    if address is None:
        raise Refusal(Error.NOT_FOUND, input="address")
    return address


def demand_alive(bank: Bank, address: ScaAddress) -> None:
    if bank.clock.now >= address.until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="address")
