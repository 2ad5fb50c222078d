"""GET /consent-uris (service 4.7, choice 8)."""

from collections.abc import Callable

from flask import Response

from sandbox.bank import consents
from sandbox.bank.state import Bank
from sandbox.banking.iban import is_iban
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import SCREENS
from sandbox.web.api import replies
from sandbox.web.api.addresses import consent_address
from sandbox.web.api.gate import Call
from sandbox.web.api.negotiation import languages_asked

SCOPE_OF = {4: "AIS", 3: "CAF"}  # choice 3


def consent_addresses(bank: Bank, call: Call) -> Callable[[], Response]:
    """A read by its method that makes an address."""
    scope, iban = read_scope(call)
    assert call.challenge is not None
    asked = (call.client.id, scope, iban, call.redirect_uri, call.challenge, call.language)

    def give() -> Response:
        given = call.world.act(consents.ask, *asked, *languages_of(call))
        return replies.consent_addresses_reply(
            [(language, consent_address(call.request, token)) for language, token in given]
        )

    return give


def languages_of(call: Call) -> tuple[tuple[str, ...], ...]:
    """The languages to give an address each, where the caller takes several (service 4.7)."""
    wanted = languages_asked(call.header("Accept-Language") or "")
    found = tuple(language for language in SCREENS if language in wanted)
    return (found,) if len(found) > 1 and call.variant("consent_languages") == "each" else ()


def read_scope(call: Call) -> tuple[str, str | None]:
    """Version 4 is for AIS and takes no account; version 3 is for CAF and needs one."""
    scope = call.query("scope") if call.variant("scope_in") == "query" else call.header("Scope")
    name = call.variant("caf_account")
    iban = call.query(name)
    if scope is None:
        raise Refusal(Error.INPUT_MISSING, input="scope")
    if scope != SCOPE_OF[call.version]:
        raise Refusal(Error.INPUT_INVALID, input="scope", why=f"version {call.version} is for {SCOPE_OF[call.version]}")
    if scope == "CAF" and call.variant("caf_role") == "own" and scope not in call.client.roles:
        raise Refusal(Error.TPP_INVALID, client=call.client.id, why="lacks the role CAF")
    if scope == "AIS":
        if iban is not None:
            raise Refusal(Error.INPUT_INVALID, input=name, why="the customer chooses the accounts")
        return scope, None
    if iban is None:
        raise Refusal(Error.INPUT_MISSING, input=name)
    if not is_iban(iban):
        raise Refusal(Error.INPUT_INVALID, input=name, why="it is no valid IBAN")
    return scope, iban
