"""Single payments: initiation, checks and cancellation."""

from sandbox.bank import accounts, execution, fees, initiations, rules
from sandbox.bank.initiations import InitiationOutcome, RequestKey
from sandbox.bank.records import Debtor, Origin, Payment, PaymentRequest
from sandbox.bank.state import Bank
from sandbox.banking.iban import find_country
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.products import PRODUCTS


def initiate(bank: Bank, order: PaymentRequest, origin: Origin, request_key: RequestKey) -> InitiationOutcome:
    """Checks a payment, registers it and returns its outcome. A refused call registers nothing. If the decision
    `profile_refusal` is not `post`, a payment that the customer's own settings forbid is not refused here, but at the
    signature.

    If an identical call came before, returns the outcome of that call and registers nothing. If the client's newest
    payment with this reference is unsigned and has the same content, returns the outcome of that payment with a new SCA
    address.
    """
    earlier = initiations.find_identical_call(bank, request_key)
    if earlier is not None:
        first = Status(bank.decisions.first_status)
        return InitiationOutcome(earlier.subject_id, order.endtoend_identification, first, earlier.sca_token)
    demand_date(bank, order)
    initiations.demand_name(bank, order.creditor_name)
    if order.debtor is not None:
        initiations.demand_own(bank, order.debtor.iban, origin.customer)
        try:
            demand_fit(bank, order, order.debtor)
        except Refusal as refusal:  # the checks of the customer's own settings may wait for the page (service 7.4)
            if refusal.error is not Error.PROFILE_FORBIDS or bank.decisions.profile_refusal == "post":
                raise
    again = initiations.find_repeated_initiation(bank, order, origin, order.product, request_key)
    if again is not None:
        return again
    now = bank.clock.now
    rule = bank.rulebook.match_or_refuse(rules.make_rule_facts(order, origin), now)

    payment = Payment(bank.mint.draw_id(), order, origin, find_move_table(bank, order), now, Status.RCVD)
    payment.debtor, payment.customer = order.debtor, origin.customer
    initiations.register(bank, payment, rule, order.product, order.endtoend_identification)
    decisions = bank.find_decisions(payment)
    if bank.decisions.first_status == "PATC":
        bank.move(payment, Trigger.CHECKED)
    else:
        bank.agenda.add(now + decisions.technical_checks, payment.id, Trigger.CHECKED)
    bank.agenda.add(now + decisions.unsigned_after, payment.id, Trigger.UNSIGNED_TOO_LONG)
    return initiations.answer(bank, request_key, payment)


def demand_fit(bank: Bank, order: PaymentRequest, debtor: Debtor) -> None:
    """Refuses a payment that the account of `debtor` may not make. The checks are made in this order, and the first
    failing one raises: the account itself (such as closed), currency, payment to the same account, non-SEPA, urgent,
    country, limits (choice 5). The funds are checked last, and only if the payment is executed at once."""
    is_direct = execution.find_day_of_payment(bank, order) is None  # today or undated, where no closed day puts it off
    account = accounts.find_paying_account(bank, debtor.iban)
    if debtor.currency not in account.currencies:
        reason, has = "the account has no such compartment", account.currencies
        raise make_invalid("debtor_account.currency", reason, "choice 5", currency=debtor.currency, has=has)
    if order.creditor.iban == debtor.iban and bank.decisions.self_payment == "refused":
        raise make_invalid("creditor_account.iban", "it is the account that pays", "choice 5", iban=debtor.iban)
    if not PRODUCTS[order.product].sepa and not account.non_sepa:
        raise Refusal(Error.NON_SEPA_BARRED, input=accounts.FIELD, decided_by={"non_sepa": False})
    kind = bank.customers[account.owners[0]].kind
    if order.urgent and kind != "business":
        reason, clause = "an urgent transfer needs a professional account", "service 2.1.6"
        raise Refusal(
            Error.PROFILE_FORBIDS, why=reason, which="urgent", clause=clause, decided_by={"customer_kind": kind}
        )
    country = find_country(order.creditor.iban) if order.creditor.iban else order.creditor.country
    amount, on = accounts.convert_at_fixed_rate(order.amount, "EUR").number, accounts.limit_day(bank, order)
    accounts.demand_profile(bank, account, country, amount, on)
    if is_direct:
        fees.demand_funds(bank, order, debtor)


def find_move_table(bank: Bank, order: PaymentRequest) -> str:
    """Returns the name of the payment's table of moves (the permitted changes of its status). There are two tables for
    a product: in one a settled payment has the status ACSC, in the other ACSP. The setting `settled_status` chooses."""
    return order.product if bank.decisions.settled_status == "ACSC" else f"{order.product} (ACSP)"


def demand_date(bank: Bank, order: PaymentRequest) -> None:
    """Refuses an execution date before today in Brussels, or more than `execution_days_ahead_max` days ahead, by
    default 365 (choice 5)."""
    if order.execution_date is None:
        return
    ahead = (order.execution_date - bank.clock.today).days
    if not 0 <= ahead <= bank.decisions.execution_days_ahead_max:
        reason = f"it must lie from today to {bank.decisions.execution_days_ahead_max} days ahead"
        facts = {"today": bank.clock.today, "asked": order.execution_date, "days_ahead": ahead}
        raise make_invalid("requested_execution_date", reason, "choice 5", **facts)


def cancel(bank: Bank, client_id: str, customer: str, product: str, reference: str, external: bool) -> None:
    """Cancels a payment for a DELETE call (service 4.4)."""
    payment = initiations.find(bank, client_id, product, reference, customer=customer, external=external, deleting=True)
    assert isinstance(payment, Payment)
    execution.cancel(bank, payment)
