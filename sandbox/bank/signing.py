"""Acts of a PSU: opening an address, choosing an account, signing, refusing (service 1, choice 5)."""

from dataclasses import replace

from sandbox.bank import accounts, initiations, payee_checks, tokens
from sandbox.bank.behaviours import find_behaviour
from sandbox.bank.callbacks import make_callback_url, make_refusal_url
from sandbox.bank.records import UNSIGNED, Account, BulkFile, Customer, Debtor, Grant, Initiation, Payment
from sandbox.bank.signing_methods import SigningAttempt, demand_method, find_beneficiary
from sandbox.bank.state import Bank
from sandbox.banking.names import find_nearest
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.reasons import Reason

REFUSED = "The customer refused."
FIRST_SIGNATURE = "This is {status}: its first signature is given at its SCA address."


def find_waiting_initiation(bank: Bank, token: str) -> Initiation:
    """Returns the initiation to sign at an SCA address. Refuses an address that is unknown, was answered, or has
    expired."""
    address = bank.sca_addresses.get(token)
    if address is None:
        raise Refusal(Error.NOT_FOUND, input="address")
    initiation = bank.find_initiation(address.subject_id)
    assert initiation is not None
    if initiation.status not in UNSIGNED or initiation.signatures:
        raise Refusal(Error.ALREADY_OVER, status=initiation.status.value)
    if bank.clock.now >= address.until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="address", decided_by={"valid_until": address.until})
    return initiation


def demand_customer(bank: Bank, name: str) -> Customer:
    customer = bank.customers.get(name)
    if customer is None:
        near = find_nearest(name, bank.customers)
        hint = f"; did you mean {near!r}?" if near else ""
        raise Refusal(Error.CONTROL_INVALID, input="customer", why=f"there is no such customer{hint}")
    return customer


def list_signing_accounts(bank: Bank, customer: str) -> list[Account]:
    """Returns the accounts from which a customer may sign a payment."""
    signable = (account for account in bank.accounts.values() if customer in account.may_sign)
    return [account for account in signable if accounts.may_pay(bank, account)]


def open_subject(bank: Bank, initiation: Initiation) -> None:
    if bank.can(initiation, Trigger.OPENED):
        bank.move(initiation, Trigger.OPENED)
    payee_checks.note_check(bank, initiation)


def needs_account(initiation: Initiation) -> bool:
    """Whether the PSU still has to choose the account that pays."""
    return initiation.kind.one_account and initiation.debtor is None


def demand_signer(bank: Bank, initiation: Initiation, customer: str, debtor: Debtor | None) -> None:
    """Refuses a customer who may not sign for the account, an account that does not belong to the PSU of the client's
    token, and an account that may not pay this initiation. Also refuses an instant payment if the beneficiary's bank
    cannot receive it now."""
    if initiation.kind.one_account:
        assert debtor is not None
        account = bank.accounts.get(debtor.iban)
        if account is not None and customer not in account.may_sign:
            raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="the customer may not sign for it")
        initiations.demand_own(bank, debtor.iban, initiation.origin.customer)
    find_behaviour(initiation).demand_fit(bank, initiation, customer, debtor)
    payee_checks.demand_reachable(bank, initiation)


def sign(bank: Bank, initiation: Initiation, customer: str, debtor: Debtor | None, state: str | None) -> str:
    """Signs an initiation at its SCA address. Returns the URL of the callback.

    If a check of the account, its funds or the payee fails, `choose_visit_ending` decides whether the Refusal is raised
    or the session ends with a callback. Also raises a Refusal if a rule of the scenario demands it.
    """
    try:
        demand_signer(bank, initiation, customer, debtor)
        find_behaviour(initiation).demand_funds(bank, initiation)
        payee_checks.refuse_close_match(bank, initiation)
    except Refusal as refusal:
        if not choose_visit_ending(bank, initiation, refusal):
            raise
        return _end_visit(bank, initiation, customer, debtor, state, refusal)
    before = find_behaviour(initiation).rule_facts(initiation)
    identity = replace(before, customer=customer, debtor=debtor.iban if debtor else None)
    rule = initiation.rule
    if rule is None:
        rule = bank.rulebook.match_or_refuse(identity, bank.clock.now, before)

    open_subject(bank, initiation)
    initiation.rule = rule
    _name_payer(bank, initiation, customer, debtor)
    bank.beneficiaries[customer, find_beneficiary(initiation)] = None
    _add_signature(bank, initiation, customer)
    return _record_callback(bank, initiation, customer, state)


