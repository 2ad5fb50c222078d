"""What is large is written, read, removed and given back in slices, so that no call waits for all of it."""

import gc
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.app import assemble, first_beginning
from sandbox.bank import timeline
from sandbox.bank.bounded_registers import Register
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.contract.errors import Refusal
from sandbox.machine import machine_time
from sandbox.world import long_work, paced
from sandbox.world.log import checkpoint, stored_log, wal
from sandbox.world.log import store as store_module
from sandbox.world.log.format import StateFileError
from sandbox.world.log.state_hash import state_hash
from sandbox.world.log.store import Store
from sandbox.world.log.writer import remove_world
from sandbox.world.registry import Worlds
from sandbox.world.replay import replayed
from sandbox.world.transfer.exporter import act_line, exported
from sandbox.world.transfer.form import line_of
from tests.bank.test_apart import wait_for_threads
from tests.conftest import MORNING
from tests.tpp import Tpp

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SLICE", 2)
    monkeypatch.setattr(stored_log, "PIECE", 2)
    monkeypatch.setattr(checkpoint, "SLICE", 2)
    monkeypatch.setattr(long_work, "SMALL", 0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "bank.state")) as made:
        yield made


def worlds_of(store: Store | None) -> Worlds:
    return Worlds(first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time, store)


def filled(worlds: Worlds, payments: int = 5) -> Tpp:
    tpp = Tpp(assemble(worlds))
    for _ in range(payments):
        tpp.initiated()
    return tpp


def rows(store: Store) -> dict[str, int]:
    """How many acts each world of the file has, by the world's name."""
    query = "SELECT name, (SELECT count(*) FROM acts WHERE world = id) FROM worlds"
    with store.connection.read() as database:
        return dict(database.execute(query).fetchall())


# A state file


def test_a_fork_is_kept_in_slices_and_whole(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    worlds.fork("default", "other", None)
    assert rows(store) == {"default": 5, "other": 5}
    hashed = worlds.get("other").ask(state_hash)
    again = worlds_of(store)
    assert again.get("other").ask(state_hash) == hashed == again.get("default").ask(state_hash)


def test_a_fork_that_cannot_be_kept_whole_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    write, taken = store.connection.write, 0

    def fail_at_the_third(*given: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == 3:
            raise StateFileError("the disk is full")
        return write()

    monkeypatch.setattr(store.connection, "write", fail_at_the_third)
    with pytest.raises(StateFileError):
        worlds.fork("default", "other", None)
    wait_for_threads("rows")
    assert rows(store) == {"default": 5}
    with pytest.raises(Refusal):
        worlds.find("other")
    assert worlds.fork("default", "other", None).name == "other"


def test_a_large_world_that_is_dropped_is_gone_at_once_and_removed_beside(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    left = list[Any]()
    monkeypatch.setattr(store, "beside", lambda name, work: left.append(work))
    worlds.get("default").reset()
    assert sorted(rows(store).values()) == [0, 5]
    left[0]()
    assert rows(store) == {"default": 0}


def test_what_was_left_of_a_world_goes_at_the_next_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bank.state"
    with closing(Store(path)) as store:
        filled(worlds_of(store))
        monkeypatch.setattr(store, "beside", lambda name, work: None)
        store.drop("default")
        assert list(rows(store).values()) == [5]
    with closing(Store(path)) as store:
        assert rows(store) == {}


def test_a_name_that_one_bit_changed_is_damage_and_removes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bank.state"
    with closing(Store(path)) as store:
        worlds_of(store).get("zoe")
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE worlds SET name = '~oe' WHERE name = 'zoe'")
        database.commit()
    with closing(Store(path)) as store:
        with pytest.raises(StateFileError, match="not as it was written"):
            worlds_of(store)
        assert set(rows(store)) == {"default", "~oe"}


def test_removing_a_world_leaves_the_others(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    worlds.get("other")
    with store.connection.write() as database:
        remove_world(database, worlds.get("other").row)
    assert rows(store) == {"default": 5}


def test_the_wal_is_written_out_beside_the_calls(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "COMMITS", 3)
    monkeypatch.setattr(wal, "PAGES_MAX", 0)
    filled(worlds_of(store))
    wait_for_threads("wal")
    with store.connection.read() as database:
        assert database.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
        busy, pages, moved = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert (busy, pages) == (0, moved)
    assert store.path.stat().st_size > 50_000


# Memory


def test_an_export_has_every_act_of_the_file_once(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    log = worlds.get("default").log
    lines = [line_of(act_line(number, act)) for number, act in enumerate(log, 1)]
    assert list(exported(worlds.get("default")))[1 : 1 + len(lines)] == lines
    early, late = log.first(4), log.first(len(log))
    assert [len(early), len(list(early)), len(late)] == [4, 4, 5]
    assert len(late.until(read_instant(MORNING))) == 5 and len(late.until(read_instant(MORNING) - DAY)) == 0


def test_registers_of_a_bank_that_went_are_emptied_and_those_in_use_are_not() -> None:
    worlds = worlds_of(None)
    filled(worlds)
    world = worlds.get("default")
    used, journal = world.bank, world.bank.journal
    world.reset()
    assert len(used.payments) == 5
    del used
    gc.collect()
    wait_for_threads("release")
    assert journal == []
    assert len(world.bank.accounts) > 5


def test_a_register_of_plain_values_stays_known_to_the_collector() -> None:
    register = Register[tuple[str, ...], tuple[str, ...]]()
    plain: dict[tuple[str, ...], tuple[str, ...]] = {}
    for kept in (register, plain):
        kept[tuple("ab")] = tuple("c")  # made here: constants of a module may be set aside from the collector
    gc.collect()
    assert gc.is_tracked(register) and not gc.is_tracked(plain)
    assert isinstance(worlds_of(None).get("default").bank.references, Register)


# Others meanwhile


def test_a_world_is_made_while_another_one_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = worlds_of(None)
    begun, goes_on = threading.Event(), threading.Event()
    fork = type(worlds.get("default")).fork

    def wait(*given: Any) -> Any:
        begun.set()
        assert goes_on.wait(10)
        return fork(*given)

    monkeypatch.setattr(type(worlds.get("default")), "fork", wait)
    threads = [
        threading.Thread(target=worlds.fork, args=("default", "a", None)),
        threading.Thread(target=worlds.get, args=("a",)),
    ]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    assert worlds.get("b").name == "b"
    assert threads[1].is_alive()  # it waits for the world that it calls
    goes_on.set()
    for thread in threads:
        thread.join(10)
    assert sorted(world.name for world in worlds.all()) == ["a", "b", "default"]


def test_a_move_in_parts_is_the_same_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paced, "SLICE", 1)
    filled(worlds := worlds_of(None)).advance("40d")
    world = worlds.get("default")
    beginning = replace(world.beginning, at=world.opening)
    assert state_hash(replayed(beginning, world.log, world.bank.clock.now)) == world.ask(state_hash)


def test_a_part_of_a_move_ends_between_two_instants() -> None:
    worlds = worlds_of(None)
    filled(worlds)

    def move(bank: Bank) -> list[bool]:
        until, done = bank.clock.now + DAY, list[bool]()
        while not (done and done[-1]):
            done.append(timeline.advance_some(bank, until, 1))
            due = bank.agenda.next_at
            assert due is None or due > bank.clock.now
        assert bank.clock.now == until
        return done

    assert 1 < len(worlds.get("default").ask(move)) < 5
