"""What a client and a tester do to a bank in a simulation: each act is one call, or a few."""

from random import Random
from typing import Any
from uuid import UUID

from werkzeug.test import TestResponse

from tests.tpp import ISCT, SCT, Tpp, payment

NAMES = ("default", "one", "two", "three")
ACTS = [
    *["pay"] * 6,
    *["sign", "refuse"] * 2,
    *["pass_time", "ask_status", "order_fault", "drop_faults", "change_settings", "let_run", "reset", "make", "drop"],
    *["fork", "carry", "fail"],
]


class Acts:
    """All chance is the director's."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.calls = 0
        self.begun: set[str] = set()  # worlds that may have begun again in this step

    def pay(self, tpp: Tpp) -> TestResponse:
        self.calls += 1
        product = self.random.choice((SCT, ISCT))
        body = payment(product, endtoend_identification=f"SIM-{self.calls}")
        return tpp.initiate(product, body, request_id=str(UUID(int=self.random.getrandbits(128), version=4)))

    def race(self, tpp: Tpp) -> list[TestResponse]:
        return [self.pay(tpp), tpp.control("GET", "/payments"), self.pay(tpp)]

    def paid_by(self, reply: TestResponse) -> list[tuple[str, str]]:
        """The world and the id of a payment that a reply answers for."""
        path = reply.request.path
        if reply.status_code != 201 or "/payments/" not in path:
            return []
        return [(path.split("/")[2] if path.startswith("/worlds/") else "default", reply.get_json()["payment_id"])]

    def sign(self, tpp: Tpp) -> list[TestResponse]:
        return self._at_address(tpp, "approve")

    def refuse(self, tpp: Tpp) -> list[TestResponse]:
        return self._at_address(tpp, "refuse")

    def _at_address(self, tpp: Tpp, how: str) -> list[TestResponse]:
        reply = self.pay(tpp)
        if reply.status_code != 201:
            return [reply]
        address = reply.headers["Location"]
        return [reply, tpp.control("POST", f"/psu/{how}", address=address, customer="alice")]

    def pass_time(self, tpp: Tpp) -> TestResponse:
        return tpp.control("POST", "/clock", advance=self.random.choice(("1s", "61m", "1d")))

    def let_run(self, tpp: Tpp) -> TestResponse:
        if self.random.random() < 0.5:
            return tpp.control("POST", "/clock", mode="frozen")
        return tpp.control("POST", "/clock", mode="running", rate=self.random.choice((1, 60)))

    def ask_status(self, tpp: Tpp) -> TestResponse:
        """Which a fault rule may count."""
        return tpp.status("00000000-0000-4000-8000-000000000000")

    def order_fault(self, tpp: Tpp) -> TestResponse:
        return tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 999}, answer={"status": 503})

    def drop_faults(self, tpp: Tpp) -> TestResponse:
        return tpp.control("DELETE", "/faults")

    def change_settings(self, tpp: Tpp) -> TestResponse:
        return tpp.control("PATCH", "/settings", unsigned_after=f"{self.random.randrange(1, 90)}m")

    def fail(self, tpp: Tpp) -> TestResponse:
        return tpp.initiate(body={})

    def reset(self, tpp: Tpp) -> TestResponse:
        self._begins(tpp.prefix.rpartition("/")[2] or "default")
        return tpp.control("POST", "/reset")

    def make(self, tpp: Tpp) -> TestResponse:
        name = self._begins(self.random.choice(NAMES))
        return Tpp(tpp.http.application).control("PUT", f"/worlds/{name}", seed=self.random.randrange(99))

    def drop(self, tpp: Tpp) -> TestResponse:
        name = self._begins(self.random.choice(NAMES[1:]))
        return Tpp(tpp.http.application).control("DELETE", f"/worlds/{name}")

    def fork(self, tpp: Tpp) -> TestResponse:
        origin, name = tpp.prefix.rpartition("/")[2] or "default", self._begins(self.random.choice(NAMES[1:]))
        return Tpp(tpp.http.application).control("POST", f"/worlds/{origin}/fork", **{"as": name})

    def carry(self, tpp: Tpp) -> list[TestResponse]:
        """An export and its import, under another name."""
        file = tpp.control("GET", "/export")
        content: Any = file.data  # also reads it to its end
        if file.status_code != 200:
            return [file]
        name = self._begins(self.random.choice(NAMES[1:]))
        return [Tpp(tpp.http.application).http.post(f"/_sandbox/import?as={name}", data=content)]

    def _begins(self, name: str) -> str:
        self.begun.add(name)
        return name
