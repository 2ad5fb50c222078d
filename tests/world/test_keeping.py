"""A bank answers with what its state file keeps: what could not be written is undone, and reads
wait for what is not written yet."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.world.log import connection
from sandbox.world.log.postgres_line import DatabaseError
from sandbox.world.log.state_hash import state_hash
from sandbox.world.log.store import Store
from tests.tpp import refused
from tests.world.tenancy import ON_A_FILE, Server, lived


class Failing:
    """Stands where rows are written: writes them, fails, or waits first."""

    def __init__(self, server: Server) -> None:
        self.writer, self.is_shared = server.store.writer, server.store.is_shared
        self.of = self.writer._write
        self.error: sqlite3.Error | None = None
        self.inside, self.goes_on = Event(), Event()
        self.goes_on.set()

    def __call__(self, *given: Any) -> None:
        self.inside.set()
        assert self.goes_on.wait(20)
        if self.error is not None:
            raise DatabaseError("no space left on device") if self.is_shared else self.error
        self.of(*given)


@pytest.fixture
def failing(server: Server, monkeypatch: pytest.MonkeyPatch) -> Failing:
    made = Failing(server)
    monkeypatch.setattr(server.store.writer, "_write", made)
    return made


FULL = sqlite3.OperationalError("database or disk is full")


def beside(work: Callable[[], Any], into: list[Any]) -> Thread:
    thread = Thread(target=lambda: into.append(work()))
    thread.start()
    return thread


def is_kept(server: Server) -> bool:
    """Whether the file gives the very banks that are in memory."""
    hashes = {world.name: world.ask(state_hash) for world in server.worlds.all()}
    server.store.close()
    again = Server(server.state, machine=server.machine)
    found = {world.name: world.ask(state_hash) for world in again.worlds.all()}
    again.store.close()
    return found == hashes


# Reads


@pytest.mark.parametrize("what", ["/payments", "/clock", "/journal", "/faults", "/timeline"])
def test_a_read_waits_for_the_write_on_which_it_depends(server: Server, failing: Failing, what: str) -> None:
    failing.goes_on.clear()
    replies: list[Any] = []
    writes = beside(server.tpp().initiate, replies)
    assert failing.inside.wait(20)
    shown: list[Any] = []
    reads = beside(lambda: server.tpp().control("GET", what), shown)
    reads.join(0.1)
    assert shown == [] and replies == []
    failing.goes_on.set()
    writes.join()
    reads.join()
    assert (replies[0].status_code, shown[0].status_code) == (201, 200)


def test_a_read_of_another_world_waits_for_nothing(server: Server, failing: Failing) -> None:
    server.tpp("other").initiated()
    failing.inside.clear()
    failing.goes_on.clear()
    replies: list[Any] = []
    writes = beside(server.tpp().initiate, replies)
    assert failing.inside.wait(20)
    assert len(server.tpp("other").listed("payments")) == 1
    failing.goes_on.set()
    writes.join()


def test_a_read_during_a_write_that_fails_tells_nothing_of_it(server: Server, failing: Failing) -> None:
    failing.goes_on.clear()
    failing.error = FULL
    replies: list[Any] = []
    writes = beside(server.tpp().initiate, replies)
    assert failing.inside.wait(20)
    shown: list[Any] = []
    reads = beside(lambda: server.tpp().control("GET", "/payments"), shown)
    reads.join(0.1)
    failing.goes_on.set()
    writes.join()
    reads.join()
    assert replies[0].status_code == 503
    assert shown[0].status_code == 503 or shown[0].json == {"payments": []}
    assert server.tpp().listed("payments") == []


# What could not be written


def test_what_could_not_be_written_is_undone_and_the_bank_goes_on_from_there(server: Server, failing: Failing) -> None:
    tpp = server.tpp()
    ids = lived(tpp)
    before = server.worlds.get("default").ask(state_hash)
    failing.error = FULL
    assert tpp.initiate().status_code == 503
    assert [row["payment_id"] for row in tpp.listed("payments")] == ids
    assert server.worlds.get("default").ask(state_hash) == before
    failing.error = None
    ids += lived(tpp)
    assert [row["payment_id"] for row in tpp.listed("payments")] == ids
    assert is_kept(server)


@ON_A_FILE
def test_faults_and_the_clock_are_undone_too(server: Server, failing: Failing) -> None:
    tpp = server.tpp()
    assert (
        tpp.control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 500}).status_code == 201
    )
    before = [tpp.control("GET", path).json for path in ("/clock", "/faults")]
    failing.error = FULL
    assert tpp.control("POST", "/clock", advance="1h").status_code == 503
    server.store.connection.trouble = None  # so that the next act is tried
    assert tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}).status_code == 503
    server.store.connection.trouble = None
    assert tpp.http.delete("/_sandbox/faults").status_code == 503
    server.store.connection.trouble = None
    assert tpp.http.post("/token").status_code == 503  # which the fault rule counted
    assert [tpp.control("GET", path).json for path in ("/clock", "/faults")] == before
    failing.error = None
    assert tpp.http.delete("/_sandbox/faults").status_code == 204
    assert tpp.control("GET", "/faults").json == {"faults": []}
    assert is_kept(server)


def test_an_act_that_follows_from_a_lost_one_is_lost_with_it(server: Server, failing: Failing) -> None:
    failing.goes_on.clear()
    failing.error = FULL
    replies: list[Any] = []
    first = beside(server.tpp().initiate, replies)
    assert failing.inside.wait(20)
    later = [beside(server.tpp().initiate, replies) for _ in range(3)]
    for thread in later:
        thread.join(0.1)
    failing.goes_on.set()
    for thread in (first, *later):
        thread.join()
    assert [reply.status_code for reply in replies] == [503] * 4
    assert server.tpp().listed("payments") == []
    failing.error = None
    server.tpp().initiated()
    assert is_kept(server)


def test_what_other_rooms_keep_of_a_world_stays_when_an_act_is_undone(server: Server, failing: Failing) -> None:
    tpp = server.tpp()
    lived(tpp)
    before = len(tpp.listed("requests"))
    failing.error = FULL
    assert tpp.initiate().status_code == 503
    assert tpp.control("GET", "/referee").status_code == 200
    assert len(tpp.listed("requests")) == before + 1


@ON_A_FILE
def test_a_world_that_cannot_be_dropped_stays(server: Server) -> None:
    server.tpp("one").initiated()
    server.store.connection.database.execute("PRAGMA query_only = ON")
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 503
    assert len(server.tpp("one").listed("payments")) == 1
    server.store.connection.database.execute("PRAGMA query_only = OFF")
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 204


def test_a_checkpoint_of_what_was_lost_is_not_kept(server: Server) -> None:
    world = server.worlds.get("default")
    server.tpp().initiated()
    head = world.log.head  # type: ignore[union-attr]
    server.store.checkpoints.keep(world.row, head._replace(mark=head.mark + 1), "shape", [b"another life"])
    assert server.store.checkpoints.read(world.row, "shape") is None
    server.store.checkpoints.keep(world.row, head, "shape", [b"this ", b"life"])
    assert server.store.checkpoints.read(world.row, "shape") == (head, b"this life")


# Another program's lock


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield other


@ON_A_FILE
def test_a_lock_that_passes_is_waited_for(server: Server) -> None:
    replies: list[Any] = []
    with locked(server.store.path) as other:
        writes = beside(server.tpp().initiate, replies)
        writes.join(0.2)
        assert replies == []
        other.execute("COMMIT")
        writes.join()
    assert replies[0].status_code == 201
    assert is_kept(server)


def test_a_lock_that_stays_is_refused_and_the_bank_goes_on_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAITS", 0.05)
    server = Server(path)
    ids = lived(server.tpp())
    with locked(path):
        for _ in range(3):
            assert refused(server.tpp().initiate(), 503, "SBX-0503-000001")
        assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
        assert refused(server.tpp().control("GET", "/health"), 503, "SBX-0503-000003", "locked")
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}  # without an act in between
    ids.append(server.tpp().initiated())
    assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
    assert is_kept(server)


# A file that is deleted, moved or replaced


class Watch:
    """A stopwatch in a test's hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch(server: Server, monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    monkeypatch.setattr(server.store.connection, "stopwatch", made)
    return made


