"""Reads the sandbox's own export: every act is played again and becomes the call that stands for it."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from typing import Any

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.bank.verbs import VERBS
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.extensions.lift.act_calls import Done, call, filled
from sandbox.extensions.lift.act_controls import CALLS, KEPT_REFUSED
from sandbox.extensions.lift.har import Recorded
from sandbox.storage.memory_log import Act
from sandbox.storage.transfer.exporter import named
from sandbox.storage.transfer.form import FORMAT, exact
from sandbox.storage.transfer.importer import read_life
from sandbox.web.api.replies import ENDED_BADLY
from sandbox.worlds.beginning import Beginning, bank_of
from sandbox.worlds.calls import Exchange


def is_world_file(content: bytes) -> bool:
    """The first line of a plain one says so; a packed one begins as gzip does, and a HAR never does."""
    return content[:2] == b"\x1f\x8b" or FORMAT.encode() in content[:200]


def read_world(content: bytes) -> tuple[Beginning, list[Recorded], list[str]]:
    """How the world of an export began, the calls that made it what it is, and what no call can stand for.

    Raises ParcelError for a file that does not hold."""
    _, life = read_life(BytesIO(content), lambda: 0.0)
    beginning = life.beginning
    assert beginning.at is not None
    bank = bank_of(beginning, beginning.at)
    calls: list[Recorded] = []
    unexplained: list[str] = []
    refused_at: set[datetime] = set()
    at = beginning.at
    for number, act in enumerate(life.acts, 1):
        bank.mint.salt = act.id
        timeline.advance(bank, act.at)
        calls += _moved(at, act.at)
        at = act.at
        done = _done(bank, act)
        if done.refusal is not None:
            if act.verb not in KEPT_REFUSED:
                continue
            refused_at.add(act.at)
        answers = CALLS[act.verb](done)
        calls += answers
        if not answers and CALLS[act.verb].__name__ != "nothing":
            unexplained.append(f"act {number}, {act.verb}: no call of a client can stand for it")
    now = life.pace.base
    timeline.advance(bank, now)
    calls += _moved(at, now)
    calls += _statuses(bank)
    if life.faults and (ordered := life.faults[0]):
        left_out = "left out, as the calls stand for what was done behind them"
        unexplained.append(f"{len(ordered)} faults were ordered: {left_out}")
    unexplained += _refused(life.exchanges, refused_at)
    return beginning, [replace(one, number=number) for number, one in enumerate(calls, 1)], unexplained


def _moved(before: datetime, now: datetime) -> list[Recorded]:
    return [] if now <= before else [call("POST", "_sandbox/clock", {"set": exact(now)}, 200, {})]


def _done(bank: Bank, act: Act) -> Done:
    """Does the act; what a customer had chosen on the pages is noted first, as it goes with their last answer."""
    given = dict(named(act))
    session_id = given.get("session_id") or bank.approvals.get(given.get("approval", ""), "")
    session = bank.sessions.get(session_id)
    before = None if session is None else copy(session)
    address = None if session is None else bank.consent_addresses.get(session.address)
    try:
        result: Any = VERBS[act.verb](bank, *act.arguments)
    except Refusal as refusal:
        result = refusal
    if before is not None and session is not None:
        before.callback = session.callback
    return Done(bank, given, result, before, address)


def _statuses(bank: Bank) -> Iterator[Recorded]:
    """A question about each initiation at the end: the lifted story has to come to the same states."""
    for kind in kinds.KINDS.values():
        for subject_id, subject in getattr(bank, kind.register).items():
            product = subject.format if kind is kinds.BULK else subject.order.product
            place = f"{kind.path}/{product}/{subject_id}/status"
            reason = subject.reason if subject.status in ENDED_BADLY else None
            reply = filled(status=subject.status.value, reason=reason)
            yield call("GET", place, None, 200, reply, {"Client-ID": subject.origin.client_id})


def _refused(exchanges: list[Exchange], lasting: set[datetime]) -> Iterator[str]:
    """Calls that were refused and changed nothing: an export keeps no body of them."""
    for one in exchanges:
        is_act = one.error == Error.SCA_REQUIRED.name or (one.operation == "token" and one.at in lasting)
        if one.status >= 400 and not is_act:
            path = one.path if one.operation is None else one.operation
            yield f"request {one.seq}, {one.method} {path}: refused with {one.status}, an export keeps no body of it"
