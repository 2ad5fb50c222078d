"""Applies a scenario's rules to initiations."""

from typing import Any

from sandbox.bank.records import Order, Origin
from sandbox.bank.rules import Looks, Match
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal

# What a row of the catalogue may ask for besides, where only the scenario says no.
NAMED = ("iban", "country", "currency", "client", "status", "method")
BARE: dict[str, Any] = {"seconds": 5, "allow": "", "expected": "another"}


def looks_of_order(order: Order, origin: Origin) -> Looks:
    return Looks(
        "payment",
        origin.client_id,
        order.product,
        customer=origin.customer,
        debtor=order.debtor.iban if order.debtor else None,
        creditor_iban=order.creditor.iban,
        creditor_name=order.creditor_name,
        amount=order.amount.number,
        currency=order.amount.currency,
        endtoend_identification=order.endtoend_identification,
    )


def meet(bank: Bank, looks: Looks) -> Match:
    """The last check of an initiation: a rule may refuse it. The match is counted, also on a refusal."""
    return _demand_yes(bank, bank.rulebook.first(looks, bank.clock.now))


def _demand_yes(bank: Bank, match: Match) -> Match:
    rule = None if match.number is None else bank.rulebook.rules[match.number]
    if rule is not None and rule.refuse is not None:
        bank.rulebook.met |= match.counted
        error, why = Error[rule.refuse], f"the scenario says so ({rule.title})"
        facts: dict[str, Any] = dict.fromkeys(
            ("iban", "country", "currency", "client", "status", "method"), "of this call"
        )
        raise Refusal(error, lasting=bool(match.counted), input="initiation", why=why, rule=rule.title, **facts, **BARE)
    return match


def take(bank: Bank, match: Match) -> int | None:
    """Counts the match of an accepted initiation."""
    bank.rulebook.met |= match.counted
    return match.number


def meet_again(bank: Bank, found: Initiation, before: Looks, looks: Looks) -> Match | None:
    """Matches again at the signature, for rules that ask for a customer."""
    if found.rule is not None:
        return None
    return _demand_yes(bank, bank.rulebook.first(looks, bank.clock.now, before))