def _name_payer(bank: Bank, initiation: Initiation, customer: str, debtor: Debtor | None) -> None:
    if not isinstance(initiation, BulkFile) and debtor is not None and initiation.debtor is None:
        initiation.debtor = debtor
        initiations.list_for_customers(bank, initiation, (debtor.iban,))
    initiation.customer = customer


def demand_choice(bank: Bank, initiation: Initiation, customer: str, debtor: Debtor | None) -> None:
    """Checks the customer and the account by `demand_signer` before the signature, when a customer has logged in or
    chosen an account. Ignores a Refusal for which `sign` ends the session with a callback."""
    try:
        demand_signer(bank, initiation, customer, debtor)
    except Refusal as refusal:
        if not choose_visit_ending(bank, initiation, refusal):
            raise


def choose_visit_ending(bank: Bank, initiation: Initiation, refusal: Refusal) -> str | None:
    """Returns how a customer's session ends after a Refusal: `callback` if the initiation is refused, `RJCT` if it is
    signed and then rejected. Returns None if the session goes on and the customer may choose again (service 1, 7.4).

    A session ends only for a payment, and in two cases. If the customer chose the account and funds are missing, the
    decision `funds_missing_after_pick` applies. If the TPP named the account and its settings forbid the payment, the
    decision `profile_refusal` applies.
    """
    if not isinstance(initiation, Payment):
        return None
    names_account = initiation.order.debtor is not None
    if refusal.error is Error.FUNDS_MISSING and not names_account:
        ending: str = bank.decisions.funds_missing_after_pick
    elif refusal.error is Error.PROFILE_FORBIDS and names_account:
        ending = bank.decisions.profile_refusal
    else:
        return None
    return ending if ending in ("callback", "RJCT") else None


def _end_visit(
    bank: Bank, initiation: Initiation, customer: str, debtor: Debtor | None, state: str | None, refusal: Refusal
) -> str:
    """Ends the session as `choose_visit_ending` says: refuses the initiation, or signs and then rejects it. Returns the
    URL of the callback."""
    reason = (Reason.FUNDS_MISSING if refusal.error is Error.FUNDS_MISSING else Reason.FORBIDDEN).code
    open_subject(bank, initiation)
    if choose_visit_ending(bank, initiation, refusal) == "callback":
        find_behaviour(initiation).refuse(bank, initiation, reason)
        return make_refusal_url(bank, initiation.origin.redirect_uri, state, refusal.text)
    assert isinstance(initiation, Payment)
    _name_payer(bank, initiation, customer, debtor)
    initiation.signatures = (customer,)
    bank.move(initiation, Trigger.SIGNED)
    bank.move(initiation, Trigger.REJECTED, reason)
    return _record_callback(bank, initiation, customer, state)


def describe_wrong_codes(bank: Bank) -> str:
    """Returns the description that the TPP gets in the callback after too many wrong codes."""
    return f"The customer typed a wrong code {bank.decisions.wrong_codes_max} times."


def refuse(bank: Bank, initiation: Initiation, state: str | None, description: str = REFUSED) -> str:
    """Refuses an initiation at its SCA address. Returns the URL of the callback, or an empty text if the decision
    `refusal_callback` is `none`."""
    find_behaviour(initiation).refuse(bank, initiation, Reason.PSU_REFUSED.code)
    return make_refusal_url(bank, initiation.origin.redirect_uri, state, description)


