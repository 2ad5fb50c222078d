"""What stock OAuth clients look for, beside the bank: metadata (RFC 8414) and an authorization endpoint."""

from typing import Any

from flask import Request, Response, redirect

from sandbox.bank import consents
from sandbox.bank.records import RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking import pkce
from sandbox.banking.iban import is_iban
from sandbox.banking.names import with_query
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import SCREENS
from sandbox.web.api.access import VARIANTS
from sandbox.web.api.addresses import bank_root_of, is_registered, root_of, why_unregistered
from sandbox.web.api.headers import languages_asked, screen_language
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.world import World

CONSENT_SCOPES = ("AIS", "CAF")


def metadata(world: World, request: Request) -> dict[str, Any]:
    """RFC 8414, 2. The issuer is the address of the controls, to which the well-known path is appended."""
    controls, bank = f"{root_of(request)}/_sandbox", bank_root_of(request)
    return {
        "issuer": controls,
        "authorization_endpoint": f"{controls}/authorize",
        "token_endpoint": f"{bank}/token",
        "scopes_supported": [*CONSENT_SCOPES, "PIS"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(VARIANTS),
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "code_challenge_methods_supported": list(pkce.METHODS),
        "ui_locales_supported": list(SCREENS),
        "service_documentation": f"{controls}/docs",
    }


def authorize(world: World, request: Request) -> Response:
    """An authorization request (RFC 6749, 4.1.1): asks the bank for a consent address and leads the browser there.

    Until the callback is known to be the client's own, a refusal is shown here; later ones go to the callback.
    """
    client, callback = world.ask(_client_and_callback, request)
    state = request.args.get("state")
    try:
        asked = _read_request(client, request)
        language = screen_language(languages_asked(request.headers.get("Accept-Language", "")))
        ((_, token), *_) = world.act(consents.ask, client.id, *asked[:2], callback, asked[2], language)
        address = with_query(f"{bank_root_of(request)}/psu/consent/{token}", state=state)
    except _Answer as answer:
        error, why = answer.args
        address = with_query(callback, error=error, error_description=why, state=state)
    except Refusal as refusal:  # of the account that CAF names
        address = with_query(callback, error="access_denied", error_description=refusal.text, state=state)
    response = redirect(address)
    assert isinstance(response, Response)
    response.headers["Cache-Control"] = "no-store"
    return response


class _Answer(Exception):
    """An error that the client hears at its callback, and its description (RFC 6749, 4.1.2.1)."""


def _client_and_callback(bank: Bank, request: Request) -> tuple[RegisteredClient, str]:
    for name in ("client_id", "redirect_uri"):
        if len(request.args.getlist(name)) != 1:
            raise refuse(name, "it is needed, once")
    client = bank.clients.get(request.args["client_id"])
    if client is None:
        raise Refusal(Error.CLIENT_UNKNOWN, input="client_id")
    callback = request.args["redirect_uri"]
    if not is_registered(request, client, callback):
        raise refuse("redirect_uri", why_unregistered(request, client, callback))
    return client, callback


def _read_request(client: RegisteredClient, request: Request) -> tuple[str, str | None, tuple[str, str]]:
    """Scope, account and challenge of a good request."""
    given = request.args
    for name, values in given.lists():
        if len(values) > 1:
            raise _Answer("invalid_request", f"{name[:60]} is given twice")
    if not client.active or "AIS" not in client.roles:
        raise _Answer("unauthorized_client", f"{client.id} is not active, or lacks the role AIS")
    if given.get("response_type") != "code":
        raise _Answer("unsupported_response_type", "response_type must be code")
    scope, iban = given.get("scope", "AIS"), given.get("iban")
    if scope not in CONSENT_SCOPES:
        raise _Answer("invalid_scope", "scope must be AIS or CAF; PIS tokens come with a payment initiation")
    if (scope == "CAF") != (iban is not None) or (iban is not None and not is_iban(iban)):
        raise _Answer("invalid_request", "CAF needs an iban, a valid one; AIS takes none")
    method, challenge = given.get("code_challenge_method", "plain"), given.get("code_challenge", "")
    if method not in pkce.METHODS or not pkce.is_challenge(method, challenge):
        raise _Answer("invalid_request", "code_challenge is missing or not as RFC 7636 has it")
    return scope, iban, (method, challenge)
