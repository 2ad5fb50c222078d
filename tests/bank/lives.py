"""Random lives of a bank: initiations, signatures, refusals, forced moves and time, the same for every world."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from flask import Flask
from hypothesis import strategies as st

from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World
from tests.tpp import ISCT, SCT, XB, Tpp, payment

Step = tuple[Any, ...]

PAYERS = (None, "alice", "bram", "bakkerij", "notaris", "poor", "limited")
STATUSES = ("PATC", "PDNG", "ACSP", "ACSC", "RJCT", "CANC")
SECONDS_MAX = 4 * 86_400

which = st.integers(0, 5)
spans = st.one_of(
    st.sampled_from((0, 1, 3, 5, 60, 300, 3599, 3600, 3601, 21 * 3600, 86_400)), st.integers(0, SECONDS_MAX)
)
initiations = st.tuples(
    st.just("initiate"),
    st.sampled_from((SCT, ISCT, XB)),
    st.sampled_from(PAYERS),
    st.sampled_from(("0.01", "12.50", "240.00", "999999.00")),
    st.sampled_from((None, None, "2027-03-01", "2027-03-02", "2027-03-06", "2028-01-01")),
)
approvals = st.tuples(st.just("approve"), which, st.sampled_from(PAYERS))
signatures = st.tuples(st.just("sign"), which, st.sampled_from(("griet", "notaris", "alice")))
further_declines = st.tuples(st.just("refuse_further"), which, st.sampled_from(("griet", "notaris", "alice")))
declines = st.tuples(st.just("refuse"), which)
forced = st.tuples(st.just("move"), which, st.sampled_from(STATUSES))
passing = st.tuples(st.just("pass"), spans, spans)
backs = st.tuples(st.just("send_back"), which, st.sampled_from(("return", "recall")))
UNFORCED = st.one_of(initiations, initiations, approvals, signatures, further_declines, declines, backs, passing)
LIVES = st.lists(st.one_of(UNFORCED, forced), max_size=14)


class Life:
    """Leads one world through the steps. Its Request-IDs are counted, so two worlds hear the same calls."""

    def __init__(self, app: Flask, worlds: WorldRegistry, name: str) -> None:
        self.world: World = worlds.make(name, worlds.beginning, replacing=True)
        self.tpp = Tpp(app, name)
        self.calls = 0
        self.signs_at: list[str] = []
        self.ids: list[str] = []

    def lead(self, steps: Iterable[Step], *, halved: bool = False) -> None:
        for kind, *rest in steps:
            if kind == "pass":
                self.let_pass(rest if halved else [sum(rest)])
            else:
                getattr(self, kind)(*rest)

    def let_pass(self, spans: Iterable[int]) -> None:
        for seconds in spans:
            self.tpp.advance(f"{seconds}s")

    def initiate(self, product: str, payer: str | None, amount: str, day: str | None) -> None:
        self.calls += 1
        debtor = None if payer is None else {"iban": self.tpp.iban_of(payer)}
        changes: dict[str, Any] = {"instructed_amount__amount": amount, "debtor_account": debtor}
        if product != ISCT:
            changes["requested_execution_date"] = day
        request_id = str(UUID(int=self.calls, version=4))
        reply = self.tpp.initiate(product, payment(product, **changes), request_id=request_id)
        assert reply.status_code in (201, 400, 403), reply.text
        if reply.status_code == 201:
            self.ids.append(reply.get_json()["payment_id"])
            self.signs_at.append(reply.headers["Location"])

    def approve(self, number: int, customer: str | None) -> None:
        if self.ids:
            chosen = {} if customer is None else {"customer": customer}
            self.tpp.control("POST", "/psu/approve", address=self.signs_at[number % len(self.ids)], **chosen)

    def sign(self, number: int, customer: str) -> None:
        if self.ids:
            self.tpp.control("POST", "/psu/sign", payment_id=self.ids[number % len(self.ids)], customer=customer)

    def refuse(self, number: int) -> None:
        if self.ids:
            self.tpp.control("POST", "/psu/refuse", address=self.signs_at[number % len(self.ids)])

    def refuse_further(self, number: int, customer: str) -> None:
        if self.ids:
            self.tpp.control("POST", "/psu/refuse", payment_id=self.ids[number % len(self.ids)], customer=customer)

    def send_back(self, number: int, back: str) -> None:
        if self.ids:
            self.tpp.control("POST", f"/payments/{self.ids[number % len(self.ids)]}/{back}", reason="AC04")

    def move(self, number: int, status: str) -> None:
        if self.ids:
            self.tpp.control("POST", f"/payments/{self.ids[number % len(self.ids)]}/move", status=status)
