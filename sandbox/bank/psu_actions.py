"""Acts of a simulated PSU, who has no browser. A tester makes such an act by a control call (choice 10), or a rule of
the scenario schedules it (choice 13)."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sandbox.bank import bulks, consents, signing
from sandbox.bank.behaviours import find_behaviour
from sandbox.bank.bounded_registers import forget_first
from sandbox.bank.records import BulkFile, CallbackNote, ConsentAddress, Debtor, Initiation, Subject
from sandbox.bank.rules import Psu
from sandbox.bank.signing import demand_customer
from sandbox.bank.signing_methods import SigningAttempt, demand_method
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger


def approve(
    bank: Bank,
    token: str,
    customer: str | None,
    account: str | None,
    ibans: tuple[str, ...],
    state: str | None,
    method: str | None = None,
) -> str:
    """Signs the initiation or gives the consent that belongs to the address `token`, as the customer. Returns the URL
    of the callback.

    For an initiation, `account` is the account that pays. For a consent, the client may read the accounts `ibans`, or
    `account` if `ibans` is empty. A customer or account that is not given is chosen by default. If `method` is None,
    the signing method is not checked.
    """
    if token in bank.consent_addresses:
        return _agree_by_default(bank, token, customer, ibans or ((account,) if account else ()), state, method)
    initiation = signing.find_waiting_initiation(bank, token)
    signer, debtor = _choose_signer(bank, initiation, customer, account)
    if method is not None:
        demand_method(bank, SigningAttempt(signer, initiation, debtor), method)
    return signing.sign(bank, initiation, signer, debtor, state)


def refuse(bank: Bank, token: str, customer: str | None, state: str | None, description: str = signing.REFUSED) -> str:
    if customer is not None:
        demand_customer(bank, customer)
    if token in bank.consent_addresses:
        return consents.decline(bank, token, state, description)
    return signing.refuse(bank, signing.find_waiting_initiation(bank, token), state, description)


def demand_owner_or_signer(bank: Bank, token: str, customer: str) -> None:
    """Raises a Refusal unless the customer owns, or may sign for, an account that the address `token` names. Accepts
    any customer if the address names no account of this bank yet."""
    ibans: list[str | None] = []
    if (consent := bank.consent_addresses.get(token)) is not None:
        ibans = [consent.iban]
    elif (signature := bank.sca_addresses.get(token)) is not None:
        initiation = bank.find_initiation(signature.subject_id)
        if isinstance(initiation, BulkFile):
            ibans = [part.paying.debtor_iban for part in initiation.payable_parts]
        elif initiation is not None and initiation.debtor is not None:
            ibans = [initiation.debtor.iban]
    accounts = [bank.accounts[iban] for iban in ibans if iban in bank.accounts]
    if accounts and not any(customer in (*account.owners, *account.may_sign) for account in accounts):
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="the account is of somebody else")


def _choose_signer(
    bank: Bank, initiation: Initiation, customer: str | None, account: str | None
) -> tuple[str, Debtor | None]:
    """Returns the customer who signs and the account that pays. Raises a Refusal if no customer is known.

    If the initiation names its account, refuses any other account. The default signer is then the first owner of that
    account. For a bulk file, the default signer is the first owner of the first debtor account, and the returned
    account is None.

    If the PSU has to choose the account, the default signer is the PSU of the client's token, or else the first owner
    of `account`. The default account is the signer's first current account.
    """
    if initiation.debtor is not None and account not in (None, initiation.debtor.iban):
        named_account = bank.accounts.get(account)
        signing_customer = customer or find_behaviour(initiation).owner(bank, initiation)
        if named_account is not None and signing_customer not in named_account.may_sign:
            raise Refusal(Error.ACCESS_DENIED, input="account", why="the customer may not sign for it")
        raise Refusal(Error.CONTROL_INVALID, input="account", why="the initiation names another")
    if not signing.needs_account(initiation):
        return demand_customer(
            bank, customer or find_behaviour(initiation).owner(bank, initiation) or ""
        ).id, initiation.debtor
    holder = bank.accounts[account].owners[0] if account in bank.accounts else None
    signer = customer or initiation.origin.customer or holder
    if signer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="no debtor account tells who it is")
    iban = account or find_first_current(bank, demand_customer(bank, signer).id)
    picked = bank.accounts.get(iban)
    return demand_customer(bank, signer).id, Debtor(iban, picked.first_currency if picked else "EUR")


def _agree_by_default(
    bank: Bank, token: str, customer: str | None, ibans: tuple[str, ...], state: str | None, method: str | None
) -> str:
    """Gives or renews the consent at a consent address. Returns the URL of the callback.

    The default customer is the customer of the renewed consent, or the first owner of the account that the address or
    `ibans` names. The default accounts are all accounts that the customer may let a client read. Refuses accounts other
    than the one that the address names.
    """
    address = consents.find_open_address(bank, token)
    if customer is None:
        customer = consents.guess_customer(bank, address, *ibans[:1])
    if customer is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="the address does not tell who it is")
    consenting = demand_customer(bank, customer).id
    if method is not None:
        demand_method(bank, SigningAttempt(consenting), method)
    if address.iban is not None and any(iban != address.iban for iban in ibans):
        raise Refusal(Error.ACCESS_DENIED, input="accounts", why="the address is about another account")
    chosen_ibans = ibans or tuple(account.iban for account in consents.list_choosable_accounts(bank, consenting))
    return consents.agree(bank, token, consenting, chosen_ibans, state)


def find_first_current(bank: Bank, customer: str) -> str:
    """Returns the IBAN of a current account for which the customer may sign, if possible one that the customer owns.
    Raises a Refusal if there is no such account."""
    current = [account for account in signing.list_signing_accounts(bank, customer) if not account.is_savings]
    for account in sorted(current, key=lambda account: customer not in account.owners):
        return account.iban
    raise Refusal(Error.CONTROL_INVALID, input="customer", why="the customer has no current account")


@contextmanager
def attribute_moves_to_rule(bank: Bank, subject: Subject | ConsentAddress) -> Iterator[None]:
    """Within the block, the journal names the rule of the subject as the cause of each move.

    A Refusal ends the block and is suppressed, because the checks of the bank outrank the scenario.
    """
    assert subject.rule is not None
    bank.rule_at_work = bank.rulebook.rules[subject.rule].title
    try:
        with suppress(Refusal):
            yield
    finally:
        bank.rule_at_work = None


def act_as_customer(bank: Bank, subject: Initiation | ConsentAddress) -> None:
    """Performs the act of a simulated customer, as a rule demands. The first signer acts at the SCA address or the
    consent address. If a file has no valid SCA address, gives it a new one first. After the first signature, schedules
    the act of the rule's second signer if another signature is needed. The second signer acts in the bank's own
    channel."""
    assert subject.rule is not None
    psu = bank.rulebook.rules[subject.rule].psu
    assert psu is not None
    with attribute_moves_to_rule(bank, subject):
        if isinstance(subject, ConsentAddress):
            _record_callback(bank, subject.token, _answer(bank, subject.token, psu))
        elif not subject.signatures:
            if isinstance(subject, BulkFile) and bulks.find_valid_sca_token(bank, subject) is None:
                bulks.give_address(bank, subject)
            _record_callback(bank, subject.id, _answer(bank, subject.sca_token or "", psu))
            if psu.then is not None and subject.signatures and subject.status is Status.PATC:
                bank.agenda.add(bank.clock.now + psu.then.after, subject.id, Trigger.PSU_ACTS)
        elif psu.then is not None:
            _act_in_channel(bank, subject, psu.then)


def _record_callback(bank: Bank, subject: str, redirect: str | None) -> None:
    if redirect is None:
        return
    number = bank.callbacks[-1].seq + 1 if bank.callbacks else 1
    bank.callbacks.append(CallbackNote(number, bank.clock.now, subject, redirect))
    forget_first(bank.callbacks, bank.decisions, lambda callback: len(callback.redirect))


def _answer(bank: Bank, token: str, psu: Psu) -> str | None:
    match psu.does:
        case "approves":
            return approve(bank, token, psu.customer, psu.account, psu.accounts, None)
        case "wrong_code":
            return refuse(bank, token, psu.customer, None, signing.describe_wrong_codes(bank))
        case "refuses":
            return refuse(bank, token, psu.customer, None)
        case _:
            return None


def _act_in_channel(bank: Bank, initiation: Initiation, psu: Psu) -> None:
    """Signs or refuses as the second signer `psu`, in the bank's own channel. No callback follows. Does nothing if
    `psu` never answers. A refusal is not checked, because stored worlds are replayed to the same outcome."""
    assert psu.customer is not None  # a scenario must name the second signer
    if psu.does == "approves":
        signing.sign_in_channel(bank, initiation.id, psu.customer)
    elif psu.does in ("refuses", "wrong_code"):
        signing.refuse(bank, initiation, None)
