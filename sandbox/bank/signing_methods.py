"""How a customer signs: by card reader, in the bank's app, or by biometrics (service 5.7).

The customer chooses among the methods that they activated; a row of risk refuses some of them.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from sandbox.bank.accounts import cost
from sandbox.bank.records import APP, BIOMETRICS, METHODS, BulkFile, Initiation, Payment
from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.errors import Error, Refusal

BIOMETRICS_MAX, APP_MAX = Decimal(500), Decimal(5_000)  # EUR
NIGHT_BEGINS, NIGHT_ENDS = 23, 6  # hours in Brussels


class Risk(NamedTuple):
    """A risk, and the methods that it refuses."""

    name: str
    refuses: tuple[str, ...]
    why: str
    holds: Callable[[Bank, Initiation | None, str], bool]


def amount_of(found: Initiation | None) -> Decimal:
    """What leaves at once or each time, in EUR; a variable standing order names no amount."""
    if found is None:
        return Decimal()
    if isinstance(found, BulkFile):
        return found.total
    amount = found.order.amount
    return cost(amount, "EUR").number if amount is not None else Decimal()


def beneficiary_of(found: Initiation) -> str:
    """The account that is paid; a file has many."""
    if isinstance(found, BulkFile):
        return found.id
    if isinstance(found, Payment):
        return found.order.creditor.iban or found.order.creditor.bban or ""
    return found.order.creditor_iban


def is_new(bank: Bank, found: Initiation | None, customer: str) -> bool:
    """A beneficiary that the customer has not paid by a signature yet, and none of their own accounts."""
    if found is None:
        return False
    iban = beneficiary_of(found)
    own = bank.accounts.get(iban)
    return (customer, iban) not in bank.beneficiaries and (own is None or customer not in own.owners)


def is_night(bank: Bank, found: Initiation | None, customer: str) -> bool:
    hour = bank.clock.now.astimezone(BRUSSELS).hour
    return hour >= NIGHT_BEGINS or hour < NIGHT_ENDS


RISKS = (
    Risk("night", (APP, BIOMETRICS), "from 23:00 to 06:00 the card reader alone signs", is_night),
    Risk(
        "large",
        (APP, BIOMETRICS),
        f"over {APP_MAX:,} EUR the card reader alone signs",
        lambda bank, found, customer: amount_of(found) > APP_MAX,
    ),
    Risk(
        "amount",
        (BIOMETRICS,),
        f"over {BIOMETRICS_MAX:,} EUR biometrics do not sign",
        lambda bank, found, customer: amount_of(found) > BIOMETRICS_MAX,
    ),
    Risk("beneficiary", (BIOMETRICS,), "the beneficiary is new, so biometrics do not sign", is_new),
)


class Offer(NamedTuple):
    """A method, and the cause and the sentence for which it is refused now."""

    method: str
    cause: str = ""
    why: str = ""


def offers(bank: Bank, found: Initiation | None, customer: str) -> list[Offer]:
    """The methods in the order of the table, each permitted or refused; `found` is None at a consent address."""
    return [_offer(bank, found, customer, method) for method in METHODS]


def _offer(bank: Bank, found: Initiation | None, customer: str, method: str) -> Offer:
    setting = bank.decisions.sca_methods
    if setting != "by_risk":  # a bank with one method, which every customer has
        return Offer(method) if method == setting else Offer(method, "bank", "the bank does not have it")
    if method not in bank.customers[customer].methods:
        return Offer(method, "inactive", "the customer did not activate it")
    for risk in RISKS:
        if method in risk.refuses and risk.holds(bank, found, customer):
            return Offer(method, risk.name, risk.why)
    return Offer(method)


def demand_method(bank: Bank, found: Initiation | None, customer: str, method: str) -> None:
    offer = _offer(bank, found, customer, method)
    if offer.cause:
        raise Refusal(Error.METHOD_REFUSED, method=method, why=offer.why, which=offer.cause)
