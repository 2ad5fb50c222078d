"""A bank answers with what its state has: an act that could not be written did not happen, and a read waits for the
write that comes before it."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from click.testing import CliRunner
from psycopg import errors

from sandbox.banking.durations import read_instant
from sandbox.cli import main
from sandbox.storage import sqlite_database
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.database import Database
from sandbox.storage.marks import LogHead
from sandbox.storage.postgres_database import PostgresTransaction
from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from tests.conftest import MORNING
from tests.tpp import refused
from tests.worlds.places import rows
from tests.worlds.tenancy import ON_A_FILE, Server, lived


class Failing:
    """In place of the commit of a transaction that writes acts or notes: commits it, fails, or waits first."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self.inside, self.goes_on = Event(), Event()
        self.goes_on.set()
        if isinstance(server.store.database, SqliteDatabase):
            self._full: Exception = sqlite3.OperationalError("database or disk is full")
            place: tuple[type, str] = (SqliteDatabase, "_commit")
        else:
            self._full = errors.DiskFull("could not extend file: No space left on device")
            place = (PostgresTransaction, "commit")
        self._commit = getattr(*place)
        monkeypatch.setattr(*place, lambda *given: self(*given))

    def __call__(self, *given: Any) -> None:
        statements = given[-1].writes
        if any("INTO acts" in query or "noted = " in query for query, *_ in statements):
            self.inside.set()
            assert self.goes_on.wait(20)
            if self.is_full:
                raise self._full
        self._commit(*given)


@pytest.fixture
def failing(server: Server, monkeypatch: pytest.MonkeyPatch) -> Failing:
    return Failing(server, monkeypatch)


AT = read_instant(MORNING)


def beside(work: Callable[[], Any], into: list[Any]) -> Thread:
    thread = Thread(target=lambda: into.append(work()))
    thread.start()
    return thread


def is_kept(server: Server) -> bool:
    """Whether the state gives the very banks that are in memory."""
    hashes = {world.name: world.ask(hash_state) for world in server.worlds.list_all()}
    server.store.close()
    again = Server(server.state, machine=server.machine)
    found = {world.name: world.ask(hash_state) for world in again.worlds.list_all()}
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
    failing.is_full = True
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


def test_what_could_not_be_written_did_not_happen_and_the_bank_goes_on_from_there(
    server: Server, failing: Failing
) -> None:
    tpp = server.tpp()
    ids = lived(tpp)
    before = server.worlds.get("default").ask(hash_state)
    failing.is_full = True
    assert tpp.initiate().status_code == 503
    assert [row["payment_id"] for row in tpp.listed("payments")] == ids
    assert server.worlds.get("default").ask(hash_state) == before
    failing.is_full = False
    ids += lived(tpp)
    assert [row["payment_id"] for row in tpp.listed("payments")] == ids
    assert is_kept(server)


def test_a_clock_and_faults_that_could_not_be_written_stay_as_they_were(server: Server, failing: Failing) -> None:
    tpp = server.tpp()
    assert (
        tpp.control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 500}).status_code == 201
    )
    before = [tpp.control("GET", path).json for path in ("/clock", "/faults")]
    failing.is_full = True
    assert tpp.control("POST", "/clock", advance="1h").status_code == 503
    assert tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}).status_code == 503
    assert tpp.http.delete("/_sandbox/faults").status_code == 503
    assert tpp.http.post("/token").status_code == 503  # which the fault rule counted
    assert [tpp.control("GET", path).json for path in ("/clock", "/faults")] == before
    failing.is_full = False
    assert tpp.http.delete("/_sandbox/faults").status_code == 204
    assert tpp.control("GET", "/faults").json == {"faults": []}
    assert is_kept(server)


def test_an_act_that_follows_from_a_lost_one_is_lost_with_it(server: Server, failing: Failing) -> None:
    failing.goes_on.clear()
    failing.is_full = True
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
    failing.is_full = False
    server.tpp().initiated()
    assert is_kept(server)


def test_what_other_rooms_keep_of_a_world_stays_when_an_act_could_not_be_written(
    server: Server, failing: Failing
) -> None:
    tpp = server.tpp()
    lived(tpp)
    before = len(tpp.listed("requests"))
    failing.is_full = True
    assert tpp.initiate().status_code == 503
    assert tpp.control("GET", "/referee").status_code == 200
    assert len(tpp.listed("requests")) == before + 1


@ON_A_FILE
def test_a_world_that_cannot_be_dropped_stays(server: Server) -> None:
    server.tpp("one").initiated()
    database = server.store.database
    assert isinstance(database, SqliteDatabase)
    database._connection.execute("PRAGMA query_only = ON")
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 503
    assert len(server.tpp("one").listed("payments")) == 1
    database._connection.execute("PRAGMA query_only = OFF")
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 204


def test_a_checkpoint_of_acts_that_are_not_in_the_log_is_not_kept(server: Server) -> None:
    world = server.worlds.get("default")
    server.tpp().initiated()
    row = server.store.find("default")
    assert row is not None
    head, checkpoints = LogHead(row.acts, row.head), Checkpoints(server.store)
    checkpoints.write(world.row, head._replace(mark=head.mark + 1), AT, "shape", [b"another life"])
    assert checkpoints.read(world.row, "shape") is None
    checkpoints.write(world.row, head, AT, "shape", [b"this ", b"life"])
    assert checkpoints.read(world.row, "shape") == (head, AT, b"this life")


