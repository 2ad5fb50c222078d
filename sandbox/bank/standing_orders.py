"""Standing orders: contracts that pay by themselves on banking days (service 2.2, 3.2; choice 6)."""

from decimal import Decimal

from sandbox.bank import accounts, initiations, rules
from sandbox.bank.entries import make_opposite_postings
from sandbox.bank.execution import compute_execution_time
from sandbox.bank.initiations import InitiationOutcome, RequestKey
from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Debtor, Execution, Origin, StandingOrder, StandingOrderRequest
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date, find_following_banking_day
from sandbox.banking.iban import find_country
from sandbox.banking.money import Money
from sandbox.banking.recurrence import (
    Customs,
    Frequency,
    Occurrence,
    compute_late_occurrence,
    compute_occurrence,
    find_last_number,
    has_day,
)
from sandbox.banking.remittance import read_structured
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.reasons import Reason

KIND = kinds.STANDING_ORDER
TRIES_COUNTED = 1_000  # of one execution: as many as recycling_tries may be


def initiate(bank: Bank, order: StandingOrderRequest, origin: Origin, request_key: RequestKey) -> InitiationOutcome:
    """Checks a standing order, registers it and returns its outcome. A refused call registers nothing. If an identical
    call came before, returns the outcome of that call. If the client's newest order with this reference is unsigned and
    has the same content, returns the outcome of that order with a new SCA address."""
    earlier = initiations.find_identical_call(bank, request_key)
    if earlier is not None:
        return InitiationOutcome(earlier.subject_id, order.endtoend_identification, Status.PATC, earlier.sca_token)
    today = bank.clock.today
    if order.start_date < today or (order.start_date == today and bank.decisions.start_date != "today"):
        decided_by = {"today": today, "start_date": order.start_date}
        raise Refusal(Error.BEGIN_NOT_FUTURE, input="start_date", decided_by=decided_by)
    initiations.demand_name(bank, order.creditor_name)
    beneficiary = bank.accounts.get(order.creditor_iban)
    if order.variable and (beneficiary is None or not beneficiary.is_savings):  # service 2.2 rule 1
        reason = "a variable standing order pays into a savings account of this bank"
        facts = {"periodic_payment_type": "VARIABLE", "type": beneficiary.type if beneficiary else None}
        raise make_invalid("creditor_account.iban", reason, "service 2.2.1", **facts)
    if order.debtor is not None:
        initiations.demand_own(bank, order.debtor.iban, origin.customer)
        demand_fit(bank, order, order.debtor)
    again = initiations.find_repeated_initiation(bank, order, origin, KIND.group, request_key)
    if again is not None:
        return again
    rule = bank.rulebook.match_or_refuse(rules.make_rule_facts(order, origin), bank.clock.now)

    standing_order = StandingOrder(bank.mint.draw_id(), order, origin, Status.PATC, order.debtor, origin.customer)
    initiations.register(bank, standing_order, rule, KIND.group, order.endtoend_identification)
    if bank.decisions.unsigned_order == "60_minutes":
        bank.agenda.add(bank.clock.now + bank.decisions.unsigned_after, standing_order.id, Trigger.REFUSED)
    return initiations.answer(bank, request_key, standing_order)


def demand_fit(bank: Bank, contract: StandingOrderRequest, debtor: Debtor) -> None:
    """Refuses a debtor's account from which this order cannot be paid, such as one without euros or one that needs two
    signatures (service 1)."""
    account = accounts.find_paying_account(bank, debtor.iban)
    if debtor.currency != "EUR" or "EUR" not in account.currencies:  # service 2.2, also for one that the PSU picked
        reason, has = "it takes a compartment in EUR", account.currencies
        raise make_invalid("debtor_account.currency", reason, "service 2.2", currency=debtor.currency, has=has)
    if account.signatures_required > 1:
        reason = "a standing order cannot leave an account that needs two signatures"
        decided_by = {"signatures_required": account.signatures_required, "signatures_allowed": 1}
        raise Refusal(Error.PROFILE_FORBIDS, why=reason, which="signatures", clause="service 1", decided_by=decided_by)
    amount = contract.amount.number if contract.amount else Decimal()
    accounts.demand_profile(bank, account, find_country(contract.creditor_iban), amount)


