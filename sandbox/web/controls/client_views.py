"""TPPs: made and changed (choice 10). Their secrets and keys go in and never come out."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from flask import Response

from sandbox.bank.clients import amend, register
from sandbox.bank.records import Client
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.replies import json_response
from sandbox.web.controls.registers import client_shown
from sandbox.web.controls.request_bodies import value_of
from sandbox.world.world import World

CLIENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
SECRET = re.compile(r"[!-~]{1,256}\Z")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]{1,100}\Z")
ORGANISATION = re.compile(r"[A-Z]{3}[A-Z]{2}-[A-Z]{2,8}-[A-Za-z0-9.]{1,40}\Z")
KID = re.compile(r"[!-~]{1,100}\Z")
ROLES = ("PIS", "AIS", "CAF")
LIST_MAX = 50
LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\*/\*\Z")


def matching(shape: re.Pattern[str], why: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or shape.match(value) is None:
            raise ValueError(why)
        return value

    return read


def read_active(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("it is true or false")
    return value


def read_roles(value: Any) -> tuple[str, ...]:
    found = _read_list(value)
    if not found or any(role not in ROLES for role in found) or len(set(found)) < len(found):
        raise ValueError(f"it is a list of {', '.join(ROLES)}, each once")
    return tuple(found)


def read_redirect_uris(value: Any) -> tuple[str, ...]:
    return tuple(_redirect_uri(item) for item in _read_list(value))


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


def read_keys(value: Any) -> tuple[str, ...]:
    """Public JWKs, each with a `kid` of its own; kept without what is not needed."""
    from sandbox.web.api.jws import read_key  # with the cryptography that few clients need

    found: dict[str, str] = {}
    for number, jwk in enumerate(_read_list(value), 1):
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


def read_organisation(value: Any) -> str:
    if value == "":
        return ""
    return matching(ORGANISATION, "it is like PSDBE-NBB-1234567890 (ETSI TS 119 495), or empty")(value)


def _read_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        raise ValueError(f"it is a list of {LIST_MAX} at most")
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "secret": matching(SECRET, "it is 1 to 256 printable characters without blanks"),
    "name": matching(NAME, "it is 1 to 100 characters, none of them a control character"),
    "roles": read_roles,
    "active": read_active,
    "redirect_uris": read_redirect_uris,
    "keys": read_keys,
    "organisation": read_organisation,
}
READ_ID = matching(CLIENT_ID, "it is letters, digits, _, . and -, 64 at most")


def make(world: World, body: dict[str, Any]) -> Response:
    """client_id and secret are needed; the rest has a default."""
    client_id = value_of(body, "client_id", READ_ID)
    client = Client(client_id, **{"name": client_id} | _read_fields(body))
    world.act(register, client)
    return json_response(client_shown(client), 201)


def change(world: World, body: dict[str, Any], client_id: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    if body.get("client_id", client_id) != client_id:
        raise Refusal(Error.CONTROL_INVALID, input="client_id", why="it is not that of the path")
    return client_shown(world.act(amend, client_id, tuple(sorted(_read_fields(body).items()))))


def _read_fields(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value_of(body, name, read) for name, read in READERS.items() if name in body}