def _add_signature(bank: Bank, initiation: Initiation, customer: str) -> None:
    """Adds a signature. If it is the last one that the initiation needs, completes the initiation. Otherwise the
    initiation waits for the next signer."""
    initiation.signatures = (*initiation.signatures, customer)
    behaviour = find_behaviour(initiation)
    if len(initiation.signatures) < behaviour.signatures_required(bank, initiation, initiation.debtor):
        bank.move(initiation, Trigger.COSIGNED)
        bank.partly_signed[initiation.id] = None
        return
    behaviour.complete(bank, initiation)


def _record_callback(bank: Bank, initiation: Initiation, customer: str, state: str | None) -> str:
    """Returns the URL of the callback after a signature. It has a code if the client used no access token (service
    6.1), or if the decision `code_beside_token` is `yes`."""
    origin = initiation.origin
    code = None
    if origin.challenge is not None:
        grant = Grant(origin.client_id, customer, "PIS")
        code = tokens.create_code(bank, grant, origin.redirect_uri, origin.challenge, initiation.rule)
    elif bank.decisions.code_beside_token == "yes":
        code = bank.mint.draw_secret()  # nobody can exchange it: the initiation came without a challenge
    return make_callback_url(bank, origin.redirect_uri, state, code=code)


def sign_in_channel(bank: Bank, payment_id: str, customer: str, method: str | None = None) -> Status:
    """Adds a second or later signature in the bank's own channel and returns the new status (service 1). If `method` is
    None, the signing method is not checked."""
    initiation = find_waiting_for_signer(bank, payment_id, customer)
    if method is not None:
        demand_method(bank, SigningAttempt(customer, initiation), method)
    demand_signer(bank, initiation, customer, initiation.debtor)
    find_behaviour(initiation).demand_funds(bank, initiation)
    bank.beneficiaries[customer, find_beneficiary(initiation)] = None
    _add_signature(bank, initiation, customer)
    return initiation.status


def refuse_in_channel(bank: Bank, payment_id: str, customer: str) -> Status:
    """Refuses an initiation that waits for a second or later signature, in the bank's own channel. There is no redirect
    to the TPP (choice 10)."""
    initiation = find_waiting_for_signer(bank, payment_id, customer)
    find_behaviour(initiation).refuse(bank, initiation, Reason.PSU_REFUSED.code)
    return initiation.status


def find_waiting_for_signer(bank: Bank, payment_id: str, customer: str) -> Initiation:
    """Returns an initiation that has a signature and needs another one, which this customer may give. Refuses any other
    initiation, and a customer who blocked online access."""
    accounts.demand_unblocked(bank, demand_customer(bank, customer).id)
    initiation = bank.find_initiation(payment_id)
    if initiation is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if initiation.status in UNSIGNED and not initiation.signatures:
        raise Refusal(Error.ALREADY_OVER, status=initiation.status.value, sentence=FIRST_SIGNATURE)
    if initiation.status is not Status.PATC:
        raise Refusal(Error.ALREADY_OVER, status=initiation.status.value)
    if customer in initiation.signatures or customer not in find_behaviour(initiation).may_sign(bank, initiation):
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="it is not this customer's turn to sign")
    return initiation


def list_to_sign(bank: Bank, customer: str) -> list[Initiation]:
    """Returns the initiations that have a signature and need another one, which this customer may give."""
    partly_signed = [bank.find_initiation(subject_id) for subject_id in bank.partly_signed]
    return [
        initiation
        for initiation in partly_signed
        if initiation and initiation.status is Status.PATC and customer in list_missing_signers(bank, initiation)
    ]


def list_missing_signers(bank: Bank, initiation: Initiation) -> tuple[str, ...]:
    """Returns the customers who may sign an initiation and have not signed it yet."""
    return tuple(
        name for name in find_behaviour(initiation).may_sign(bank, initiation) if name not in initiation.signatures
    )
