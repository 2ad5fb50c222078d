"""Readers of the fields of customers and accounts (choice 10); each raises ValueError with the reason."""

import re
from typing import Any

from sandbox.bank.signing_methods import METHODS
from sandbox.banking.countries import is_country
from sandbox.banking.iban import BANK_CODE, is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.web.controls.body_readers import one_of, text, texts

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]{1,100}\Z")
SIGNATURES_MAX = 9


def identifier(value: Any) -> str:
    if not isinstance(value, str) or ID.match(value) is None:
        raise ValueError("it is letters, digits, _, . and -, 64 at most")
    return value


def name(value: Any) -> str:
    if not isinstance(value, str) or NAME.match(value) is None or not value.strip():
        raise ValueError("it is 1 to 100 characters, none of them a control character")
    return value


def euros(value: Any) -> Money:
    try:
        money = Money.read(text(value), "EUR")
    except ValueError:
        raise ValueError('it is an amount as a text, such as "500.00"') from None
    if money.number < 0:
        raise ValueError("it must not be below 0")
    return money


def euros_or_none(value: Any) -> Money | None:
    return None if value is None else euros(value)


def countries_or_all(value: Any) -> tuple[str, ...] | None:
    """Codes of countries; null is all."""
    found = () if value is None else texts(value)
    unknown = [code for code in found if not is_country(code)]
    if unknown or (value is not None and not found):
        why = f"'{unknown[0][:20]}' is no country" if unknown else "an empty list accepts none"
        raise ValueError(f"{why}; it is a list of ISO 3166 codes such as BE, or null for all countries")
    return None if value is None else tuple(dict.fromkeys(found))


def signatures(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= SIGNATURES_MAX:
        raise ValueError(f"it is a whole number from 1 to {SIGNATURES_MAX}")
    return value


def methods(value: Any) -> tuple[str, ...]:
    """In the order of the table; the card reader is always among them."""
    found = [one_of(*METHODS)(name) for name in texts(value)]
    return tuple(method for method in METHODS if method in (*found, METHODS[0]))


def names(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identifier(one) for one in texts(value)))


def currencies(value: Any) -> tuple[str, ...]:
    found = texts(value)
    if not found or len(set(found)) < len(found) or not all(map(is_currency, found)):
        raise ValueError("it is a list of currency codes, each once")
    return found


def own_iban(value: Any) -> str:
    if not is_iban(text(value)) or value[:2] != "BE" or value[4:7] != BANK_CODE:
        raise ValueError(f"it is a valid Belgian IBAN with this bank's code {BANK_CODE}; left out, the bank gives one")
    return str(value)
