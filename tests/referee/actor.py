"""A TPP that does all as it should, unless a test tells it otherwise."""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.bulkfiles.samples import fill_sample
from sandbox.web.api.faults import Cut
from tests.payer import FORM, SECRETS, basic
from tests.tpp import CALLBACK, SCT, Tpp, payment, version

Tokens = dict[str, Any]


def s256(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Flow:
    """Something that was begun, and what the callback brought."""

    id: str
    address: str
    verifier: str
    code: str = ""


class Actor:
    """Fresh verifier, state, reference and Request-ID every time."""

    def __init__(self, app: Flask, bank: Bank) -> None:
        self.tpp, self.bank = Tpp(app), bank
        self.http = self.tpp.http

    # Payments

    def post(
        self, token: str | None = None, reference: str = "", verifier: str = "", method: str = "S256", **more: Any
    ) -> TestResponse:
        """POST of a payment; what is no header is a field of the body."""
        verifier = verifier or token_urlsafe(48)
        heads = ("request_id", "accept", "accept_language", "redirect_uri", "Signature", "Digest", "Date", "challenged")
        sent = {name: more.pop(name) for name in heads if name in more}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        if token is None or sent.pop("challenged", False):
            sent |= {
                "code_challenge_method": method,
                "code_challenge": s256(verifier) if method == "S256" else verifier,
            }
        else:
            sent |= {"code_challenge_method": None, "code_challenge": None}
        body = payment(SCT, endtoend_identification=reference or uuid4().hex, **more)
        return self.tpp.initiate(SCT, body, **sent)

    def pay(self, token: str | None = None, verifier: str = "", **more: Any) -> Flow:
        verifier = verifier or token_urlsafe(48)
        reply = self.post(token, verifier=verifier, **more)
        assert reply.status_code == 201, reply.text
        return Flow(reply.get_json()["payment_id"], reply.headers["Location"], verifier)

    def approve(self, flow: Flow, state: str | None = "", customer: str = "alice", extra: str = "") -> TestResponse:
        """The PSU is sent to the address, with a state, and says yes."""
        state = token_urlsafe(24) if state == "" else state
        query = f"?state={state}{extra}" if state is not None else ""
        reply = self.tpp.control("POST", "/psu/approve", address=flow.address + query, customer=customer)
        if reply.status_code == 200:
            flow.code = dict(parse_qsl(urlsplit(reply.get_json()["redirect"]).query)).get("code", "")
        return reply

    def status(self, flow: Flow, product: str = SCT, **more: str | None) -> TestResponse:
        return self.tpp.status(flow.id, product, **more)

    def signed(self, **more: Any) -> Flow:
        """A payment that was signed, and looked at after that."""
        flow = self.pay(**more)
        assert self.approve(flow).status_code == 200
        self.status(flow)
        return flow

    def details(self, flow: Flow, token: str) -> TestResponse:
        path = f"/payments/{SCT}/{flow.id}/details"
        return self.tpp.call("GET", path, authorization=f"Bearer {token}")

    def cancel(self, flow: Flow, token: str) -> TestResponse:
        path = f"/payments/{SCT}/{flow.id}"
        return self.tpp.call("DELETE", path, authorization=f"Bearer {token}", accept=version(2))

    # Tokens

    def form(self, form: dict[str, str], number: int = 3, secret: str = "", **more: Any) -> TestResponse:
        client_id = self.tpp.client_id
        heads = {
            "Authorization": basic(client_id, secret or SECRETS[client_id]),
            "Request-ID": str(uuid4()),
            "Accept": version(number),
        }
        heads |= more.pop("headers", {})
        return self.http.post("/token", data=urlencode(form), headers=heads, content_type=FORM, **more)

    def exchange(self, flow: Flow, number: int = 3, **changes: str) -> TestResponse:
        form = {
            "grant_type": "authorization_code",
            "code": flow.code,
            "redirect_uri": CALLBACK,
            "code_verifier": flow.verifier,
        }
        return self.form(form | changes, number)

    def tokens(self, flow: Flow) -> Tokens:
        reply = self.exchange(flow)
        assert reply.status_code == 200, reply.text
        found: Tokens = reply.get_json()
        return found

    def refresh(self, tokens: Tokens, **more: Any) -> TestResponse:
        return self.form({"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}, **more)

    def paid(self) -> tuple[Flow, Tokens]:
        flow = self.signed()
        return flow, self.tokens(flow)

    # Accounts

    def consent(self, customer: str = "alice", accounts: list[str] | None = None, **more: str | None) -> Flow:
        verifier = token_urlsafe(48)
        heads = {"accept": version(4), "code_challenge": s256(verifier), **more}
        reply = self.tpp.call("GET", "/consent-uris?scope=AIS", **heads)
        assert reply.status_code == 200, reply.text
        flow = Flow("", reply.get_json()[0]["consent_uri"], verifier)
        chosen = {} if accounts is None else {"accounts": accounts}
        address = f"{flow.address}?state={token_urlsafe(24)}"
        reply = self.tpp.control("POST", "/psu/approve", address=address, customer=customer, **chosen)
        flow.code = dict(parse_qsl(urlsplit(reply.get_json()["redirect"]).query))["code"]
        return flow

    def reader(self, customer: str = "alice") -> Tokens:
        return self.tokens(self.consent(customer))

    def get(self, path: str, tokens: Tokens, **more: str | None) -> TestResponse:
        bearer = f"Bearer {tokens['access_token']}"
        return self.tpp.call("GET", path, authorization=bearer, accept=version(2), **more)

    def ids(self, tokens: Tokens) -> list[str]:
        return [row["logical_id"] for row in self.get("/accounts", tokens).get_json()["_embedded"]["accounts"]]

    def page(self, tokens: Tokens, account: str, query: dict[str, Any], *, sca: bool = False) -> str | None:
        """A page; the answer is the key of the next."""
        more = {"SCA-Token": tokens["sca_token"]} if sca else {}
        reply = self.get(f"/accounts/{account}/transactions?{urlencode(query)}", tokens, **more)
        assert reply.status_code == 200, reply.text
        key: str | None = reply.get_json()["_embedded"].get("next_page_key")
        return key

    def walk(self, tokens: Tokens, account: str, query: dict[str, Any], *, sca: bool = False) -> None:
        key = self.page(tokens, account, query, sca=sca)
        while key is not None:
            key = self.page(tokens, account, {"next": key}, sca=sca)

    # Files

    def send(self, content: bytes) -> TestResponse:
        heads = {"Content-Type": "application/xml", "accept": version(2)}
        none = {"code_challenge_method": None, "code_challenge": None}
        return self.tpp.call("POST", "/bulk-payments/pain.001", data=content, **heads, **none)

    def content(self) -> bytes:
        """A file whose payments are due soon."""
        now = read_instant(self.tpp.control("GET", "/clock").get_json()["now"])
        return fill_sample("three-bulks.pain.001.001.03.xml", now.date())

    def file(self) -> Flow:
        reply = self.send(self.content())
        assert reply.status_code == 201, reply.text
        return Flow(reply.get_json()["payment_file_id"], "", "")

    def file_status(self, flow: Flow, **more: str | None) -> TestResponse:
        path = f"/bulk-payments/pain.001/{flow.id}/status"
        reply = self.tpp.call("GET", path, accept=version(2), **more)
        links = reply.get_json().get("_links")
        flow.address = links["sca_redirect"]["href"] if links else ""
        return reply

    # Time, faults, findings

    def advance(self, span: str) -> None:
        self.tpp.advance(span)

    def fault(self, operation: str, nth: int | None = None, **more: Any) -> None:
        when = {"operation": operation} | ({} if nth is None else {"nth": nth})
        reply = self.tpp.control("POST", "/faults", when=when, **more)
        assert reply.status_code == 201, reply.text

    def lost(self, call: Callable[[], object]) -> None:
        """A call whose reply a fault cuts."""
        with pytest.raises(Cut):
            call()

    def rules(self) -> list[str]:
        """The rules that have a finding, as often as they have one."""
        return [row["rule"] for row in self.tpp.control("GET", "/referee").get_json()["findings"]]