def compute_nth_execution(bank: Bank, order: StandingOrder, number: int) -> Occurrence:
    """Returns the n-th execution of an order. If the order was activated after the time of this execution, but no later
    than its planned day, the execution moves to the banking day after the activation."""
    contract, since, customs = order.order, order.active_since, find_customs(bank, order.order)
    planned = compute_occurrence(contract.first, contract.frequency, number, contract.variable, customs)
    if since is None or compute_execution_time(planned.on) >= since or planned.planned < find_brussels_date(since):
        return planned
    return compute_late_occurrence(planned, find_brussels_date(since), customs.belgian)


def find_customs(bank: Bank, contract: StandingOrderRequest) -> Customs:
    """Returns how the bank moves executions that fall on a closed day, or into a month that lacks the order's day.
    Service 2.2 is silent about this, so the decisions `calendar` and `day_31` apply."""
    some_months_lack_it = contract.first.day > 28 and contract.frequency is not Frequency.WEEKLY
    day_31 = bank.decisions.day_31 if some_months_lack_it else "last_day"
    return Customs(bank.decisions.calendar == "belgian", day_31)


def is_left_out(bank: Bank, order: StandingOrder, number: int) -> bool:
    """Whether the bank skips this execution, because its month lacks the day of the order and the decision `day_31` is
    `skipped`."""
    contract = order.order
    skips = find_customs(bank, contract).day_31 == "skipped"
    return skips and not has_day(contract.first, contract.frequency, number)


def find_last_execution(order: StandingOrder) -> int | None:
    contract = order.order
    return find_last_number(contract.first, contract.frequency, contract.end_date)


def complete(bank: Bank, order: StandingOrder) -> None:
    """Schedules the activation of a signed order. Activates it at once if the decision `signed_order` is `ACWP`."""
    bank.move(order, Trigger.SIGNED)
    if bank.decisions.signed_order == "ACWP":
        activate(bank, order)
        return
    bank.agenda.add(bank.clock.now + bank.find_decisions(order).contract_activation, order.id, Trigger.ACTIVATED)


def activate(bank: Bank, order: StandingOrder, reason: str | None = None) -> None:
    """Activates an order. Skips executions whose planned day and execution time have passed, and schedules the next
    execution."""
    bank.move(order, Trigger.ACTIVATED, reason)
    order.active_since = bank.clock.now
    while (
        day := compute_nth_execution(bank, order, order.next_number)
    ).planned < bank.clock.today and compute_execution_time(day.on) < bank.clock.now:
        order.next_number += 1
    _promise(bank, order)


def run(bank: Bank, order: StandingOrder) -> None:
    """Executes an order once: books the payment if the funds suffice, else notes the failure. An execution also fails
    if the debtor's or the beneficiary's account is closed. Afterwards schedules the next execution.

    If funds are missing, the decision `failed_occurrence` can instead end the order, or schedule another try of this
    execution.
    """
    assert order.debtor is not None
    closed = accounts.is_closed(bank, order.debtor.iban) or accounts.is_closed(bank, order.order.creditor_iban)
    amount = None if closed else compute_due_amount(bank, order.order, order.debtor)
    if amount is None:
        reason = Reason.ACCOUNT_CLOSED if closed else Reason.FUNDS_MISSING
        bank.move(order, Trigger.FUNDS_MISSING, reason.code)
    else:
        bank.move(order, Trigger.OCCURRED)
        _book(bank, order, order.debtor, amount)
    order.runs = (*order.runs, Execution(order.next_number, bank.clock.now, amount))
    if amount is None and not closed:
        tried = sum(1 for attempt in order.runs[-TRIES_COUNTED - 1 : -1] if attempt.number == order.next_number)
        match bank.decisions.failed_occurrence:
            case "ends":
                bank.move(order, Trigger.ENDED, Reason.FUNDS_MISSING.code)
                return
            case "retried" if tried < bank.decisions.recycling_tries:
                belgian = find_customs(bank, order.order).belgian
                again = compute_execution_time(find_following_banking_day(bank.clock.today, belgian))
                bank.agenda.add(again, order.id, Trigger.OCCURRED)
                return
    order.next_number += 1
    _promise(bank, order)


