"""The methods of signing: by card reader, in the bank's app, by biometrics, or in an identity app (service 5.7).

The customer chooses among the methods that they activated. A risk, such as a large amount, excludes some methods. The
setting `method_risks` can say for each risk which methods it excludes.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.bank.accounts import convert_at_fixed_rate
from sandbox.bank.records import APP, BIOMETRICS, IDENTITY_APP, METHODS, BulkFile, Debtor, Initiation, Payment
from sandbox.bank.state import Bank
from sandbox.banking import countries
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.iban import find_country
from sandbox.contract.added_settings import split_line
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal

NO_METHOD = "none"  # in a line of the setting
NIGHT_BEGINS, NIGHT_ENDS = 23, 6  # hours in Brussels


class SigningAttempt(NamedTuple):
    """The initiation that a customer is about to sign, and the account that pays. For a consent, both are None. If only
    `debtor` is None, the payer is the account that the initiation names, or for a file its debtor accounts."""

    customer: str
    initiation: Initiation | None = None
    debtor: Debtor | None = None


class Risk(NamedTuple):
    """A risk, and the signing methods that it excludes unless the setting `method_risks` names other methods."""

    name: str
    refuses: tuple[str, ...]
    reason: str
    holds: Callable[[Bank, SigningAttempt], bool]
    limit: Callable[[Decisions], int] | None = None  # in EUR; the sentence names it


def find_amount(initiation: Initiation | None) -> Decimal:
    """Returns the amount of an initiation in EUR: for a standing order the amount of one execution, for a bulk file its
    total. Returns 0 without an initiation or a fixed amount."""
    if initiation is None:
        return Decimal()
    if isinstance(initiation, BulkFile):
        return initiation.total
    amount = initiation.order.amount
    return convert_at_fixed_rate(amount, "EUR").number if amount is not None else Decimal()


def find_beneficiary(initiation: Initiation) -> str:
    """Returns the number of the account that is paid. A file pays many accounts, so for a file it returns the id of the
    file."""
    if isinstance(initiation, BulkFile):
        return initiation.id
    if isinstance(initiation, Payment):
        return initiation.order.creditor.iban or initiation.order.creditor.bban or ""
    return initiation.order.creditor_iban


def is_new(bank: Bank, attempt: SigningAttempt) -> bool:
    """Whether the customer has never signed a payment to this beneficiary. False for the customer's own accounts, and
    for a consent."""
    if attempt.initiation is None:
        return False
    iban = find_beneficiary(attempt.initiation)
    own = bank.accounts.get(iban)
    return (attempt.customer, iban) not in bank.beneficiaries and (own is None or attempt.customer not in own.owners)


def is_night(bank: Bank, attempt: SigningAttempt) -> bool:
    hour = bank.clock.now.astimezone(BRUSSELS).hour
    return hour >= NIGHT_BEGINS or hour < NIGHT_ENDS


def leaves_sepa(bank: Bank, attempt: SigningAttempt) -> bool:
    """Whether the beneficiary's bank is outside SEPA. Files and standing orders stay within SEPA."""
    if not isinstance(attempt.initiation, Payment):
        return False
    creditor = attempt.initiation.order.creditor
    country = creditor.country or find_country(creditor.iban or "")
    return country not in countries.SEPA


def is_first_use(bank: Bank, attempt: SigningAttempt) -> bool:
    """Whether the customer has never signed for the paying account, or for one of the paying accounts of a file. False
    for a consent."""
    if attempt.initiation is None:
        return False
    if isinstance(attempt.initiation, BulkFile):
        paying = {part.debtor.iban for part in attempt.initiation.payable_parts}
    else:
        debtor = attempt.debtor or attempt.initiation.debtor
        paying = {debtor.iban} if debtor else set()
    return not paying <= set(_find_used_accounts(bank, attempt.customer))


def _find_used_accounts(bank: Bank, customer: str) -> Iterator[str]:
    """Yields the accounts for which the customer signed something."""
    names = (name for list_name in ("payments", "orders") for name in bank.leaving_from.get((customer, list_name), ()))
    for initiation in map(bank.find_initiation, names):
        if initiation is None or customer not in initiation.signatures:
            continue
        if isinstance(initiation, BulkFile):
            yield from (part.debtor.iban for part in initiation.parts if not part.findings)
        elif initiation.debtor is not None:
            yield initiation.debtor.iban


# The first row that holds and refuses the method gives the reason.
RISKS = (
    Risk("night", (APP, BIOMETRICS, IDENTITY_APP), "it is not accepted from 23:00 to 06:00", is_night),
    Risk(
        "large",
        (APP, BIOMETRICS, IDENTITY_APP),
        "it is not accepted over {limit:,} EUR",
        lambda bank, attempt: find_amount(attempt.initiation) > bank.decisions.large_amount,
        lambda decisions: decisions.large_amount,
    ),
    Risk(
        "amount",
        (BIOMETRICS,),
        "it is not accepted over {limit:,} EUR",
        lambda bank, attempt: find_amount(attempt.initiation) > bank.decisions.risky_amount,
        lambda decisions: decisions.risky_amount,
    ),
    Risk("country", (BIOMETRICS,), "the beneficiary's bank is outside SEPA", leaves_sepa),
    Risk("beneficiary", (BIOMETRICS,), "the beneficiary is new", is_new),
    Risk("first_use", (), "the customer signs for this account for the first time", is_first_use),
    Risk("consent", (), "it is not accepted for a consent", lambda bank, attempt: attempt.initiation is None),
)
RISK_NAMES = tuple(risk.name for risk in RISKS)


def find_excluded_methods(decisions: Decisions, risk: Risk) -> tuple[str, ...]:
    """Returns the methods that a risk excludes: those that the setting `method_risks` names for this risk, else
    `risk.refuses`."""
    methods_by_risk = dict(map(split_line, decisions.method_risks))
    methods = methods_by_risk.get(risk.name)
    return risk.refuses if methods is None else tuple(method for method in METHODS if method in methods.split())


class Offer(NamedTuple):
    """A signing method, and whether a customer can use it now. If so, `cause` is empty. Otherwise `reason` is the
    sentence for the customer, and `cause` is one word: `bank` if the bank does not have the method, `inactive` if the
    customer did not activate it, else the name of the risk that excludes it."""

    method: str
    cause: str = ""
    reason: str = ""
    limit: int | None = None  # in EUR


def list_offers(bank: Bank, attempt: SigningAttempt) -> list[Offer]:
    """Returns an offer for each of METHODS. An offer says whether the method is accepted for this attempt."""
    return [_offer(bank, attempt, method) for method in METHODS]


def _offer(bank: Bank, attempt: SigningAttempt, method: str) -> Offer:
    setting = bank.decisions.sca_methods
    if setting != "by_risk":  # a bank with one method, which every customer has
        return Offer(method) if method == setting else Offer(method, "bank", "the bank does not have it")
    if method not in bank.customers[attempt.customer].methods:
        return Offer(method, "inactive", "the customer did not activate it")
    for risk in RISKS:
        if method in find_excluded_methods(bank.decisions, risk) and risk.holds(bank, attempt):
            limit = risk.limit(bank.decisions) if risk.limit else None
            return Offer(method, risk.name, risk.reason.format(limit=limit), limit)
    return Offer(method)


def demand_method(bank: Bank, attempt: SigningAttempt, method: str) -> None:
    offer = _offer(bank, attempt, method)
    if offer.cause:
        facts: dict[str, Any] = {"method": method, "why": offer.reason, "which": offer.cause, "limit": offer.limit}
        raise Refusal(Error.METHOD_REFUSED, **facts)
