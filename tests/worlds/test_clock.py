"""The machine's clock steps back: bank time never does, and nothing that was answered is undone (choice 10)."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.storage.format import StateFileError
from sandbox.storage.store import Store, open_store
from sandbox.worlds.clock import AHEAD, SteadyClock
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.tpp import Tpp
from tests.worlds.places import change, seal
from tests.worlds.tenancy import ON_A_DATABASE, ON_A_FILE, Machine

HOUR = 3600.0
SOON = timedelta(seconds=AHEAD)


def opened(state: Path | str, machine: Machine, rate: float = 1.0) -> tuple[WorldRegistry, Store]:
    store = open_store(state)
    return WorldRegistry(make_first_beginning(7, read_instant(MORNING), rate), machine, store), store


def now(worlds: WorldRegistry, name: str = "default") -> datetime:
    return worlds.get(name).ask(lambda bank: bank.clock.now)


def test_while_it_runs_bank_time_goes_on_from_where_it_was(machine: Machine) -> None:
    worlds = WorldRegistry(make_first_beginning(7, read_instant(MORNING), 1.0), machine)
    tpp = Tpp(assemble(worlds))
    payment_id = tpp.initiated()
    machine.now += HOUR
    assert tpp.status(payment_id).get_json()["status"] == "CANC"
    before = now(worlds)
    machine.now -= 2 * HOUR
    assert now(worlds) == before and tpp.status(payment_id).get_json()["status"] == "CANC"
    machine.now += 60
    assert now(worlds) == before + timedelta(seconds=60)


@ON_A_FILE
def test_over_a_restart_nothing_that_was_answered_is_undone(state: Path | str, machine: Machine) -> None:
    """No act came after the time-out that the last status told of."""
    worlds, store = opened(state, machine)
    tpp = Tpp(assemble(worlds))
    payment_id = tpp.initiated()
    machine.now += HOUR
    assert tpp.status(payment_id).get_json()["status"] == "CANC"
    before = now(worlds)
    store.close()
    machine.now -= 2 * HOUR
    worlds, store = opened(state, machine)
    again = Tpp(assemble(worlds))
    assert again.status(payment_id).get_json()["status"] == "CANC"
    assert before <= now(worlds) <= before + SOON
    machine.now += 60
    assert before + timedelta(seconds=60) <= now(worlds) <= before + SOON + timedelta(seconds=60)
    store.close()


@ON_A_FILE
def test_a_clock_that_does_not_step_back_goes_on_exactly(state: Path | str, machine: Machine) -> None:
    worlds, store = opened(state, machine)
    machine.now += 100
    before = now(worlds)
    store.close()
    worlds, store = opened(state, machine)
    assert now(worlds) == before
    machine.now += HOUR
    assert now(worlds) == before + timedelta(hours=1)
    store.close()


@ON_A_FILE
def test_a_kill_undoes_no_time_either(state: Path | str, machine: Machine) -> None:
    worlds, store = opened(state, machine, rate=3600.0)
    machine.now += 100
    before = now(worlds)
    copy = Path(state).with_name("copy.state")
    change(state, f"VACUUM INTO '{copy}'")
    machine.now -= 2 * HOUR
    again, other = opened(copy, machine)
    assert before <= now(again) <= before + 3600 * SOON
    store.close()
    other.close()


@ON_A_FILE
def test_worlds_that_are_away_show_no_earlier_time(state: Path | str, machine: Machine) -> None:
    worlds, store = opened(state, machine)
    now(worlds, "b")
    machine.now += HOUR
    before = worlds.find("b").read_clock().now
    store.close()
    machine.now -= 2 * HOUR
    worlds, store = opened(state, machine)
    assert worlds.find("b").is_unloaded and before <= worlds.find("b").read_clock().now <= before + SOON
    store.close()


def test_a_frozen_world_stands_where_it_was_and_writes_nothing_for_a_read(
    state: Path | str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds, store = opened(state, machine, rate=0.0)
    transactions = list[object]()
    monkeypatch.setattr(store.database, "transaction", transactions.append)
    for _ in range(3):
        machine.now += HOUR
        assert now(worlds) == read_instant(MORNING)
    assert store.read_latest_time() == 0 and transactions == []
    monkeypatch.undo()
    store.close()


def test_what_is_true_outside_the_bank_follows_the_machine(machine: Machine) -> None:
    worlds = WorldRegistry(make_first_beginning(7, read_instant(MORNING), 1.0), machine)
    now(worlds)
    machine.now -= HOUR
    assert worlds.get("default").clock.read_real_time().timestamp() == machine.now


@ON_A_FILE
def test_few_answers_write_the_time(state: Path | str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds, store = opened(state, machine)
    kept = list[float]()
    monkeypatch.setattr(store, "keep_latest_time", kept.append)
    for _ in range(100):
        machine.now += AHEAD / 10
        now(worlds)
    assert 9 <= len(kept) <= 10 and all(later - earlier > AHEAD for earlier, later in zip(kept, kept[1:], strict=False))
    store.close()


@ON_A_FILE
def test_a_file_that_cannot_be_written_still_lets_read(
    state: Path | str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(latest: float) -> None:
        raise StateFileError("full")

    worlds, store = opened(state, machine)
    monkeypatch.setattr(store, "keep_latest_time", full)
    machine.now += HOUR
    assert now(worlds) == read_instant(MORNING) + timedelta(hours=1)
    store.close()


@ON_A_FILE
def test_a_time_that_is_not_as_it_was_written_is_told_and_not_used(state: Path | str, machine: Machine) -> None:
    worlds, store = opened(state, machine)
    machine.now += HOUR
    before = now(worlds)
    store.close()
    change(state, "UPDATE clock SET latest = latest + 3600")
    worlds, store = opened(state, machine)
    (note,) = store.notes
    assert "the time of the last answer is damaged" in note
    assert now(worlds) == before
    store.close()


@ON_A_DATABASE
def test_worlds_of_a_database_run_by_its_clock_and_keep_no_time_of_the_machine(
    state: Path | str, machine: Machine
) -> None:
    worlds, store = opened(state, machine)
    before = now(worlds)
    machine.now += 9 * HOUR
    between = now(worlds)
    machine.now -= 18 * HOUR
    assert before <= between <= now(worlds) < before + timedelta(hours=1)
    store.close()
    again, store = opened(state, machine)
    assert between <= now(again) < before + timedelta(hours=1)
    assert store.read_latest_time() == 0
    store.close()


@ON_A_DATABASE
def test_a_clock_of_the_database_that_stepped_back_undoes_nothing_that_happened(
    state: Path | str, machine: Machine
) -> None:
    """The last change came at a time that the database's clock reaches again after the test."""
    worlds, store = opened(state, machine)
    tpp = Tpp(assemble(worlds))
    payment_id = tpp.initiated()
    change(state, f"UPDATE worlds SET until = until + {2 * HOUR} WHERE name = 'default'")
    seal(state)
    assert tpp.status(payment_id).get_json()["status"] == "CANC"
    before = now(worlds)
    store.close()
    worlds, store = opened(state, machine)
    assert now(worlds) == before
    assert Tpp(assemble(worlds)).status(payment_id).get_json()["status"] == "CANC"
    store.close()


@pytest.mark.parametrize(("step", "told"), [(-AHEAD / 2, 0.0), (-AHEAD * 2, 0.0), (-HOUR, 0.0), (5.0, 5.0)])
def test_the_clock_stands_over_a_small_step_and_goes_on_over_a_large_one(
    machine: Machine, step: float, told: float
) -> None:
    clock = SteadyClock(machine)
    began = clock()
    machine.now += step
    assert clock() - began == pytest.approx(told)
    machine.now += 10
    stood = -step if -AHEAD <= step < 0 else 0.0
    assert clock() - began == pytest.approx(told + 10 - stood)
