"""The fields of bodies that register or change clients (TPPs), customers and accounts (choice 10). No reply shows a
client's secret or keys."""

import json
import re
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from sandbox.bank.records import ACCOUNT_TYPES, BALANCES_SHOWN, CUSTOMER_KINDS, METHODS, ROLES
from sandbox.banking.countries import is_country
from sandbox.banking.iban import BANK_CODE, is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.contract.languages import SCREENS
from sandbox.web.controls.body_fields import (
    ID,
    BooleanField,
    FunctionField,
    IntegerField,
    OneWord,
    TextFunctionField,
    TextListField,
    identifier,
    make_one_of,
    make_pattern_field,
    make_text_field,
    name,
    read_text,
    read_texts,
)

SECRET = re.compile(r"[!-~]{1,256}\Z")
ORGANISATION = re.compile(r"([A-Z]{3}[A-Z]{2}-[A-Z]{2,8}-[A-Za-z0-9.]{1,40})?\Z")
KID = re.compile(r"[!-~]{1,100}\Z")
LIST_MAX = 50
LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\*/\*\Z")


def _read_roles(value: Any) -> tuple[str, ...]:
    roles = _list(value)
    if not roles or any(role not in ROLES for role in roles) or len(set(roles)) < len(roles):
        raise ValueError(f"it is a list of {', '.join(ROLES)}, each once")
    return tuple(roles)


def _redirect_uri(value: Any) -> str:
    """Reads a callback address: an absolute http(s) address, or a loopback pattern such as `http://127.0.0.1:*/*`
    (choice 2). Raises ValueError for any other value."""
    if not isinstance(value, str) or not 0 < len(value) <= 2000 or re.search(r"[^!-~]|[\\<>\"#]", value):
        raise ValueError("an address is printable ASCII without blanks, quotes, < >, \\ and #")
    if LOOPBACK.match(value):
        return value
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        raise ValueError(f"{value[:100]} is no address") from None
    if parts.scheme not in ("https", "http") or not parts.hostname or "@" in parts.netloc or "*" in value:
        raise ValueError(
            f"{value[:100]} is neither an absolute http(s) address nor a pattern like http://127.0.0.1:*/*"
        )
    return value


def _read_keys(value: Any) -> tuple[str, ...]:
    """Reads public JWKs, each with a different `kid`. Returns them as JSON texts that have only the public fields.
    Raises ValueError for a wrong list."""
    from sandbox.web.api.signatures import read_key  # with the cryptography that few clients need

    keys: dict[str, str] = {}
    for number, jwk in enumerate(_list(value), 1):
        if not isinstance(jwk, dict) or not isinstance(jwk.get("kid"), str) or KID.match(jwk["kid"]) is None:
            raise ValueError(f"key {number} needs a kid of 1 to 100 printable characters")
        kid = jwk["kid"]
        if kid in keys:
            raise ValueError(f"the kid {kid} is there twice")
        try:
            public = read_key(jwk).as_dict(private=False)
        except ValueError as error:
            raise ValueError(f"key {number}: {error}") from None
        fields = {name: public[name] for name in ("crv", "e", "kty", "n", "x", "y") if name in public}
        keys[kid] = json.dumps(fields | {"kid": kid}, sort_keys=True, separators=(",", ":"))
    return tuple(keys.values())


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        raise ValueError(f"it is a list of {LIST_MAX} at most")
    return value


