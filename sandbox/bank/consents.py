"""Requests, gives, extends, replaces and withdraws consents. Also renews the strong customer authentication (SCA) of a
consent (service 4.7, choice 8)."""

from base64 import urlsafe_b64encode
from datetime import timedelta
from hashlib import blake2b

from sandbox.bank import accounts, tokens
from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.callbacks import make_callback_url, make_refusal_url
from sandbox.bank.records import Account, Consent, ConsentAddress, Grant
from sandbox.bank.rules import RuleFacts
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import SCREENS
from sandbox.contract.moves import Trigger

IBAN = "iban"
WITHDRAWN = "withdrawn"
HISTORY_DAYS = 90  # service 4.10: without the SCA token


def ask(
    bank: Bank,
    client_id: str,
    scope: str,
    iban: str | None,
    redirect_uri: str,
    challenge: tuple[str, str],
    language: str | None,
    languages: tuple[str, ...] = (),
) -> tuple[tuple[str, str], ...]:
    """Creates a consent address for each language in `languages`, and returns pairs of language and token. If
    `languages` is empty, uses `language` alone. If `language` is None too, uses all languages of the pages. If a rule
    of the scenario simulates the customer, schedules the customer's act at the first address.

    Refuses an account (`iban`) of another bank, a closed account, and an account without online access. Also refuses if
    a rule of the scenario demands it.
    """
    if iban is not None:
        account = accounts.demand_account(bank, iban, IBAN)
        accounts.demand_open(account, IBAN)
        accounts.demand_channel(bank, account, IBAN)
    rule = bank.rulebook.match_or_refuse(RuleFacts("consent", client_id, debtor=iban), bank.clock.now)

    psu = None if rule is None else bank.rulebook.rules[rule].psu
    until = bank.clock.now + bank.find_decisions_of_rule(rule).consent_address_life
    addresses: list[tuple[str, str]] = []
    for screen in languages or ((language,) if language else SCREENS):
        address = ConsentAddress(
            bank.mint.draw_secret(),
            client_id,
            scope,
            screen,
            redirect_uri,
            until,
            challenge,
            iban,
            rule=rule,
        )
        _offer(bank, address)
        if psu is not None and not addresses:
            bank.agenda.add(bank.clock.now + psu.after, address.token, Trigger.PSU_ACTS)
        addresses.append((screen, address.token))
    return tuple(addresses)


def demand_sca(bank: Bank, consent_id: str, redirect_uri: str, language: str | None, why: str) -> None:
    """Creates an address at which the PSU renews the authentication, and raises a Refusal that contains this address.
    After the renewal, the client's token is accepted again."""
    consent = bank.consents[consent_id]
    screen = language or bank.customers[consent.customer].language
    until = bank.clock.now + bank.decisions.consent_address_life
    address = ConsentAddress(
        bank.mint.draw_secret(),
        consent.client_id,
        consent.scope,
        screen,
        redirect_uri or consent.redirect_uri,
        until,
        renews=consent.id,
    )
    _offer(bank, address)
    decided_by = {
        "authenticated": consent.sca_at,
        "days_since": (bank.clock.now - consent.sca_at).days,
        "days_allowed": bank.decisions.sca_renewal_after.days,
        "consent_until": consent.until,
        "history_from": bank.clock.today - timedelta(days=HISTORY_DAYS),
    }
    raise Refusal(Error.SCA_REQUIRED, why=why, address=address.token, lasting=True, decided_by=decided_by)


def _offer(bank: Bank, address: ConsentAddress) -> None:
    bank.consent_addresses[address.token] = address
    for token in forget_oldest(bank.consent_addresses, bank.decisions, lambda offered: len(offered.redirect_uri)):
        bank.answered.pop(token, None)


def find_open_address(bank: Bank, token: str) -> ConsentAddress:
    """Returns a consent address. Refuses an address that is unknown, expired or already answered."""
    address = bank.consent_addresses.get(token)
    if address is None:
        raise Refusal(Error.NOT_FOUND, input="address")
    if token in bank.answered:
        raise Refusal(Error.ALREADY_OVER, status=bank.answered[token])
    if bank.clock.now >= address.until:
        raise Refusal(Error.ADDRESS_OUTDATED, input="address", decided_by={"valid_until": address.until})
    return address


def list_choosable_accounts(bank: Bank, customer: str) -> list[Account]:
    """Returns the accounts that a customer may let a client read: the customer's own open accounts that have online
    access."""
    return [
        account
        for account in bank.accounts.values()
        if customer in account.owners and account.online and not account.closed
    ]


def guess_customer(bank: Bank, address: ConsentAddress, iban: str | None = None) -> str | None:
    """Guesses which customer will answer a consent address. For a renewal this is the customer of the consent, else the
    first owner of the account that the address or `iban` names. Returns None if neither names an account of this
    bank."""
    if address.renews is not None:
        return bank.consents[address.renews].customer
    account = bank.accounts.get(address.iban or iban or "")
    return account.owners[0] if account else None


def demand_customer(bank: Bank, address: ConsentAddress, customer: str) -> None:
    """Refuses a customer who blocked online access. For a renewal, refuses every customer but the one who gave the
    consent. For a consent of the scope CAF, refuses a customer who does not own the account."""
    accounts.demand_unblocked(bank, customer)
    if address.renews is not None and bank.consents[address.renews].customer != customer:
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="the consent is another customer's", which="consent")
    if address.iban is not None and customer not in bank.accounts[address.iban].owners:
        raise Refusal(Error.ACCESS_DENIED, input=IBAN, why="it belongs to another customer", which="consent")


