"""A PSU in a test: it follows the bank's pages in-process, as a browser without JavaScript would."""

import re
from html import unescape
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from tests.tpp import BELGIAN, CALLBACK, SCT, Tpp, payment, version

PROOF = re.compile(r'name="proof" value="([0-9a-f]+)"')
SHOWN = re.compile(r'id="shown">([0-9 ]+)<')
TITLE = re.compile(r"<h1>(.*?)</h1>")
PROBLEM = re.compile(r'role="alert".*?</strong> (.*?)</p>', re.DOTALL)
HOST = "http://localhost"


def address_of(tpp: Tpp, product: str = SCT, language: str = "fr", callback: str | None = None, **changes: Any) -> str:
    """The path of the SCA address of a payment that was accepted."""
    sent: dict[str, str | None] = {"accept_language": language}
    if callback:
        sent["redirect_uri"] = callback
    reply = tpp.initiate(product, payment(product, **changes), **sent)
    assert reply.status_code == 201, reply.text
    return reply.headers["Location"].removeprefix(HOST)


def consent_address(tpp: Tpp, language: str | None = "fr", iban: str | None = None, **sent: str | None) -> str:
    """The path of a consent address: of AIS, or with an IBAN of CAF."""
    query, number = ("scope=AIS", 4) if iban is None else (f"scope=CAF&iban={iban}", 3)
    reply = tpp.call("GET", f"/consent-uris?{query}", accept=version(number), accept_language=language, **sent)
    assert reply.status_code == 200, reply.text
    return str(reply.get_json()[0]["consent_uri"]).removeprefix(HOST)


def order_address(tpp: Tpp, language: str = "fr", redirect_uri: str = CALLBACK, **changes: Any) -> str:
    """The path of the SCA address of a standing order; a change of None takes a field away."""
    body = {
        "creditor_account": {"iban": BELGIAN},
        "creditor_name": "Jan Peeters",
        "endtoend_identification": "RENT-1",
        "instructed_amount": {"amount": "650.00", "currency": "EUR"},
        "start_date": "2027-03-08",
        "frequency": "MONTHLY",
        **changes,
    }
    given = {name: value for name, value in body.items() if value is not None}
    sent = {"accept": version(2), "accept_language": language, "redirect_uri": redirect_uri}
    reply = tpp.call("POST", f"/periodic-payments/{SCT}", json=given, **sent)
    assert reply.status_code == 201, reply.text
    return reply.headers["Location"].removeprefix(HOST)


COLUMNS = (
    "debtor_iban,requested_execution_date,creditor_name,creditor_iban,creditor_bic,amount,currency,"
    "endtoend_identification,remittance_structured,remittance_unstructured"
)


def file_id(tpp: Tpp, *rows: str, language: str = "fr", redirect_uri: str = CALLBACK) -> str:
    """A csv file that was accepted and validated."""
    content = "\n".join((COLUMNS, *rows)) + "\n"
    sent = {"accept": version(2), "accept_language": language, "content_type": "text/csv"}
    sent["redirect_uri"] = redirect_uri
    reply = tpp.call("POST", "/bulk-payments/csv", data=content.encode(), **sent)
    assert reply.status_code == 201, reply.text
    tpp.advance("120s")
    return str(reply.get_json()["payment_file_id"])


def file_address(tpp: Tpp, found: str) -> str:
    """The path of a file's SCA address; the status call gives a fresh one when none lives."""
    reply = tpp.call("GET", f"/bulk-payments/csv/{found}/status", accept=version(2))
    return str(reply.get_json()["_links"]["sca_redirect"]["href"]).removeprefix(HOST)


def row(debtor: str, day: str, name: str, amount: str, reference: str) -> str:
    """A line of a csv file."""
    return f"{debtor},{day},{name},{BELGIAN},,{amount},EUR,{reference},,"


class Psu:
    """One browser: its cookies, and the page it looks at."""

    def __init__(self, app: Flask, languages: str | None = None) -> None:
        self.http = app.test_client()
        self.headers = {"Accept-Language": languages} if languages else {}
        self.page: TestResponse

    def open(self, address: str) -> TestResponse:
        self.page = self.http.get(address, headers=self.headers)
        return self.page

    def send(self, path: str, proof: str | None = None, **fields: str | list[str]) -> TestResponse:
        """A form of the page that is open, with the proof that stands there."""
        own = PROOF.search(self.page.text)
        fields["proof"] = proof if proof is not None else own[1] if own else ""
        reply = self.http.post(path, data=fields, headers=self.headers)
        if reply.status_code == 303 and reply.headers["Location"].startswith("/"):
            return self.open(reply.headers["Location"])
        self.page = reply
        return reply

    def log_in(self, address: str, customer: str) -> TestResponse:
        self.open(address)
        return self.send(f"{bare(address)}/login", login=customer)

    def pick(self, address: str, value: str) -> TestResponse:
        return self.send(f"{bare(address)}/account", account=value)

    def choose(self, address: str, *ibans: str) -> TestResponse:
        """The accounts that a consent is about."""
        return self.send(f"{bare(address)}/accounts", account=list(ibans))

    def read_code(self, address: str) -> str:
        """What the drawn card reader shows."""
        page = self.open(f"{bare(address)}/code")
        return shown(page)

    def type(self, address: str, code: str) -> TestResponse:
        return self.send(f"{bare(address)}/code", code=code)

    def refuse(self, address: str) -> TestResponse:
        return self.send(f"{bare(address)}/refuse")

    def sign(self, address: str, customer: str, account: str | None = None) -> str:
        """The whole visit; the answer is the callback."""
        self.log_in(address, customer)
        if account:
            self.pick(address, account)
        reply = self.type(address, self.read_code(address))
        assert reply.status_code == 303, reply.text
        return reply.headers["Location"]

    def agree(self, address: str, customer: str, *ibans: str) -> str:
        """The whole visit of a consent address; the answer is the callback."""
        self.log_in(address, customer)
        if ibans:
            self.choose(address, *ibans)
        reply = self.type(address, self.read_code(address))
        assert reply.status_code == 303, reply.text
        return reply.headers["Location"]


def bare(address: str) -> str:
    return address.partition("?")[0]


def shown(page: TestResponse) -> str:
    found = SHOWN.search(page.text)
    assert found, page.text
    return found[1]


def wrong(code: str) -> str:
    """Another code than that."""
    digits = code.replace(" ", "")
    return f"{(int(digits) + 1) % 1_000_000:06}"


def title(page: TestResponse) -> str:
    found = TITLE.search(page.text)
    assert found, page.text
    return unescape(found[1])


def problem(page: TestResponse) -> str:
    found = PROBLEM.search(page.text)
    assert found, page.text
    return unescape(found[1])