def test_two_servers_that_write_a_checkpoint_of_the_same_acts_do_not_disturb_each_other(server: Server) -> None:
    world = server.worlds.get("default")
    server.tpp().initiated()
    row = server.store.find("default")
    assert row is not None
    head, ours, theirs = LogHead(row.acts, row.head), Checkpoints(server.store), Checkpoints(server.store)

    def pieces() -> Iterator[bytes]:
        yield b"our "
        theirs.write(world.row, head, AT, "shape", [b"their ", b"life"])
        yield b"life"

    ours.write(world.row, head, AT, "shape", pieces())
    assert ours.read(world.row, "shape") == theirs.read(world.row, "shape") == (head, AT, b"their life")
    assert server.store.notes == []
    assert rows(server.state, "SELECT count(*) FROM pieces") == [(2,)]


def test_two_checkpoints_of_a_world_that_end_together_leave_the_later_one(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = server.worlds.get("default")
    heads = []
    for _ in range(2):
        server.tpp().initiated()
        row = server.store.find("default")
        assert row is not None
        heads.append(LogHead(row.acts, row.head))
    earlier, later = heads
    checkpoints, is_there = Checkpoints(server.store), Checkpoints._is_there
    threads: list[Thread] = []

    def look(database: Any, name: int, head: LogHead, shape: str) -> bool:
        """The earlier checkpoint has read what is there, and has not written yet, when the later one ends."""
        seen = is_there(database, name, head, shape)
        if head == earlier and not isinstance(database, Database) and not threads:
            later_write = partial(Checkpoints(server.store).write, world.row, later, AT, "shape", [b"later"])
            threads.append(Thread(target=later_write))
            threads[0].start()
            threads[0].join(0.2)
        return seen

    monkeypatch.setattr(Checkpoints, "_is_there", staticmethod(look))
    checkpoints.write(world.row, earlier, AT, "shape", [b"earlier"])
    threads[0].join()
    assert checkpoints.read(world.row, "shape") == (later, AT, b"later")
    assert server.store.notes == []


# Another program's lock


@contextmanager
def locked(path: Path | str) -> Iterator[sqlite3.Connection]:
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
    monkeypatch.setattr(sqlite_database, "LOCK_WAITS", 0.05)
    server = Server(path)
    ids = lived(server.tpp())
    with locked(path):
        for _ in range(3):
            assert refused(server.tpp().initiate(), 503, "SBX-0503-000001")
        assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
        assert refused(server.tpp().control("GET", "/health"), 503, "SBX-0503-000003", "locked")
    assert server.tpp().control("GET", "/health").get_json()["status"] == "ready"  # without an act in between
    ids.append(server.tpp().initiated())
    assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
    assert is_kept(server)


# A file that is deleted, moved or replaced


def gone(server: Server, why: str) -> bool:
    """Whatever is asked."""
    tpp = server.tpp()
    assert refused(tpp.control("GET", "/health"), 503, "SBX-0503-000003", why)
    assert tpp.control("GET", "/payments").status_code == 503
    assert tpp.control("POST", "/clock", advance="1h").status_code == 503
    return refused(tpp.initiate(), 503, "SBX-0503-000001")


@ON_A_FILE
@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_file_that_is_deleted_is_noticed_at_the_next_call(server: Server, end: str) -> None:
    server.tpp().initiated()
    Path(f"{server.store.path}{end}").unlink()
    assert gone(server, f"bank.state{end} was deleted or moved while it was in use")


@ON_A_FILE
def test_a_write_notices_at_once(server: Server) -> None:
    Path(server.store.path).unlink()
    assert refused(server.tpp().initiate(), 503, "SBX-0503-000001")


@ON_A_FILE
def test_a_file_that_is_replaced_is_noticed_and_the_same_one_taken_back(server: Server) -> None:
    ids = lived(server.tpp())
    path = Path(server.store.path)
    away = path.with_name("away")
    path.rename(away)
    shutil.copy(away, path)
    assert gone(server, "bank.state was replaced while it was in use")
    away.rename(path)
    assert server.tpp().control("GET", "/health").get_json()["status"] == "ready"
    ids += lived(server.tpp())
    assert [row["payment_id"] for row in server.tpp().listed("payments")] == ids
    assert is_kept(server)


# Durability


@pytest.mark.parametrize("sync, pragma", [("normal", 1), ("full", 2)])
def test_how_far_an_answer_waits_for_the_disk_can_be_chosen(path: Path, sync: Any, pragma: int) -> None:
    with closing(open_store(path, sync=sync)) as store:
        assert store.database.select("PRAGMA synchronous") == [(pragma,)]


def test_another_word_for_it_is_refused() -> None:
    outcome = CliRunner().invoke(main, ["serve", "--sync", "off"])
    assert outcome.exit_code == 2 and "'off' is not one of 'normal', 'full'" in outcome.output
