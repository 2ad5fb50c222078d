"""The class `Client`, with which the software of a TPP calls one bank under one set of credentials."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from time import sleep
from typing import Any, Unpack

import httpx

from sandbox.client.bodies import (
    SCT,
    EarlierOrder,
    PaymentOrder,
    RegularOrder,
    day,
    earlier_payment_body,
    payment_body,
    standing_order_body,
)
from sandbox.client.flows import Flow, code_from
from sandbox.client.records import (
    AccountEntry,
    AccountInfo,
    BatchInfo,
    CompartmentInfo,
    ConsentAddresses,
    Initiation,
    PathKind,
    Reference,
    StatusInfo,
    Tokens,
    TransactionInfo,
    TransactionList,
)
from sandbox.client.transport import (
    CONSENT_VERSIONS,
    TOKEN_VERSIONS,
    VERSIONS,
    ClientReply,
    Connection,
    HttpCaller,
    Manual,
    Refused,
    Signer,
    Unreadable,
    demand_same,
    field,
    maybe,
    number,
    query_text,
    sca_link,
    segment,
)

Token = Tokens | str | None
Target = Initiation | Reference

MEDIA = {"pain.001": "application/xml", "csv": "text/csv"}
WAITING = ("RCVD", "PATC")  # unsigned
SCA_ADDRESS_LIFE = 300.0  # seconds (choice 5)
# The service does not show the names of an initiation's reply (2.4), and names of such fields are written in two ways.
SPELLINGS = {
    "paymentId": "payment_id",
    "endToEndIdentification": "endtoend_identification",
    "scaRedirect": "sca_redirect",
}
CAPITAL = re.compile(r"(?<=[a-z])[A-Z]")
TEXTS = ("counterparty_account", "counterparty_info", "communication", "communication_type", "remittance_info")
PENDING = ("PDNG", "PNDG")
DATE = 10  # characters of a date, also if a time follows it


class Client(Connection):
    """The client of a TPP that follows the service (the description of the bank's interface) in everything. It repeats
    a call by itself in one case only: the call is an initiation, and its reply was lost or cannot be read."""

    def __init__(
        self,
        base_url: str,
        client_id: str = "demo-tpp",
        secret: str = "demo-secret",
        redirect_uri: str = "http://127.0.0.1:9999/callback",
        language: str = "fr",
        vendor: str = "service",
        http: httpx.Client | None = None,
        manual: Manual | None = None,
        signer: Signer | None = None,
    ) -> None:
        """`manual` says how the bank does what the service leaves open. Without it, the sandbox's defaults and `vendor`
        count. If a `signer` is given, initiations are signed."""
        super().__init__(http, base_url)
        manual = manual or Manual(vendor)
        self.caller = HttpCaller(
            self.http, base_url.rstrip("/"), client_id, secret, redirect_uri, language, manual, signer
        )

    # Payments, standing orders and bulk files (service 4.1 to 4.6)

    def pay(self, product: str = SCT, token: Token = None, **order: Unpack[PaymentOrder]) -> Initiation:
        """Initiates a single payment in version 3."""
        return self.initiate(product, payment_body(product, **order), token)

    def pay_earlier(self, token: Token = None, **order: Unpack[EarlierOrder]) -> Initiation:
        """Initiates a single payment in version 1."""
        return self.initiate(SCT, earlier_payment_body(**order), token, version=1)

    def pay_regularly(self, token: Token = None, **order: Unpack[RegularOrder]) -> Initiation:
        """Initiates a standing order."""
        return self.initiate(SCT, standing_order_body(**order), token, kind=PathKind.STANDING_ORDER)

    def initiate(
        self,
        product: str,
        body: Mapping[str, Any],
        token: Token = None,
        *,
        kind: PathKind = PathKind.PAYMENT,
        version: int | None = None,
        resend: bool = True,
    ) -> Initiation:
        """Sends any body as an initiation. Without `version`, sends it in the version that VERSIONS has for the kind.
        If the reply is lost or cannot be read, and `resend` is true, repeats the call once with the same Request-ID
        (choice 2). Raises Unreadable if the reply has another endtoend_identification than the body."""
        flow = self.caller.flow("PIS")
        reply = self.caller.call(
            "POST",
            f"/{kind}/{segment(product)}",
            version or VERSIONS[f"{kind.row.name}_initiation"],
            token=access_of(token),
            flow=flow,
            content=json.dumps(body).encode(),
            extra={"Content-Type": "application/json"},
            replay=resend,
        )
        reply = replace(reply, body=in_one_spelling(reply.body))
        address = sca_link(reply.body) or reply.location
        own = body.get("endtoend_identification", body.get("payment_id"))
        demand_same(reply, "endtoend_identification", body.get("endtoend_identification"))
        return Initiation(
            Reference(product, field(reply, "payment_id"), kind),
            maybe(reply, "status"),
            None if address is None else flow.on(address),
            flow,
            reply,
            own if isinstance(own, str) else None,
            maybe(reply, "transaction_ref"),
        )

    def send_file(
        self,
        content: bytes,
        product: str = "pain.001",
        reference: str | None = None,
        media: str | None = None,
        *,
        resend: bool = True,
    ) -> Initiation:
        """Sends a bulk file. `reference` is its PaymentInformationID (choice 7). `media` is its Content-Type, by
        default that of the product. If the reply is lost or cannot be read, and `resend` is true, repeats the call once
        with the same Request-ID."""
        flow = self.caller.flow("PIS")
        extra = {"Content-Type": media or MEDIA.get(product, "application/octet-stream")}
        if reference is not None:
            extra["PaymentInformationID"] = reference
        path, version = f"/{PathKind.BULK}/{segment(product)}", VERSIONS["bulk_initiation"]
        reply = self.caller.call("POST", path, version, content=content, extra=extra, replay=resend)
        bulk_reference = Reference(product, field(reply, "payment_file_id"), PathKind.BULK)
        return Initiation(bulk_reference, maybe(reply, "status"), None, flow, reply, reference)

    def status(self, target: Target, token: Token = None) -> StatusInfo:
        """Asks for the status of an initiation. For a bulk file the reply also has the SCA address and the status of
        each batch."""
        reply = self._call_on(target, "status", "GET", token, "/status")
        address, flow = sca_link(reply.body), None
        if address is not None:
            flow = target.flow if isinstance(target, Initiation) else self.caller.flow("PIS")
            address = flow.on(address)
        batches = tuple(_batch(reply, batch) for batch in maybe(reply, "bulks", list) or ())
        return StatusInfo(field(reply, "status"), maybe(reply, "reason"), reply, address, flow, batches)

    def details(self, target: Target, token: Token) -> dict[str, Any]:
        """Asks for the details of a payment or a standing order, and returns the body of the reply."""
        reply = self._call_on(target, "details", "GET", token, "/details")
        field(reply, "payment_id")
        return dict(reply.body)

    def cancel(self, target: Target, token: Token = None) -> ClientReply:
        """Cancels an initiation. A payment or a standing order needs a token, and a bulk file needs none (service
        5.6)."""
        return self._call_on(target, "cancellation", "DELETE", token)

    def poll(
        self,
        target: Target,
        done: Callable[[StatusInfo], bool] = lambda answer: answer.status not in WAITING,
        *,
        every: float = 5.0,
        within: float = SCA_ADDRESS_LIFE,
        pause: Callable[[float], object] = sleep,
    ) -> StatusInfo:
        """Asks for the status until `done` accepts it, by default until the initiation is signed or ended. Gives up
        after `within` seconds, by default the life of an SCA address. Returns the last status, also if it gives up.
        `pause` is called between two questions with the seconds `every`. It waits, or moves the bank's clock
        instead."""
        answer = self.status(target)
        for _ in range(int(within // every)):
            if done(answer):
                break
            pause(every)
            answer = self.status(target)
        return answer

    def _call_on(self, target: Target, verb: str, method: str, token: Token, end: str = "") -> ClientReply:
        reference = target.reference if isinstance(target, Initiation) else target
        version = VERSIONS[reference.operation(verb)]
        path = f"{reference.path}{end}"
        reply = self.caller.call(method, path, version, token=access_of(token), query=reference.query)
        demand_same(reply, "payment_id", None if reference.external else reference.id)
        return reply

    # Consents, tokens, accounts and transactions (service 4.7 to 4.10)

    def consent_addresses(self, scope: str = "AIS", iban: str | None = None) -> ConsentAddresses:
        """Asks for the addresses at which the PSU may give a consent. The scope CAF needs an `iban` (choice 8)."""
        flow = self.caller.flow(scope)
        manual = self.caller.manual
        in_query = manual.scope_in == "query"
        query = query_text({"scope": scope if in_query else None, manual.caf_account: iban})
        extra = None if in_query else {"Scope": scope}
        reply = self.caller.call("GET", "/consent-uris", CONSENT_VERSIONS[scope], flow=flow, query=query, extra=extra)
        addresses = {
            field(reply, "language", within=entry): flow.on(field(reply, "consent_uri", within=entry))
            for entry in (reply.body if isinstance(reply.body, list) else ())
        }
        if not addresses:
            raise Unreadable(reply, "no consent address is in it")
        return ConsentAddresses(addresses, flow, self.caller.language, reply)

    def renewal(self, refused: Refused, scope: str = "AIS") -> ConsentAddresses:
        """Returns the addresses at which the PSU authenticates again, taken from the reply to a call that was refused
        with SCA_REQUIRED. The access token stays valid (choice 8). Raises Unreadable if the reply has no such address.
        """
        address = refused.sca_address
        if address is None:
            raise Unreadable(refused.reply, "no address to authenticate at is in it")
        flow = self.caller.flow(scope)
        return ConsentAddresses({self.caller.language: flow.on(address)}, flow, self.caller.language, refused.reply)

    def exchange(self, code: str, flow: Flow, version: int | None = None) -> Tokens:
        """Exchanges the code of a callback for tokens. If `version` is None, the scope of the flow decides which
        version is called (choice 3)."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect_uri,
            "code_verifier": flow.verifier,
        }
        return _tokens(self.caller.ask_token(form, version or TOKEN_VERSIONS[flow.scope]), flow.scope)

    def tokens_from(self, callback: str, flow: Flow) -> Tokens:
        """Checks that the callback belongs to the flow, and exchanges its code for tokens."""
        return self.exchange(code_from(callback, flow), flow)

    def refresh(self, tokens: Tokens, scope: str | None = None, version: int | None = None) -> Tokens:
        """Returns a new pair of tokens. The bank makes the old pair invalid. If the reply has no SCA token, the old SCA
        token is kept."""
        form = query_text({"grant_type": "refresh_token", "refresh_token": tokens.refresh, "scope": scope})
        fresh = _tokens(self.caller.ask_token(form, version or TOKEN_VERSIONS[tokens.scope]), scope or tokens.scope)
        return replace(fresh, sca_token=fresh.sca_token or tokens.sca_token)

    def accounts(self, tokens: Tokens) -> list[AccountEntry]:
        """Asks for the accounts to which the PSU's consent gives access."""
        reply = self.caller.call("GET", "/accounts", VERSIONS["accounts"], token=tokens.access)
        return [
            AccountEntry(*(field(reply, name, within=entry) for name in ("iban", "logical_id", "currency")))
            for entry in field(reply, "accounts", list, field(reply, "_embedded", dict))
        ]

    def account(self, logical_id: str, tokens: Tokens) -> AccountInfo:
        reply = self.caller.call("GET", f"/accounts/{segment(logical_id)}", VERSIONS["account"], token=tokens.access)
        return AccountInfo(
            field(reply, "type"),
            field(reply, "iban"),
            field(reply, "currency"),
            number(reply, "balance"),
            field(reply, "multicurrency", (bool, str)) in (True, "true", "True", "Y"),  # service 2.7: boolean-like
            tuple(
                CompartmentInfo(field(reply, "currency", within=entry), number(reply, "balance", entry))
                for entry in maybe(reply, "other_compartments", list) or ()
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
        """Asks for one page of an account's transactions, newest first. If `with_sca` is true, sends the SCA token,
        which gives access to the full history."""
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
            f"/accounts/{segment(logical_id)}/transactions",
            VERSIONS["transactions"],
            token=tokens.access,
            query=query_text(query | ({} if in_header else {"sca_token": proof})),
            extra={"SCA-Token": proof} if in_header and proof is not None else None,
        )
        embedded = field(reply, "_embedded", dict)
        rows = tuple(_transaction(reply, entry) for entry in field(reply, "transactions", list, embedded))
        return TransactionList(rows, maybe(reply, "next_page_key", within=embedded), reply)

    def pages(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[TransactionList]:
        """Yields all pages of an account's transactions. `query` has the parameters of `transactions`.

        Each page but the last has the key of the next page, which only the bank can read. The client sends the key back
        with the same filters, because the service does not say that the key alone is enough (choice 8). A page is
        requested only when the caller asks for it, so a caller can stop early.
        """
        page = self.transactions(logical_id, tokens, **query)
        yield page
        while page.next_page_key is not None:
            page = self.transactions(logical_id, tokens, **{**query, "next_page_key": page.next_page_key})
            yield page

    def all_transactions(self, logical_id: str, tokens: Tokens, **query: Any) -> Iterator[TransactionInfo]:
        for page in self.pages(logical_id, tokens, **query):
            yield from page.transactions


def access_of(token: Token) -> str | None:
    return token.access if isinstance(token, Tokens) else token


def in_one_spelling(body: Any) -> Any:
    """Returns the body of an initiation's reply. If the bank spells a name as in SPELLINGS, replaces it by the name
    that this client reads."""
    if not isinstance(body, dict):
        return body
    return {SPELLINGS.get(name, name): in_one_spelling(value) for name, value in body.items()}


def _batch(reply: ClientReply, batch: Any) -> BatchInfo:
    return BatchInfo(
        maybe(reply, "payment_information_id", within=batch),
        field(reply, "status", within=batch),
        _transaction_count(reply, batch),
        None if maybe(reply, "control_sum", object, batch) is None else number(reply, "control_sum", batch),
        maybe(reply, "reason", within=batch),
        tuple(maybe(reply, "errors", list, batch) or ()),
    )


def _transaction_count(reply: ClientReply, batch: Any) -> int | None:
    """Returns the number of transactions of a batch, or None if it is missing. Accepts a JSON number and a text of
    digits, because the service does not say which of them a bank sends (2.4). Raises Unreadable if it is no whole
    number."""
    if maybe(reply, "number_of_transactions", (int, str), batch) is None:
        return None
    count = number(reply, "number_of_transactions", batch)
    if count != int(count):
        raise Unreadable(reply, "number_of_transactions is no whole number")
    return int(count)


def _tokens(reply: ClientReply, scope: str) -> Tokens:
    demand_same(reply, "scope", scope)
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


def _transaction(reply: ClientReply, entry: Any) -> TransactionInfo:
    """Reads a transaction of the reply. Accepts field names in camel case too, because the service does not show the
    names (2.8)."""
    if isinstance(entry, dict):
        entry = {CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name): value for name, value in entry.items()}
    amount = number(reply, "amount", entry)
    # A debit is negative, also if only the field credit_debit_indicator says so (service 2.8 does not show this field).
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
