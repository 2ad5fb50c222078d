"""A client of the sandbox's controls under `/_sandbox` (choice 10)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx

from sandbox.client.transport import ClientReply, Connection, Unreadable, field, maybe, number, query_text, send


@dataclass(frozen=True, slots=True)
class ClockFace:
    """The time, mode and rate of the bank's clock. `due_next` is the time of the next event, or None without events."""

    now: datetime
    mode: str
    rate: float
    due_next: datetime | None


class NoCallback(Unreadable):
    """Raised if the PSU has decided but the bank sends no callback. This happens if a fault rule of the world, or a
    setting by which its bank differs from the default, suppresses the callback."""


class ClockControl:
    """Moves the bank's clock."""

    def __init__(self, controls: "Controls") -> None:
        self._controls = controls

    def get(self) -> ClockFace:
        return _read_clock(self._controls.call("GET", "/clock"))

    def advance(self, span: str | timedelta) -> ClockFace:
        """Moves bank time forward by a span: a text such as `61m` or `PT1H`, or a timedelta. All events that fall due
        meanwhile happen."""
        return self._change(advance=time_text(span))

    def set(self, at: str | datetime) -> ClockFace:
        return self._change(set=time_text(at))

    def freeze(self) -> ClockFace:
        return self._change(mode="frozen")

    def run(self, rate: float = 1) -> ClockFace:
        """Lets the clock run. In each second, `rate` seconds of bank time pass."""
        return self._change(mode="running", rate=rate)

    def _change(self, **body: Any) -> ClockFace:
        return _read_clock(self._controls.call("POST", "/clock", body))


class PsuControl:
    """Acts as the PSU, without a browser."""

    def __init__(self, controls: "Controls") -> None:
        self._controls = controls

    def approve(
        self,
        address: str,
        customer: str | None = None,
        account: str | None = None,
        accounts: Sequence[str] | None = None,
        method: str | None = None,
    ) -> str:
        """Signs the initiation to which an SCA address belongs, or gives the consent to which a consent address
        belongs. `account` is the account that pays the initiation. A consent is given for `accounts`, else for
        `account`, else for all accounts of the customer. If `customer` is None, the customer is found from the address
        or the account. `method` is the signing method. Returns the callback. Raises NoCallback if the bank sends none.
        """
        chosen_ibans = None if accounts is None else list(accounts)
        return self._act("approve", address, customer=customer, account=account, accounts=chosen_ibans, method=method)

    def refuse(self, address: str, customer: str | None = None) -> str:
        """Refuses the initiation to which an SCA address belongs, or the consent to which a consent address belongs.
        Returns the callback. Raises NoCallback if the bank sends none."""
        return self._act("refuse", address, customer=customer)

    def sign(self, payment_id: str, customer: str, method: str | None = None) -> ClientReply:
        """Signs an initiation that needs a further signature. The customer does this in the bank's own channel, so
        there is no callback."""
        return self._controls.call("POST", "/psu/sign", given(payment_id=payment_id, customer=customer, method=method))

    def refuse_in_channel(self, payment_id: str, customer: str) -> ClientReply:
        """Refuses an initiation that needs a further signature. The customer does this in the bank's own channel, so
        there is no callback."""
        return self._controls.call("POST", "/psu/refuse", {"payment_id": payment_id, "customer": customer})

    def withdraw(self, client_id: str, customer: str, scope: str = "AIS") -> ClientReply:
        """Withdraws the consent that a customer gave to a client."""
        body = {"client_id": client_id, "customer": customer, "scope": scope}
        return self._controls.call("POST", "/psu/withdraw", body)

    def _act(self, verb: str, address: str, **chosen: Any) -> str:
        reply = self._controls.call("POST", f"/psu/{verb}", given(address=address, **chosen))
        redirect: str | None = maybe(reply, "redirect")
        if redirect is None:
            raise NoCallback(reply, "it was done, and the browser did not come back")
        return redirect


