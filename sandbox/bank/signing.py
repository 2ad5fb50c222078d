"""Acts of a PSU: opening an address, choosing an account, signing, refusing (service 1, choice 5)."""

from dataclasses import replace

from sandbox.bank import accounts, initiations, payee_checks, tokens
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.callbacks import callback_url, lead_back_refused
from sandbox.bank.records import UNSIGNED, Account, BulkFile, Customer, Debtor, Grant, Initiation, Payment
from sandbox.bank.signing_methods import SigningAttempt, beneficiary_of, demand_method
from sandbox.bank.state import Bank
from sandbox.banking.names import nearest
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.reasons import Reason

REFUSED = "The customer refused."
FIRST_SIGNATURE = "This is {status}: its first signature is given at its SCA address."


def waiting(bank: Bank, token: str) -> Initiation:
    """The initiation to sign at an address; refuses answered and expired addresses."""
    address = bank.sca_addresses.get(token)
    if address is None:
        raise Refusal(Error.NOT_FOUND, input="address")
    found = bank.initiation(address.subject_id)
    assert found is not None
    if found.status not in UNSIGNED or found.signatures:
        raise Refusal(Error.ALREADY_OVER, status=found.status.value)
    if bank.clock.now >= address.until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="address", decided={"valid_until": address.until})
    return found


def customer_of(bank: Bank, name: str) -> Customer:
    customer = bank.customers.get(name)
    if customer is None:
        near = nearest(name, bank.customers)
        hint = f"; did you mean {near!r}?" if near else ""
        raise Refusal(Error.CONTROL_INVALID, input="customer", why=f"there is no such customer{hint}")
    return customer


def accounts_of(bank: Bank, customer: str) -> list[Account]:
    """Those from which a customer may sign a payment."""
    found = (account for account in bank.accounts.values() if customer in account.may_sign)
    return [account for account in found if accounts.may_pay(bank, account)]


def open_subject(bank: Bank, found: Initiation) -> None:
    if bank.can(found, Trigger.OPENED):
        bank.move(found, Trigger.OPENED)
    payee_checks.note_check(bank, found)


def needs_account(found: Initiation) -> bool:
    """Whether the PSU still has to pick one."""
    return found.kind.one_account and found.debtor is None


def demand_signer(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None) -> None:
    """The customer may sign for the account, and the account may pay this."""
    if found.kind.one_account:
        assert debtor is not None
        account = bank.accounts.get(debtor.iban)
        if account is not None and customer not in account.may_sign:
            raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="the customer may not sign for it")
        initiations.demand_own(bank, debtor.iban, found.origin.customer)
    behaviour_of(found).demand_fit(bank, found, customer, debtor)
    payee_checks.demand_reachable(bank, found)


def sign(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None, state: str | None) -> str:
    """Signs at the address; returns the callback address."""
    try:
        demand_signer(bank, found, customer, debtor)
        behaviour_of(found).demand_funds(bank, found)
        payee_checks.demand_payee(bank, found)
    except Refusal as refusal:
        if not leads_on(bank, found, refusal):
            raise
        return _end_unfit(bank, found, customer, debtor, state, refusal)
    before = behaviour_of(found).looks(found)
    identity = replace(before, customer=customer, debtor=debtor.iban if debtor else None)
    rule = found.rule if found.rule is not None else bank.rulebook.meet(identity, bank.clock.now, before)

    open_subject(bank, found)
    found.rule = rule
    _name_payer(bank, found, customer, debtor)
    bank.beneficiaries[customer, beneficiary_of(found)] = None
    _add_signature(bank, found, customer)
    return _record_callback(bank, found, customer, state)


def _name_payer(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None) -> None:
    if not isinstance(found, BulkFile) and debtor is not None and found.debtor is None:
        found.debtor = debtor
        initiations.list_for_customers(bank, found, (debtor.iban,))
    found.customer = customer


def demand_choice(bank: Bank, found: Initiation, customer: str, debtor: Debtor | None) -> None:
    """As at the signature; what ends the visit then is no reason to choose again."""
    try:
        demand_signer(bank, found, customer, debtor)
    except Refusal as refusal:
        if not leads_on(bank, found, refusal):
            raise


def leads_on(bank: Bank, found: Initiation, refusal: Refusal) -> str | None:
    """Whether a no on the page ends the visit, and how: no other account is chosen (service 1, 7.4)."""
    if not isinstance(found, Payment):
        return None
    given = found.order.debtor is not None
    if refusal.error is Error.FUNDS_MISSING and not given:
        decided: str = bank.decisions.funds_missing_after_pick
    elif refusal.error is Error.PROFILE_FORBIDS and given:
        decided = bank.decisions.profile_refusal
    else:
        return None
    return decided if decided in ("callback", "RJCT") else None


