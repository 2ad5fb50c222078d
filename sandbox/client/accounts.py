"""Consents, tokens, and the accounts that they open with their transactions (service 4.7 to 4.10)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from sandbox.client.bodies import day
from sandbox.client.flows import Flow, code_from
from sandbox.client.replies import (
    AccountEntry,
    AccountInfo,
    CompartmentInfo,
    ConsentAddresses,
    Tokens,
    TransactionInfo,
    TransactionList,
)
from sandbox.client.reply import ClientReply, Refused, Unreadable, field, maybe, number
from sandbox.client.transport import CONSENT_VERSIONS, TOKEN_VERSIONS, VERSIONS, HttpCaller, query_text, segment

CAPITAL = re.compile(r"(?<=[a-z])[A-Z]")
TEXTS = ("counterparty_account", "counterparty_info", "communication", "communication_type", "remittance_info")
PENDING = ("PDNG", "PNDG")
DATE = 10  # characters of a date, also where a time follows it


class Accounts:
    """The part of the client that is given access, and reads."""

    caller: HttpCaller

    def consent_addresses(self, scope: str = "AIS", iban: str | None = None) -> ConsentAddresses:
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
        return ConsentAddresses(addresses, flow, self.caller.language, reply)

    def renewal(self, refused: Refused, scope: str = "AIS") -> ConsentAddresses:
        """Where the PSU authenticates after SCA_REQUIRED; the same token reads on then, no code comes (choice 8)."""
        address = refused.sca_address
        if address is None:
            raise Unreadable(refused.reply, "no address to authenticate at is in it")
        flow = self.caller.flow(scope)
        return ConsentAddresses({self.caller.language: flow.on(address)}, flow, self.caller.language, refused.reply)

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

    def accounts(self, tokens: Tokens) -> list[AccountEntry]:
        """The accounts of the consent."""
        reply = self.caller.call("GET", "/accounts", VERSIONS["accounts"], token=tokens.access)
        found = field(reply, "accounts", list, field(reply, "_embedded", dict))
        return [
            AccountEntry(*(field(reply, name, within=entry) for name in ("iban", "logical_id", "currency")))
            for entry in found
        ]

    def account(self, logical_id: str, tokens: Tokens) -> AccountInfo:
        reply = self.caller.call("GET", _path(logical_id), VERSIONS["account"], token=tokens.access)
        others = maybe(reply, "other_compartments", list) or ()
        return AccountInfo(
            field(reply, "type"),
            field(reply, "iban"),
            field(reply, "currency"),
            number(reply, "balance"),
            field(reply, "multicurrency", (bool, str)) in (True, "true", "Y"),  # service 2.7: boolean-like
            tuple(
                CompartmentInfo(field(reply, "currency", within=one), number(reply, "balance", one)) for one in others
            ),
            reply,
        )

    def transactions(
        self,
        logical_id: str,
        tokens: Tokens,
        *,
        date_from: date | str | None = None,
        date_to: date | str | None = None,
        psu_involved: bool | None = None,
        pagesize: int | None = None,
        next_page_key: str | None = None,
        currency: str | None = None,
        with_sca: bool = True,
    ) -> TransactionList:
        """One page, newest first. The SCA token goes with it when there is one: it opens the full history."""
        query = {
            "date_from": day(date_from),
            "date_to": day(date_to),
            "psu_involved": psu_involved,
            "pagesize": pagesize,
            "next": next_page_key,
            "currency": currency,
        }
        proof = tokens.sca_token if with_sca else None
        in_header = self.caller.manual.sca_token_request == "header"
        reply = self.caller.call(
            "GET",
            f"{_path(logical_id)}/transactions",
            VERSIONS["transactions"],
            token=tokens.access,
            query=query_text(query | ({} if in_header else {"sca_token": proof})),
            extra={"SCA-Token": proof} if in_header and proof is not None else None,
        )
        embedded = field(reply, "_embedded", dict)
        found = tuple(_transaction(reply, entry) for entry in field(reply, "transactions", list, embedded))
        return TransactionList(found, maybe(reply, "next_page_key", within=embedded), reply)

    def pages(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[TransactionList]:
        """Every page of what `transactions` takes. The filters go with each key: the service does not say that the key
        alone is enough (choice 8)."""
        page = self.transactions(logical_id, tokens, **query)
        yield page
        while page.next_page_key is not None:
            page = self.transactions(logical_id, tokens, **{**query, "next_page_key": page.next_page_key})
            yield page

    def all_transactions(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[TransactionInfo]:
        for page in self.pages(logical_id, tokens, **query):
            yield from page.transactions


def _tokens(reply: ClientReply) -> Tokens:
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


def snake(name: str) -> str:
    """A field's name as this client knows it; the service does not show those of a transaction (2.8)."""
    return CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def _path(logical_id: str) -> str:
    return f"/accounts/{segment(logical_id)}"


def _transaction(reply: ClientReply, entry: Any) -> TransactionInfo:
    entry = {snake(name): value for name, value in entry.items()} if isinstance(entry, dict) else entry
    amount = number(reply, "amount", entry)
    # Below 0 for a debit, also where a word beside it says so (service 2.8 does not show it).
    is_debit = maybe(reply, "credit_debit_indicator", within=entry) == "DBIT"
    return TransactionInfo(
        field(reply, "transaction_ref", within=entry),
        -abs(amount) if is_debit else amount,
        field(reply, "currency", within=entry),
        field(reply, "execution_date", within=entry)[:DATE],
        (maybe(reply, "value_date", within=entry) or "")[:DATE] or None,
        **{name: maybe(reply, name, within=entry) for name in TEXTS},
        pending=maybe(reply, "status", within=entry) in PENDING,
    )