def _make_array_schema(**items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


secret = partial(
    make_pattern_field,
    SECRET,
    "it is 1 to 256 printable characters without blanks",
    about="1 to 256 printable characters without blanks.",
)
CLIENT = {
    "client_id": identifier(),
    "secret": secret(),
    "name": name(),
    "roles": FunctionField(_read_roles, shape=_make_array_schema(type="string", enum=[*ROLES])),
    "active": BooleanField("it is true or false"),
    "redirect_uris": FunctionField(
        lambda value: tuple(map(_redirect_uri, _list(value))), shape=_make_array_schema(type="string")
    ),
    "keys": FunctionField(_read_keys, about="Public JWKs, each with a kid.", shape=_make_array_schema(type="object")),
    "organisation": make_pattern_field(
        ORGANISATION,
        "it is like PSDBE-NBB-1234567890 (ETSI TS 119 495), or empty",
        about="The organisation identifier of its certificates.",
    ),
}
NEW_CLIENT = CLIENT | {"client_id": identifier(required=True), "secret": secret(required=True)}

SIGNATURES_MAX = 9


def _read_euros(value: Any) -> Money:
    try:
        money = Money.read(read_text(value), "EUR")
    except ValueError:
        raise ValueError('it is an amount as a text, such as "500.00"') from None
    if money.number < 0:
        raise ValueError("it must not be below 0")
    return money


def _read_balances(value: Any) -> tuple[Money, ...]:
    """Reads the first balances of a new account. They are a list such as `[{"currency": "EUR", "balance": "500.00"}]`.
    A balance may also be a number. Raises ValueError for any other value."""
    expected = 'it must be a list such as [{"currency": "EUR", "balance": "500.00"}], with each currency once'
    by_currency: dict[str, Money] = {}
    for row in _list(value):
        if not isinstance(row, dict) or set(row) != {"currency", "balance"}:
            raise ValueError(expected)
        currency, number = row["currency"], row["balance"]
        text = str(number) if type(number) in (int, float) else number
        if (
            not isinstance(text, str)
            or not isinstance(currency, str)
            or not is_currency(currency)
            or currency in by_currency
        ):
            raise ValueError(expected)
        try:
            by_currency[currency] = Money.read(text, currency)
        except ValueError:
            raise ValueError(f"'{text[:30]}' is no amount of {currency}") from None
        if by_currency[currency].number < 0:
            raise ValueError("no balance begins below 0")
    if not by_currency:
        raise ValueError(expected)
    return tuple(by_currency.values())


def _read_countries(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    codes = read_texts(value)
    unknown = [code for code in codes if not is_country(code)]
    if unknown or not codes:
        reason = f"'{unknown[0][:20]}' is no country" if unknown else "an empty list accepts none"
        raise ValueError(f"{reason}; it is a list of ISO 3166 codes such as BE, or null for all countries")
    return tuple(dict.fromkeys(codes))


def _sort_methods(methods: list[str]) -> tuple[str, ...]:
    """Returns the methods in the order of METHODS. Adds the card reader if it is missing, because every customer may
    use it. Raises ValidationError for an unknown method."""
    for method in methods:
        OneWord(METHODS)(method)
    return tuple(method for method in METHODS if method in (*methods, METHODS[0]))


def _read_names(names: list[str]) -> tuple[str, ...]:
    if not all(map(ID.match, names)):
        raise ValueError("it is letters, digits, _, . and -, 64 at most")
    return tuple(dict.fromkeys(names))


def _read_currencies(codes: list[str]) -> tuple[str, ...]:
    if not codes or len(set(codes)) < len(codes) or not all(map(is_currency, codes)):
        raise ValueError("it is a list of currency codes, each once")
    return tuple(codes)


# An amount in euro; null is no limit.
_limit = partial(
    FunctionField, lambda value: None if value is None else _read_euros(value), shape={"type": ["string", "null"]}
)


CUSTOMER = {
    "channel_blocked": BooleanField(about="No digital channel.", option="Blocks the digital channel."),
    "language": make_one_of(*SCREENS, option=f"{' or '.join(SCREENS)}."),
    "limit_day": _limit(
        about="In EUR, of each account of theirs; null: none.", option="EUR a day from each account, such as 250.00."
    ),
    "limit_week": _limit(about="The same for today and the 6 days before.", option="EUR a week from each account."),
    "countries": FunctionField(
        _read_countries,
        about="Those to which they pay; null: all.",
        shape={"type": ["array", "null"], "items": {"type": "string"}},
    ),
    "methods": TextListField(
        _sort_methods,
        about="How they may sign, beside the card reader: `app`, `biometrics` (service 5.7).",
        option="A way to sign: app or biometrics; may be given several times.",
    ),
    "payee_check_of_files": BooleanField(
        about="Whether the payees of their files are checked; a business customer may opt out (choice 14).",
        option="false opts out of the check of payees in files; business customers only.",
    ),
}
NEW_CUSTOMER = {
    "customer": identifier(required=True, about="The id."),
    "name": name(about="The id where left out.", option="The name; left out, the id."),
    "kind": make_one_of(*CUSTOMER_KINDS, about="private where left out.", option="private (default) or business."),
    **CUSTOMER,
}
ACCOUNT = {
    "closed": BooleanField(
        about="Nothing is paid from it or to it, and no consent shows it.",
        option="true closes the account, false opens it again.",
    ),
    "overdraft": _limit(
        about="How far its first compartment may go below 0; null: not at all.", option="EUR below 0, such as 500.00."
    ),
    "signatures_required": IntegerField(
        f"it is a whole number from 1 to {SIGNATURES_MAX}",
        1,
        SIGNATURES_MAX,
        about="Of what is signed from now on, which then waits until that many of its signers have signed.",
        option="How many signatures.",
    ),
    "signers": TextListField(
        _read_names,
        about="The customers who may sign; its owners where never named.",
        option="A customer who may sign; may be given several times.",
    ),
    "balance_shown": make_one_of(
        *BALANCES_SHOWN,
        about="What `balance` of account information is: the euro compartment, or all at the bank's rates.",
        option="compartment or globalised.",
    ),
}
NEW_ACCOUNT = {
    "customer": identifier(required=True, about="The owner."),
    "iban": make_text_field(
        lambda iban: is_iban(iban) and iban[:2] == "BE" and iban[4:7] == BANK_CODE,
        f"it is a valid Belgian IBAN with this bank's code {BANK_CODE}; left out, the bank gives one",
        about="The next free one where left out.",
        option="Left out: the next free one.",
    ),
    "type": make_one_of(
        *ACCOUNT_TYPES,
        about="current-account where left out.",
        option="current-account (default) or savings-account.",
    ),
    "currencies": TextListField(_read_currencies, about="Those of `balances`, else EUR alone, where left out."),
    "balance": TextFunctionField(
        _read_euros, about="In EUR; 0 where left out.", option="EUR at once, such as 1000.00."
    ),
    "balances": FunctionField(
        _read_balances,
        about="In place of `balance`: the first balance of each compartment, as the list of accounts has it.",
        shape=_make_array_schema(type="object"),
    ),
    **ACCOUNT,
}
