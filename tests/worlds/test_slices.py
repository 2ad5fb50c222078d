"""What is large is written, read, removed and given back in slices, so that no call waits for all of it."""

import gc
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.app import assemble, make_first_beginning
from sandbox.bank import timeline
from sandbox.bank.bounded_registers import TrackedDict
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.contract.errors import Refusal
from sandbox.machine import machine_time
from sandbox.storage import checkpoint, long_work
from sandbox.storage import store as store_module
from sandbox.storage.format import StateFileError
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Store, open_store
from sandbox.storage.transfer.exporter import act_line, export_lines
from sandbox.storage.transfer.form import encode_line
from sandbox.worlds import clock_moves
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import StoredActs, replay
from sandbox.worlds.world import World
from tests.conftest import MORNING
from tests.threads import wait_for_threads
from tests.tpp import Tpp

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(checkpoint, "SLICE", 2)
    monkeypatch.setattr(long_work, "SMALL", 0)


@pytest.fixture
def store(state: Path | str) -> Iterator[Store]:
    with closing(open_store(state)) as made:
        yield made


def worlds_of(store: Store | None) -> WorldRegistry:
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time, store)


def filled(worlds: WorldRegistry, payments: int = 5) -> Tpp:
    tpp = Tpp(assemble(worlds))
    for _ in range(payments):
        tpp.initiated()
    return tpp


def acts_of_worlds(store: Store) -> dict[str, int]:
    """How many acts each world has, by its name."""
    query = "SELECT name, (SELECT count(*) FROM acts WHERE acts.world = worlds.id) FROM worlds"
    return dict(store.database.select(query))


def all_acts(store: Store) -> int:
    """Also of worlds that are no more, or not yet."""
    ((acts,),) = store.database.select("SELECT count(*) FROM acts")
    return int(acts)


# What is stored


def test_a_fork_is_stored_in_slices_and_whole(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    worlds.fork("default", "other", None)
    assert acts_of_worlds(store) == {"default": 5, "other": 5}
    hashed = worlds.get("other").ask(hash_state)
    again = worlds_of(store)
    assert again.get("other").ask(hash_state) == hashed == again.get("default").ask(hash_state)


def test_a_fork_that_cannot_be_stored_whole_is_not_there_and_its_rows_are_removed_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    transaction, taken = store.database.transaction, 0

    def fail_at_the_fourth() -> Any:
        nonlocal taken
        taken += 1
        if taken == 4:  # the last one, which would name the world
            raise StateFileError("the disk is full")
        return transaction()

    monkeypatch.setattr(store.database, "transaction", fail_at_the_fourth)
    with pytest.raises(StateFileError):
        worlds.fork("default", "other", None)
    assert (acts_of_worlds(store), all_acts(store)) == ({"default": 5}, 9)
    with pytest.raises(Refusal):
        worlds.find("other")
    store.sweep()
    assert all_acts(store) == 9  # another server may still be making it
    store.sweep(all_of_them=True)
    assert all_acts(store) == 5
    assert worlds.fork("default", "other", None).name == "other"


def test_a_large_world_that_is_dropped_is_gone_at_once_and_removed_beside(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    left = list[Any]()
    monkeypatch.setattr(store, "run_in_background", lambda name, work: left.append(work))
    worlds.get("default").reset()
    assert (acts_of_worlds(store), all_acts(store)) == ({"default": 0}, 5)
    left[0]()
    assert all_acts(store) == 0


def test_what_was_left_of_a_world_of_a_file_goes_at_the_next_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(path)) as store:
        filled(worlds_of(store))
        monkeypatch.setattr(store, "run_in_background", lambda name, work: None)
        store.drop("default")
        assert (acts_of_worlds(store), all_acts(store)) == ({}, 5)
    with closing(open_store(path)) as store:
        assert all_acts(store) == 0


def test_removing_a_world_leaves_the_others(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    Tpp(assemble(worlds), "other").initiated()
    worlds.drop("other")
    wait_for_threads("sweep")
    assert (acts_of_worlds(store), all_acts(store)) == ({"default": 5}, 5)


def test_the_acts_of_a_store_are_read_in_slices_each_once(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    log = worlds.get("default").log
    assert isinstance(log, StoredActs)
    assert len(log) == len(list(log)) == len({act.arguments for act in log}) == 5
    assert len(log.copy_until(read_instant(MORNING))) == 5 and len(log.copy_until(read_instant(MORNING) - DAY)) == 0


def test_an_export_has_every_act_of_the_store_once(store: Store) -> None:
    worlds = worlds_of(store)
    filled(worlds)
    lines = [encode_line(act_line(number, act)) for number, act in enumerate(worlds.get("default").log, 1)]
    assert len(lines) == 5 and list(export_lines(worlds.get("default")))[1 : 1 + len(lines)] == lines


# Memory


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
    register = TrackedDict[tuple[str, ...], tuple[str, ...]]()
    plain: dict[tuple[str, ...], tuple[str, ...]] = {}
    for kept in (register, plain):
        kept[tuple("ab")] = tuple("c")  # made here: constants of a module may be set aside from the collector
    gc.collect()
    assert gc.is_tracked(register) and not gc.is_tracked(plain)
    assert isinstance(worlds_of(None).get("default").bank.references, TrackedDict)


# Others meanwhile


def test_a_world_is_made_while_another_one_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = worlds_of(None)
    begun, goes_on = threading.Event(), threading.Event()

    snapshot = World.snapshot

    def wait(*given: Any) -> Any:
        begun.set()
        assert goes_on.wait(10)
        return snapshot(*given)

    monkeypatch.setattr(World, "snapshot", wait)
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
    assert sorted(world.name for world in worlds.list_all()) == ["a", "b", "default"]


def test_a_move_in_parts_is_the_same_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_moves, "EVENTS_AT_ONCE", 1)
    filled(worlds := worlds_of(None)).advance("40d")
    world = worlds.get("default")
    beginning = replace(world.beginning, at=world.opening)
    assert hash_state(replay(beginning, world.log, world.bank.clock.now)) == world.ask(hash_state)


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