def gone(server: Server, why: str) -> bool:
    """Whatever is asked."""
    tpp = server.tpp()
    assert refused(tpp.control("GET", "/health"), 503, "SBX-0503-000003", why)
    assert tpp.control("GET", "/payments").status_code == 503
    assert tpp.control("POST", "/clock", advance="1h").status_code == 503
    return refused(tpp.initiate(), 503, "SBX-0503-000001")


@ON_A_FILE
@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_file_that_is_deleted_is_noticed_within_a_second(server: Server, watch: Watch, end: str) -> None:
    server.tpp().initiated()
    Path(f"{server.store.path}{end}").unlink()
    watch.now += 0.9
    assert gone(server, f"bank.state{end} was deleted or moved while it was in use")


@ON_A_FILE
def test_a_write_notices_at_once(server: Server, watch: Watch) -> None:
    server.store.path.unlink()
    assert refused(server.tpp().initiate(), 503, "SBX-0503-000001")
    assert watch.now == 0


@ON_A_FILE
def test_a_file_that_is_replaced_is_noticed_and_the_same_one_taken_back(server: Server, watch: Watch) -> None:
    ids = lived(server.tpp())
    path = server.store.path
    away = path.with_name("away")
    path.rename(away)
    shutil.copy(away, path)
    watch.now += 0.9
    assert gone(server, "bank.state was replaced while it was in use")
    away.rename(path)
    watch.now += 0.9
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    ids += lived(server.tpp())
    assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
    assert is_kept(server)


# Durability


@pytest.mark.parametrize("sync, pragma", [("normal", 1), ("full", 2)])
def test_how_far_an_answer_waits_for_the_disk_can_be_chosen(path: Path, sync: Any, pragma: int) -> None:
    with closing(Store(path, sync=sync)) as store:
        assert store.connection.database.execute("PRAGMA synchronous").fetchone() == (pragma,)


def test_another_word_for_it_is_refused() -> None:
    outcome = CliRunner().invoke(main, ["serve", "--sync", "off"])
    assert outcome.exit_code == 2 and "'off' is not one of 'normal', 'full'" in outcome.output
