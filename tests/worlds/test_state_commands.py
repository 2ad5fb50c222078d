"""`state copy` and `state check`: whole banks between file and database, and what is wrong with one."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.storage.format import OF_A_WORLD
from sandbox.storage.memory_log import Act
from sandbox.storage.state_hash import hash_state
from sandbox.worlds import whole_stores
from sandbox.worlds.world import World
from tests.postgres import Cluster
from tests.worlds.places import blob, change, number, rows
from tests.worlds.tenancy import ON_A_DATABASE, ON_A_FILE, Server, lived

ONE = "(SELECT id FROM worlds WHERE name = 'one')"


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["state", *map(str, words)])


def content(server: Server) -> dict[str, Any]:
    """Without the acts that note of a database's world that events happened: in a file, they happen without an act."""
    return {
        world.name: (world.ask(hash_state), acts_of(world), world.beginning, world.clock.pace, world.faults.rules)
        for world in server.worlds.list_all()
    }


def acts_of(world: World) -> list[Act]:
    return [act for act in world.log if act.verb != "time.pass"]


def calls(server: Server) -> list[Any]:
    return [server.tpp("one").control("GET", view).get_json() for view in ("/requests", "/referee")]


@pytest.fixture
def filled(server: Server) -> Server:
    """Two worlds, one with a checkpoint and acts behind it, and not in use any more."""
    lived(server.tpp("one"))
    lived(server.tpp("two"))
    server.tpp("one").control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 500})
    assert server.leave_memory("one")
    server.tpp("one").initiated()
    server.seen = content(server), calls(server)  # type: ignore[attr-defined]
    server.store.close()  # waits for the checkpoint
    assert number(server.state, "SELECT acts FROM checkpoints") == number(
        server.state, f"SELECT acts - 1 FROM worlds WHERE id = {ONE}"
    )
    return server


def test_a_bank_goes_to_the_other_place_and_back_and_is_the_same(
    filled: Server, state: Path | str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_stores, "ROWS_AT_ONCE", 3)
    there: Path | str = cluster.schema() if isinstance(state, Path) else tmp_path / "there.state"
    back: Path | str = tmp_path / "back.state" if isinstance(state, Path) else cluster.schema()
    for origin, target in ((state, there), (there, back)):
        outcome = run("copy", origin, target)
        assert (outcome.exit_code, outcome.output[:17]) == (0, "Copied 3 worlds w"), outcome.output
        outcome = run("check", target)
        assert outcome.exit_code == 0, outcome.output
        again = Server(target, machine=filled.machine)
        assert (content(again), calls(again)) == filled.seen  # type: ignore[attr-defined]
        again.tpp("one").initiated()  # its call has the next number
        seen = content(again), calls(again)
        assert [row["seq"] for row in seen[1][0]["requests"]] == list(range(1, len(seen[1][0]["requests"]) + 1))
        filled.seen = seen  # type: ignore[attr-defined]
        again = again.restarted()
        assert (content(again), calls(again)) == seen
        again.store.close()


def test_a_place_that_has_worlds_is_not_copied_to(filled: Server, state: Path | str, tmp_path: Path) -> None:
    other = tmp_path / "other.state"
    Server(other).store.close()
    for origin, target in ((other, state), (state, other)):
        outcome = run("copy", origin, target)
        assert outcome.exit_code == 2 and "has worlds already" in outcome.output
    again = Server(state, machine=filled.machine)
    assert content(again) == filled.seen[0]  # type: ignore[attr-defined]
    again.store.close()


def test_what_is_not_there_is_neither_copied_nor_checked_nor_made(database: str, tmp_path: Path) -> None:
    none, target = tmp_path / "none", tmp_path / "target"
    for words in (("copy", none, target), ("check", none), ("copy", database, target), ("check", database)):
        outcome = run(*words)
        assert outcome.exit_code == 2 and ("cannot be read" in outcome.output or "is empty" in outcome.output)
    assert list(tmp_path.iterdir()) == []
    assert number(database, "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()") == 0


@ON_A_FILE
def test_a_file_in_use_is_neither_copied_nor_copied_to_nor_checked(server: Server, tmp_path: Path) -> None:
    other, target = tmp_path / "other.state", tmp_path / "target"
    Server(other).store.close()
    for words in (("copy", server.state, target), ("check", server.state)):
        outcome = run(*words)
        assert outcome.exit_code == 2 and "stop it first" in outcome.output
    outcome = run("copy", other, server.state)
    assert outcome.exit_code == 2 and "in use by another sandbox" in outcome.output
    assert not target.exists()


