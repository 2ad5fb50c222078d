"""The PSU's side: opening an address, choosing an account, signing or refusing (service 1, choice 5)."""

from sandbox.bank import accounts, consents, execution, sca, standing_orders, tokens
from sandbox.bank.payments import is_direct
from sandbox.bank.records import Account, Customer, Debtor, Grant, Payment, StandingOrder, Subject
from sandbox.bank.state import Bank, verb
from sandbox.errors import Error, Refusal
from sandbox.rules.callbacks import with_query
from sandbox.rules.lifecycle import Status, Trigger

PSU_REFUSED = "PSU_REFUSED"
UNSIGNED = (Status.RCVD, Status.PATC)


def waiting(bank: Bank, token: str) -> Subject:
    """What an address asks a signature for; over or outdated ones say so."""
    address = sca.address_of(bank, token)
    payment = bank.subject(address.subject_id)
    if payment.status not in UNSIGNED or payment.signatures:
        raise Refusal(Error.ALREADY_OVER, status=payment.status.value)
    sca.demand_alive(bank, address)
    return payment


def customer_of(bank: Bank, name: str) -> Customer:
    customer = bank.customers.get(name)
    if customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="there is no such customer")
    return customer


def accounts_of(bank: Bank, customer: str) -> list[Account]:
    """Those from which a customer may sign a payment."""
    return [account for account in bank.accounts.values() if customer in account.may_sign]


def open_subject(bank: Bank, payment: Subject) -> None:
    if payment.status is Status.RCVD:
        bank.move(payment, Trigger.OPENED)


def demand_debtor(bank: Bank, payment: Subject, customer: str, debtor: Debtor) -> None:
    """The account that this customer may sign from, and that may pay this order."""
    account = bank.accounts.get(debtor.iban)
    if account is not None and customer not in account.may_sign:
        raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="the customer may not sign for it")
    if isinstance(payment, StandingOrder):
        standing_orders.demand_fit(bank, payment.order, debtor)
        return
    direct = is_direct(bank, payment.order) and execution.day_of(bank, payment) is None
    accounts.demand_fit(bank, payment.order, debtor, direct=direct)


def sign(bank: Bank, payment: Subject, customer: str, debtor: Debtor, state: str | None) -> str:
    """The signature at the address; the answer is where the PSU is sent back to."""
    demand_debtor(bank, payment, customer, debtor)
    open_subject(bank, payment)
    payment.debtor = debtor
    payment.customer = customer
    _add_signature(bank, payment, customer)
    return _called_back(bank, payment, customer, state)


def refuse(bank: Bank, payment: Subject, state: str | None) -> str:
    """Of their own will, or after too many wrong codes."""
    bank.move(payment, Trigger.REFUSED, PSU_REFUSED)
    description = "The customer refused."
    origin = payment.origin
    return with_query(origin.redirect_uri, error="access_denied", error_description=description, state=state)


def _add_signature(bank: Bank, payment: Subject, customer: str) -> None:
    assert payment.debtor is not None
    payment.signatures = (*payment.signatures, customer)
    if isinstance(payment, StandingOrder):
        standing_orders.complete(bank, payment)
    elif len(payment.signatures) < bank.accounts[payment.debtor.iban].signatures_required:
        bank.move(payment, Trigger.COSIGNED)
        bank.partly_signed.setdefault(payment.debtor.iban, []).append(payment.id)
    else:
        execution.complete(bank, payment)


def _called_back(bank: Bank, payment: Subject, customer: str, state: str | None) -> str:
    """A code goes with it only when no access token was used (service 6.1)."""
    origin = payment.origin
    code = None
    if origin.challenge is not None:
        grant = Grant(origin.client_id, customer, "PIS")
        code = tokens.new_code(bank, grant, origin.redirect_uri, origin.challenge)
    return with_query(origin.redirect_uri, code=code, state=state)


