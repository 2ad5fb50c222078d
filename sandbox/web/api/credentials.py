"""Whose credentials or token a call carries.

HTTP Basic at /token: client_id and client_secret, form-encoded (RFC 6749 2.3.1) or raw (service 4.8, choice 8).
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from urllib.parse import unquote_plus

from sandbox.bank import tokens
from sandbox.bank.state import Bank

Credentials = tuple[str, str]  # client_id and secret


def readings(header: str | None) -> tuple[Credentials, ...]:
    """The credentials read raw, then form-decoded where that differs; nothing when the header holds none."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return ()
    try:
        raw_id, colon, raw_secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (Base64Error, ValueError):
        return ()
    if not colon:
        return ()
    raw = (raw_id, raw_secret)
    return tuple(dict.fromkeys((raw, *_form_decoded(raw))))


def _form_decoded(raw: Credentials) -> Iterator[Credentials]:
    try:
        client_id, secret = (unquote_plus(part, errors="strict") for part in raw)
    except UnicodeDecodeError:  # `%ff` was not written by form-encoding
        return
    yield client_id, secret


def client_named(bank: Bank, header: str | None) -> str | None:
    """The client_id of these credentials: of the reading that fits, else of one that names a client, else as sent."""
    found = readings(header)
    fitting = tokens.client_fitting(bank, found)
    if fitting is not None:
        return fitting.id
    ids = (client_id for client_id, _ in found if client_id in bank.clients)
    return next(ids, found[0][0] if found else None)


def bearer_of(header: str | None) -> str | None:
    """The access token."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def client_of_token(bank: Bank, header: str | None) -> str | None:
    """The client to which an access token was given."""
    key = bank.access_tokens.get(bearer_of(header) or "")
    return bank.pairs[key].grant.client_id if key in bank.pairs else None