@ON_A_DATABASE
def test_a_database_in_use_is_checked_and_copied_with_all_that_was_answered(server: Server, tmp_path: Path) -> None:
    ids = lived(server.tpp("one"))
    assert run("check", server.state).exit_code == 0
    assert run("copy", server.state, tmp_path / "target").exit_code == 0
    again = Server(tmp_path / "target", machine=server.machine)
    assert again.payments("one") == ids and again.hashes() == server.hashes()
    again.store.close()
    ids.append(server.tpp("one").initiated())  # the server goes on
    assert server.payments("one") == ids


def test_a_damaged_bank_is_not_copied_and_leaves_nothing_at_the_new_place(
    filled: Server, state: Path | str, tmp_path: Path
) -> None:
    change(state, f"UPDATE acts SET given = {blob(state, b'[]')} WHERE number = 3 AND world = {ONE}")
    outcome = run("copy", state, tmp_path / "target")
    assert outcome.exit_code == 2 and "act 3 of its world" in outcome.output
    assert list(tmp_path.glob("target*")) == []


def test_a_whole_bank_is_said_to_be_whole(filled: Server, state: Path | str) -> None:
    outcome = run("check", state)
    assert (outcome.exit_code, outcome.output[:6]) == (0, "Whole:") and "3 worlds" in outcome.output


DAMAGE = {
    "UPDATE acts SET given = {blob} WHERE number = 3 AND world = {one}": "World one: .*act 3",
    "UPDATE acts SET id = 'another' WHERE number = 3 AND world = {one}": "World one: .*act 3",
    "DELETE FROM acts WHERE number = 5 AND world = {one}": "World one: .*act 5",
    "DELETE FROM acts WHERE number > 5 AND world = {one}": "World one: .*missing after act 5",
    "UPDATE worlds SET acts = acts + 1 WHERE id = {one}": "World one: .*the position of its world one",
    "UPDATE worlds SET head = head - 1 WHERE id = {one}": "World one: .*the position of its world one",
    "UPDATE worlds SET noted = {blob} WHERE id = {one}": "World one: .*the position of its world one",
    "UPDATE worlds SET beginning = {blob} WHERE id = {one}": "World one: .*begins with",
    "UPDATE worlds SET name = 'other' WHERE id = {one}": "World other: .*begins with",
    "DELETE FROM worlds WHERE name = 'one'": "its name and beginning are missing",
    "UPDATE pieces SET content = {blob} WHERE world = {one}": "checkpoint of its world",
    "UPDATE checkpoints SET head = head - 1 WHERE world = {one}": "checkpoint of its world",
    "UPDATE calls SET content = {blob} WHERE world = {one}": "calls and findings of its world",
}
DAMAGE_OF_A_FILE = {
    "UPDATE aside SET content = {blob} WHERE world = {one}": "calls and findings of its world",
    "INSERT INTO clock VALUES (1.0, 5)": "time of the last answer",
    "INSERT INTO acts SELECT world, number + 1, id, at, verb, given, made, mark FROM acts WHERE world = {one} "
    "ORDER BY number DESC LIMIT 1": "World one: it has acts up to number",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_is_wrong_is_said_with_1_and_the_other_worlds_are_checked(
    filled: Server, state: Path | str, statement: str
) -> None:
    demand_told(state, statement, DAMAGE[statement])


@ON_A_FILE
@pytest.mark.parametrize("statement", DAMAGE_OF_A_FILE)
def test_what_is_wrong_where_a_file_alone_has_it_is_said_too(filled: Server, state: Path, statement: str) -> None:
    demand_told(state, statement, DAMAGE_OF_A_FILE[statement])


def demand_told(state: Path | str, statement: str, told: str) -> None:
    before = everything(state)
    change(state, statement.format(blob=blob(state, b"[]"), one=ONE))
    assert everything(state) != before
    outcome = run("check", state)
    assert outcome.exit_code == 1 and "World two" not in outcome.output
    assert re.search(told, outcome.output), outcome.output


def everything(state: Path | str) -> Any:
    """Each row of each table."""
    tables = ("about", "worlds", *OF_A_WORLD, "garbage", "clock")
    return {table: sorted(map(repr, rows(state, f"SELECT * FROM {table}"))) for table in tables}


def test_a_check_changes_nothing(filled: Server, state: Path | str, tmp_path: Path) -> None:
    def before() -> Any:
        return {place.name: place.read_bytes() for place in tmp_path.iterdir()}, everything(state)

    known = before()
    assert run("check", state).exit_code == 0
    assert before() == known