class Controls(Connection):
    """A client of the controls of one world. `world(name)` returns a client for another world of the server."""

    def __init__(self, base_url: str, http: httpx.Client | None = None, key: str | None = None) -> None:
        super().__init__(http, base_url)
        self.base_url = base_url.rstrip("/")
        self.key = key
        self.clock = ClockControl(self)
        self.psu = PsuControl(self)

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.key is None else {"X-Sandbox-Key": self.key}

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None) -> ClientReply:
        """Calls a control. `path` is its path below `/_sandbox`."""
        headers, content = self.headers, None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        return send(self.http, method, f"{self.base_url}/_sandbox{path}", headers, query or {}, content)

    def reset(self) -> None:
        """Begins the world again with the people, scenario, seed and settings with which it last began. Later changes
        are lost."""
        self.call("POST", "/reset")

    def world(self, name: str) -> "Controls":
        """Returns the controls of another world of this server. `base_url` must be the address without a world."""
        return Controls(self.world_url(name), self.http, self.key)

    def world_url(self, name: str) -> str:
        return f"{self.base_url}/worlds/{quote(name, safe='')}"

    def make_world(
        self,
        name: str,
        scenario: str | Mapping[str, Any] | None = None,
        seed: int | None = None,
        clock: Mapping[str, Any] | None = None,
        life: str | None = None,
        replace: bool | None = None,
        variants: Mapping[str, str] | None = None,
        extensions: Sequence[str] | None = None,
    ) -> "Controls":
        """Makes a world and returns its controls. `scenario` is the name of a scenario or its content. An argument that
        is None gets the value with which the server was started. Raises Refused (409) if a world of that name exists,
        unless `replace` is true."""
        changed_axes = None if variants is None else dict(variants)
        extension_lines = list(extensions) if extensions else None
        body = given(
            scenario=scenario,
            seed=seed,
            clock=clock,
            life=life,
            replace=replace,
            variants=changed_axes,
            extensions=extension_lines,
        )
        self.call("PUT", f"/worlds/{quote(name, safe='')}", body)
        return self.world(name)

    def drop_world(self, name: str) -> None:
        self.call("DELETE", f"/worlds/{quote(name, safe='')}")

    def move(self, payment_id: str, status: str, reason: str | None = None) -> ClientReply:
        """Forces a payment, order or file to a status. Raises Refused if the bank's table of moves does not allow
        it."""
        return self.call("POST", f"/payments/{quote(payment_id, safe='')}/move", given(status=status, reason=reason))

    def book(self, iban: str, amount: str, **rest: Any) -> ClientReply:
        """Books a transaction by hand. `rest` are currency, date, counterparty (a name, or iban and name) and
        communication."""
        return self.call("POST", f"/accounts/{quote(iban, safe='')}/transactions", {"amount": amount, **rest})

    def listed(self, name: str, since: int | None = None) -> list[dict[str, Any]]:
        """Returns the rows of a list of the world, such as customers, clients, accounts, payments, standing-orders,
        journal or requests. `since` is sent as the query parameter of that name."""
        reply = self.call("GET", f"/{name}", query=query_text({"since": since}))
        rows: list[dict[str, Any]] = field(reply, name if name in reply.body else name.replace("-", "_"), list)
        return rows


def given(**values: Any) -> dict[str, Any]:
    """Returns the values that are not None, as a body."""
    return {name: value for name, value in values.items() if value is not None}


def _read_clock(reply: ClientReply) -> ClockFace:
    due: str | None = maybe(reply, "due_next")
    return ClockFace(
        datetime.fromisoformat(field(reply, "now")),
        field(reply, "mode"),
        float(number(reply, "rate")),
        None if due is None else datetime.fromisoformat(due),
    )


def time_text(value: str | timedelta | datetime) -> str:
    """Returns a duration or a time as the text that the controls accept."""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():f}s"
    return value.isoformat() if isinstance(value, datetime) else value
