"""Checks of a debtor's account before a payment, and the funds of a compartment, which is the part of an account in one
currency (service 1, choice 5)."""

from datetime import date, timedelta
from decimal import Decimal

from sandbox.bank.ledger import NOTHING, Compartment
from sandbox.bank.records import Account, Debtor, PaymentRequest
from sandbox.bank.state import Bank
from sandbox.banking import countries
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal

FIELD = "debtor_account.iban"


def demand_account(bank: Bank, iban: str, field: str = FIELD) -> Account:
    account = bank.accounts.get(iban)
    if account is None:
        raise Refusal(Error.ACCOUNT_FOREIGN, input=field, decided_by={"iban": iban})
    return account


def find_paying_account(bank: Bank, iban: str) -> Account:
    """Returns the account of an IBAN. Refuses an account of another bank, a closed account, a savings account from
    which payments may not leave, and an account without online access."""
    account = demand_account(bank, iban)
    demand_open(account)
    if not may_pay(bank, account):
        raise Refusal(Error.ACCOUNT_SAVINGS, input=FIELD, decided_by={"iban": iban, "type": account.type})
    demand_channel(bank, account)
    return account


def may_pay(bank: Bank, account: Account) -> bool:
    """Whether payments may leave the account. They may not if it is closed. From a savings account they may only if the
    decision `savings_as_debtor` is `accepted` (service 1)."""
    if account.closed or not account.is_savings:
        return not account.closed
    return bank.decisions.savings_as_debtor == "accepted"


def demand_open(account: Account, field: str = FIELD) -> None:
    if account.closed:
        raise Refusal(Error.ACCOUNT_CLOSED, input=field, decided_by={"iban": account.iban, "closed": True})


def is_closed(bank: Bank, iban: str | None) -> bool:
    """Whether this bank has the account and it is closed. Accounts of other banks count as open."""
    account = bank.accounts.get(iban or "")
    return account is not None and account.closed


def demand_channel(bank: Bank, account: Account, field: str = FIELD) -> None:
    """Refuses an account without online banking, and an account of which an owner blocked online access (service 1)."""
    if not account.online:
        reason, decided_by = "it is not managed in one", {"iban": account.iban, "online": False}
        raise Refusal(Error.CHANNEL_CLOSED, input=field, why=reason, which="offline", decided_by=decided_by)
    for owner in account.owners:
        demand_unblocked(bank, owner, field)


def demand_unblocked(bank: Bank, customer: str, field: str = "customer") -> None:
    if bank.customers[customer].channel_blocked:
        reason, decided_by = "the customer blocked it", {"customer": customer, "channel_blocked": True}
        raise Refusal(Error.CHANNEL_CLOSED, input=field, why=reason, which="blocked", decided_by=decided_by)


def limit_day(bank: Bank, order: PaymentRequest) -> date:
    """Returns the day on which a payment that is signed now counts for the account's limits. This is today, or the
    requested execution day if it is later and the decision `limits_day` is `execution`."""
    today, day = bank.clock.today, order.execution_date
    later = day is not None and day > today and bank.decisions.limits_day == "execution"
    return day if later and day else today


def demand_profile(bank: Bank, account: Account, country: str | None, amount: Decimal, on: date | None = None) -> None:
    """Refuses a payment to a country that the account does not accept. Also refuses a payment that would exceed the
    account's daily or weekly limit on the day `on`, by default today (service 1). If the decision `limit_week` is
    `seven_days`, the weekly limit is for the 7 days that end with this day. Otherwise the week begins on Monday."""
    on = on or bank.clock.today
    if account.countries is not None and country not in account.countries:
        reason = f"the country {country} is not among those the customer accepts"
        accepted = {"accepted_countries": sorted(account.countries), "country": country}
        raise Refusal(Error.PROFILE_FORBIDS, why=reason, which="country", country=country, decided_by=accepted)
    week = 7
    if account.limit_week is not None and bank.decisions.limit_week != "seven_days":
        week = on.weekday() + 1
    for limit, days, name in ((account.limit_day, 1, "daily"), (account.limit_week, week, "weekly")):
        if limit is not None and (spent := sum_spent(bank, account.iban, days, on)) + amount > limit.number:
            spent_money, remaining_money = Money(spent, "EUR"), Money(max(limit.number - spent, NOTHING), "EUR")
            decided_by = {
                "limit": limit,
                "used": spent_money,
                "left": remaining_money,
                "amount": Money(amount, "EUR"),
                "days": days,
            }
            reason = f"the {name} limit of the account would be passed"
            raise Refusal(Error.PROFILE_FORBIDS, why=reason, which=name, decided_by=decided_by)


