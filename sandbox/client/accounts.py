"""Accounts and their transactions (service 4.9, 4.10)."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from sandbox.client.bodies import day
from sandbox.client.replies import Account, AccountEntry, Compartment, Page, Tokens, Transaction
from sandbox.client.reply import Reply, field, maybe, number
from sandbox.client.transport import VERSIONS, Caller, query_text, segment


class Accounts:
    """The part of the client that reads."""

    caller: Caller

    def accounts(self, tokens: Tokens) -> list[AccountEntry]:
        """The accounts of the consent."""
        reply = self.caller.call("GET", "/accounts", VERSIONS["accounts"], token=tokens.access)
        found = field(reply, "accounts", list, field(reply, "_embedded", dict))
        return [
            AccountEntry(*(field(reply, name, within=entry) for name in ("iban", "logical_id", "currency")))
            for entry in found
        ]

    def account(self, logical_id: str, tokens: Tokens) -> Account:
        reply = self.caller.call("GET", _path(logical_id), VERSIONS["account"], token=tokens.access)
        others = maybe(reply, "other_compartments", list) or ()
        return Account(
            field(reply, "type"),
            field(reply, "iban"),
            field(reply, "currency"),
            number(reply, "balance"),
            field(reply, "multicurrency", (bool, str)) in (True, "true"),
            tuple(Compartment(field(reply, "currency", within=one), number(reply, "balance", one)) for one in others),
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
    ) -> Page:
        """One page, newest first. The SCA token goes with it when there is one: it opens the full history."""
        query = {
            "date_from": day(date_from),
            "date_to": day(date_to),
            "psu_involved": psu_involved,
            "pagesize": pagesize,
            "next": next_page_key,
            "currency": currency,
        }
        reply = self.caller.call(
            "GET",
            f"{_path(logical_id)}/transactions",
            VERSIONS["transactions"],
            token=tokens.access,
            query=query_text(query),
            extra={"SCA-Token": tokens.sca_token} if with_sca and tokens.sca_token is not None else None,
        )
        embedded = field(reply, "_embedded", dict)
        found = field(reply, "transactions", list, embedded)
        return Page(
            tuple(_transaction(reply, entry) for entry in found), maybe(reply, "next_page_key", within=embedded), reply
        )

    def pages(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[Page]:
        """Every page of what `transactions` takes; a following one is asked for by its key alone (choice 8)."""
        page = self.transactions(logical_id, tokens, **query)
        yield page
        with_sca = query.get("with_sca", True)
        while page.next_page_key is not None:
            page = self.transactions(logical_id, tokens, next_page_key=page.next_page_key, with_sca=with_sca)
            yield page

    def all_transactions(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[Transaction]:
        for page in self.pages(logical_id, tokens, **query):
            yield from page.transactions


def _path(logical_id: str) -> str:
    return f"/accounts/{segment(logical_id)}"


def _transaction(reply: Reply, entry: Any) -> Transaction:
    return Transaction(
        field(reply, "transaction_ref", within=entry),
        number(reply, "amount", entry),
        field(reply, "currency", within=entry),
        field(reply, "execution_date", within=entry),
        *(
            maybe(reply, name, within=entry)
            for name in (
                "value_date",
                "counterparty_account",
                "counterparty_info",
                "communication",
                "communication_type",
                "remittance_info",
            )
        ),
    )
