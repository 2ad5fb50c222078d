"""Whose credentials or token a call carries.

HTTP Basic at /token: client_id and client_secret, form-encoded (RFC 6749 2.3.1) or raw (service 4.8, choice 8).
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from urllib.parse import unquote_plus

from sandbox.bank import tokens
from sandbox.bank.state import Bank
from sandbox.contract.operations import Operation

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
    try:
        decoded = (unquote_plus(raw_id, errors="strict"), unquote_plus(raw_secret, errors="strict"))
    except UnicodeDecodeError:  # `%ff` was not written by form-encoding
        return (raw,)
    return (raw,) if decoded == raw else (raw, decoded)


def client_named(bank: Bank, headers: Mapping[str, str], operation: Operation | None) -> str | None:
    """The client as it calls itself: in its header, at /token by its credentials.

    Of credentials the reading counts that fits, else one that names a client, else what was sent."""
    if operation is None or operation.bank_headers:
        return headers.get("HTTP_CLIENT_ID")
    found = readings(headers.get("HTTP_AUTHORIZATION"))
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
