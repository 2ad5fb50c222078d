"""Follows the calls that a calibration proposes, as its reader would: by the lines of Python and their notes."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from types import CodeType, SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import httpx

from sandbox.client import Flow, Initiation, Reference, Tokens, returned
from sandbox.client.flows import new_flow
from sandbox.client.records import PathKind
from sandbox.extensions.calibrate.calibration import Calibration, calibrate_calls
from sandbox.extensions.calibrate.endings import (
    CHECKED_AFTER,
    ENDINGS,
    REFUSES,
    SIGNS,
    WITH_CODE,
    WITHOUT_CODE,
    PaymentEnding,
    is_initiation,
)
from sandbox.extensions.calibrate.proposals import DAY, MEANINGS, Proposal
from sandbox.extensions.calibrate.reconstruction import Shown
from sandbox.extensions.calibrate.variables import find_address
from sandbox.recordings.reading import read_recording
from sandbox.recordings.recorded_calls import RecordedCall
from sandbox.testing import BankFixture
from tests.calibrate.recorder import ENDS, RecordingWay, har, without_customers
from tests.vary.steps import UNSIGNED, consent, day, logical_id, now

ROUNDS_MAX = 8
CANNOT = (*ENDS, StopIteration)  # a proposal whose needs the bank does not let its reader meet


class Round(NamedTuple):
    """A calibration, the calls of the bank's interface until then, and the axes that it says its proposals decide."""

    found: Calibration
    calls: int
    named: frozenset[str]


def follow_all(bank: BankFixture, way: RecordingWay) -> Iterator[Round]:
    """Calibrates, follows what is proposed, and calibrates again, until nothing new is proposed."""
    done = set[str]()
    bank.tpp = bank.client()  # a flow may have registered another key
    for _ in range(ROUNDS_MAX):
        calls = read_recording(har(way.entries)).calls
        found = calibrate_calls(calls, payments=True)
        fresh = [proposal for proposal in found.next if proposal.python not in done]
        named = frozenset(axis for proposal in fresh for axis in proposal.decides)
        yield Round(found, len(without_customers(way.entries)), named)
        if not fresh:
            return
        for proposal in fresh:
            done.add(proposal.python)
            with suppress(*CANNOT):
                Follower(bank, calls).follow(proposal)
            bank.clock.advance("1m")


