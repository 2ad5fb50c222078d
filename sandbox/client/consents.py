"""Consent addresses and tokens (service 4.7, 4.8)."""

from dataclasses import replace

from sandbox.client.flows import Flow, code_from
from sandbox.client.replies import Consent, Tokens
from sandbox.client.reply import Refused, Reply, Unreadable, field, maybe
from sandbox.client.transport import CONSENT_VERSIONS, TOKEN_VERSIONS, Caller, query_text


class Consents:
    """The methods of the client for consents and tokens."""

    caller: Caller

    def consent_addresses(self, scope: str = "AIS", iban: str | None = None) -> Consent:
        """Where the PSU may consent; CAF names its account (choice 8)."""
        flow = self.caller.flow(scope)
        manual = self.caller.manual
        in_query = manual.scope_in == "query"
        query = query_text({"scope": scope if in_query else None, manual.caf_account: iban})
        extra = None if in_query else {"Scope": scope}
        reply = self.caller.call("GET", "/consent-uris", CONSENT_VERSIONS[scope], flow=flow, query=query, extra=extra)
        found = reply.body if isinstance(reply.body, list) else []
        addresses = {
            field(reply, "language", within=entry): flow.on(field(reply, "consent_uri", within=entry))
            for entry in found
        }
        if not addresses:
            raise Unreadable(reply, "no consent address is in it")
        return Consent(addresses, flow, self.caller.language, reply)

    def renewal(self, refused: Refused, scope: str = "AIS") -> Consent:
        """Where the PSU authenticates after SCA_REQUIRED; the same token reads on then, no code comes (choice 8)."""
        address = refused.sca_address
        if address is None:
            raise Unreadable(refused.reply, "no address to authenticate at is in it")
        flow = self.caller.flow(scope)
        return Consent({self.caller.language: flow.on(address)}, flow, self.caller.language, refused.reply)

    def exchange(self, code: str, flow: Flow, version: int | None = None) -> Tokens:
        """The code of a callback for tokens; the version goes by the flow's scope (choice 3)."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect_uri,
            "code_verifier": flow.verifier,
        }
        return _tokens(self.caller.ask_token(form, version or TOKEN_VERSIONS[flow.scope]))

    def tokens_from(self, callback: str, flow: Flow) -> Tokens:
        """Checks the state of the callback, and exchanges its code for tokens."""
        return self.exchange(code_from(callback, flow), flow)

    def refresh(self, tokens: Tokens, scope: str | None = None, version: int | None = None) -> Tokens:
        """A new pair of tokens; the old pair is invalid. The SCA token is kept."""
        form = query_text({"grant_type": "refresh_token", "refresh_token": tokens.refresh, "scope": scope})
        fresh = _tokens(self.caller.ask_token(form, version or TOKEN_VERSIONS[tokens.scope]))
        return replace(fresh, sca_token=fresh.sca_token or tokens.sca_token)


def _tokens(reply: Reply) -> Tokens:
    if field(reply, "token_type").lower() != "bearer":
        raise Unreadable(reply, "token_type is not Bearer")
    return Tokens(
        field(reply, "access_token"),
        field(reply, "refresh_token"),
        field(reply, "expires_in", int),
        field(reply, "scope"),
        reply,
        maybe(reply, "logical_id"),
        maybe(reply, "sca_token") or maybe(reply, "scaToken"),  # service 2.6 does not show its name
    )
