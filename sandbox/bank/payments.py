"""Single payments: the initiation and what may be read of it."""

from sandbox.bank import accounts, execution, initiations, rules
from sandbox.bank.initiations import Ask, InitiationReply
from sandbox.bank.records import Debtor, Order, Origin, Payment
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger


def initiate(bank: Bank, order: Order, origin: Origin, ask: Ask) -> InitiationReply:
    """Checks everything before the first change, so that a refused call changes nothing."""
    earlier = initiations.first_answer(bank, ask)
    if earlier is not None:
        first = Status(bank.variant("first_status"))
        return InitiationReply(earlier.subject_id, order.endtoend_identification, first, earlier.sca_token)
    demand_date(bank, order)
    initiations.demand_name(bank, order.creditor_name)
    if order.debtor is not None:
        initiations.demand_own(bank, order.debtor.iban, origin.customer)
        demand_fit_at_post(bank, order, order.debtor)
    again = initiations.same_again(bank, order, origin, order.product, ask)
    if again is not None:
        return again
    initiations.demand_reference(bank, origin.client_id, order.product, order.endtoend_identification)
    match = bank.rulebook.meet(rules.looks_of(order, origin), bank.clock.now)

    now = bank.clock.now
    payment = Payment(
        bank.mint.id(),
        order,
        origin,
        path_of(bank, order),
        now,
        Status.RCVD,
        debtor=order.debtor,
        customer=origin.customer,
    )
    payment.rule = bank.rulebook.take(match)
    settings = bank.settings_of(payment)
    bank.payments[payment.id] = payment
    initiations.register(bank, payment, order.product, order.endtoend_identification)
    bank.met("technical_checks")
    if bank.variant("first_status") == "PATC":
        bank.move(payment, Trigger.CHECKED)
    else:
        bank.agenda.add(now + settings.technical_checks, payment.id, Trigger.CHECKED)
    bank.agenda.add(now + settings.unsigned_after, payment.id, Trigger.UNSIGNED_TOO_LONG)
    return initiations.answer(bank, ask, payment)


def demand_fit_at_post(bank: Bank, order: Order, debtor: Debtor) -> None:
    """The checks of the account; those of the customer's own settings may wait for the bank's page (service 7.4)."""
    try:
        accounts.demand_fit(bank, order, debtor, direct=is_direct(bank, order))
    except Refusal as refusal:
        if refusal.error is not Error.PROFILE_FORBIDS or bank.variant("profile_refusal") == "post":
            raise


def path_of(bank: Bank, order: Order) -> str:
    """Which table of moves a payment follows, as the setting stands at its birth."""
    bank.met("final_status")
    return order.product if bank.settings.settled_status == "ACSC" else f"{order.product} (ACSP)"


def is_direct(bank: Bank, order: Order) -> bool:
    """Today, or no date at all, means direct execution, where no closed day puts it off (choice 5)."""
    return execution.day_of(bank, order) is None


def demand_date(bank: Bank, order: Order) -> None:
    """From today to 365 days ahead, in Brussels (choice 5)."""
    if order.execution_date is None:
        return
    ahead = (order.execution_date - bank.clock.today).days
    if not 0 <= ahead <= bank.settings.execution_days_ahead_max:
        why = f"it must lie from today to {bank.settings.execution_days_ahead_max} days ahead"
        decided = {"today": bank.clock.today, "asked": order.execution_date, "days_ahead": ahead}
        raise Refusal(Error.INPUT_INVALID, input="requested_execution_date", why=why, decided=decided)


def cancel(bank: Bank, client_id: str, customer: str, product: str, reference: str, external: bool) -> None:
    """DELETE (service 4.4)."""
    payment = initiations.own(bank, client_id, customer, product, reference, external=external, deleting=True)
    assert isinstance(payment, Payment)
    execution.cancel(bank, payment)
