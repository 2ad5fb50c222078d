"""The fees of paid services, and the sums that a payment needs and debits (service 2.1 rules 6 and 7, choice 5)."""

from decimal import Decimal
from typing import NamedTuple

from sandbox.bank import accounts
from sandbox.bank.records import Debtor, Payment, PaymentRequest
from sandbox.bank.state import Bank
from sandbox.banking import countries
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.products import PRODUCTS

RATE_DECIMALS = Decimal("1E-10")
USUAL_FEE = Money.read("2.50", "EUR")  # charged by the axis `fees` if the customer's tariff has no fee


def find_paid_service(order: PaymentRequest) -> str | None:
    """Returns the paid service that a payment uses: `instant`, `urgent` or `cross-border`. Returns None for an ordinary
    SEPA credit transfer."""
    product = PRODUCTS[order.product]
    if product.instant:
        return "instant"
    if order.urgent:
        return "urgent"
    return None if product.sepa else "cross-border"


def find_fee(bank: Bank, order: PaymentRequest, debtor: Debtor) -> Money | None:
    """Returns the fee of a payment by the tariff of the account's first owner, in the tariff's currency. If the tariff
    has no fee, returns USUAL_FEE if the decision `fees` demands a fee. Returns None if the payment is free."""
    name = find_paid_service(order)
    if name is None:
        return None
    fees = bank.decisions.fees
    charged = fees == "abroad" or (fees == "everybody" and name != "cross-border")
    return bank.customers[bank.accounts[debtor.iban].owners[0]].find_fee(name) or (USUAL_FEE if charged else None)


def compute_needs(bank: Bank, order: PaymentRequest, debtor: Debtor) -> Money:
    """Returns the funds that a payment needs, in the debtor's currency: its amount and its fee. If the decision
    `fee_check` is `later`, returns the amount alone."""
    amount, fee = accounts.convert_at_fixed_rate(order.amount, debtor.currency), find_fee(bank, order, debtor)
    if fee is None or bank.decisions.fee_check == "later":
        return amount
    return amount + accounts.convert_at_fixed_rate(fee, debtor.currency)


def demand_funds(bank: Bank, order: PaymentRequest, debtor: Debtor) -> None:
    """Refuses a payment if the debtor's available funds are below the sum that `compute_needs` returns."""
    needs = compute_needs(bank, order, debtor)
    if accounts.compute_available_funds(bank, debtor) < needs:
        fee = find_fee(bank, order, debtor)
        decided_by = accounts.describe_funds(bank, debtor, needs) | ({} if fee is None else {"fee": fee})
        raise Refusal(Error.FUNDS_MISSING, input=debtor.iban, decided_by=decided_by)


class ExchangeCost(NamedTuple):
    """The exchange rate, the debited amount and the charges of a cross-border payment."""

    rate: Decimal | None  # units of the account's currency for one unit of the payment's; None where they are the same
    debited: Money
    charges: Money


def compute_exchange_cost(bank: Bank, payment: Payment) -> ExchangeCost:
    """Returns the exchange rate, the debited amount and the charges of a cross-border payment. The charges are the fee
    that was fixed at the last signature, or the fee of today's tariff if the payment is not signed."""
    order, debtor = payment.order, payment.debtor
    assert debtor is not None
    fee = payment.fee if payment.signed_on else find_fee(bank, order, debtor)
    charges = Money.zero(debtor.currency) if fee is None else accounts.convert_at_fixed_rate(fee, debtor.currency)
    rate = None
    if order.amount.currency != debtor.currency:
        rate = (countries.rate(order.amount.currency) / countries.rate(debtor.currency)).quantize(RATE_DECIMALS)
    return ExchangeCost(rate, accounts.convert_at_fixed_rate(order.amount, debtor.currency), charges)
