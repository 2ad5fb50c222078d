"""A PSU in a test: it follows the bank's pages in-process, as a browser without JavaScript would."""

import re
from html import unescape
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from tests.tpp import SCT, Tpp, payment

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


class Psu:
    """One browser: its cookies, and the page it looks at."""

    def __init__(self, app: Flask, languages: str | None = None) -> None:
        self.http = app.test_client()
        self.headers = {"Accept-Language": languages} if languages else {}
        self.page: TestResponse

    def open(self, address: str) -> TestResponse:
        self.page = self.http.get(address, headers=self.headers)
        return self.page

    def send(self, path: str, proof: str | None = None, **fields: str) -> TestResponse:
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
