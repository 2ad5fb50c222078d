"""Views that act as the customer without a browser, and that list the callbacks to which customers were sent.

Two further views are for ready-made OAuth clients. They publish metadata and offer an authorization endpoint, because
the bank itself has neither (choice 10).
"""

from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import Any

import orjson
from flask import Request, Response, redirect

from sandbox.bank import consents, psu_actions, signing
from sandbox.bank.records import CallbackNote, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.banking import pkce
from sandbox.banking.durations import write_instant
from sandbox.banking.iban import is_iban
from sandbox.banking.names import add_query
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import SCREENS
from sandbox.contract.reasons import Reason
from sandbox.web.api.access import VARIANTS
from sandbox.web.api.addresses import explain_unregistered, find_bank_root, find_root, is_registered
from sandbox.web.api.faults import WayBack, choose_way_back
from sandbox.web.api.headers import choose_screen_language, read_languages
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.world import World


def approve(world: World, body: dict[str, Any]) -> dict[str, Any]:
    token, state = body["address"]
    if state is None and world.decisions.no_state == "refused":
        raise refuse("state", "the bank opens no address without it")
    choice = body.get("customer"), body.get("account"), body.get("accounts", ()), state
    return _redirect_row(choose_way_back(world, world.act(psu_actions.approve, token, *choice, *_list_method(body))))


def _list_method(body: dict[str, Any]) -> tuple[str, ...]:
    """Returns a tuple with the signing method that the body names. The caller passes it as the last arguments of a verb
    that signs. If the body names no method, the tuple is empty, and the bank chooses a method."""
    return (body["method"],) if "method" in body else ()


def _redirect_row(way: WayBack) -> dict[str, Any]:
    return {"redirect": way.address} | ({"times": way.times} if way.times > 1 else {})


