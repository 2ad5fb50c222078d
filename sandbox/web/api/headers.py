"""Reads headers: the versions and languages that a caller accepts, and the credentials or the token of a call.

Nearly all calls send the same few values of Accept (service 9) and Accept-Language (service 4.0). So the results of
parsing them are cached. At /token, HTTP Basic contains the client_id and the client_secret. They are form-encoded (RFC
6749 2.3.1) or raw (service 4.8, choice 8).
"""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Container, Mapping
from functools import lru_cache
from urllib.parse import unquote_plus

from werkzeug.http import parse_accept_header, parse_options_header

from sandbox.bank import tokens
from sandbox.bank.state import Bank
from sandbox.contract.languages import SCREENS
from sandbox.contract.operations import Operation

# All of ISO 639-1: a known language without screens is accepted (choice 2).
ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee
el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is
it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms
mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk
sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi
yo za zh zu
"""
VERSION = re.compile(r"0|[1-9][0-9]{0,8}")
LANGUAGES = frozenset(ISO_639_1.split())
CACHED_MAX = 200  # characters; a longer header is not cached, so that callers cannot fill the memory
Credentials = tuple[str, str]  # client_id and secret


def read_versions(header: str, vendor: str) -> tuple[int, ...]:
    """Returns the versions that an Accept header names for this vendor, most wanted first."""
    return _cached_versions(header, vendor) if len(header) <= CACHED_MAX else _parse_versions(header, vendor)


def is_version_missing(header: str | None, vendor: str) -> bool:
    """Whether the caller names no version. True if the header Accept is missing, or if it accepts one of these types
    without the parameter `version`: JSON, the bank's media type, `application/*`, or `*/*`."""
    if header is None:
        return True
    ours = ("*/*", "application/*", "application/json", f"application/vnd.{vendor}.api+json".lower())
    ranges = (parse_options_header(versions) for versions, quality in parse_accept_header(header) if quality > 0)
    return any(media.lower() in ours and "version" not in options for media, options in ranges)


def read_languages(header: str) -> tuple[str, ...]:
    """Returns the languages that the header names and the bank knows, most wanted first. Includes `*` if the header has
    it."""
    return _cached_languages(header) if len(header) <= CACHED_MAX else _parse_languages(header)


def _parse_versions(header: str, vendor: str) -> tuple[int, ...]:
    own_media = f"application/vnd.{vendor}.api+json".lower()
    versions: list[tuple[float, int]] = []
    for media_range, quality in parse_accept_header(header):
        media, options = parse_options_header(media_range)
        version = options.get("version", "")
        if media.lower() == own_media and VERSION.fullmatch(version) and quality > 0:
            versions.append((-quality, -int(version)))
    return tuple(-version for _, version in sorted(versions))


def _parse_languages(header: str) -> tuple[str, ...]:
    ranges = ((tag.lower().partition("-")[0], quality) for tag, quality in parse_accept_header(header))
    tags = [(quality, tag) for tag, quality in ranges if quality > 0 and (tag == "*" or tag in LANGUAGES)]
    return tuple(tag for _, tag in sorted(tags, key=lambda pair: -pair[0]))


_cached_versions, _cached_languages = (
    lru_cache(maxsize=1024)(_parse_versions),
    lru_cache(maxsize=1024)(_parse_languages),
)


def choose_screen_language(languages: tuple[str, ...], screens: Container[str] = SCREENS) -> str | None:
    """Returns the most wanted language in which the bank has pages. Returns None if there is no such language. The bank
    then uses the customer's language."""
    for language in languages:
        if language in screens:
            return language
    return None


def list_readings(header: str | None) -> tuple[Credentials, ...]:
    """Returns the client id and secret of HTTP Basic, in each way in which they can be read: as they were sent, and
    form-decoded if that differs. Returns an empty tuple if the header has no such credentials."""
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


def find_client_id(bank: Bank, headers: Mapping[str, str], operation: Operation | None) -> str | None:
    """Returns the client id from the header Client-ID, or at /token from the credentials. Returns None if there is
    none.

    Credentials with escapes can be read in two ways. The way with a right secret is taken. If there is none, the way
    with the id of a known client is taken, else the first way.
    """
    if operation is None or operation.bank_headers:
        return headers.get("HTTP_CLIENT_ID")
    credentials = list_readings(headers.get("HTTP_AUTHORIZATION"))
    client = tokens.find_client(bank, credentials)
    if client is not None:
        return client.id
    ids = (client_id for client_id, _ in credentials if client_id in bank.clients)
    return next(ids, credentials[0][0] if credentials else None)


def read_bearer(header: str | None) -> str | None:
    """Returns the access token of an Authorization header, or None if it is not of the form `Bearer TOKEN`."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def find_client_of_token(bank: Bank, header: str | None) -> str | None:
    """Returns the id of the client that owns the access token in an Authorization header. Returns None if the token is
    unknown."""
    key = bank.access_tokens.get(read_bearer(header) or "")
    return bank.pairs[key].grant.client_id if key in bank.pairs else None
