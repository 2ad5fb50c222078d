"""The object `bank` of a test: one world of a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import quote

from sandbox.client import Client, Controls, Initiation, Manual, Refused, Signer
from sandbox.client.controls import given, time_text

Subject = str | Initiation
Rows = list[dict[str, Any]]
NOT_FOUND = 404
NOT_VERIFIED = 409


@dataclass(frozen=True, slots=True)
class Awaited:
    """The time at which a payment reached a status, and the bank time that passed while the test waited for it."""

    payment_id: str
    status: str
    at: datetime
    waited: timedelta


class WorldFaults:
    """The fault rules of one world: the orders of a test to give bad replies to certain calls (choice 13)."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls

    def add(self, **fault: Any) -> None:
        """Adds a fault rule with any of the fields `title`, `when`, `answer`, `delay`, `cut`, `change` and `times`."""
        self._controls.call("POST", "/faults", fault)

    def clear(self) -> None:
        self._controls.call("DELETE", "/faults")

    def all(self) -> Rows:
        """Returns the faults that were added to this world: the title of each, and how many calls it has matched."""
        return self._controls.listed("faults")


class WorldRegister:
    """A descriptor for a list of the world, such as its accounts. Each access reads the list from the controls."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, bank: "BankFixture", owner: type["BankFixture"]) -> Rows:
        return bank.controls.listed(self._name)


class BankFixture:
    """One world of a running bank, for a test: `base_url`, clock, customers, accounts, payments and calls (choice
    12)."""

    customers, accounts, payments = WorldRegister("customers"), WorldRegister("accounts"), WorldRegister("payments")
    standing_orders, bulk_payments = WorldRegister("standing-orders"), WorldRegister("bulk-payments")
    requests = WorldRegister("requests")  # the calls of the bank's interface, oldest first
    journal = WorldRegister("journal")  # what changed
    timeline = WorldRegister("timeline")  # what will happen next, soonest first

    def __init__(self, server: Controls, name: str) -> None:
        self.name = name
        self._server = server
        self.controls = server if name == "default" else server.world(name)
        self.base_url = self.controls.base_url
        self.clock = self.controls.clock
        self.psu = self.controls.psu
        self.faults = WorldFaults(self.controls)
        self._forks: list[BankFixture] = []

    def __repr__(self) -> str:
        return f"<bank {self.name} at {self.base_url}>"

    @cached_property
    def tpp(self) -> Client:
        """The reference client, with the credentials of `demo-tpp`."""
        return self.client()

    def client(self, client_id: str = "demo-tpp", secret: str = "demo-secret", **more: Any) -> Client:
        """Returns a reference client with these credentials. `more` are further arguments of Client, such as
        `redirect_uri` or `language`. Unless `more` has `vendor` or `manual`, the client follows the settings of this
        world. If the bank demands signatures and `more` has no `signer`, the client signs with a new key, and the
        public key is registered at the bank."""
        content: dict[str, Any] = {}
        settings = self.settings()
        if not more.keys() & {"vendor", "manual"}:
            content["manual"] = Manual.of(settings)
        if settings["signatures"] == "strict" and "signer" not in more:
            signer = Signer(lambda: self.clock.get().now)
            self.controls.call("PUT", f"/clients/{quote(client_id, safe='')}", {"keys": [signer.public]})
            content["signer"] = signer
        return Client(self.base_url, client_id, secret, http=self.controls.http, **content, **more)

    def await_(self, subject: Subject, status: str, within: str | timedelta | None = None) -> Awaited:
        """Moves bank time forward until the payment has the status, at most by `within`. Raises Refused (409) with the
        reason if it cannot reach the status."""
        within = None if within is None else time_text(within)
        body = given(payment_id=_id_of(subject), status=status, within=within)
        content = self.controls.call("POST", "/await", body).body
        at, waited = datetime.fromisoformat(content["at"]), timedelta(seconds=float(content["waited"]))
        return Awaited(content["payment_id"], content["status"], at, waited)

    def account(self, iban: str) -> dict[str, Any]:
        return {row["iban"]: row for row in self.accounts}[iban]

    def payment(self, subject: Subject) -> dict[str, Any]:
        return self._fetch(f"/payments/{quote(_id_of(subject), safe='')}")

    def count(self, **matcher: Any) -> int:
        """Returns how many calls fit the conditions: `operation`, `method`, `path`, `status`, `client`, `headers`,
        `body`."""
        return int(self.controls.call("POST", "/requests/count", matcher).body["count"])

    def verify(self, **question: Any) -> None:
        """Raises AssertionError unless calls that fit the conditions came at least once. The argument `times` asks for
        another number: `exactly`, or `at_least` and `at_most`. With `in_order`, a list of conditions, raises
        AssertionError unless calls that fit them came in this order. Other calls may come between them."""
        try:
            self.controls.call("POST", "/requests/verify", question)
        except Refused as refused:
            if refused.status != NOT_VERIFIED:
                raise
            raise AssertionError(refused.error_description) from None

    def explain(self, request_id: str) -> dict[str, Any]:
        """Returns the explanation of a call: why the bank answered as it did."""
        return self._fetch(f"/explain/{quote(request_id, safe='')}")

    @property
    def findings(self) -> Rows:
        """Returns the findings of the referee: mistakes of clients in the calls of this world. A suppressed finding has
        a `reason`."""
        return self._fetch("/referee")["findings"]  # type: ignore[no-any-return]

    @property
    def coverage(self) -> dict[str, Any]:
        """How much of the bank the calls of this world have reached: in numbers, and for each cell (such as an error)
        whether it was reached."""
        return self._fetch("/coverage")

    def settings(self, **changes: Any) -> dict[str, Any]:
        """Changes the named settings and returns all settings."""
        if not changes:
            return self._fetch("/settings")["settings"]  # type: ignore[no-any-return]
        texts = {name: time_text(value) if isinstance(value, timedelta) else value for name, value in changes.items()}
        return self.controls.call("PATCH", "/settings", texts).body["settings"]  # type: ignore[no-any-return]

    def move(self, subject: Subject, status: str, reason: str | None = None) -> None:
        """Forces a payment, standing order or file to a status. The bank's table of moves must permit it."""
        self.controls.move(_id_of(subject), status, reason)

    def book(self, iban: str, amount: str, **rest: Any) -> None:
        """Books a transaction by hand, such as a salary."""
        self.controls.book(iban, amount, **rest)

    def scenario(self, content: str | Mapping[str, Any]) -> None:
        """Begins the world again with a scenario. A text is the name of a shipped scenario, and a mapping is the
        content of a scenario."""
        body = {"name": content} if isinstance(content, str) else {"scenario": dict(content)}
        self.controls.call("PUT", "/scenario", body)

    def reset(self) -> None:
        """Begins the world again with the scenario, seed and settings with which it last began. Later changes are
        lost."""
        self.controls.reset()

    def fork(
        self, name: str | None = None, at: str | datetime | None = None, *, replace: bool = False
    ) -> "BankFixture":
        """Makes an independent copy of this world, as it is now or as it was at the time `at`. Without `name`, the copy
        is named after this world, with a number. Raises Refused (409) if a world of that name exists, unless `replace`
        is true."""
        name = name or f"{self.name[:58]}.{len(self._forks) + 1}"
        body = {"as": name} | given(replace=replace or None, at=None if at is None else time_text(at))
        self._server.call("POST", f"/worlds/{quote(self.name, safe='')}/fork", body)
        twin = BankFixture(self._server, name)
        self._forks.append(twin)
        return twin

    def drop(self) -> None:
        """Drops this world and its forks. The server's default world is not dropped."""
        for fork in self._forks:
            fork.drop()
        self._forks.clear()
        if self.name != "default":
            try:
                self._server.drop_world(self.name)
            except Refused as refused:
                if refused.status != NOT_FOUND:  # a test may have dropped it
                    raise

    def _fetch(self, path: str) -> dict[str, Any]:
        return self.controls.call("GET", path).body  # type: ignore[no-any-return]


def _id_of(subject: Subject) -> str:
    return subject if isinstance(subject, str) else subject.payment_id
