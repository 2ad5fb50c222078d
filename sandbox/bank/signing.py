"""Acts of a PSU: opening an address, choosing an account, signing, refusing (service 1, choice 5)."""

from dataclasses import replace

from sandbox.bank import (
    accounts,
    bulk_checks,
    bulks,
    execution,
    initiations,
    rule_effects,
    sca,
    standing_orders,
    tokens,
)
from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.grants import Grant
from sandbox.bank.payments import is_direct
from sandbox.bank.records import Account, Customer, Debtor, Payment
from sandbox.bank.rules import Looks
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.banking.callbacks import with_query
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger

PSU_REFUSED = "PSU_REFUSED"
REFUSED = "The customer refused."
UNSIGNED = (Status.RCVD, Status.PATC)


def waiting(bank: Bank, token: str) -> Initiation:
    """The initiation to sign at an address; refuses answered and expired addresses."""
    address = sca.address_of(bank, token)
    found = bank.subject(address.subject_id)
    assert not isinstance(found, Part)
    if found.status not in UNSIGNED or found.signatures:
        raise Refusal(Error.ALREADY_OVER, status=found.status.value)
    sca.demand_alive(bank, address)
    return found


def customer_of(bank: Bank, name: str) -> Customer:
    customer = bank.customers.get(name)
    if customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="there is no such customer")
    return customer


def accounts_of(bank: Bank, customer: str) -> list[Account]:
    """Those from which a customer may sign a payment."""
    found = (account for account in bank.accounts.values() if customer in account.may_sign)
    return [account for account in found if accounts.may_pay(bank, account)]


def open_subject(bank: Bank, found: Initiation) -> None:
    if isinstance(found, Payment) and found.status is Status.RCVD:
        bank.move(found, Trigger.OPENED)


def debtor_of(found: Initiation) -> Debtor | None:
    """The account that an initiation names; a file names one for each of its bulks."""
    return None if isinstance(found, Bulk) else found.debtor


def needs_account(found: Initiation) -> bool:
    """Whether the PSU still has to pick one."""
    return not isinstance(found, Bulk) and found.debtor is None


def demand_signer(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None) -> None:
    """The customer may sign for the account, and the account may pay this."""
    if isinstance(found, Bulk):
        bulk_checks.demand_fit(bank, found, customer)
        return
    assert debtor is not None
    account = bank.accounts.get(debtor.iban)
    if account is not None and customer not in account.may_sign:
        raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="the customer may not sign for it")
    initiations.demand_own(bank, debtor.iban, found.origin.customer)
    if isinstance(found, StandingOrder):
        standing_orders.demand_fit(bank, found.order, debtor)
        return
    accounts.demand_fit(bank, found.order, debtor, direct=is_direct(bank, found.order))


def sign(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None, state: str | None) -> str:
    """Signs at the address; returns the callback address."""
    demand_signer(bank, found, customer, debtor)
    if isinstance(found, Bulk):
        bulk_checks.demand_funds(bank, found)
    before = looks_of(found)
    known = replace(before, customer=customer, debtor=debtor.iban if debtor else None)
    match = rule_effects.meet_again(bank, found, before, known)

    open_subject(bank, found)
    if match is not None:
        found.rule = rule_effects.take(bank, match)
    if not isinstance(found, Bulk):
        found.debtor = debtor
    found.customer = customer
    _add_signature(bank, found, customer)
    return _record_callback(bank, found, customer, state)


def looks_of(found: Initiation) -> Looks:
    """The facts of an initiation before its signature."""
    match found:
        case Payment():
            return rule_effects.looks_of_order(found.order, found.origin)
        case StandingOrder():
            return standing_orders.looks_of(found.order, found.origin)
        case Bulk():
            return bulks.looks_of(found.format, found.origin, found.reference)


def wrong_codes(bank: Bank) -> str:
    """The error of the callback after too many wrong codes."""
    return f"The customer typed a wrong code {bank.settings.wrong_codes_max} times."