def sum_spent(bank: Bank, iban: str, days: int, on: date) -> Decimal:
    """Returns the sum of the payments that were signed for an account in the period of `days` days that ends with
    `on`."""
    return sum((bank.spent.get((iban, on - timedelta(days=back)), NOTHING) for back in range(days)), NOTHING)


def count_spent(bank: Bank, iban: str, on: date, change: Decimal) -> None:
    """Adds `change` to the sum of the payments that were signed for an account on a day. A negative `change` reduces
    the sum. These sums are checked against the limits of the account."""
    bank.spent[iban, on] = bank.spent.get((iban, on), NOTHING) + change


def convert_at_fixed_rate(amount: Money, currency: str) -> Money:
    """Returns the amount in another currency, converted at the fixed rates (choice 5)."""
    if amount.currency == currency:
        return amount
    return amount.convert(countries.rate(amount.currency) / countries.rate(currency), currency)


def compute_available_funds(bank: Bank, debtor: Debtor) -> Money:
    """Returns the funds that a new signature can use: the balance plus the overdraft, less all reserved amounts (choice
    5)."""
    return Money(compute_unreserved_balance(bank, debtor) + find_overdraft(bank, debtor), debtor.currency)


def compute_unreserved_balance(bank: Bank, debtor: Debtor) -> Decimal:
    """Returns the balance less all reserved amounts, without the overdraft."""
    return bank.ledger.read_number(debtor) - sum_reserved(bank, debtor)


def sum_reserved(bank: Bank, debtor: Debtor) -> Decimal:
    return bank.reserved.get(debtor, NOTHING) + bank.reserved_later.get(debtor, NOTHING)


def compute_execution_funds(bank: Bank, debtor: Debtor) -> Money:
    """Returns the funds that the execution of a payment or a batch can use: the balance plus the overdraft, less the
    amounts reserved for payments without a planned day, which are executed soon after their signature. The caller adds
    the payment's own reservation if it is among them. Unlike `compute_available_funds`, does not subtract the amounts
    reserved for payments with a planned day. Batches reserve nothing."""
    due = bank.reserved.get(debtor, NOTHING)
    return Money(bank.ledger.read_number(debtor) - due + find_overdraft(bank, debtor), debtor.currency)


def find_overdraft(bank: Bank, debtor: Debtor) -> Decimal:
    """Returns the amount by which the balance of a compartment (one currency of an account) may fall below 0. Only the
    account's first currency has an overdraft (choice 5). Returns 0 for every other compartment."""
    account = bank.accounts.get(debtor.iban)
    if account is None or account.overdraft is None or debtor.currency != account.first_currency:
        return NOTHING
    return account.overdraft.number


def reserve(register: dict[Compartment, Decimal], debtor: Debtor, change: Decimal) -> None:
    """Adds `change` to the reserved amount of `debtor` in `register`. A negative `change` releases funds."""
    reserved_amount = register.get(debtor, NOTHING) + change
    if reserved_amount:
        register[debtor] = reserved_amount
    else:
        register.pop(debtor, None)


def describe_funds(bank: Bank, debtor: Debtor, amount: Money) -> dict[str, object]:
    """Returns the amounts that show whether `debtor` has enough funds for `amount`. A refusal gives them as its
    facts."""
    return {
        "needed": amount,
        "booked": bank.ledger.read_balance(debtor.iban, debtor.currency),
        "reserved": Money(sum_reserved(bank, debtor), debtor.currency),
        "overdraft": Money(find_overdraft(bank, debtor), debtor.currency),
        "available": compute_available_funds(bank, debtor),
    }
