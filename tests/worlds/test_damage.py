"""A state that is damaged is told, wherever the damage is; and one that is whole is not."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sandbox.storage import checkpoint
from sandbox.storage.format import DamageError, StateFileError
from sandbox.storage.marks import LogHead, MarkError, act_mark, compute_checksum, demand_chain
from sandbox.storage.store import open_store
from sandbox.worlds.whole_stores import check_worlds
from tests.worlds import damage
from tests.worlds.killed import initiate, worlds_of
from tests.worlds.places import blob, change, rows
from tests.worlds.tenancy import Server

ACTS = 12


@pytest.fixture
def lived(state: Path | str, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    """A place with acts before and after a checkpoint, and with calls."""
    monkeypatch.setattr(checkpoint, "EVERY", 5)
    server = Server(state)
    world = server.worlds.get("default")
    for number in range(ACTS):
        initiate(world, number)
        for thread in server.store._background:
            thread.join()
    server.tpp().status("00000000-0000-4000-8000-000000000000")
    server.store.close()
    return state


def load(state: Path | str) -> list[str]:
    """Reads all of the one world; returns what was noted."""
    with closing(open_store(state)) as store:
        worlds_of(store).get("default").ask(lambda bank: None)
        return store.notes


def edit(state: Path | str, table: str, column: str, before: bytes, after: bytes) -> None:
    """Other bytes in one column of each row that has them."""
    known = [bytes(content) for (content,) in rows(state, f"SELECT {column} FROM {table}") if before in bytes(content)]
    assert known
    for content in known:
        changed = blob(state, content.replace(before, after))
        change(state, f"UPDATE {table} SET {column} = {changed} WHERE {column} = {blob(state, content)}")


# Anywhere in a file


def test_no_flipped_bit_and_no_zeroed_block_is_silent() -> None:
    """A share of `make damage`, which does 1,000 flips and 300 blocks."""
    counts = damage.main(flips=90, blocks=30, seed=7)
    assert counts["told"] > 20 and counts["the same"] > 0 and counts["earlier"] > 0


def test_a_scenario_that_changed_in_the_bytes_of_the_file_is_told(path: Path) -> None:
    with closing(open_store(path)) as store:
        worlds_of(store)
    content = path.read_bytes()
    assert b'"default"' in content
    path.write_bytes(content.replace(b'"default"', b'"defauls"'))
    with pytest.raises(DamageError, match="damaged"):
        load(path)


def test_a_world_that_its_name_does_not_lead_to_is_told_and_none_is_begun_instead(path: Path) -> None:
    """SQLite looks a name up in an index, which no mark covers."""
    with closing(open_store(path)) as store:
        worlds_of(store).get("other")
    with closing(sqlite3.connect(path)) as file:
        ((page,),) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_worlds_2'")
        ((size,),) = file.execute("PRAGMA page_size")
    content = bytearray(path.read_bytes())
    index = content[(page - 1) * size : page * size]
    assert b"other" in index
    content[(page - 1) * size : page * size] = index.replace(b"other", b"othes")
    path.write_bytes(content)
    with pytest.raises(DamageError, match="1 of its worlds cannot be found by their names"):
        open_store(path)


def test_a_last_write_that_was_not_finished_is_left_out(path: Path, tmp_path: Path) -> None:
    """SQLite writes a commit to its log and cannot finish it: nobody was answered."""
    with closing(open_store(path)) as store:
        world = worlds_of(store).get("default")
        for number in range(ACTS):
            initiate(world, number)
        (tmp_path / "killed").mkdir()
        killed = damage.copied(path, tmp_path / "killed")
    wal = killed.with_name(f"{killed.name}-wal")
    os.truncate(wal, wal.stat().st_size - 2_000)
    with closing(open_store(killed)) as store:
        assert len(worlds_of(store).get("default").bank.payments) == ACTS - 1
        assert store.notes == []


# Each table


@pytest.mark.parametrize(
    "statement, told",
    [
        ("UPDATE worlds SET mark = mark + 1", "what its world .* begins with"),
        ("UPDATE worlds SET acts = acts - 1", "the position of its world default"),
        ("UPDATE worlds SET head = head + 1", "the position of its world default"),
        ("UPDATE worlds SET version = version + 1", "the position of its world default"),
        ("UPDATE worlds SET seal = seal + 1", "the position of its world default"),
        ("UPDATE worlds SET until = until + 1", "the position of its world default"),
        ("UPDATE worlds SET id = id + 1", "what its world .* begins with"),
        ("UPDATE acts SET verb = 'payments.cancel' WHERE number = 12", "act 12 of its world"),
        ("UPDATE acts SET id = 'another' WHERE number = 12", "act 12 of its world"),
        ("UPDATE acts SET at = '2027-03-01T09:00:00+00:00' WHERE number = 12", "act 12 of its world"),
        ("UPDATE acts SET made = made + 1 WHERE number = 12", "act 12 of its world"),
        ("UPDATE acts SET number = 13 WHERE number = 12", "act 12 of its world"),
        ("DELETE FROM acts WHERE number = 12", "acts of its world .* are missing after act 11"),
        ("DELETE FROM acts WHERE number = 11", "act 11 of its world"),
    ],
)
def test_what_changed_or_went_missing_is_told_when_the_world_is_loaded(
    lived: Path | str, statement: str, told: str
) -> None:
    change(lived, statement)
    with pytest.raises(DamageError, match=told):
        load(lived)


@pytest.mark.parametrize(
    ("table", "column", "before", "after", "told"),
    [
        ("worlds", "beginning", b'"default"', b'"defauls"', "what its world .* begins with"),
        ("worlds", "noted", b"2027", b"2028", "the position of its world default"),
        ("acts", "given", b"R-11", b"R-12", "act 12 of its world"),
    ],
)
def test_bytes_that_changed_are_told_when_the_world_is_loaded(
    lived: Path | str, table: str, column: str, before: bytes, after: bytes, told: str
) -> None:
    edit(lived, table, column, before, after)
    with pytest.raises(DamageError, match=told):
        load(lived)


@pytest.mark.parametrize("change_of", ["UPDATE acts SET made = made + 1", "DELETE FROM acts"])
def test_earlier_acts_that_are_damaged_are_told_by_a_check(lived: Path | str, change_of: str) -> None:
    """A world is loaded from its checkpoint, and does not read the acts before it."""
    change(lived, f"{change_of} WHERE number = 2")
    assert load(lived) == []
    with closing(open_store(lived)) as store:
        (checked,) = check_worlds(store)
    assert checked.fault is not None and "act 2 of its world" in checked.fault


def test_acts_whose_world_is_gone_are_told_by_a_check(lived: Path | str) -> None:
    change(lived, "DELETE FROM worlds")
    with closing(open_store(lived)) as store:
        (checked,) = check_worlds(store)
    assert checked.fault == "it has acts, and its name and beginning are missing"


def test_acts_after_the_position_of_a_file_are_told_by_a_check(path: Path) -> None:
    with closing(open_store(path)) as store:
        initiate(worlds_of(store).get("default"), 1)
    change(path, "INSERT INTO acts SELECT world, 2, id, at, verb, given, made, mark FROM acts")
    with closing(open_store(path)) as store:
        (checked,) = check_worlds(store)
    assert checked.fault == "it has acts up to number 2, and should have 1"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checkpoints SET acts = acts - 1",
        "UPDATE checkpoints SET head = head + 1",
        "UPDATE checkpoints SET mark = mark + 1",
        "UPDATE checkpoints SET shape = 'another'",
        "DELETE FROM pieces",
        "",
    ],
)
def test_a_damaged_checkpoint_is_told_and_not_used(lived: Path | str, statement: str) -> None:
    if statement:
        change(lived, statement)
    else:
        edit(lived, "pieces", "content", b"R-1", b"R-2")
    server = Server(lived)
    assert len(server.tpp().listed("payments")) == ACTS
    (note,) = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert note.endswith("is damaged and is not used: all acts are done again")
    server.store.close()


@pytest.mark.parametrize("column", ["content", "digest"])
def test_calls_that_are_damaged_are_told_and_the_bank_goes_on(lived: Path | str, column: str) -> None:
    _demand_told_calls(lived, "calls", column)


def test_findings_of_a_file_that_are_damaged_are_told_and_the_bank_goes_on(path: Path) -> None:
    """On a database nothing is kept beside the calls: each server judges those that all of them stored."""
    server = Server(path)
    for number in range(ACTS):
        initiate(server.worlds.get("default"), number)
    server.tpp().initiate()
    server.store.close()
    _demand_told_calls(path, "aside", "content")


def _demand_told_calls(state: Path | str, table: str, column: str) -> None:
    harmed = [(bytes(content), last) for content, last in rows(state, f"SELECT {column}, last FROM {table}")]
    assert harmed
    for content, last in harmed:
        changed = blob(state, bytes([content[0] ^ 1]) + content[1:])
        change(state, f"UPDATE {table} SET {column} = {changed} WHERE last = {last}")
    server = Server(state)
    assert len(server.tpp().listed("payments")) >= ACTS
    (note,) = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert note.startswith("the calls and findings of its world") and "are damaged and are not used" in note
    server.store.close()


@pytest.mark.parametrize("statement", ["UPDATE clock SET latest = latest + 86400", "UPDATE clock SET mark = mark + 1"])
def test_the_time_of_the_last_answer_of_a_file_that_changed_is_told_and_not_used(path: Path, statement: str) -> None:
    server = Server(path, rate=1.0)
    server.tpp().control("GET", "/clock")
    server.store.close()
    change(path, statement)
    server = Server(path, rate=1.0, machine=server.machine)
    assert server.worlds.machine_time() == server.machine.now
    (note,) = server.tpp().control("GET", "/health").get_json()["state_file"]["notes"]
    assert note.startswith("the time of the last answer is damaged and is not used")
    server.store.close()


@pytest.mark.parametrize("statement", ["UPDATE about SET version = 2", "UPDATE about SET format = 'another'"])
def test_a_place_of_another_format_is_refused_and_left_as_it_is(lived: Path | str, statement: str) -> None:
    change(lived, statement)
    before = [rows(lived, f"SELECT * FROM {table} ORDER BY 1, 2") for table in ("worlds", "acts", "about")]
    with pytest.raises(StateFileError, match="of the format; this program reads version|is no state of the sandbox"):
        open_store(lived)
    assert [rows(lived, f"SELECT * FROM {table} ORDER BY 1, 2") for table in ("worlds", "acts", "about")] == before


def test_a_place_that_is_whole_is_silent(lived: Path | str) -> None:
    assert load(lived) == []
    with closing(open_store(lived)) as store:
        assert [checked.fault for checked in check_worlds(store)] == [None]
        store.demand_writable()


# What is told, and who goes on


def test_a_damaged_world_is_refused_each_time_and_health_says_so_while_others_go_on(state: Path | str) -> None:
    server = Server(state)
    server.tpp("other").initiated()
    initiate(server.worlds.get("default"), 1)
    server.store.close()
    change(state, "UPDATE acts SET made = made + 1 WHERE world = (SELECT id FROM worlds WHERE name = 'other')")
    server = Server(state)
    for _ in range(2):
        refused = server.tpp("other").initiate()
        assert refused.status_code == 503
    assert server.tpp().initiate().status_code == 201
    health = server.tpp().control("GET", "/health")
    assert health.status_code == 503 and "act 1 of its world" in health.get_json()["error_description"]
    assert server.tpp().control("GET", "/health?live").status_code == 200
    assert server.tpp("other").control("GET", "/export").status_code == 503
    assert server.tpp().control("GET", "/export").status_code == 200
    server.store.close()


# The chain


def chain() -> list[tuple[object, ...]]:
    rows_of_chain: list[tuple[object, ...]] = []
    mark = 5
    for number in (1, 2, 3):
        mark = act_mark(mark, number, "id", "2027", "verb", b"[1]", 4)
        rows_of_chain.append((1, number, "id", "2027", "verb", b"[1]", 4, mark))
    return rows_of_chain


def test_each_act_of_a_chain_follows_from_the_one_before() -> None:
    *_, row = demand_chain(chain(), LogHead(0, 5))
    assert row.head == LogHead(3, row.mark)


@pytest.mark.parametrize(
    "harm",
    [
        lambda acts: acts.pop(0),
        lambda acts: acts.pop(1),
        lambda acts: acts.insert(1, acts[0]),
        lambda acts: acts.__setitem__(1, (*acts[1][:6], 5, acts[1][7])),
        lambda acts: acts.__setitem__(1, (*acts[1][:2], "other", *acts[1][3:])),
        lambda acts: acts.__setitem__(1, (*acts[1][:5], "[1]", *acts[1][6:])),
        lambda acts: acts.__setitem__(1, (1, "2", *acts[1][2:])),
    ],
)
def test_a_chain_with_a_link_that_is_missing_changed_or_of_another_kind_is_refused(
    harm: Callable[[list[tuple[object, ...]]], None],
) -> None:
    acts = chain()
    harm(acts)
    with pytest.raises(MarkError):
        list(demand_chain(acts, LogHead(0, 5)))


def test_a_mark_tells_kinds_apart() -> None:
    values = ("1", 1, b"1", None, "None")
    assert len({compute_checksum(value) for value in values}) == len(values)
    assert compute_checksum("ab", "c") != compute_checksum("a", "bc")
