"""Long work reads a copy of a bank: it shows one moment, and calls go on meanwhile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.contract.moves import Status
from sandbox.machine import machine_time
from sandbox.storage import checkpoint, long_work, memory_log
from sandbox.storage import state_hash as hashing
from sandbox.storage.bank_copy import copy_bank, release_bank
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.long_work import AbandonedError, work_for_caller
from sandbox.storage.marks import LogHead
from sandbox.storage.memory_log import Act
from sandbox.storage.state_hash import hash_state, sort_in_slices
from sandbox.storage.store import Store, open_store
from sandbox.storage.transfer import exporter
from sandbox.web.controls import initiation_views
from sandbox.worlds import clock_moves
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.conftest import MORNING
from tests.threads import wait_for_threads
from tests.tpp import Tpp

KEPT = 12  # acts
PATIENCE = 20.0  # seconds until a test that hangs fails


@pytest.fixture
def world(worlds: WorldRegistry) -> World:
    settings = replace(worlds.beginning.settings, acts_kept=KEPT)
    return worlds.make("default", replace(worlds.beginning, settings=settings), replacing=True)


@pytest.fixture
def tpp(world: World, app: Flask) -> Tpp:
    return Tpp(app)


class Gate:
    """Long work that waits at its first step until the test opens it."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._work = work
        self.reached, self._opened = threading.Event(), threading.Event()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.reached.set()
        assert self._opened.wait(PATIENCE)
        return self._work(*args, **kwargs)

    def open(self) -> None:
        self._opened.set()


def gate_at(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> Gate:
    gate = Gate(getattr(module, name))
    monkeypatch.setattr(module, name, gate)
    return gate


def settled(tpp: Tpp) -> None:
    for _ in range(3):
        tpp.control("POST", "/psu/approve", address=tpp.initiate().headers["Location"], customer="alice")
        tpp.advance("30s")


# Calls go on meanwhile


def in_thread(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(work()))
    thread.start()
    return thread, outcome


@pytest.mark.parametrize(
    "asked, place",
    (
        (("GET", "/payments", {}), (initiation_views, "make_initiation_row")),
        (("GET", "/export", {}), (exporter, "make_head")),
        (("GET", "/export", {}), (exporter, "hash_state")),
        (("POST", "/worlds/default/fork", {"as": "second"}), (World, "from_snapshot")),
    ),
)
def test_a_payment_is_made_while_long_work_goes_on_and_is_not_part_of_it(
    app: Flask,
    tpp: Tpp,
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, str, dict[str, str]],
    place: tuple[Any, str],
) -> None:
    method, path, body = asked
    first = tpp.initiated()
    gate = gate_at(monkeypatch, *place)
    work, outcome = in_thread(lambda: Tpp(app).control(method, path, **body).get_data())
    assert gate.reached.wait(PATIENCE)
    later = tpp.initiated()
    gate.open()
    work.join()
    content = outcome[0].decode() if method == "GET" else str(Tpp(app, "second").listed("payments"))
    assert later not in content and (first in content or path == "/export")
    if path == "/export":
        assert '"acts":1,' in content


