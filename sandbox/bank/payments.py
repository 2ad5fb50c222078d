"""Single payments: the initiation and what may be read of it."""

from dataclasses import dataclass

from sandbox.bank import accounts, execution, replays, sca
from sandbox.bank.records import Order, Origin, Payment
from sandbox.bank.replays import Ask
from sandbox.bank.state import Bank, verb
from sandbox.errors import Error, Refusal
from sandbox.rules.lifecycle import Status, Trigger


@dataclass(frozen=True, slots=True)
class Initiated:
    """What the caller of an initiation is told; `sca_token` is the end of the address to sign at."""

    payment_id: str
    endtoend_identification: str
    status: Status
    sca_token: str


@verb
def initiate(bank: Bank, order: Order, origin: Origin, ask: Ask) -> Initiated:
    """First all questions, then all changes: a refused call leaves no trace."""
    earlier = replays.first_answer(bank, ask)
    if earlier is not None:
        return Initiated(earlier.subject_id, order.endtoend_identification, Status.RCVD, earlier.sca_token)
    demand_date(bank, order)
    if order.debtor is not None:
        demand_own(bank, order.debtor.iban, origin.customer)
        accounts.demand_fit(bank, order, order.debtor, direct=is_direct(bank, order))

    now, settings = bank.clock.now, bank.settings
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
    bank.payments[payment.id] = payment
    bank.references.setdefault((origin.client_id, order.product, order.endtoend_identification), []).append(payment.id)
    bank.born(payment)
    bank.agenda.add(now + settings.technical_checks, payment.id, Trigger.CHECKED)
    bank.agenda.add(now + settings.unsigned_after, payment.id, Trigger.UNSIGNED_TOO_LONG)
    token = sca.new_address(bank, payment.id)
    replays.remember(bank, ask, payment.id, token)
    return Initiated(payment.id, order.endtoend_identification, payment.status, token)


def path_of(bank: Bank, order: Order) -> str:
    """Which table of moves a payment follows, as the setting stands at its birth."""
    return order.product if bank.settings.settled_status == "ACSC" else f"{order.product} (ACSP)"


def is_direct(bank: Bank, order: Order) -> bool:
    """Today, or no date at all, means direct execution (choice 5)."""
    return order.execution_date is None or order.execution_date <= bank.clock.today


def demand_date(bank: Bank, order: Order) -> None:
    """From today to 365 days ahead, in Brussels (choice 5)."""
    if order.execution_date is None:
        return
    ahead = (order.execution_date - bank.clock.today).days
    if not 0 <= ahead <= bank.settings.execution_days_ahead_max:
        why = f"it must lie from today to {bank.settings.execution_days_ahead_max} days ahead"
        raise Refusal(Error.INPUT_INVALID, input="requested_execution_date", why=why)


def demand_own(bank: Bank, iban: str, customer: str | None) -> None:
    """A token speaks for its own PSU only (choice 2)."""
    account = bank.accounts.get(iban)
    if customer is not None and account is not None and customer not in account.may_sign + account.owners:
        raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="it belongs to another customer")


def find(bank: Bank, client_id: str, product: str, reference: str, *, external: bool) -> Payment:
    """One of the caller's own initiations of that product; never another's (choice 5)."""
    if external:
        fitting = bank.references.get((client_id, product, reference), [])
        if len(fitting) > 1:
            raise Refusal(Error.CONFLICT, input="payment-id")
        reference = fitting[0] if fitting else ""
    payment = bank.payments.get(reference)
    if payment is None or payment.origin.client_id != client_id or payment.order.product != product:
        raise Refusal(Error.NOT_FOUND, input="payment-id")
    return payment


def own(bank: Bank, client_id: str, customer: str, product: str, reference: str, *, external: bool) -> Payment:
    """What a token may read and cancel: the initiations of its own client and PSU (choice 5)."""
    payment = find(bank, client_id, product, reference, external=external)
    if payment.customer is not None and customer != payment.customer and customer not in payment.signatures:
        raise Refusal(Error.ACCESS_DENIED, input="payment-id", why="it is another customer's")
    return payment


@verb
def cancel(bank: Bank, client_id: str, customer: str, product: str, reference: str, external: bool) -> None:
    """DELETE (service 4.4)."""
    execution.cancel(bank, own(bank, client_id, customer, product, reference, external=external))
