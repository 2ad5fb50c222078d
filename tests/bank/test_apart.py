"""A large bank is written down by a copy of the process: its calls wait for the copying alone."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from weakref import finalize

import pytest
from flask import Flask

from sandbox.app import assemble, first_beginning
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.world.log import apart, checkpoint
from sandbox.world.log.checkpoints import Checkpoints
from sandbox.world.log.marks import Head
from sandbox.world.log.memory_log import Act, PiecedList
from sandbox.world.log.state_hash import state_hash, write_hashes
from sandbox.world.log.store import Store, open_store
from sandbox.world.long_work import SHORT, Tended, collector_at_rest, release_pieces
from sandbox.world.registry import Worlds
from sandbox.world.replay import replayed
from sandbox.world.world import World
from tests.conftest import MORNING
from tests.tpp import Tpp

KEPT = 12  # acts


class Circle:
    """Garbage as a call leaves it: only the collector finds it."""

    own: "Circle"


@pytest.fixture(autouse=True)
def _every_bank_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SMALL", 0)


@pytest.fixture
def world(worlds: Worlds) -> World:
    settings = replace(worlds.beginning.settings, acts_kept=KEPT)
    return worlds.make("default", replace(worlds.beginning, settings=settings), replacing=True)


@pytest.fixture
def tpp(world: World, app: Flask) -> Tpp:
    return Tpp(app)


def wait_for_threads(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join()


def children() -> Iterator[int]:
    """Processes of this one that ended, and that nobody asked about."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            yield found[0]


def test_a_copy_writes_the_bank_as_it_was_asked_about(tpp: Tpp, world: World) -> None:
    tpp.initiated()
    before = state_hash(world.bank)
    answer = apart.ask(world.bank, write_hashes)
    assert not answer.is_here
    tpp.initiated()
    assert answer.whole().decode().split()[0] == before != state_hash(world.bank)
    assert list(children()) == []


@pytest.mark.parametrize("size", [0, 1, apart.PIECE - 1, apart.PIECE, apart.PIECE + 1, 3 * apart.PIECE])
def test_an_answer_of_any_length_comes_whole(world: World, size: int) -> None:
    def write(bank: Bank, send: Callable[[bytes], object]) -> None:
        send(b"\n" * size)

    pieces = list(apart.ask(world.bank, write))
    assert b"".join(pieces) == b"\n" * size and max(map(len, pieces)) <= apart.PIECE


def killed(bank: Bank, write: Callable[[bytes], object]) -> None:
    write(b"half")
    os.kill(os.getpid(), 9)


def mistaken(bank: Bank, write: Callable[[bytes], object]) -> None:
    write(b"half")
    raise AssertionError


def endless(bank: Bank, write: Callable[[bytes], object]) -> None:
    threading.Event().wait()


@pytest.mark.parametrize("question", [killed, mistaken])
def test_an_answer_that_was_cut_is_told(world: World, question: apart.Question) -> None:
    with pytest.raises(apart.CutShortError):
        apart.ask(world.bank, question).whole()


def test_where_no_process_can_be_made_the_bank_is_written_down_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fork() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    answer = apart.ask(world.bank, write_hashes)
    assert answer.is_here and answer.whole().decode().split()[0] == state_hash(world.bank)


def test_a_copy_holds_none_of_the_lines_of_its_process(world: World) -> None:
    """Else a caller would wait for the end of a line that was closed, and a port would stay taken."""
    reading, writing = os.pipe()
    answer = apart.ask(world.bank, endless)
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    os.kill(answer.child, 9)
    with pytest.raises(apart.CutShortError):
        answer.whole()


def test_a_log_that_is_compacted_by_a_copy_gives_the_same_bank(tpp: Tpp, world: World) -> None:
    for _ in range(5 * KEPT):
        tpp.initiated()
        tpp.advance("1s")
        wait_for_threads("compaction")
    assert len(list(world.log)) <= KEPT + 2 and len(world.log) == 5 * KEPT
    again = replayed(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)
    assert state_hash(again) == state_hash(world.bank)