def _end_unfit(
    bank: Bank, found: Initiation, customer: str, debtor: Debtor | None, state: str | None, refusal: Refusal
) -> str:
    """The way back with an error, or after a signature that is in vain; the answer is the callback."""
    reason = (Reason.FUNDS_MISSING if refusal.error is Error.FUNDS_MISSING else Reason.FORBIDDEN).code
    open_subject(bank, found)
    if leads_on(bank, found, refusal) == "callback":
        behaviour_of(found).refuse(bank, found, reason)
        return lead_back_refused(bank, found.origin.redirect_uri, state, refusal.text)
    assert isinstance(found, Payment)
    _name_payer(bank, found, customer, debtor)
    found.signatures = (customer,)
    bank.move(found, Trigger.SIGNED)
    bank.move(found, Trigger.REJECTED, reason)
    return _record_callback(bank, found, customer, state)


def wrong_codes(bank: Bank) -> str:
    """The error of the callback after too many wrong codes."""
    return f"The customer typed a wrong code {bank.decisions.wrong_codes_max} times."


def refuse(bank: Bank, found: Initiation, state: str | None, description: str = REFUSED) -> str:
    """Refuses: the PSU's choice, or after too many wrong codes."""
    behaviour_of(found).refuse(bank, found, Reason.PSU_REFUSED.code)
    return lead_back_refused(bank, found.origin.redirect_uri, state, description)


def _add_signature(bank: Bank, found: Initiation, customer: str) -> None:
    """Adds a signature; the last one completes the initiation, an earlier one leaves it in the others' channel."""
    found.signatures = (*found.signatures, customer)
    behaviour = behaviour_of(found)
    if len(found.signatures) < behaviour.signatures_required(bank, found, found.debtor):
        bank.move(found, Trigger.COSIGNED)
        bank.partly_signed[found.id] = None
        return
    behaviour.complete(bank, found)


def _record_callback(bank: Bank, found: Initiation, customer: str, state: str | None) -> str:
    """A code goes with it only when no access token was used (service 6.1)."""
    origin = found.origin
    code = None
    if origin.challenge is not None:
        grant = Grant(origin.client_id, customer, "PIS")
        code = tokens.new_code(bank, grant, origin.redirect_uri, origin.challenge, found.rule)
    elif bank.decisions.code_beside_token == "yes":
        code = bank.mint.secret()  # nobody can exchange it: the initiation came without a challenge
    return callback_url(bank, origin.redirect_uri, state, code=code)


def sign_in_channel(bank: Bank, payment_id: str, customer: str, method: str | None = None) -> Status:
    """A further signature, in the PSU's own channel (service 1). Without a method, it takes a permitted one."""
    found = waiting_for(bank, payment_id, customer)
    if method is not None:
        demand_method(bank, SigningAttempt(customer, found), method)
    demand_signer(bank, found, customer, found.debtor)
    behaviour_of(found).demand_funds(bank, found)
    bank.beneficiaries[customer, beneficiary_of(found)] = None
    _add_signature(bank, found, customer)
    return found.status


def refuse_in_channel(bank: Bank, payment_id: str, customer: str) -> Status:
    """A further signer refuses, in the PSU's own channel; nobody is sent back to the TPP (choice 10)."""
    found = waiting_for(bank, payment_id, customer)
    behaviour_of(found).refuse(bank, found, Reason.PSU_REFUSED.code)
    return found.status


def waiting_for(bank: Bank, payment_id: str, customer: str) -> Initiation:
    """The payment or file that waits for a further signature of this customer."""
    accounts.demand_unblocked(bank, customer_of(bank, customer).id)
    found = bank.initiation(payment_id)
    if found is None:
        raise Refusal(Error.NOT_FOUND, input="payment_id")
    if found.status in UNSIGNED and not found.signatures:
        raise Refusal(Error.ALREADY_OVER, status=found.status.value, sentence=FIRST_SIGNATURE)
    if found.status is not Status.PATC:
        raise Refusal(Error.ALREADY_OVER, status=found.status.value)
    if customer in found.signatures or customer not in behaviour_of(found).may_sign(bank, found):
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="it is not this customer's turn to sign")
    return found


def to_sign(bank: Bank, customer: str) -> list[Initiation]:
    """The initiations that wait for a customer's further signature."""
    found = [bank.initiation(name) for name in bank.partly_signed]
    return [one for one in found if one and one.status is Status.PATC and customer in left_to_sign(bank, one)]


def left_to_sign(bank: Bank, found: Initiation) -> tuple[str, ...]:
    """Those whose signature counts and who have not signed yet."""
    return tuple(name for name in behaviour_of(found).may_sign(bank, found) if name not in found.signatures)
