"""A TPP in a test: it speaks the bank's interface in-process, and moves the sandbox's controls."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from flask import Flask
from werkzeug.test import TestResponse

BELGIAN = "BE68539007547034"  # valid, and of no bank
FRENCH = "FR7630006000011234567890189"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CALLBACK = "http://127.0.0.1:9000/callback"

SCT = "sepa-credit-transfers"
ISCT = "instant-sepa-credit-transfers"
XB = "cross-border-credit-transfers"


def headers(**changes: str | None) -> dict[str, str]:
    """What a good call carries; a change of None takes a header away. `request_id` stands for Request-ID."""
    given: dict[str, str | None] = {
        "Request-ID": str(uuid4()),
        "Accept": "application/vnd.service.api+json; version=3",
        "Accept-Language": "fr",
        "Client-ID": "demo-tpp",
        "Redirect-URI": CALLBACK,
        "Code-Challenge-Method": "S256",
        "Code-Challenge": CHALLENGE,
    }
    known = {name.lower().replace("-", "_"): name for name in given} if changes else {}
    for name, value in changes.items():
        given[known.get(name, name.replace("_", "-"))] = value
    return {name: value for name, value in given.items() if value is not None}


def version(number: int) -> str:
    return f"application/vnd.service.api+json; version={number}"


def changed(body: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Puts values into a body: a value of None takes a field away, `a__b` reaches inside."""
    for path, value in changes.items():
        *outer, last = path.split("__")
        place = body
        for name in outer:
            place = place.setdefault(name, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return body


def payment(product: str = SCT, **changes: Any) -> dict[str, Any]:
    """A good body for a product; a change of None takes a field away, `a__b` reaches inside."""
    body: dict[str, Any] = {
        "creditor_account": {"iban": BELGIAN},
        "creditor_name": "Jan Peeters",
        "endtoend_identification": "INVOICE-2027-001",
        "instructed_amount": {"amount": "12.50", "currency": "EUR"},
    }
    if product == XB:
        body["charge_bearer"] = "SHAR"
        body["instructed_amount"] = {"amount": "12.50", "currency": "USD"}
    return changed(body, changes)


class Tpp:
    """Calls one world of an app, as one client."""

    def __init__(self, app: Flask, world: str = "default", client_id: str = "demo-tpp") -> None:
        self.http = app.test_client()
        self.prefix = "" if world == "default" else f"/worlds/{world}"
        self.client_id = client_id

    def call(
        self, method: str, path: str, *, json: Any = None, data: Any = None, **changes: str | None
    ) -> TestResponse:
        """One call of the bank's interface."""
        sent = headers(**{"client_id": self.client_id, **changes})
        return self.http.open(f"{self.prefix}{path}", method=method, json=json, data=data, headers=sent)

    def initiate(
        self, product: str = SCT, body: Mapping[str, Any] | None = None, **changes: str | None
    ) -> TestResponse:
        return self.call("POST", f"/payments/{product}", json=payment(product) if body is None else body, **changes)

    def initiated(self, product: str = SCT, **changes: Any) -> str:
        """The id of a payment that was accepted."""
        reply = self.initiate(product, payment(product, **changes))
        assert reply.status_code == 201, reply.text
        return str(reply.get_json()["payment_id"])

    def status(self, payment_id: str, product: str = SCT, **changes: str | None) -> TestResponse:
        return self.call("GET", f"/payments/{product}/{payment_id}/status", **changes)

    def control(self, method: str, path: str, **body: Any) -> TestResponse:
        """One call of the controls, with a JSON body where one is given."""
        return self.http.open(f"{self.prefix}/_sandbox{path}", method=method, json=body or None)

    def advance(self, span: str) -> None:
        reply = self.control("POST", "/clock", advance=span)
        assert reply.status_code == 200, reply.text

    def signed(self, reply: TestResponse, customer: str | None = None) -> str:
        """An initiation that its PSU signs; the answer is where the PSU is sent back to."""
        assert reply.status_code == 201, reply.text
        chosen = {} if customer is None else {"customer": customer}
        outcome = self.control("POST", "/psu/approve", address=reply.headers["Location"], **chosen)
        assert outcome.status_code == 200, outcome.text
        return str(outcome.get_json()["redirect"])

    def token_for(self, customer: str) -> str:
        """An access token for payments, by way of a payment that the customer signs (service 3.5)."""
        callback = self.signed(self.initiate(), customer)
        code = dict(parse_qsl(urlsplit(callback).query))["code"]
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        sent = {"Request-ID": str(uuid4()), "Accept": version(3)}
        credentials = (self.client_id, f"{self.client_id.removesuffix('-tpp')}-secret")
        reply = self.http.post(f"{self.prefix}/token", data=form, headers=sent, auth=credentials)
        assert reply.status_code == 200, reply.text
        return str(reply.get_json()["access_token"])

    def listed(self, name: str) -> list[dict[str, Any]]:
        """What the world holds of a kind."""
        rows: list[dict[str, Any]] = self.control("GET", f"/{name}").get_json()[name]
        return rows

    def iban_of(self, customer: str) -> str:
        """The first account of a customer."""
        return next(str(row["accounts"][0]) for row in self.listed("customers") if row["customer"] == customer)


def refused(reply: TestResponse, status: int, code: str, named: str = "") -> bool:
    """The reply is that refusal, in the bank's body, and names the input at fault."""
    body = reply.get_json()
    assert set(body) >= {"error", "error_code", "error_description"}, reply.text
    found = (reply.status_code, body["error_code"][: len(code)], named in body["error_description"])
    assert found == (status, code, True), f"{reply.status_code} {reply.text}"
    return True
