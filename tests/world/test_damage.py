"""A state file that is damaged is told, wherever the damage is; and one that is whole is not."""

import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from sandbox.world.log import checkpoint, place
from sandbox.world.log.marks import Head, MarkError, act_mark, demand_chain, mark_of
from sandbox.world.log.store import StateFileError, Store
from tests.world import damage
from tests.world.killed import initiate, worlds_of
from tests.world.places import change
from tests.world.tenancy import Server
from tests.world.test_harm import beside, elsewhere, paid_and_killed

ACTS = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bank.state"


@pytest.fixture
def lived(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with acts before and after a checkpoint."""
    monkeypatch.setattr(checkpoint, "EVERY", 5)
    store = Store(path)
    world = worlds_of(store).get("default")
    for number in range(ACTS):
        initiate(world, number)
        for thread in store._beside:
            thread.join()
    store.close()
    return path


def opened(path: Path) -> None:
    store = Store(path)
    try:
        worlds_of(store).get("default").ask(lambda bank: None)
    finally:
        store.close()


def replaced(path: Path, before: bytes, after: bytes) -> None:
    """The bytes of the file, as a bad disk would change them."""
    content = path.read_bytes()
    assert len(before) == len(after) and before in content
    path.write_bytes(content.replace(before, after))


# Anywhere


def test_no_flipped_bit_and_no_zeroed_block_is_silent() -> None:
    """A share of `make damage`, which does 1,000 flips and 300 blocks."""
    counts = damage.main(flips=90, blocks=30, seed=7)
    assert counts["told"] > 60 and counts["the same"] > 0


@pytest.mark.parametrize(
    "statement, told",
    [
        ("UPDATE worlds SET beginning = replace(beginning, 'alice', 'alicf')", "what its world 1 begins with"),
        ("UPDATE worlds SET name = 'other'", "what its world 1 begins with"),
        ("UPDATE heads SET pace = replace(pace, '2027', '2028')", "the clock or the faults of its world 1"),
        ("UPDATE heads SET faults = 'null'", "the clock or the faults of its world 1"),
        ("UPDATE heads SET acts = acts - 1", "the number of acts of its world 1"),
        ("DELETE FROM heads", "the number of acts of its world default is missing"),
        ("DELETE FROM worlds", "its heads are of a world 1 that is not there"),
        ("UPDATE about SET program = 'another'", "its tables are not those of version 3"),
        ("UPDATE about SET version = 2", "its tables are not those of version 2"),
        ("CREATE TABLE letters (text)", "its tables are not those of version 3"),
        ("UPDATE acts SET verb = 'payments.cancel' WHERE number = 12", "act 12 of its world 1"),
        ("UPDATE acts SET verb = 'payments.cancel' WHERE number = 2", "act 2 of its world 1"),
        ("UPDATE acts SET given = 7 WHERE number = 3", "act 3 of its world 1"),
        ("DELETE FROM acts WHERE number = 12", "after act 11 of its world default acts are missing"),
        ("DELETE FROM acts WHERE number = 1", "act 1 of its world 1"),
        ("INSERT INTO acts SELECT world, 13, at, verb, given, made, mark FROM acts WHERE number = 12", "more acts"),
    ],
)
def test_what_changed_or_went_missing_in_a_table_is_told_and_the_file_left_as_it_is(
    lived: Path, statement: str, told: str
) -> None:
    change(lived, statement)
    before = beside(lived)
    with pytest.raises(StateFileError, match=told):
        opened(lived)
    assert beside(lived) == before


def test_a_balance_that_changed_in_the_bytes_of_the_file_is_told(lived: Path) -> None:
    replaced(lived, b"Alice", b"Alicf")
    with pytest.raises(StateFileError, match="damaged"):
        opened(lived)


def test_a_whole_file_is_silent(lived: Path) -> None:
    with closing(Store(lived)) as store:
        worlds_of(store).get("default").ask(lambda bank: None)
        assert (store.connection.notes, store.connection.unready, store.progress) == ([], None, None)


# The chain


def chain() -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    mark = 5
    for number in (1, 2, 3):
        mark = act_mark(mark, number, "2027", "verb", b"[1]", 4)
        rows.append((1, number, "2027", "verb", b"[1]", 4, mark))
    return rows


def test_each_act_of_a_chain_follows_from_the_one_before() -> None:
    *_, row = demand_chain(chain(), Head(0, 5))
    assert row.head == Head(3, row.mark)


@pytest.mark.parametrize(
    "harm",
    [
        lambda rows: rows.pop(0),
        lambda rows: rows.pop(1),
        lambda rows: rows.insert(1, rows[0]),
        lambda rows: rows.__setitem__(1, (*rows[1][:5], 5, rows[1][6])),
        lambda rows: rows.__setitem__(1, (*rows[1][:4], "[1]", *rows[1][5:])),
        lambda rows: rows.__setitem__(1, (1, "2", *rows[1][2:])),
    ],
)
def test_a_chain_with_a_link_that_is_missing_changed_or_of_another_kind_is_refused(
    harm: Callable[[list[tuple[object, ...]]], None],
) -> None:
    rows = chain()
    harm(rows)
    with pytest.raises(MarkError):
        list(demand_chain(rows, Head(0, 5)))


def test_a_mark_tells_kinds_apart() -> None:
    values = ("1", 1, b"1", None, "None")
    assert len({mark_of(value) for value in values}) == len(values)
    assert mark_of("ab", "c") != mark_of("a", "bc")


# Earlier acts, which are checked beside the calls where they are many


def test_earlier_acts_of_a_large_file_are_checked_beside_the_calls_and_health_says_so(
    lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, ended = Event(), Event()
    work = place.Reader._work_through

    def slow(self: place.Reader, parts: list[place.Part]) -> None:
        goes_on.wait(10)
        work(self, parts)
        ended.set()

    monkeypatch.setattr(place, "AT_START_MAX", 3)
    monkeypatch.setattr(place.Reader, "_work_through", slow)
    server = Server(lived)
    health = server.tpp().control("GET", "/health")
    assert (health.status_code, health.json) == (200, {"status": "ready", "state_file": {"acts": 10, "checked": 0}})
    goes_on.set()
    assert ended.wait(10)
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    server.store.close()


def test_a_damaged_earlier_act_of_a_large_file_is_told_by_health(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "AT_START_MAX", 3)
    change(lived, "UPDATE acts SET verb = 'payments.cancel' WHERE number = 2")
    server = Server(lived)
    for thread in server.store._beside:
        thread.join()
    health = server.tpp().control("GET", "/health")
    assert health.status_code == 503 and "act 2 of its world 1" in health.get_json()["error_description"]
    assert server.tpp().control("GET", "/health?live").status_code == 200
    assert server.tpp().control("GET", "/export").status_code == 503
    server.store.close()


def test_a_world_that_is_dropped_while_it_is_checked_is_no_damage(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = Event()
    work = place.Reader._work_through

    def slow(self: place.Reader, parts: list[place.Part]) -> None:
        goes_on.wait(10)
        work(self, parts)

    monkeypatch.setattr(place, "AT_START_MAX", 3)
    monkeypatch.setattr(place.Reader, "_work_through", slow)
    server = Server(lived)
    assert server.tpp().control("POST", "/reset").status_code == 200
    goes_on.set()
    for thread in server.store._beside:
        thread.join()
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    server.store.close()


def test_a_damaged_checkpoint_is_told_and_not_used(lived: Path) -> None:
    change(lived, "UPDATE pieces SET content = zeroblob(length(content))")
    server = Server(lived)
    notes = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert notes == ["the checkpoint of its world 1 is damaged and is not used: all acts are done again"]
    assert len(server.tpp().listed("payments")) == ACTS
    server.store.close()


# Calls and findings


@pytest.fixture
def called(path: Path) -> Path:
    """A file with calls of a world beside the default one."""
    server = Server(path)
    for _ in range(ACTS):
        assert server.tpp("w").initiate().status_code == 201
    server.store.close()
    return path


OF_CALLS = "UPDATE pieces SET content = {} WHERE acts = -1"
OTHER_KINDS = ("CAST(x'80ff' AS TEXT)", "'text'", "CAST(content AS TEXT)", "7", "1.5", "x''")


@pytest.mark.parametrize("kind", OTHER_KINDS)
@pytest.mark.parametrize("statement", [OF_CALLS, "UPDATE aside SET content = {}", "UPDATE aside SET mark = {}"])
def test_calls_of_another_kind_are_told_once_and_their_world_goes_on(
    called: Path, statement: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    change(called, statement.format(kind if "SET content" in statement else kind.replace("content", "mark + 1")))
    server = Server(called)
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    assert [reply.status_code for reply in (server.tpp("w").initiate(), server.tpp("w").initiate())] == [201, 201]
    (note,) = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert note.startswith("the calls and findings of its world 2 are damaged and are not used: ")
    assert [row.getMessage() for row in caplog.records if row.name == "sandbox"] == [f"{called}: {note}"]
    assert len(server.tpp("w").listed("payments")) == ACTS + 2
    server.store.close()


def test_after_calls_that_were_damaged_new_ones_are_kept(called: Path) -> None:
    change(called, OF_CALLS.format("'text'"))
    server = Server(called)
    server.tpp("w").initiate()
    server.store.close()
    again = Server(called)
    assert len(again.tpp("w").listed("requests")) == 1
    assert again.tpp().control("GET", "/health").json == {"status": "ready"}
    again.store.close()


# What is found once calls are answered


LATE = [
    ("UPDATE acts SET verb = 'payments.cancel' WHERE world = 2 AND number = 2", "act 2 of its world 2"),
    ("UPDATE acts SET given = CAST(x'80' AS TEXT) WHERE world = 2 AND number = 3", "act 3 of its world 2"),
]


@pytest.mark.parametrize(("statement", "told"), LATE)
def test_damage_that_a_call_finds_is_one_line_and_stands_in_health(
    called: Path, statement: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(called)
    server.store.connection.database.execute(statement)
    server.store.connection.database.execute("DELETE FROM checkpoints")
    for _ in range(2):
        assert server.tpp("w").initiate().status_code == 503
    assert server.tpp().initiate().status_code == 201
    (line,) = [row.getMessage() for row in caplog.records if row.name == "sandbox"]
    assert told in line and str(called) in line
    health = server.tpp().control("GET", "/health")
    assert health.status_code == 503 and told in health.get_json()["error_description"]
    server.store.close()


def test_an_act_that_no_longer_plays_is_damage_too(
    called: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*given: object) -> None:
        raise KeyError("of a mistake")

    server = Server(called)
    monkeypatch.setattr("sandbox.world.log.stored_log.play", fail)
    assert server.tpp("w").initiate().status_code == 503
    (line,) = [row.getMessage() for row in caplog.records if row.name == "sandbox"]
    assert "its world w cannot be read" in line
    assert "its world w cannot be read" in server.tpp().control("GET", "/health").get_json()["error_description"]
    server.store.close()


def test_damage_that_is_found_beside_the_start_is_told_when_it_is_over(
    lived: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(place, "AT_START_MAX", 3)
    monkeypatch.setattr(Store, "beside", lambda store, name, work: work())
    change(lived, "UPDATE acts SET verb = 'payments.cancel' WHERE number = 2")
    server = Server(lived)
    (line,) = [row.getMessage() for row in caplog.records if row.name == "sandbox"]
    assert "act 2 of its world 1" in line
    server.store.close()


@pytest.mark.parametrize("column", ["beginning", "name"])
def test_a_text_that_is_none_is_told_at_the_start(lived: Path, column: str) -> None:
    change(lived, f"UPDATE worlds SET {column} = CAST(x'80ff' AS TEXT)")
    with pytest.raises(StateFileError, match="what its world 1 begins with"):
        opened(lived)


def test_a_checkpoint_of_another_kind_is_told_and_not_used(lived: Path) -> None:
    change(lived, "UPDATE pieces SET content = CAST(x'80ff' AS TEXT)")
    server = Server(lived)
    (note,) = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert note == "the checkpoint of its world 1 is damaged and is not used: all acts are done again"
    assert len(server.tpp().listed("payments")) == ACTS
    server.store.close()


# The end of a WAL


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "bank.state"
    assert elsewhere(paid_and_killed, path) == -signal.SIGKILL
    return path


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    """Its acts are in the WAL alone."""
    return damage.copied(killed_once, tmp_path)


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def test_a_killed_server_leaves_nothing_to_tell(killed: Path) -> None:
    server = Server(killed)
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    assert len(server.tpp().listed("payments")) == ACTS
    server.store.close()


@pytest.mark.parametrize("lost", [2_000, 4_100])
def test_a_last_write_that_was_not_finished_is_told(killed: Path, lost: int) -> None:
    os.truncate(wal_of(killed), wal_of(killed).stat().st_size - lost)
    server = Server(killed)
    notes = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert notes == [
        "its last write was not finished, or the end of bank.state-wal is damaged: what that held is left out"
    ]
    assert len(server.tpp().listed("payments")) == ACTS - 1
    server.store.close()


def test_a_hole_in_the_wal_is_refused_and_unharmed(killed: Path) -> None:
    content = bytearray(wal_of(killed).read_bytes())
    content[len(content) // 2] ^= 1
    wal_of(killed).write_bytes(content)
    before = beside(killed)
    with pytest.raises(StateFileError, match=r"bank.state-wal has a hole after \d+ of its pages"):
        opened(killed)
    assert beside(killed) == before


def test_a_wal_whose_own_first_bytes_changed_is_refused(killed: Path) -> None:
    content = bytearray(wal_of(killed).read_bytes())
    content[17] ^= 1
    wal_of(killed).write_bytes(content)
    with pytest.raises(StateFileError, match="the first bytes of its WAL"):
        opened(killed)


def test_a_file_that_disowns_its_wal_is_refused(killed: Path) -> None:
    content = bytearray(killed.read_bytes())
    content[18:20] = b"\x01\x01"
    killed.write_bytes(content)
    with pytest.raises(StateFileError, match="does not use the WAL"):
        opened(killed)


def test_frames_of_an_earlier_use_of_the_wal_are_no_damage(path: Path) -> None:
    """A WAL is written again from its start, over frames that may be more."""
    assert elsewhere(paid_checkpointed_and_killed, path) == -signal.SIGKILL
    server = Server(path)
    assert server.tpp().control("GET", "/health").json == {"status": "ready"}
    assert len(server.tpp().listed("payments")) == ACTS + 1
    server.store.close()


def test_what_a_cut_off_write_leaves_behind_later_ones_is_no_hole(killed: Path, tmp_path: Path) -> None:
    """Killed in the midst of a write, then written by a program that does not begin the WAL anew, then killed again."""
    os.truncate(wal_of(killed), wal_of(killed).stat().st_size - 4_120)  # the frame that would have ended it
    later = tmp_path / "later"
    later.mkdir()
    with closing(sqlite3.connect(killed, isolation_level=None)) as database:
        database.execute("PRAGMA wal_autocheckpoint = 0")
        before = wal_of(killed).stat().st_size
        database.execute("UPDATE about SET program = program")
        assert wal_of(killed).stat().st_size == before  # over the first of the frames that are left
        path = damage.copied(killed, later)
    server = Server(path)
    assert len(server.tpp().listed("payments")) == ACTS - 1
    server.store.close()


def paid_checkpointed_and_killed(path: Path) -> None:
    store = Store(path)
    world = worlds_of(store).get("default")
    for number in range(ACTS):
        initiate(world, number)
    store.connection.database.execute("PRAGMA wal_checkpoint(RESTART)")
    initiate(world, ACTS)
    os.kill(os.getpid(), signal.SIGKILL)