def agree(bank: Bank, token: str, customer: str, chosen_ibans: tuple[str, ...], state: str | None) -> str:
    """Gives the consent that an address asks for, or renews the SCA of an existing consent if the address is for that.
    Returns the URL of the callback. A new consent is for the account that the address names, else for
    `chosen_ibans`."""
    address = find_open_address(bank, token)
    demand_customer(bank, address, customer)
    if address.renews is not None:
        consent = demand_active(bank, address.renews)
        consent.sca_at = bank.clock.now
        consent.full_until = bank.clock.now + bank.decisions.sca_token_life
        if bank.decisions.renewal_extends_consent == "yes":
            consent.until = bank.clock.now + bank.decisions.consent_life
        bank.answered[token] = "renewed"
        return make_callback_url(bank, address.redirect_uri, state)
    ibans = (address.iban,) if address.iban is not None else chosen_ibans
    demand_owned(bank, customer, ibans)

    consent = _give(bank, address, customer, ibans)
    bank.answered[token] = "given"
    grant = Grant(address.client_id, customer, address.scope, address.iban, consent.id)
    assert address.challenge is not None
    code = tokens.create_code(bank, grant, address.redirect_uri, address.challenge, address.rule)
    return make_callback_url(bank, address.redirect_uri, state, code=code)


def decline(bank: Bank, token: str, state: str | None, description: str = "The customer refused.") -> str:
    address = find_open_address(bank, token)
    bank.answered[token] = "refused"
    return make_refusal_url(bank, address.redirect_uri, state, description)


def demand_owned(bank: Bank, customer: str, ibans: tuple[str, ...]) -> None:
    if not ibans:
        raise Refusal(Error.CONTROL_INVALID, input="accounts", why="at least one is needed")
    for iban in ibans:
        account = accounts.demand_account(bank, iban, "accounts")
        if customer not in account.owners:
            raise Refusal(Error.ACCESS_DENIED, input="accounts", why="one belongs to another customer")
        accounts.demand_open(account, "accounts")
        accounts.demand_channel(bank, account, "accounts")


def _give(bank: Bank, address: ConsentAddress, customer: str, ibans: tuple[str, ...]) -> Consent:
    """Creates a consent and returns it. Ends the earlier consent with the same PSU, client and scope, and for CAF the
    same account. But if the earlier consent is still valid and the decision `new_consent` is `adds`, extends and
    returns the earlier consent."""
    now = bank.clock.now
    key = (address.client_id, customer, address.scope, address.iban)
    earlier = bank.consents.get(bank.consent_of.get(key, ""))
    if earlier is not None and earlier.ended is None:
        if now < earlier.until and bank.decisions.new_consent == "adds":
            return _extend(bank, earlier, address, ibans)
        earlier.ended = "replaced"
    consent = Consent(
        bank.mint.draw_id(),
        address.client_id,
        customer,
        address.scope,
        {make_logical_id(bank, address.client_id, iban): iban for iban in dict.fromkeys(ibans)},
        address.redirect_uri,
        now,
        now + bank.find_decisions_of_rule(address.rule).consent_life,
        now,
    )
    bank.consent_of[key] = consent.id
    bank.consents[consent.id] = consent
    return consent


def _extend(bank: Bank, consent: Consent, address: ConsentAddress, ibans: tuple[str, ...]) -> Consent:
    """Adds accounts to a consent and returns the consent. Its period of validity begins again."""
    ids = consent.logical_ids
    new_ibans = (iban for iban in ibans if iban not in ids.values())
    consent.logical_ids = ids | {make_logical_id(bank, consent.client_id, iban): iban for iban in new_ibans}
    consent.given = consent.sca_at = bank.clock.now
    consent.until = bank.clock.now + bank.find_decisions_of_rule(address.rule).consent_life
    return consent


def make_logical_id(bank: Bank, client_id: str, iban: str) -> str:
    """Returns the id by which a client names an account in URLs. By default a client has one id for an account. If the
    decision `logical_id` is `per_consent`, each consent gets a new id (service 4.9)."""
    if bank.decisions.logical_id == "per_consent":
        return bank.mint.draw_secret()
    digest = blake2b(f"{client_id}/{iban}".encode(), key=bank.mint.derive_key("logical-id"), digest_size=32)
    return urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def demand_active(bank: Bank, consent_id: str | None) -> Consent:
    assert consent_id is not None
    tokens.demand_consent(bank, consent_id)
    return bank.consents[consent_id]


def list_valid_consents(bank: Bank, customer: str) -> list[Consent]:
    now = bank.clock.now
    return [
        consent
        for key, name in bank.consent_of.items()
        if key[1] == customer and (consent := bank.consents[name]).ended is None and now < consent.until
    ]


def withdraw(bank: Bank, client_id: str, customer: str, scope: str) -> int:
    """Withdraws all valid consents of a customer for a client and a scope. Returns their number. Raises a Refusal if
    there are none."""
    consents = [
        valid for valid in list_valid_consents(bank, customer) if (valid.client_id, valid.scope) == (client_id, scope)
    ]
    if not consents:
        raise Refusal(Error.NOT_FOUND, input="consent")
    for consent in consents:
        consent.ended = WITHDRAWN
    return len(consents)


def find_valid(bank: Bank, customer: str | None, consent_id: str) -> Consent:
    """Returns the customer's valid consent with this id. Raises a Refusal if there is none, or if no customer is
    given."""
    for consent in list_valid_consents(bank, customer) if customer is not None else ():
        if consent.id == consent_id:
            return consent
    raise Refusal(Error.NOT_FOUND, input="consent")