def test_a_payment_is_made_while_a_status_is_awaited(app: Flask, tpp: Tpp, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tpp.initiated()
    gate = gate_at(monkeypatch, clock_moves, "advance_to_status")
    work, outcome = in_thread(lambda: Tpp(app).control("POST", "/await", payment_id=first, status="CANC").get_json())
    assert gate.reached.wait(PATIENCE)
    later = tpp.initiated()
    gate.open()
    work.join()
    assert outcome[0]["status"] == "CANC"
    assert {row["payment_id"]: row["status"] for row in tpp.listed("payments")}[first] == "CANC"
    assert later in [row["payment_id"] for row in tpp.listed("payments")]


def test_an_await_ends_once_its_caller_is_gone(tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    payment = tpp.initiated()
    monkeypatch.setattr(clock_moves, "MOMENTS_AT_ONCE", 1)
    target = Status.CANC
    with work_for_caller(lambda: True), pytest.raises(AbandonedError):
        clock_moves.foresee_status(world, payment, target, timedelta(hours=2))
    assert clock_moves.foresee_status(world, payment, target, timedelta(hours=2)) > world.bank.clock.now


def test_payments_are_made_while_the_log_is_compacted(tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gate_at(monkeypatch, checkpoint, "pack")
    for _ in range(2 * KEPT):
        tpp.initiated()
    assert gate.reached.is_set() and len(list(world.log)) == 2 * KEPT
    gate.open()
    wait_for_threads("compaction")
    assert_same(replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now), world)
    for _ in range(3 * KEPT):
        tpp.initiated()
        tpp.advance("1s")
        wait_for_threads("compaction")
    assert len(list(world.log)) <= KEPT + 2 and len(world.log) == 5 * KEPT
    assert_same(replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now), world)


def assert_same(bank: Bank, world: World) -> None:
    assert hash_state(bank) == hash_state(world.bank)


def test_a_complete_checkpoint_is_used_while_its_thread_still_ends(
    tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_complete, may_end = threading.Semaphore(0), threading.Event()

    def release(bank: Bank) -> None:
        is_complete.release()
        may_end.wait(PATIENCE)

    monkeypatch.setattr(memory_log, "release_bank", release)
    for _ in range(2):
        for _ in range(KEPT // 2):
            tpp.initiated()
        assert is_complete.acquire(timeout=PATIENCE)
    tpp.initiated()
    assert len(list(world.log)) == KEPT // 2 + 1 and len(world.log) == KEPT + 1
    may_end.set()
    wait_for_threads("compaction")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_log_stays_complete_when_its_compaction_fails(
    tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(bank: Bank) -> bytes:
        raise MemoryError

    monkeypatch.setattr(checkpoint, "pack", fail)
    for _ in range(3 * KEPT):
        tpp.initiated()
        wait_for_threads("compaction")
    assert len(list(world.log)) == 3 * KEPT
    assert_same(replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now), world)


# It shows one moment


def test_a_fork_and_an_import_are_the_same_bank(worlds: WorldRegistry) -> None:
    tpp = Tpp(assemble(worlds))
    settled(tpp)
    world = worlds.get("default")
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    assert_same(worlds.get("b").bank, world)
    content = tpp.http.get("/_sandbox/export").get_data()
    assert hash_state(world.bank).encode() in content.splitlines()[-1]
    stripped = tpp.http.get("/_sandbox/export?secrets=strip").get_data()
    for number, file in enumerate((content, stripped)):
        assert tpp.http.post(f"/_sandbox/import?as=c{number}", data=file).status_code == 201


def test_a_world_starts_from_the_checkpoint_of_the_moment_at_which_it_was_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    monkeypatch.setattr(checkpoint, "PIECE", 1000)
    beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    with closing(open_store(tmp_path / "bank.state")) as store:
        worlds = WorldRegistry(beginning, machine_time, store)
        tpp = Tpp(assemble(worlds))
        for _ in range(7):
            tpp.initiated()
            wait_for_threads("checkpoint")
        with monkeypatch.context() as patched:
            gate = gate_at(patched, checkpoint, "write")
            for _ in range(3):  # calls go on while the second checkpoint is written
                tpp.initiated()
            assert gate.reached.wait(PATIENCE)
            gate.open()
            wait_for_threads("checkpoint")
        before, row = worlds.get("default").ask(hash_state), worlds.get("default").row
        found = Checkpoints(store).read(row, checkpoint.compute_program_digest())
        assert found is not None and found.head.acts == 8 and len(found.bank) > 3000
        ((pieces, of),) = store.database.select("SELECT count(*), count(DISTINCT acts) FROM pieces")
        assert pieces > 3 and of == 1
    with closing(open_store(tmp_path / "bank.state")) as store:
        monkeypatch.setattr(store, "read_acts", acts_after(store, 8))
        assert WorldRegistry(beginning, machine_time, store).get("default").ask(hash_state) == before


def acts_after(store: Store, least: int) -> Callable[[int, LogHead, LogHead], Iterator[Act]]:
    """The acts of a store, for someone who may only ask for the last ones."""
    acts = store.read_acts

    def ask(world: int, since: LogHead, until: LogHead) -> Iterator[Act]:
        assert since.acts == least
        return acts(world, since, until)

    return ask


def test_a_checkpoint_in_pieces_is_the_bank_that_was_written(
    tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(tpp)
    monkeypatch.setattr(checkpoint, "SLICE", 1)
    monkeypatch.setattr(checkpoint, "PIECE", 700)
    pieces = list(checkpoint.write(world.bank))
    assert len(pieces) > 10 and max(map(len, pieces)) <= 700
    fresh = replay(replace(world.beginning, at=world.opening), [], world.opening)
    checkpoint.read_onto(fresh, b"".join(pieces))
    assert_same(fresh, world)


# It costs little


def test_a_copy_is_freed_in_slices_once_nobody_uses_it(tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "SMALL", 0)
    tpp.initiated()
    bank = copy_bank(world.bank)
    payments, journal = bank.payments, bank.journal
    release_bank(bank)
    assert payments and journal
    del bank
    wait_for_threads("release")
    assert not payments and not journal
    assert world.bank.payments and world.bank.journal


@pytest.mark.parametrize("count", [0, 1, 4, 5, 103])
def test_a_large_register_is_sorted_in_slices(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(hashing, "SLICE", 5)
    monkeypatch.setattr(hashing, "AT_ONCE", 50)
    items = [f"{number * 7919 % 1000:03}" for number in range(count)]
    assert list(sort_in_slices(items)) == sorted(items)