class Follower:
    def __init__(self, bank: BankFixture, calls: Iterable[RecordedCall]) -> None:
        self.bank = bank
        self.calls = list(calls)
        self.ibans = Shown(self.calls, now(bank)).by_logical_id
        self.flow: Flow = new_flow("PIS", bank.tpp.caller.redirect_uri)

    def follow(self, proposal: Proposal) -> list[httpx.Response]:
        """Brings what the line names, executes it, and does what its note says of an initiation that is accepted."""
        line = proposal.python.partition("  # ")[0]
        code = compile(f"[{line}]", "proposal", "eval")
        self.flow = new_flow("PIS", self.bank.tpp.caller.redirect_uri)
        given = self._given(proposal.source, set(names_of(code)) & MEANINGS.keys())
        if "'plain'" in line:
            given["challenge"] = self.flow.verifier
        tools = {
            "httpx": SimpleNamespace(request=self.bank.controls.http.request),
            "date": SimpleNamespace(today=lambda: day(self.bank)),
            "timedelta": timedelta,
            "sleep": lambda seconds: self.bank.clock.advance(f"{seconds}s"),
            "signed": self._signed,
            "uuid4": uuid4,
        }
        replies = [reply for reply in eval(code, tools | given) if isinstance(reply, httpx.Response)]
        if is_initiation(proposal.source) and replies[-1].status_code == 201:
            with suppress(*CANNOT):
                self._go_on(replies[-1], ending_of(proposal))
        return replies

    def _signed(self, request_id: str, body: str) -> dict[str, str]:
        caller = self.bank.tpp.caller
        assert caller.signer is not None
        return caller.signer.headers(body.encode(), caller.manual.signature_over, request_id)

    def _given(self, source: RecordedCall, names: set[str]) -> dict[str, str]:
        tpp = self.bank.tpp
        credentials = b64encode(f"{tpp.caller.client_id}:{tpp.caller.secret}".encode()).decode()
        given = {"reference": uuid4().hex, "request_id": str(uuid4()), "credentials": credentials}
        given["challenge"] = self.flow.challenge
        tokens: Tokens | None = None
        if source.path[0] == "accounts" and names & {"token", "account"}:
            iban = self.ibans.get(source.path[1]) if len(source.path) > 1 else next(iter(self.ibans.values()))
            assert iban is not None
            tokens = consent(self.bank, self._owner(iban))
            if "account" in names:
                given["account"] = logical_id(self.bank, tokens, iban)
        elif "payment" in names or "token" in names:
            payment, tokens = self._payment_like(source, with_token="token" in names)
            given["payment"] = payment.payment_id
        if "code" in names:
            asked = tpp.consent_addresses()
            code = returned(self.bank.psu.approve(asked.address, customer="alice"), asked.flow)
            assert code is not None
            given |= {"code": quote(code, safe=""), "verifier": asked.flow.verifier}
        if tokens is not None:
            given |= {"token": tokens.access, "sca_token": tokens.sca_token or ""}
        return given

    def _payment_like(self, source: RecordedCall, *, with_token: bool) -> tuple[Initiation, Tokens | None]:
        """A new payment like the one that the call is about, as far as that was; with a token of its customer."""
        like = source
        if len(source.path) > 2:
            like = next(call for call in self.calls if is_initiation(call) and source.path[2] in call.reply_body)
        waited = day(self.bank) - (like.began.date() if like.began else day(self.bank))
        moved = replace(like, body=DAY.sub(lambda match: str(date.fromisoformat(match[0]) + waited), like.body))
        body = moved.json | ({"endtoend_identification": uuid4().hex} if moved.json else {})
        tpp = self.bank.tpp
        if like.path[0] == "bulk-payments":
            return tpp.send_file(moved.body.encode(), like.path[1], media=like.headers["content-type"]), None
        payment = tpp.initiate(like.path[1], body, kind=PathKind(like.path[0]))
        if not with_token and source.reply_json.get("status") in (None, *UNSIGNED):
            return payment, None
        assert payment.sca_address is not None
        callback = self.bank.psu.approve(payment.sca_address, customer=self._owner(moved.body))
        return payment, tpp.tokens_from(callback, payment.flow)

    def _go_on(self, reply: httpx.Response, ending: PaymentEnding) -> None:
        """Does what the note of the ending says."""
        tpp, content = self.bank.tpp, reply.json()
        kind, product = reply.request.url.path.rsplit("/", 2)[1:]
        names = ("payment_id", "paymentId", "payment_file_id")
        target = Reference(product, next(content[name] for name in names if name in content), PathKind(kind))
        address, tokens, since = find_address(dict(reply.headers), content), None, day(self.bank)
        if address is None:
            self._wait(CHECKED_AFTER)
            address = tpp.status(target).sca_address
        self._wait(ending.wait)
        customer, is_file = self._owner(reply.request.content.decode()), kind == "bulk-payments"
        assert address is not None
        place = address if is_file else self.flow.on(address)  # the status of a file brings a flow of its own
        if ending.act == SIGNS:
            callback = self.bank.psu.approve(place, customer=customer)
            tokens = None if is_file else tpp.tokens_from(callback, self.flow)
        elif ending.act == REFUSES:
            self.bank.psu.refuse(place, customer=customer)
        tpp.status(target)
        if tokens is not None:
            tpp.details(target, tokens)
        if ending.cancels:
            tpp.cancel(target, tokens)
            tpp.status(target)
        if ending.later:
            ibans, sent = self._ibans(customer), reply.request.content.decode()
            iban = next((iban for iban in ibans if iban in sent), ibans[0])
            for wait in (timedelta(), ending.later):
                if wait:
                    self._wait(wait)
                    tpp.status(target)
                consented = consent(self.bank, customer)
                list(tpp.all_transactions(logical_id(self.bank, consented, iban), consented, date_from=since))

    def _wait(self, time: timedelta) -> None:
        if time:
            self.bank.clock.advance(f"{time.total_seconds():g}s")

    def _ibans(self, customer: str) -> list[str]:
        return next(row["accounts"] for row in self.bank.customers if row["customer"] == customer)

    def _owner(self, content: Any) -> str:
        """The customer whose account pays, else alice."""
        text = str(content).rpartition("debtor")[2]
        places = [(text.find(iban), row["customer"]) for row in self.bank.customers for iban in row["accounts"]]
        return min((pair for pair in places if pair[0] >= 0), default=(0, "alice"))[1]


def ending_of(proposal: Proposal) -> PaymentEnding:
    notes = {text: row for row in ENDINGS for text in (row.note, row.note.replace(WITH_CODE, WITHOUT_CODE))}
    return notes[max((text for text in notes if text in proposal.python), key=len)]


def names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_of(inner)
