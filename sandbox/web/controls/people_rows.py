"""Rows of the controls that make and change customers and accounts."""

from typing import Any

from sandbox.bank.records import ACCOUNT_TYPES, BALANCES_SHOWN, CUSTOMER_KINDS, METHODS
from sandbox.banking.countries import is_country
from sandbox.banking.iban import BANK_CODE, is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.contract.languages import SCREENS
from sandbox.web.controls.body_fields import (
    ID,
    Flag,
    OneWord,
    Parsed,
    Read,
    Texts,
    Whole,
    body,
    identifier,
    name,
    one_of,
    read_text,
    read_texts,
    text_that,
)
from sandbox.web.controls.control_row import Button, Command, Control, create, get, patch

SIGNATURES_MAX = 9


def _euros(value: Any) -> Money:
    try:
        money = Money.read(read_text(value), "EUR")
    except ValueError:
        raise ValueError('it is an amount as a text, such as "500.00"') from None
    if money.number < 0:
        raise ValueError("it must not be below 0")
    return money


def _countries_or_all(value: Any) -> tuple[str, ...] | None:
    """Codes of countries; null is all."""
    found = [] if value is None else read_texts(value)
    unknown = [code for code in found if not is_country(code)]
    if unknown or (value is not None and not found):
        why = f"'{unknown[0][:20]}' is no country" if unknown else "an empty list accepts none"
        raise ValueError(f"{why}; it is a list of ISO 3166 codes such as BE, or null for all countries")
    return None if value is None else tuple(dict.fromkeys(found))


def _methods(found: list[str]) -> tuple[str, ...]:
    """In the order of the table; the card reader is always among them."""
    for method in found:
        OneWord(METHODS)(method)
    return tuple(method for method in METHODS if method in (*found, METHODS[0]))


def _names(found: list[str]) -> tuple[str, ...]:
    if not all(map(ID.match, found)):
        raise ValueError("it is letters, digits, _, . and -, 64 at most")
    return tuple(dict.fromkeys(found))


def _currencies(found: list[str]) -> tuple[str, ...]:
    if not found or len(set(found)) < len(found) or not all(map(is_currency, found)):
        raise ValueError("it is a list of currency codes, each once")
    return tuple(found)


def _is_own_iban(iban: str) -> bool:
    return is_iban(iban) and iban[:2] == "BE" and iban[4:7] == BANK_CODE


def _limit(about: str, option: str) -> Read:
    """An amount in euro; null is none."""
    shape = {"type": ["string", "null"]}
    return Read(lambda value: None if value is None else _euros(value), about=about, option=option, shape=shape)


CUSTOMER = {
    "channel_blocked": Flag(about="No digital channel.", option="Blocks the digital channel."),
    "language": one_of(*SCREENS, option=f"{' or '.join(SCREENS)}."),
    "limit_day": _limit(
        "In EUR, of each account of theirs; null: none.", "EUR a day from each account, such as 250.00."
    ),
    "limit_week": _limit("The same for today and the 6 days before.", "EUR a week from each account."),
    "countries": Read(
        _countries_or_all,
        about="Those to which they pay; null: all.",
        shape={"type": ["array", "null"], "items": {"type": "string"}},
    ),
    "methods": Texts(
        _methods,
        about="How they may sign, beside the card reader: `app`, `biometrics` (service 5.7).",
        option="A way to sign: app or biometrics; may be given several times.",
    ),
}
NEW_CUSTOMER = {
    "customer": identifier(required=True, about="The id."),
    "name": name(about="The id where left out.", option="The name; left out, the id."),
    "kind": one_of(*CUSTOMER_KINDS, about="private where left out.", option="private (default) or business."),
    **CUSTOMER,
}
ACCOUNT = {
    "closed": Flag(
        about="Nothing is paid from it or to it, and no consent shows it.",
        option="true closes the account, false opens it again.",
    ),
    "overdraft": _limit(
        "How far its first compartment may go below 0; null: not at all.", "EUR below 0, such as 500.00."
    ),
    "signatures_required": Whole(
        f"it is a whole number from 1 to {SIGNATURES_MAX}",
        1,
        SIGNATURES_MAX,
        about="Of what is signed from now on, which then waits until that many of its signers have signed.",
        option="How many signatures.",
    ),
    "signers": Texts(
        _names,
        about="The customers who may sign; its owners where never named.",
        option="A customer who may sign; may be given several times.",
    ),
    "balance_shown": one_of(
        *BALANCES_SHOWN,
        about="What `balance` of account information is: the euro compartment, or all at the bank's rates.",
        option="compartment or globalised.",
    ),
}
NEW_ACCOUNT = {
    "customer": identifier(required=True, about="The owner."),
    "iban": text_that(
        _is_own_iban,
        f"it is a valid Belgian IBAN with this bank's code {BANK_CODE}; left out, the bank gives one",
        about="The next free one where left out.",
        option="Left out: the next free one.",
    ),
    "type": one_of(
        *ACCOUNT_TYPES,
        about="current-account where left out.",
        option="current-account (default) or savings-account.",
    ),
    "currencies": Texts(_currencies, about="EUR alone where left out."),
    "balance": Parsed(_euros, about="In EUR; 0 where left out.", option="EUR at once, such as 1000.00."),
    **ACCOUNT,
}

PEOPLE_ROWS: tuple[Control, ...] = (
    create(
        "/customers",
        "people_views.add_customer",
        "A new customer, still without an account.",
        body("NewCustomer", **NEW_CUSTOMER),
        {"customer": "zoe", "name": "Zoé Lambermont", "kind": "private", "language": "fr"},
        command=Command("customer add", "Adds the customer CUSTOMER.", "{customer} is a customer"),
        buttons=(Button("add customer", "{customer} is a customer now."),),
        reply="CustomerSettings",
    ),
    get(
        "/customers/<customer>",
        "people_views.customer_shown",
        "One customer, with all that may be changed.",
        reply="CustomerSettings",
    ),
    patch(
        "/customers/<customer>",
        "people_views.change_customer",
        "Changes a customer from now on. Limits and countries count for each account that the customer owns.",
        body("CustomerChange", **CUSTOMER),
        {"channel_blocked": True},
        command=Command("customer change", "Changes the customer CUSTOMER.", "{customer} is changed"),
        buttons=(Button("change customer", "{customer} was changed."),),
        reply="CustomerSettings",
    ),
    create(
        "/accounts",
        "people_views.add_account",
        "A new account of a customer.",
        body("NewAccount", **NEW_ACCOUNT),
        {"customer": "alice", "balance": "1000.00"},
        command=Command("account add", "Adds an account of CUSTOMER; prints its IBAN.", "{iban}"),
        buttons=(Button("add account", "{customer} has a new account."),),
        reply="AccountSettings",
    ),
    get(
        "/accounts/<iban>",
        "people_views.account_shown",
        "One account, with all that may be changed.",
        reply="AccountSettings",
    ),
    patch(
        "/accounts/<iban>",
        "people_views.change_account",
        "Changes an account from now on. A closed one pays nothing: payments from it are refused, waiting ones end as "
        "RJCT with `AC04`, and money for it returns. Its owner's habits stop.",
        body("AccountChange", **ACCOUNT),
        {"closed": True},
        command=Command("account change", "Changes the account IBAN.", "{iban} is changed"),
        buttons=(Button("change account", "{iban} was changed."),),
        reply="AccountSettings",
    ),
)
