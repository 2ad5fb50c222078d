"""A server that speaks the contract and nothing more: what the client is held against, without our bank."""

import json
from typing import Any

import httpx

from sandbox.client import Client

BANK = "https://bank.example/api"
BELGIAN = "BE68539007547034"
ORDER: dict[str, Any] = {"creditor_iban": BELGIAN, "creditor_name": "Jan Peeters", "amount": "12.50"}
PAIR = {
    "access_token": "access-1",
    "refresh_token": "refresh-1",
    "token_type": "Bearer",
    "expires_in": 3600,
    "scope": "AIS",
    "sca_token": "sca-1",
}

Answer = httpx.Response | Exception


def answer(status: int, body: Any = None, **headers: str) -> httpx.Response:
    content = b"" if body is None else json.dumps(body).encode()
    return httpx.Response(status, content=content, headers={name.replace("_", "-"): headers[name] for name in headers})


def accepted(**changes: Any) -> httpx.Response:
    """The reply to an initiation, version 3 (choice 5), with a field that nobody knows."""
    address = f"{BANK}/psu/sign/abc"
    links = {"sca_redirect": {"href": address, "templated": False}}
    return answer(201, {"news": 1, "_links": links, "payment_id": "p-1", "status": "RCVD", **changes}, Location=address)


def refusal(status: int, error: str, code: str, **more: Any) -> httpx.Response:
    body = {"error": error, "error_code": code, "error_description": "No.", **more}
    return answer(status, body, Response_ID="r-1", Retry_After="7")


class Bank:
    """Answers one after the other, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.answers: list[Answer] = []
        self.client = Client(BANK, http=httpx.Client(transport=httpx.MockTransport(self._serve)))

    def _serve(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        reply = self.answers.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def says(self, *answers: Answer) -> "Bank":
        self.answers += answers
        return self

    @property
    def last(self) -> httpx.Request:
        return self.asked[-1]

    @property
    def path(self) -> str:
        return self.last.url.raw_path.decode().removeprefix("/api")

    @property
    def sent(self) -> Any:
        return json.loads(self.last.content)