def refuse(bank: Bank, found: Initiation, state: str | None, description: str = REFUSED) -> str:
    """Refuses: the PSU's choice, or after too many wrong codes."""
    _turn_down(bank, found)
    uri = found.origin.redirect_uri
    return with_query(uri, error="access_denied", error_description=description, state=state)


def _turn_down(bank: Bank, found: Initiation) -> None:
    """Cancelled by a signer; it waits in nobody's channel any more."""
    if isinstance(found, Bulk):
        bulks.refuse(bank, found, PSU_REFUSED)
    else:
        bank.move(found, Trigger.REFUSED, PSU_REFUSED)
    bank.partly_signed.pop(found.id, None)


def _add_signature(bank: Bank, found: Initiation, customer: str) -> None:
    """Adds a signature; the last one completes the initiation, an earlier one leaves it in the others' channel."""
    found.signatures = (*found.signatures, customer)
    if len(found.signatures) < signatures_required(bank, found):
        bank.move(found, Trigger.COSIGNED)
        bank.partly_signed[found.id] = None
        return
    bank.partly_signed.pop(found.id, None)
    match found:
        case Payment():
            execution.complete(bank, found)
        case StandingOrder():
            standing_orders.complete(bank, found)
        case Bulk():
            bulks.complete(bank, found)


def signatures_required(bank: Bank, found: Initiation) -> int:
    """Several for payments and files, never for standing orders (service 1)."""
    match found:
        case Payment():
            assert found.debtor is not None
            return bank.accounts[found.debtor.iban].signatures_required
        case StandingOrder():
            return 1
        case Bulk():
            return bulk_checks.signatures_required(bank, found)


def _record_callback(bank: Bank, found: Initiation, customer: str, state: str | None) -> str:
    """A code goes with it only when no access token was used (service 6.1)."""
    origin = found.origin
    code = None
    if origin.challenge is not None:
        grant = Grant(origin.client_id, customer, "PIS")
        code = tokens.new_code(bank, grant, origin.redirect_uri, origin.challenge, found.rule)
    return with_query(origin.redirect_uri, code=code, state=state)


def may_sign(bank: Bank, found: Initiation) -> tuple[str, ...]:
    """Whose signature counts."""
    if isinstance(found, Bulk):
        return bulk_checks.signers(bank, found)
    assert found.debtor is not None
    return bank.accounts[found.debtor.iban].may_sign


def sign_in_channel(bank: Bank, payment_id: str, customer: str) -> Status:
    """A further signature, in the PSU's own channel (service 1)."""
    found = _waiting_for(bank, payment_id, customer)
    demand_signer(bank, found, customer, debtor_of(found))
    if isinstance(found, Bulk):
        bulk_checks.demand_funds(bank, found)
    _add_signature(bank, found, customer)
    return found.status


def refuse_in_channel(bank: Bank, payment_id: str, customer: str) -> Status:
    """A further signer refuses, in the PSU's own channel; nobody is sent back to the TPP (choice 10)."""
    found = _waiting_for(bank, payment_id, customer)
    _turn_down(bank, found)
    return found.status


def _waiting_for(bank: Bank, payment_id: str, customer: str) -> Initiation:
    """The payment or file that waits for a further signature of this customer."""
    customer_of(bank, customer)
    found = bank.known(payment_id)
    if found is None or isinstance(found, Part):
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if found.status is not Status.PATC or not found.signatures:
        raise Refusal(Error.ALREADY_OVER, status=found.status.value)
    if customer in found.signatures or customer not in may_sign(bank, found):
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="it is not this customer's turn to sign")
    return found


def to_sign(bank: Bank, customer: str) -> list[Initiation]:
    """The initiations that wait for a customer's further signature."""
    waiting_here = []
    for name in bank.partly_signed:
        found = bank.subject(name)
        assert not isinstance(found, Part)
        if found.status is Status.PATC and customer not in found.signatures and customer in may_sign(bank, found):
            waiting_here.append(found)
    return waiting_here
