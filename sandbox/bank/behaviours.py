"""How each kind of initiation behaves: its checks, its signature, and the effects of its triggers.

A trigger is something that happens to an initiation, such as its cancellation. It happens because a scheduled event
falls due, or because a rule or a tester forces it. The table `EFFECTS` has the effect for each of these two cases.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sandbox.bank import bulk_checks, bulks, execution, payments, rules, standing_orders
from sandbox.bank.records import Batch, BulkFile, Debtor, Initiation, Payment, StandingOrder, Subject
from sandbox.bank.rules import RuleFacts
from sandbox.bank.state import Bank
from sandbox.contract import kinds, moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.reasons import Reason

Due = Callable[[Bank, Any], None]
Forced = Callable[[Bank, Any, str | None], None]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an initiation of one kind is checked, signed, completed and refused. Each row of contract/kinds has one
    behaviour."""

    rule_facts: Callable[[Any], RuleFacts]  # known before the signature, for the rules of a scenario
    demand_fit: Callable[[Bank, Any, str, Any], None]  # raises a Refusal unless the customer may sign with this account
    demand_funds: Callable[[Bank, Any], None]  # raises a Refusal if funds are missing, unless `demand_fit` checks that
    may_sign: Callable[[Bank, Any], tuple[str, ...]]
    signatures_required: Callable[[Bank, Any, Debtor | None], int]
    owner: Callable[[Bank, Any], str | None]  # the first owner of the account that pays
    complete: Callable[[Bank, Any], None]  # runs after the last signature
    refuse: Callable[[Bank, Any, str | None], None]


def find_behaviour(initiation: Initiation) -> Behaviour:
    return BEHAVIOURS[initiation.kind]


def _move(trigger: Trigger) -> Any:
    """Returns an effect that only changes the status of an initiation and moves no money."""

    def move(bank: Bank, subject: Subject, reason: str | None = None) -> None:
        bank.move(subject, trigger, reason)

    return move


ONE_ACCOUNT = Behaviour(
    rule_facts=lambda initiation: rules.make_rule_facts(initiation.order, initiation.origin),
    demand_fit=lambda bank, payment, customer, debtor: payments.demand_fit(bank, payment.order, debtor),
    demand_funds=lambda bank, _: None,  # with the account
    may_sign=lambda bank, initiation: bank.accounts[initiation.debtor.iban].may_sign,
    signatures_required=lambda bank, _, debtor: bank.accounts[debtor.iban].signatures_required if debtor else 1,
    owner=lambda bank, initiation: bank.accounts[initiation.debtor.iban].owners[0] if initiation.debtor else None,
    complete=execution.complete,
    refuse=_move(Trigger.REFUSED),
)
BEHAVIOURS: dict[InitiationKind, Behaviour] = {
    kinds.PAYMENT: ONE_ACCOUNT,
    kinds.STANDING_ORDER: replace(
        ONE_ACCOUNT,
        demand_fit=lambda bank, order, customer, debtor: standing_orders.demand_fit(bank, order.order, debtor),
        signatures_required=lambda bank, order, debtor: 1,  # never several (service 1)
        complete=standing_orders.complete,
    ),
    kinds.BULK: Behaviour(
        rule_facts=lambda bulk: bulks.make_rule_facts(bulk.format, bulk.origin, bulk.reference),
        demand_fit=lambda bank, bulk, customer, debtor: bulk_checks.demand_fit(bank, bulk, customer),
        demand_funds=bulk_checks.demand_funds,
        may_sign=bulk_checks.find_signers,
        signatures_required=lambda bank, bulk, debtor: bulk_checks.count_required_signatures(bank, bulk),
        owner=lambda bank, bulk: bank.accounts[bulk.payable_parts[0].debtor.iban].owners[0],
        complete=bulks.complete,
        refuse=partial(bulks.end, Trigger.REFUSED),
    ),
}


class Effect(NamedTuple):
    """The effect of a trigger. `due` runs when a scheduled event falls due. It is None if the trigger is never
    scheduled. `forced` runs when a rule or a tester makes the move. It is None if the move cannot be forced."""

    due: Due | None = None
    forced: Forced | None = None


def _skip_before_planned_day(execute: Due) -> Due:
    """Returns an effect that calls `execute`, but does nothing before the planned day of the payment or batch. An event
    comes too early if the execution was postponed after the event was scheduled."""

    def due(bank: Bank, subject: Payment | Batch) -> None:
        now = bank.clock.now
        if now >= execution.compute_due_time(subject, now):
            execute(bank, subject)

    return due


def _refuse_unsigned(bank: Bank, initiation: StandingOrder | BulkFile) -> None:
    """Refuses a standing order or a file that nobody signed in time. Service 3.3 names no time, so the bank schedules
    this only if the decision `unsigned_order` or `unsigned_file` demands it."""
    if not initiation.signatures:
        find_behaviour(initiation).refuse(bank, initiation, Reason.TIME_OUT.code)


