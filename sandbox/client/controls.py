"""A client of the sandbox's controls (choice 10)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx

from sandbox.client.reply import Reply, Unreadable, field, maybe, number
from sandbox.client.transport import Line, query_text, send


@dataclass(frozen=True, slots=True)
class ClockFace:
    """The time, mode and rate of the bank's clock."""

    now: datetime
    mode: str
    rate: float
    due_next: datetime | None


class NoCallback(Unreadable):
    """The PSU decided, and no callback follows: an axis of the world says so."""


class Desk:
    """Calls below /_sandbox of one world."""

    def __init__(self, http: httpx.Client, base_url: str, key: str | None) -> None:
        self.http = http
        self.base_url = base_url.rstrip("/")
        self.key = key

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.key is None else {"X-Sandbox-Key": self.key}

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None) -> Reply:
        headers, content = self.headers, None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        return send(self.http, method, f"{self.base_url}/_sandbox{path}", headers, query or {}, content)


class ClockControl:
    """The clock that the tester owns."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self) -> ClockFace:
        return _face(self._desk.call("GET", "/clock"))

    def advance(self, span: str | timedelta) -> ClockFace:
        """`61m`, `PT1H`, or a timedelta; all that falls due on the way happens."""
        return self._change(advance=span_text(span))

    def set(self, at: str | datetime) -> ClockFace:
        return self._change(set=instant_text(at))

    def freeze(self) -> ClockFace:
        return self._change(mode="frozen")

    def run(self, rate: float = 1) -> ClockFace:
        """`rate` seconds at the bank for each of yours."""
        return self._change(mode="running", rate=rate)

    def _change(self, **body: Any) -> ClockFace:
        return _face(self._desk.call("POST", "/clock", body))


class PsuControl:
    """The PSU without a browser."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def approve(
        self,
        address: str,
        customer: str | None = None,
        account: str | None = None,
        accounts: Sequence[str] | None = None,
        method: str | None = None,
    ) -> str:
        """Signs a payment or gives a consent; the answer is the callback address."""
        chosen = {"customer": customer, "account": account, "accounts": None if accounts is None else list(accounts)}
        if method is not None:
            chosen["method"] = method
        return self._act("approve", address, chosen)

    def refuse(self, address: str, customer: str | None = None) -> str:
        return self._act("refuse", address, {"customer": customer})

    def sign(self, payment_id: str, customer: str, method: str | None = None) -> Reply:
        """A further signature, in the bank's own channel."""
        how = {} if method is None else {"method": method}
        return self._desk.call("POST", "/psu/sign", {"payment_id": payment_id, "customer": customer} | how)

    def refuse_in_channel(self, payment_id: str, customer: str) -> Reply:
        """A further signer refuses, in the bank's own channel."""
        return self._desk.call("POST", "/psu/refuse", {"payment_id": payment_id, "customer": customer})

    def withdraw(self, client_id: str, customer: str, scope: str = "AIS") -> Reply:
        """Ends a consent."""
        body = {"client_id": client_id, "customer": customer, "scope": scope}
        return self._desk.call("POST", "/psu/withdraw", body)

    def _act(self, verb: str, address: str, chosen: Mapping[str, Any]) -> str:
        body = {"address": address} | {name: value for name, value in chosen.items() if value is not None}
        reply = self._desk.call("POST", f"/psu/{verb}", body)
        redirect: str | None = maybe(reply, "redirect")
        if redirect is None:
            raise NoCallback(reply, "it was done, and the browser did not come back")
        return redirect


class Controls(Line):
    """One world's controls; `world(name)` gives those of another at the same server."""

    def __init__(self, base_url: str, http: httpx.Client | None = None, key: str | None = None) -> None:
        super().__init__(http, base_url)
        self.desk = Desk(self.http, base_url, key)
        self.clock = ClockControl(self.desk)
        self.psu = PsuControl(self.desk)

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        """Any control, by its path below /_sandbox."""
        return self.desk.call(method, path, body)

    def reset(self) -> None:
        """The world as it was first loaded."""
        self.call("POST", "/reset")

    def world(self, name: str) -> "Controls":
        """The controls of a world of this server; `base_url` must be the bare address."""
        return Controls(self.world_url(name), self.desk.http, self.desk.key)

    def world_url(self, name: str) -> str:
        return f"{self.desk.base_url}/worlds/{quote(name, safe='')}"

    def make_world(
        self,
        name: str,
        scenario: str | Mapping[str, Any] | None = None,
        seed: int | None = None,
        clock: Mapping[str, Any] | None = None,
        life: str | None = None,
        replace: bool | None = None,
        variants: Mapping[str, str] | None = None,
    ) -> "Controls":
        """A new bank, of a scenario's name or content; what is left out is as the server was started.

        Refused (409) where a world of that name exists, unless `replace` is true.
        """
        options = {"scenario": scenario, "seed": seed, "clock": clock, "life": life, "replace": replace}
        options["variants"] = None if variants is None else dict(variants)
        body = {key: value for key, value in options.items() if value is not None}
        self.call("PUT", f"/worlds/{quote(name, safe='')}", body)
        return self.world(name)

    def drop_world(self, name: str) -> None:
        self.call("DELETE", f"/worlds/{quote(name, safe='')}")

    def move(self, payment_id: str, status: str, reason: str | None = None) -> Reply:
        """Forces a legal move."""
        body = {"status": status} | ({} if reason is None else {"reason": reason})
        return self.call("POST", f"/payments/{quote(payment_id, safe='')}/move", body)

    def book(self, iban: str, amount: str, **rest: Any) -> Reply:
        """A transaction by hand: also currency, date, counterparty (a name, or iban and name), communication."""
        return self.call("POST", f"/accounts/{quote(iban, safe='')}/transactions", {"amount": amount, **rest})

    def listed(self, name: str, since: int | None = None) -> list[dict[str, Any]]:
        """A list of the world: customers, clients, accounts, payments, standing-orders, journal, requests, ..."""
        reply = self.desk.call("GET", f"/{name}", query=query_text({"since": since}))
        rows: list[dict[str, Any]] = field(reply, name if name in reply.body else name.replace("-", "_"), list)
        return rows


def _face(reply: Reply) -> ClockFace:
    due: str | None = maybe(reply, "due_next")
    return ClockFace(
        datetime.fromisoformat(field(reply, "now")),
        field(reply, "mode"),
        float(number(reply, "rate")),
        None if due is None else datetime.fromisoformat(due),
    )


def span_text(span: str | timedelta) -> str:
    return f"{span.total_seconds():f}s" if isinstance(span, timedelta) else span


def instant_text(at: str | datetime) -> str:
    return at.isoformat() if isinstance(at, datetime) else at