def refuse_as_customer(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Refuses an initiation or a consent as the customer, at its SCA or consent address. If the body has `payment_id`
    instead of an address, refuses that payment as a further signer in the bank's own channel."""
    if "payment_id" not in body:
        if "address" not in body:
            raise Refusal(Error.INPUT_MISSING, input="address")
        token, state = body["address"]
        customer = body.get("customer")
        if customer is not None:  # the verb does not check it: stored acts are replayed to the same outcome
            world.ask(
                lambda bank: psu_actions.demand_owner_or_signer(bank, token, signing.demand_customer(bank, customer).id)
            )
        return _redirect_row(choose_way_back(world, world.act(psu_actions.refuse, token, customer, state)))
    for name in body:
        if name not in ("payment_id", "customer"):
            raise refuse(name, "with payment_id only customer is sent")
    if "customer" not in body:
        raise Refusal(Error.INPUT_MISSING, input="customer")
    status = world.act(signing.refuse_in_channel, body["payment_id"], body["customer"])
    return {"payment_id": body["payment_id"], "status": status.value, "reason": Reason.PSU_REFUSED.code}


def sign(world: World, body: dict[str, Any]) -> dict[str, Any]:
    status = world.act(signing.sign_in_channel, body["payment_id"], body["customer"], *_list_method(body))
    return {"payment_id": body["payment_id"], "status": status.value}


def withdraw(world: World, body: dict[str, Any]) -> dict[str, Any]:
    return {"withdrawn": world.act(consents.withdraw, body["client_id"], body["customer"], body["scope"])}


# Where customers were sent back to


class Arrivals:
    """Whether and how often the browser of a customer came back to the TPP, for each callback. The fault rules and axes
    decide this when the callback is first listed. What they decided is stored here."""

    def __init__(self, ways: dict[int, WayBack] | None = None) -> None:
        self._ways = ways or {}
        self._lock = Lock()

    def pack(self) -> bytes:
        return orjson.dumps([[seq, *way] for seq, way in self._ways.items()])

    def list_rows(self, world: World, callbacks: Iterable[CallbackNote]) -> list[dict[str, Any]]:
        with self._lock:  # a fault that delays a callback delays everyone who lists it
            return [self._make_row(world, callback) for callback in callbacks]

    def forget(self, before: int) -> None:
        """Drops what is stored about callbacks that the bank no longer has: those with a number below `before`."""
        self._ways = {seq: way for seq, way in self._ways.items() if seq >= before}

    def _make_row(self, world: World, callback: CallbackNote) -> dict[str, Any]:
        way = self._ways.get(callback.seq)
        if way is None:
            way = self._ways[callback.seq] = choose_way_back(world, callback.redirect)
        return callback._asdict() | {"at": write_instant(callback.at)} | _redirect_row(way)


def unpack_arrivals(content: bytes | None) -> Arrivals:
    """Returns, from the stored content, what the fault rules and axes decided about each callback: its address, and how
    often the customer's browser opens it. If there is no content or it cannot be read, returns an empty Arrivals, so
    that the rules and axes decide again."""
    with suppress(ValueError, TypeError):
        if content is not None:
            return Arrivals({seq: WayBack(address, times) for seq, address, times in orjson.loads(content)})
    return Arrivals()


def callbacks(world: World, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Lists the callbacks after the number `since`, or all callbacks if it was not sent. The fault rules are also
    applied to the callbacks up to `since`, because the `nth` of a fault rule counts all callbacks."""
    notes = world.ask(lambda bank: tuple(bank.callbacks))
    arrivals = world.calls.attach("arrivals", unpack_arrivals)
    assert isinstance(arrivals, Arrivals)
    arrivals.forget(notes[0].seq if notes else 0)
    return [row for row in arrivals.list_rows(world, notes) if row["seq"] > query.get("since", 0)]


# OAuth clients: metadata (RFC 8414) and an authorization endpoint, which the bank itself does not have

CONSENT_SCOPES = ("AIS", "CAF")


def oauth_metadata(world: World, request: Request) -> dict[str, Any]:
    """Returns the metadata of RFC 8414, section 2. The issuer is the address of the controls. Clients add the
    well-known path to this address."""
    controls, bank = f"{find_root(request)}/_sandbox", find_bank_root(request)
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


class _OauthError(Exception):
    """An error code and its description. The client gets both at its callback address (RFC 6749, 4.1.2.1)."""


def authorize(world: World, request: Request) -> Response:
    """Answers an authorization request (RFC 6749, 4.1.1). Asks the bank for a consent address, and redirects the
    browser to it.

    If there is an error, redirects the browser to the callback address with the error. But if the client is unknown or
    has not registered the callback address, raises Refusal instead.
    """
    client, callback = world.ask(_read_client_and_callback, request)
    state = request.args.get("state")
    try:
        scope, iban, challenge = _read_authorization(client, request)
        language = choose_screen_language(read_languages(request.headers.get("Accept-Language", "")))
        ((_, token), *_) = world.act(consents.ask, client.id, scope, iban, callback, challenge, language)
        address = add_query(f"{find_bank_root(request)}/psu/consent/{token}", state=state)
    except _OauthError as error:
        code, description = error.args
        address = add_query(callback, error=code, error_description=description, state=state)
    except Refusal as refusal:  # of the account that CAF names
        address = add_query(callback, error="access_denied", error_description=refusal.text, state=state)
    response = redirect(address)
    assert isinstance(response, Response)
    response.headers["Cache-Control"] = "no-store"
    return response


def _read_client_and_callback(bank: Bank, request: Request) -> tuple[RegisteredClient, str]:
    for name in ("client_id", "redirect_uri"):
        if len(request.args.getlist(name)) != 1:
            raise refuse(name, "it is needed, once")
    client = bank.clients.get(request.args["client_id"])
    if client is None:
        raise Refusal(Error.CLIENT_UNKNOWN, input="client_id")
    callback = request.args["redirect_uri"]
    if not is_registered(request, client, callback):
        raise refuse("redirect_uri", explain_unregistered(request, client, callback))
    return client, callback


def _read_authorization(client: RegisteredClient, request: Request) -> tuple[str, str | None, tuple[str, str]]:
    """Returns the scope, the account and the PKCE challenge of an authorization request. The account is None for the
    scope AIS. Raises _OauthError if the request is wrong."""
    args = request.args
    for name, values in args.lists():
        if len(values) > 1:
            raise _OauthError("invalid_request", f"{name[:60]} is given twice")
    if not client.active or "AIS" not in client.roles:
        raise _OauthError("unauthorized_client", f"{client.id} is not active, or lacks the role AIS")
    if args.get("response_type") != "code":
        raise _OauthError("unsupported_response_type", "response_type must be code")
    scope, iban = args.get("scope", "AIS"), args.get("iban")
    if scope not in CONSENT_SCOPES:
        raise _OauthError("invalid_scope", "scope must be AIS or CAF; PIS tokens come with a payment initiation")
    if (scope == "CAF") != (iban is not None) or (iban is not None and not is_iban(iban)):
        raise _OauthError("invalid_request", "CAF needs an iban, a valid one; AIS takes none")
    method, challenge = args.get("code_challenge_method", "plain"), args.get("code_challenge", "")
    if method not in pkce.METHODS or not pkce.is_challenge(method, challenge):
        raise _OauthError("invalid_request", "code_challenge is missing or not as RFC 7636 has it")
    return scope, iban, (method, challenge)
