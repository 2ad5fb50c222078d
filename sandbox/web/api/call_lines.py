"""The line of a call in the log of what was asked."""

from typing import Any

from flask import Response

from sandbox.bank.state import Bank
from sandbox.web.api.credentials import client_named
from sandbox.web.api.explanations import decided, variants_met, why
from sandbox.web.api.gate import UUID_4, Call
from sandbox.world.calls import Exchange


def client_of(call: Call) -> str | None:
    """As it calls itself: in its header, at /token by its credentials."""
    if call.operation.bank_headers:
        return call.header("Client-ID")
    return call.world.look(client_named, call.header("Authorization"))


def asked_as(environ: dict[str, Any]) -> str:
    """The Request-ID, if it is one."""
    asked: str = environ.get("HTTP_REQUEST_ID", "")
    return asked if UUID_4.match(asked) else ""


def exchange_of(bank: Bank, environ: dict[str, Any], response: Response) -> Exchange:
    """A call and its answer, before the world gives it a number."""
    call: Call | None = environ.get("sandbox.call")
    return Exchange(
        0,
        asked_as(environ),
        bank.clock.now,
        call.operation.name if call else None,
        environ["REQUEST_METHOD"].upper(),
        environ["PATH_INFO"],
        response.status_code,
        client_of(call) if call else environ.get("HTTP_CLIENT_ID"),
        *why(bank, environ),
        variants_met(call) if call else "",
        decided(environ),
    )
