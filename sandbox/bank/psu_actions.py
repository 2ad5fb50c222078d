"""Acts of a PSU without a browser, with defaults for missing choices (choice 10)."""

from sandbox.bank import consents, signing, signing_methods
from sandbox.bank.behaviours import behaviour_of
from sandbox.bank.records import Debtor
from sandbox.bank.signing import customer_of
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal


def approve(
    bank: Bank,
    token: str,
    customer: str | None,
    account: str | None,
    ibans: tuple[str, ...],
    state: str | None,
    method: str | None = None,
) -> str:
    """Approves at an SCA or consent address; returns the callback. Without a method, it takes a permitted one."""
    if token in bank.consent_addresses:
        return _default_consent(bank, token, customer, ibans or ((account,) if account else ()), state, method)
    found = signing.waiting(bank, token)
    who, debtor = _default_signer(bank, found, customer, account)
    if method is not None:
        signing_methods.demand_method(bank, found, who, method)
    return signing.sign(bank, found, who, debtor, state)


def decline(bank: Bank, token: str, customer: str | None, state: str | None, description: str = signing.REFUSED) -> str:
    if customer is not None:
        customer_of(bank, customer)
    if token in bank.consent_addresses:
        return consents.decline(bank, token, state, description)
    return signing.refuse(bank, signing.waiting(bank, token), state, description)


def _default_signer(
    bank: Bank, found: Initiation, customer: str | None, account: str | None
) -> tuple[str, Debtor | None]:
    """Defaults: the debtor account's first owner, and that customer's first current account."""
    owner = behaviour_of(found).owner
    if not found.kind.one_account:
        return customer_of(bank, customer or owner(bank, found) or "").id, None
    if found.debtor is not None:
        if account is not None and account != found.debtor.iban:
            raise Refusal(Error.CONTROL_INVALID, input="account", why="the initiation names another")
        return customer_of(bank, customer or owner(bank, found) or "").id, found.debtor
    holder = bank.accounts[account].owners[0] if account in bank.accounts else None
    who = customer or found.origin.customer or holder
    if who is None:
        raise Refusal(Error.CONTROL_INVALID, input="customer", why="no debtor account tells who it is")
    iban = account or first_current(bank, customer_of(bank, who).id)
    return customer_of(bank, who).id, Debtor(iban, compartment(bank, iban))


def _default_consent(
    bank: Bank, token: str, customer: str | None, ibans: tuple[str, ...], state: str | None, method: str | None
) -> str:
    """Defaults: the customer of the account or the consent, and all of that customer's accounts."""
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
    if method is not None:
        signing_methods.demand_method(bank, None, who, method)
    if address.iban is not None and any(iban != address.iban for iban in ibans):
        raise Refusal(Error.ACCESS_DENIED, input="accounts", why="the address is about another account")
    chosen = ibans or tuple(account.iban for account in consents.choosable(bank, who))
    return consents.agree(bank, token, who, chosen, state)


def first_current(bank: Bank, customer: str) -> str:
    """Their own first; else one for which they sign."""
    current = [account for account in signing.accounts_of(bank, customer) if not account.is_savings]
    for account in sorted(current, key=lambda account: customer not in account.owners):
        return account.iban
    raise Refusal(Error.CONTROL_INVALID, input="customer", why="the customer has no current account")


def compartment(bank: Bank, iban: str) -> str:
    """The euro compartment of an account that was picked by its IBAN alone."""
    account = bank.accounts.get(iban)
    return "EUR" if account is None else account.first_currency