@verb
def sign_in_channel(bank: Bank, payment_id: str, customer: str) -> Status:
    """A further signature, in the PSU's own channel (service 1)."""
    customer_of(bank, customer)
    payment = bank.payments.get(payment_id)
    if payment is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if payment.status is not Status.PATC or not payment.signatures:
        raise Refusal(Error.ALREADY_OVER, status=payment.status.value)
    assert payment.debtor is not None
    if customer in payment.signatures or customer not in bank.accounts[payment.debtor.iban].may_sign:
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="it is not this customer's turn to sign")
    demand_debtor(bank, payment, customer, payment.debtor)
    _add_signature(bank, payment, customer)
    return payment.status


def to_sign(bank: Bank, customer: str) -> list[Payment]:
    """What waits in a customer's channel for a further signature."""
    begun = (
        bank.payments[name]
        for account in accounts_of(bank, customer)
        for name in bank.partly_signed.get(account.iban, ())
    )
    return [payment for payment in begun if payment.status is Status.PATC and customer not in payment.signatures]


@verb
def approve(
    bank: Bank, token: str, customer: str | None, account: str | None, ibans: tuple[str, ...], state: str | None
) -> str:
    """The whole of it without a browser, at an SCA or a consent address (choice 10)."""
    if token in bank.consent_addresses:
        return _consented(bank, token, customer, ibans or ((account,) if account else ()), state)
    payment = waiting(bank, token)
    who, debtor = _chosen(bank, payment, customer, account)
    return sign(bank, payment, who, debtor, state)


@verb
def decline(bank: Bank, token: str, customer: str | None, state: str | None) -> str:
    if customer is not None:
        customer_of(bank, customer)
    if token in bank.consent_addresses:
        return consents.decline(bank, token, state)
    payment = waiting(bank, token)
    return refuse(bank, payment, state)


def _chosen(bank: Bank, payment: Subject, customer: str | None, account: str | None) -> tuple[str, Debtor]:
    """What was left out: the debtor account's first owner, and that customer's first current account (choice 10)."""
    if payment.debtor is not None:
        given = bank.accounts[payment.debtor.iban]
        if account is not None and account != given.iban:
            raise Refusal(Error.CONTROL_INVALID, input="account", why="the initiation names another")
        return customer_of(bank, customer or given.owners[0]).id, payment.debtor
    who = (
        customer or payment.origin.customer or (bank.accounts[account].owners[0] if account in bank.accounts else None)
    )
    if who is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="no debtor account tells who it is")
    iban = account or first_current(bank, customer_of(bank, who).id)
    return who, Debtor(iban, compartment(bank, iban))


def _consented(bank: Bank, token: str, customer: str | None, ibans: tuple[str, ...], state: str | None) -> str:
    """Left out: the account's or the consent's own customer, and all of that customer's accounts."""
    address = consents.address_waiting(bank, token)
    if customer is None and address.iban is not None:
        customer = bank.accounts[address.iban].owners[0]
    elif customer is None and address.renews is not None:
        customer = bank.consents[address.renews].customer
    elif customer is None and ibans and ibans[0] in bank.accounts:
        customer = bank.accounts[ibans[0]].owners[0]
    if customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="the address does not tell who it is")
    who = customer_of(bank, customer).id
    if address.iban is not None and any(iban != address.iban for iban in ibans):
        raise Refusal(Error.ACCESS_DENIED, input="accounts", why="the address is about another account")
    chosen = ibans or tuple(account.iban for account in consents.choosable(bank, who))
    return consents.agree(bank, token, who, chosen, state)


def first_current(bank: Bank, customer: str) -> str:
    for account in accounts_of(bank, customer):
        if not account.is_savings:
            return account.iban
    raise Refusal(Error.CONTROL_INVALID, input="customer", why="the customer has no current account")


def compartment(bank: Bank, iban: str) -> str:
    """The euro compartment of an account that was picked by its IBAN alone."""
    account = bank.accounts.get(iban)
    return account.currencies[0] if account is not None and "EUR" not in account.currencies else "EUR"
