"""A visitor of the shop without a browser: fills in its forms, and goes to the bank and back."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from werkzeug.test import TestResponse

from sandbox.client import Controls

HOME = "http://127.0.0.1:9000"
PROOF = re.compile(r'name="proof" value="([^"]+)"')
TAGS = re.compile(r"<svg.*?</svg>|<[^>]+>", re.DOTALL)


class Guest:
    """One cookie jar; `texts` keeps all that the shop ever sent it, for whoever looks for secrets."""

    def __init__(self, shop: Flask, controls: Controls) -> None:
        self.http = shop.test_client()
        self.controls = controls
        self.proof = ""
        self.texts: list[str] = []

    def get(self, path: str) -> TestResponse:
        return self._kept(self.http.get(path, base_url=HOME))

    def post(self, path: str, **fields: str) -> TestResponse:
        if not self.proof:
            self.get("/")
        return self._kept(self.http.post(path, base_url=HOME, data={"proof": self.proof, **fields}))

    def text(self, path: str) -> str:
        """A page that is as it should be, as a person reads it."""
        reply = self.get(path)
        assert reply.status_code == 200, reply.text
        return seen(reply)

    def order(self, iban: str = "", *codes: str) -> tuple[str, str]:
        """Buys; the answer is the order's path and where the bank wants the signature."""
        for code in codes or ("mug",):
            self.post("/basket", code=code)
        reply = self.post("/orders", iban=iban)
        assert reply.status_code == 303, reply.text
        reference = self.controls.listed("payments")[-1]["order"]["endtoend_identification"]
        return f"/orders/{reference.rpartition('-')[0]}", reply.headers["Location"]

    def orders(self) -> list[str]:
        """Newest first."""
        return re.findall(r'href="(/orders/MQ-[0-9A-F]+)"', self.get("/orders").text)

    def sign(self, address: str, customer: str | None = "alice", **chosen: Any) -> TestResponse:
        """The customer signs, and comes back."""
        return self.come_back(self.controls.psu.approve(address, customer, **chosen))

    def refuse(self, address: str, customer: str | None = "alice") -> TestResponse:
        return self.come_back(self.controls.psu.refuse(address, customer))

    def come_back(self, callback: str) -> TestResponse:
        parts = urlsplit(callback)
        assert f"{parts.scheme}://{parts.netloc}" == HOME
        return self.get(f"{parts.path}?{parts.query}")

    def follow(self, reply: TestResponse) -> TestResponse:
        """The page that a form leads to."""
        return self.get(reply.headers["Location"])

    def connect(self, customer: str = "alice") -> None:
        reply = self.post("/accounts/connect")
        assert reply.status_code == 303
        assert self.sign(reply.headers["Location"], customer).headers["Location"] == "/accounts"

    def _kept(self, reply: TestResponse) -> TestResponse:
        found = PROOF.search(reply.text)
        self.proof = found[1] if found else self.proof
        self.texts.append(f"{reply.headers}\n{reply.text}")
        return reply


def seen(reply: TestResponse) -> str:
    """A page as a person reads it."""
    return re.sub(r"\s+", " ", unescape(TAGS.sub(" ", reply.text.partition('tabindex="-1">')[2] or reply.text))).strip()