def compute_due_amount(bank: Bank, contract: StandingOrderRequest, debtor: Debtor) -> Money | None:
    """Returns the amount to pay now, or None if funds are missing. A variable order pays the funds above its minimum,
    up to its maximum. It does not use the overdraft."""
    if contract.amount is not None:
        return contract.amount if contract.amount <= accounts.compute_available_funds(bank, debtor) else None
    funds = Money(accounts.compute_unreserved_balance(bank, debtor), debtor.currency)  # nobody saves by an overdraft
    due_amount = funds - contract.minimal if contract.minimal else funds
    if contract.maximal is not None and contract.maximal < due_amount:
        due_amount = contract.maximal
    return due_amount if due_amount.is_positive else None


def cancel(bank: Bank, order: StandingOrder, reason: str | None = None) -> None:
    """Cancels an order. Executions that have taken place are not undone (service 3.4)."""
    bank.move(order, Trigger.CANCELLED, reason)


def delete(bank: Bank, client_id: str, customer: str, product: str, reference: str, external: bool) -> None:
    order = initiations.find(
        bank, client_id, KIND.group, reference, customer=customer, external=external, deleting=True
    )
    assert isinstance(order, StandingOrder)
    if order.status is Status.CANC and bank.decisions.order_matrix == "all":
        return
    cancel(bank, order)


def _promise(bank: Bank, order: StandingOrder) -> None:
    """Schedules the next execution. After the last execution, ends the order if the decision `ended_order` is
    `CANC`."""
    last = find_last_execution(order)
    while is_left_out(bank, order, order.next_number):
        order.next_number += 1
    if last is not None and order.next_number > last:
        if bank.decisions.ended_order == "CANC":
            bank.move(order, Trigger.ENDED, Reason.CONTRACT_ENDED.code)
        return
    bank.agenda.add(
        compute_execution_time(compute_nth_execution(bank, order, order.next_number).on), order.id, Trigger.OCCURRED
    )


def _book(bank: Bank, order: StandingOrder, debtor: Debtor, amount: Money) -> None:
    contract, today = order.order, bank.clock.today
    out = Posting(debtor.iban, -amount, contract.creditor_iban, contract.creditor_name)
    into = _credit_postings(bank, order, debtor, amount)
    structured = read_structured(contract.structured) if contract.structured else None
    text = structured or contract.unstructured or ""
    reference = f"{order.id}-{order.next_number}"
    remark = f"STANDING ORDER {contract.endtoend_identification}"
    bank.ledger.post(LedgerEntry(reference, today, today, (out, *into), text, structured is not None, remark))


def _credit_postings(bank: Bank, order: StandingOrder, debtor: Debtor, amount: Money) -> tuple[Posting, ...]:
    """Returns the postings that credit the beneficiary. If the beneficiary's account in this bank has no euros,
    converts the amount into the account's first currency."""
    account = bank.accounts.get(order.order.creditor_iban)
    if account is None:
        return (Posting(OUTSIDE, amount),)
    name = bank.customers[order.customer].name if order.customer else None
    credited = accounts.convert_at_fixed_rate(amount, account.first_currency)
    return make_opposite_postings(amount, Posting(account.iban, credited, debtor.iban, name))