def test_a_log_stays_whole_when_its_compaction_is_cut(tpp: Tpp, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "write_packed", killed)
    for _ in range(3 * KEPT):
        tpp.initiated()
        wait_for_threads("compaction")
    assert len(list(world.log)) == 3 * KEPT
    again = replayed(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)
    assert state_hash(again) == state_hash(world.bank)


def test_a_fork_and_an_import_of_a_large_world_are_the_same_bank(worlds: Worlds) -> None:
    app = assemble(worlds)
    tpp = Tpp(app)
    for _ in range(3):
        tpp.control("POST", "/psu/approve", address=tpp.initiate().headers["Location"], customer="alice")
        tpp.advance("30s")
    world = worlds.get("default")
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    assert state_hash(worlds.get("b").bank) == state_hash(world.bank)
    content = tpp.http.get("/_sandbox/export").get_data()
    assert state_hash(world.bank).encode() in content.splitlines()[-1]
    stripped = tpp.http.get("/_sandbox/export?secrets=strip").get_data()
    for number, file in enumerate((content, stripped)):
        assert tpp.http.post(f"/_sandbox/import?as=c{number}", data=file).status_code == 201


def test_a_large_world_starts_from_the_checkpoint_that_a_copy_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    monkeypatch.setattr(apart, "PIECE", 1000)
    beginning = first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    with closing(open_store(tmp_path / "bank.state")) as store:
        worlds = Worlds(beginning, machine_time, store)
        tpp = Tpp(assemble(worlds))
        for _ in range(10):
            tpp.initiated()
            wait_for_threads("checkpoint")
        before, row = worlds.get("default").ask(state_hash), worlds.get("default").row
        found = Checkpoints(store).read(row, checkpoint.shape())
        assert found is not None and found.head.acts == 8 and len(found.bank) > 3000
        ((kept, of),) = store.database.select("SELECT count(*), count(DISTINCT acts) FROM pieces")
        assert kept > 3 and of == 1
    with closing(open_store(tmp_path / "bank.state")) as store:
        monkeypatch.setattr(store, "acts", acts_after(store, 8))
        assert Worlds(beginning, machine_time, store).get("default").ask(state_hash) == before


def acts_after(store: Store, least: int) -> Callable[[int, Head, Head], Iterator[Act]]:
    """The acts of a store, for someone who may only ask for the last ones."""
    acts = store.acts

    def ask(world: int, since: Head, until: Head) -> Iterator[Act]:
        assert since.acts == least
        return acts(world, since, until)

    return ask


def test_acts_that_are_dropped_give_their_memory_back() -> None:
    acts = PiecedList(Act(read_instant(MORNING), "verb", (number,)) for number in range(2_500))
    shared = acts.first(1_000)
    release_pieces(acts.pieces)
    wait_for_threads("release")
    assert acts.pieces == [] and [act.arguments for act in shared] == [(number,) for number in range(1_000)]


def test_garbage_of_calls_does_not_pile_up_while_memory_is_given_back() -> None:
    gone = list[int]()
    was = gc.isenabled()
    gc.disable()  # what is freed outweighs what calls make, so that the collector rests
    try:
        circle = Circle()
        circle.own = circle
        finalize(circle, gone.append, 1)
        del circle
        release_pieces([list(range(500)) for _ in range(5)])
        wait_for_threads("release")
        assert gone == [1]
    finally:
        if was:
            gc.enable()


def test_the_collector_sets_aside_only_what_takes_it_long(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    times = iter([0.0, SHORT / 2, 1.0, 1.0 + 2 * SHORT])
    tended = Tended(lambda: next(times))
    for generation in (0, 1, 2, 2):
        for phase in ("start", "stop"):
            tended(phase, {"generation": generation})
    assert frozen == [1]


def test_a_program_of_somebody_else_keeps_its_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("what it holds is none of our business"))
    with collector_at_rest():
        assert not gc.isenabled()
    assert gc.isenabled()
