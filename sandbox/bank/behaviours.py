"""How each kind of initiation behaves while it is signed: one row a kind, of functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sandbox.bank import accounts, bulk_checks, bulks, execution, payments, rules, standing_orders
from sandbox.bank.records import Account, Debtor, Payment
from sandbox.bank.rules import Looks
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation, StandingOrder
from sandbox.contract import kinds
from sandbox.contract.kinds import Kind
from sandbox.contract.moves import Trigger


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the bank asks and does before, at and after the last signature."""

    looks: Callable[[Any], Looks]  # before its signature, for the rules of a scenario
    demand_fit: Callable[[Bank, Any, str, Debtor | None], None]  # the account that pays lets the customer sign
    demand_funds: Callable[[Bank, Any], None]  # where `demand_fit` does not
    may_sign: Callable[[Bank, Any], tuple[str, ...]]
    signatures_required: Callable[[Bank, Any, Debtor | None], int]
    owner: Callable[[Bank, Any], str | None]  # of the account that pays
    complete: Callable[[Bank, Any], None]  # the last signature
    refuse: Callable[[Bank, Any, str | None], None]


def behaviour_of(found: Initiation) -> Behaviour:
    return BEHAVIOURS[found.kind]


def _account(bank: Bank, found: Payment | StandingOrder) -> Account | None:
    return bank.accounts[found.debtor.iban] if found.debtor else None


def _owner(bank: Bank, found: Payment | StandingOrder) -> str | None:
    account = _account(bank, found)
    return account.owners[0] if account else None


def _may_sign(bank: Bank, found: Payment | StandingOrder) -> tuple[str, ...]:
    account = _account(bank, found)
    assert account is not None
    return account.may_sign


def _refuse(bank: Bank, found: Payment | StandingOrder, reason: str | None) -> None:
    bank.move(found, Trigger.REFUSED, reason)


def _nothing(bank: Bank, found: Initiation) -> None:
    """Checked with the account."""


def _payment_fits(bank: Bank, payment: Payment, customer: str, debtor: Debtor | None) -> None:
    assert debtor is not None
    accounts.demand_fit(bank, payment.order, debtor, direct=payments.is_direct(bank, payment.order))


def _order_fits(bank: Bank, order: StandingOrder, customer: str, debtor: Debtor | None) -> None:
    assert debtor is not None
    standing_orders.demand_fit(bank, order.order, debtor)


ONE_ACCOUNT = Behaviour(
    looks=lambda found: rules.looks_of(found.order, found.origin),
    demand_fit=_payment_fits,
    demand_funds=_nothing,
    may_sign=_may_sign,
    signatures_required=lambda bank, _, debtor: bank.accounts[debtor.iban].signatures_required if debtor else 1,
    owner=_owner,
    complete=execution.complete,
    refuse=_refuse,
)
BEHAVIOURS: dict[Kind, Behaviour] = {
    kinds.PAYMENT: ONE_ACCOUNT,
    kinds.STANDING_ORDER: replace(
        ONE_ACCOUNT,
        demand_fit=_order_fits,
        signatures_required=lambda bank, order, debtor: 1,  # never several (service 1)
        complete=standing_orders.complete,
    ),
    kinds.BULK: Behaviour(
        looks=lambda bulk: bulks.looks_of(bulk.format, bulk.origin, bulk.reference),
        demand_fit=lambda bank, bulk, customer, debtor: bulk_checks.demand_fit(bank, bulk, customer),
        demand_funds=bulk_checks.demand_funds,
        may_sign=bulk_checks.signers,
        signatures_required=lambda bank, bulk, debtor: bulk_checks.signatures_required(bank, bulk),
        owner=lambda bank, bulk: bank.accounts[bulk.payable_parts[0].debtor.iban].owners[0],
        complete=bulks.complete,
        refuse=bulks.refuse,
    ),
}