def _time_out(bank: Bank, payment: Payment) -> None:
    """Cancels a payment that still lacks signatures when its time is over. If the decision `half_signed` is `stays`, a
    payment with at least one signature is not cancelled."""
    if not payment.signatures or bank.decisions.half_signed != "stays":
        bank.move(payment, Trigger.UNSIGNED_TOO_LONG, Reason.TIME_OUT.code)


def _sign(bank: Bank, initiation: Initiation, reason: str | None) -> None:
    """Signs and completes an initiation, because a rule or a tester forces the move. If the initiation has no
    signature, adds all that it needs. If it has some, adds no others. If the PSU is not known, takes the account's
    first owner, or the first signer of a file. Refuses a payment or a standing order without a debtor account in this
    bank, and a file if nobody may sign for all its accounts."""
    behaviour = find_behaviour(initiation)
    if initiation.kind.one_account and (initiation.debtor is None or initiation.debtor.iban not in bank.accounts):
        subject = f"{'a payment' if isinstance(initiation, Payment) else 'an order'} without a debtor account"
        raise Refusal(Error.MOVE_ILLEGAL, subject=subject, status="PATC", target="signed")
    signers = behaviour.may_sign(bank, initiation)
    if not (signers or initiation.customer):  # the signers of an account were changed after the file was accepted
        raise Refusal(Error.MOVE_ILLEGAL, subject="a file that nobody may sign", status="PATC", target="signed")
    initiation.customer = initiation.customer or (
        behaviour.owner(bank, initiation) if initiation.kind.one_account else signers[0]
    )
    if not initiation.signatures:
        whole = (initiation.customer or "",) if isinstance(initiation, StandingOrder) else signers
        initiation.signatures = whole[: behaviour.signatures_required(bank, initiation, initiation.debtor)]
    behaviour.complete(bank, initiation)


EFFECTS: dict[type[Subject], dict[Trigger, Effect]] = {
    Payment: {
        Trigger.CHECKED: Effect(_move(Trigger.CHECKED), _move(Trigger.CHECKED)),
        Trigger.UNSIGNED_TOO_LONG: Effect(due=_time_out),
        Trigger.REFUSED: Effect(forced=_move(Trigger.REFUSED)),
        Trigger.SIGNED: Effect(forced=_sign),
        Trigger.EXECUTED: Effect(_skip_before_planned_day(execution.execute), execution.begin_settlement),
        Trigger.FUNDS_MISSING: Effect(forced=execution.recycle),
        Trigger.GIVEN_UP: Effect(forced=execution.give_up),
        Trigger.SETTLED: Effect(execution.settle, execution.settle),
        Trigger.REJECTED: Effect(execution.fail, execution.reject),
        Trigger.CANCELLED: Effect(forced=execution.cancel),
    },
    StandingOrder: {
        Trigger.REFUSED: Effect(_refuse_unsigned, _move(Trigger.REFUSED)),
        Trigger.SIGNED: Effect(forced=_sign),
        Trigger.ACTIVATED: Effect(standing_orders.activate, standing_orders.activate),
        Trigger.OCCURRED: Effect(due=standing_orders.run),
        Trigger.ENDED: Effect(forced=_move(Trigger.ENDED)),
        Trigger.CANCELLED: Effect(forced=standing_orders.cancel),
    },
    # Validation and execution of a file follow from its content, so neither is forced.
    BulkFile: {
        Trigger.VALIDATED: Effect(due=bulk_checks.validate),
        Trigger.REFUSED: Effect(_refuse_unsigned, partial(bulks.end, Trigger.REFUSED)),
        Trigger.SIGNED: Effect(forced=_sign),
        Trigger.REJECTED: Effect(forced=partial(bulks.end, Trigger.REJECTED)),
        Trigger.CANCELLED: Effect(forced=bulks.cancel),
    },
    Batch: {Trigger.EXECUTED: Effect(due=_skip_before_planned_day(bulks.execute))},
}
NONE = Effect()


def find_effect(subject: Subject, trigger: Trigger) -> Effect:
    return EFFECTS[type(subject)].get(trigger, NONE)


def force(bank: Bank, subject_id: str, target: Status, reason: str | None) -> None:
    """Moves a subject to the status `target`, by the first row of the table of moves that leads there and can be
    forced. Raises a Refusal if there is no such row."""
    subject = bank.find_subject(subject_id)
    if subject is None:
        raise Refusal(Error.NOT_FOUND, input="payment")
    for row in moves.find_moves_to(subject.path, subject.status, target):
        forced = find_effect(subject, row.trigger).forced
        if forced is not None and bank.can(subject, row.trigger):
            forced(bank, subject, reason)
            return
    raise Refusal(Error.MOVE_ILLEGAL, subject=subject.id, status=subject.status.value, target=target.value)
