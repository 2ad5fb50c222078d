"""`state copy` and `state check`: whole banks between file and database, and what is wrong with one."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.world.log import checkpoint
from sandbox.world.log.postgres_line import Line
from sandbox.world.log.state_hash import state_hash
from tests.postgres import Cluster
from tests.world.places import blob, change
from tests.world.tenancy import ON_A_FILE, Server, lived


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["state", *map(str, words)])


def content(server: Server) -> dict[str, Any]:
    return {
        world.name: (world.ask(state_hash), list(world.log), world.beginning, world.pace, world.faults.rules)
        for world in server.worlds.all()
    }


def calls(server: Server) -> list[Any]:
    return [server.tpp("one").control("GET", view).get_json() for view in ("/requests", "/referee")]


@pytest.fixture
def filled(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Two worlds, one with a checkpoint, and not in use any more."""
    monkeypatch.setattr(checkpoint, "EVERY", 10)
    lived(server.tpp("one"))
    lived(server.tpp("two"))
    server.tpp("one").control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 500})
    world = server.worlds.find("one")
    assert world.unload(world.used)
    server.seen = content(server), calls(server)  # type: ignore[attr-defined]
    server.store.close()
    return server


def test_a_bank_goes_to_the_other_place_and_back_and_is_the_same(
    filled: Server, state: Path | str, path: Path, cluster: Cluster, tmp_path: Path
) -> None:
    there: Path | str = cluster.schema() if isinstance(state, Path) else tmp_path / "there.state"
    back: Path | str = tmp_path / "back.state" if isinstance(state, Path) else cluster.schema()
    for origin, target in ((state, there), (there, back)):
        outcome = run("copy", origin, target)
        assert (outcome.exit_code, outcome.output[:17]) == (0, "Copied 3 worlds w"), outcome.output
        assert run("check", target).exit_code == 0
        again = Server(target, machine=filled.machine)
        assert (content(again), calls(again)) == filled.seen  # type: ignore[attr-defined]
        again.tpp("one").initiated()
        again.store.close()
        filled.seen = (  # type: ignore[attr-defined]
            lambda server: (content(server), calls(server), server.store.close())[:2]
        )(Server(target, machine=filled.machine))


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
    with closing(Line(database)) as line, line.statements() as there:
        found = there.execute("SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()")
        assert found.fetchone() == (0,)


def test_a_bank_in_use_is_not_copied(server: Server, tmp_path: Path) -> None:
    outcome = run("copy", server.state, tmp_path / "target")
    assert outcome.exit_code == 2 and ("stop it first" in outcome.output or "stop them first" in outcome.output)
    assert not (tmp_path / "target").exists()


def test_a_whole_bank_is_said_to_be_whole(filled: Server, state: Path | str) -> None:
    outcome = run("check", state)
    assert (outcome.exit_code, outcome.output[:6]) == (0, "Whole:") and "3 worlds" in outcome.output


DAMAGE = {
    "UPDATE acts SET given = {blob} WHERE number = 3 AND world = {one}": "World one: .*act 3",
    "DELETE FROM acts WHERE number = 5 AND world = {one}": "World one: it has",
    "UPDATE heads SET acts = acts + 1 WHERE world = {one}": "World one: .*number of acts",
    "UPDATE heads SET pace = {blob} WHERE world = {one}": "World one: .*clock",
    "UPDATE worlds SET beginning = {blob} WHERE id = {one}": "World one: .*begins with",
    "DELETE FROM heads WHERE world = {one}": "World one: the number of its acts and its clock are missing",
    "DELETE FROM worlds WHERE name = 'one'": "its name and beginning are missing|of a world 2 that is not there",
    "UPDATE pieces SET content = {blob} WHERE world = {one} AND acts >= 0": "checkpoint of its world",
    "UPDATE pieces SET content = {blob} WHERE world = {one} AND acts < 0": "calls and findings of its world",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_is_wrong_is_said_with_1_and_the_other_worlds_are_checked(
    filled: Server, state: Path | str, statement: str
) -> None:
    one = "(SELECT id FROM worlds WHERE name = 'one')"
    change(state, statement.format(blob=blob(state, b"[]"), one=one))
    outcome = run("check", state)
    assert outcome.exit_code == 1 and "World two" not in outcome.output
    import re

    assert re.search(DAMAGE[statement], outcome.output), outcome.output


@ON_A_FILE
def test_a_log_with_a_hole_is_named_and_what_can_be_done(server: Server, tmp_path: Path) -> None:
    lived(server.tpp("one"))
    server.store.writer.flush()
    image = tmp_path / "image"
    for end in ("", "-wal"):
        shutil.copyfile(f"{server.state}{end}", f"{image}{end}")
    wal = Path(f"{image}-wal")
    raw = bytearray(wal.read_bytes())
    raw[32 + 24 + 4096 + 30] ^= 1
    wal.write_bytes(raw)
    before = image.read_bytes(), wal.read_bytes()
    outcome = run("check", image)
    assert outcome.exit_code == 1
    assert f"{image} is damaged: " in outcome.output and "move image-wal away" in outcome.output
    assert (image.read_bytes(), wal.read_bytes()) == before


@ON_A_FILE
def test_a_check_changes_nothing(filled: Server, state: Path, tmp_path: Path) -> None:
    def before() -> Any:
        return {place.name: place.read_bytes() for place in tmp_path.iterdir()}

    known = before()
    assert run("check", state).exit_code == 0
    assert before() == known
