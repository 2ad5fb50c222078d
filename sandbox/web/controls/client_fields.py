"""The fields of a TPP (choice 10). Its secret and keys go in and never come out."""

import json
import re
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from sandbox.bank.records import ROLES
from sandbox.web.controls.body_fields import Flag, Read, identifier, matching, name

SECRET = re.compile(r"[!-~]{1,256}\Z")
ORGANISATION = re.compile(r"([A-Z]{3}[A-Z]{2}-[A-Z]{2,8}-[A-Za-z0-9.]{1,40})?\Z")
KID = re.compile(r"[!-~]{1,100}\Z")
LIST_MAX = 50
LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\*/\*\Z")


def _roles(value: Any) -> tuple[str, ...]:
    found = _list(value)
    if not found or any(role not in ROLES for role in found) or len(set(found)) < len(found):
        raise ValueError(f"it is a list of {', '.join(ROLES)}, each once")
    return tuple(found)


def _redirect_uri(value: Any) -> str:
    """An absolute https or http address that is compared as it stands, or a loopback pattern (choice 2)."""
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


def _keys(value: Any) -> tuple[str, ...]:
    """Public JWKs, each with a `kid` of its own; kept without what is not needed."""
    from sandbox.web.api.jws import read_key  # with the cryptography that few clients need

    found: dict[str, str] = {}
    for number, jwk in enumerate(_list(value), 1):
        if not isinstance(jwk, dict) or not isinstance(jwk.get("kid"), str) or KID.match(jwk["kid"]) is None:
            raise ValueError(f"key {number} needs a kid of 1 to 100 printable characters")
        if jwk["kid"] in found:
            raise ValueError(f"the kid {jwk['kid']} is there twice")
        try:
            public = read_key(jwk).as_dict(private=False)
        except ValueError as error:
            raise ValueError(f"key {number}: {error}") from None
        kept = {name: public[name] for name in ("crv", "e", "kty", "n", "x", "y") if name in public}
        found[jwk["kid"]] = json.dumps(kept | {"kid": jwk["kid"]}, sort_keys=True, separators=(",", ":"))
    return tuple(found.values())


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        raise ValueError(f"it is a list of {LIST_MAX} at most")
    return value


def _array(**items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


secret = partial(
    matching,
    SECRET,
    "it is 1 to 256 printable characters without blanks",
    about="1 to 256 printable characters without blanks.",
)
CLIENT = {
    "client_id": identifier(),
    "secret": secret(),
    "name": name(),
    "roles": Read(_roles, shape=_array(type="string", enum=[*ROLES])),
    "active": Flag("it is true or false"),
    "redirect_uris": Read(lambda value: tuple(map(_redirect_uri, _list(value))), shape=_array(type="string")),
    "keys": Read(_keys, about="Public JWKs, each with a kid.", shape=_array(type="object")),
    "organisation": matching(
        ORGANISATION,
        "it is like PSDBE-NBB-1234567890 (ETSI TS 119 495), or empty",
        about="The organisation identifier of its certificates.",
    ),
}
NEW_CLIENT = CLIENT | {"client_id": identifier(required=True), "secret": secret(required=True)}
