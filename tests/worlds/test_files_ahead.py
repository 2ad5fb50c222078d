"""A large bulk file is read where nobody waits for it, and bank time waits for it just before its validation."""

import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.bulkfiles import stages
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.stages import PREPARED_MAX, ReportInput
from sandbox.contract.moves import Status
from sandbox.storage import long_work
from sandbox.storage.long_work import pause
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.bulkfiles.a_file import TODAY
from tests.conftest import MORNING
from tests.spec.files import bulk, pain, sent, status
from tests.tpp import Tpp
from tests.worlds.tenancy import Machine

DUE = "2027-03-01T09:02:00+01:00"
JUST_BEFORE = timedelta(microseconds=1)
SOON = 10.0  # seconds, for what must not wait at all


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "LARGE_BYTES", 0)
    monkeypatch.setattr(stages, "_prepared", {})
    monkeypatch.setattr(long_work, "PAUSE", 0)


class Slow:
    """The reading of files, held until it is let go on."""

    def __init__(self) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()
        self.readings = 0
        self._read = stages.read_file

    def __call__(self, *given: object) -> object:
        self.readings += 1
        self.begun.set()
        assert self.goes_on.wait(SOON)
        return self._read(*given)  # type: ignore[arg-type]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow()
    monkeypatch.setattr(stages, "read_file", slow)
    yield slow
    slow.goes_on.set()
    wait_for_readers()


def wait_for_readers() -> None:
    for thread in threading.enumerate():
        if thread.name == "bulk file":
            thread.join()


def beside(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def same_again(world: World) -> bool:
    again = replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)
    return hash_state(again) == hash_state(world.bank)


def test_who_moves_the_clock_waits_for_a_file_and_nobody_else_does(tpp: Tpp, worlds: WorldRegistry, slow: Slow) -> None:
    payment_id, file_id = tpp.initiated(), sent(tpp, pain(bulk()))
    mover = beside(lambda: tpp.advance("120s"))
    assert slow.begun.wait(SOON)
    assert tpp.status(payment_id).status_code == 200 and tpp.initiate().status_code == 201
    assert tpp.control("GET", "/clock").get_json()["now"] == MORNING and status(tpp, file_id)["status"] == "RCVD"
    slow.goes_on.set()
    mover.join()
    assert status(tpp, file_id)["status"] == "PATC" and slow.readings == 1
    assert tpp.control("GET", "/clock").get_json()["now"] == DUE
    assert same_again(worlds.get("default"))


def test_two_who_move_the_clock_at_once_both_do(tpp: Tpp, slow: Slow) -> None:
    sent(tpp, pain(bulk()))
    movers = [beside(lambda: tpp.advance("120s")) for _ in range(2)]
    slow.goes_on.set()
    for mover in movers:
        mover.join()
    assert tpp.control("GET", "/clock").get_json()["now"] == "2027-03-01T09:04:00+01:00"


@pytest.mark.parametrize("files", [PREPARED_MAX, PREPARED_MAX + 2])
def test_any_number_of_files_on_the_way_is_validated(tpp: Tpp, worlds: WorldRegistry, files: int) -> None:
    ids = [sent(tpp, pain(bulk(), message_id=f"M-{number}")) for number in range(files)]
    tpp.advance("1h")
    assert {status(tpp, one)["status"] for one in ids} == {"PATC"} and same_again(worlds.get("default"))


@pytest.fixture
def running(machine: Machine) -> WorldRegistry:
    return WorldRegistry(make_first_beginning(7, read_instant(MORNING), rate=1.0), machine)


def test_a_running_clock_waits_just_before_the_validation(running: WorldRegistry, machine: Machine, slow: Slow) -> None:
    tpp, world = Tpp(assemble(running)), running.get("default")
    file_id = sent(tpp, pain(bulk()))
    machine.now += 125
    for _ in range(2):
        assert world.ask(lambda bank: bank.clock.now) == read_instant(DUE) - JUST_BEFORE
    assert tpp.initiate().status_code == 201  # also what changes the bank goes on
    assert slow.begun.wait(SOON) and status(tpp, file_id)["status"] == "RCVD"
    slow.goes_on.set()
    wait_for_readers()
    assert status(tpp, file_id)["status"] == "PATC" and slow.readings == 1
    assert world.ask(lambda bank: bank.clock.now) == read_instant(MORNING) + timedelta(seconds=125)
    assert same_again(world)


def test_a_file_that_is_validated_at_once_is_so_for_the_next_call(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.control("PATCH", "/settings", bulk_validation="0s")
    assert status(tpp, sent(tpp, pain(bulk())))["status"] == "PATC" and same_again(worlds.get("default"))


def test_an_act_comes_after_a_validation_that_is_due_already(tpp: Tpp, worlds: WorldRegistry, slow: Slow) -> None:
    """As it does when the acts are replayed."""
    tpp.control("PATCH", "/settings", bulk_validation="0s")
    sender = beside(lambda: sent(tpp, pain(bulk())))
    assert slow.begun.wait(SOON)
    payer = beside(tpp.initiate)
    assert [row["status"] for row in tpp.listed("bulk-payments")] == ["RCVD"] and tpp.listed("payments") == []
    slow.goes_on.set()
    for thread in (sender, payer):
        thread.join()
    world = worlds.get("default")
    assert [found.status for found in world.bank.bulks.values()] == [Status.PATC] and len(world.bank.payments) == 1
    assert same_again(world)


def test_waiting_for_a_status_reads_the_file_first(tpp: Tpp, slow: Slow) -> None:
    payment_id, file_id = tpp.initiated(), sent(tpp, pain(bulk()))
    waiter = beside(lambda: tpp.control("POST", "/await", payment_id=file_id, status="PATC"))
    assert slow.begun.wait(SOON)
    assert tpp.status(payment_id).status_code == 200
    slow.goes_on.set()
    waiter.join()
    assert status(tpp, file_id)["status"] == "PATC"


def test_a_file_on_which_reading_fails_fails_where_that_is_told(
    tpp: Tpp, app: Flask, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    sent(tpp, pain(bulk()))
    monkeypatch.setattr(stages, "read_file", fail)
    with pytest.raises(ZeroDivisionError):
        move_clock(worlds.get("default"), lambda now: (now + timedelta(hours=1), 0))


def test_reports_that_nobody_asks_for_make_room_for_others() -> None:
    packed = zlib.compress(pain(bulk()))
    readings = [ReportInput("pain.001", packed, ValidationRules(TODAY, ahead)) for ahead in range(PREPARED_MAX + 1)]
    for reading in readings:
        stages.prepare_report(reading, pause)
    assert [stages.is_prepared(reading) for reading in readings] == [False] + [True] * PREPARED_MAX
    assert stages.take_report(readings[0]).valid_batches and stages.take_report(readings[1]).valid_batches
    assert not stages.is_prepared(readings[1])  # handed out once, as the bank writes its own findings into it


@pytest.mark.parametrize(("length", "large"), [(100_000, False), (100_001, True)])
def test_a_file_is_large_by_its_bytes_and_not_by_how_well_it_packs(
    monkeypatch: pytest.MonkeyPatch, length: int, large: bool
) -> None:
    monkeypatch.setattr(stages, "LARGE_BYTES", 100_000)
    assert stages.is_large(zlib.compress(b" " * length)) is large
