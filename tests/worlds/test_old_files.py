"""From 1.0.0 on, all state files and exports that a released program wrote can be opened, and show what they showed."""

import gzip
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask

from sandbox.storage import checkpoint
from sandbox.storage.format import VERSION, StateFileError
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.storage.transfer import form
from tests.exports import sealed
from tests.tpp import Tpp, refused
from tests.worlds.made_before import EXPORTS, WORLDS, banks_of_state, world_as_imported, worlds_of_state

DATA = Path(__file__).parents[1] / "data"
SETS = sorted(DATA.glob("version-*"))


@pytest.fixture(params=SETS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def content_of(folder: Path, name: str) -> bytes:
    return gzip.decompress((folder / f"{name}.gz").read_bytes())


def shown_then(folder: Path) -> dict[str, Any]:
    shown: dict[str, Any] = orjson.loads(content_of(folder, "seen.json"))
    return shown


def test_a_state_file_shows_what_it_showed(folder: Path, path: Path) -> None:
    path.write_bytes(content_of(folder, "closed.state"))
    shown = shown_then(folder)
    assert worlds_of_state(path) == {name: shown[name] for name in WORLDS}


def test_a_bank_whose_first_acts_were_deleted_is_read_as_it_was(folder: Path, path: Path) -> None:
    path.write_bytes(content_of(folder, "closed.state"))
    new, after = banks_of_state(path, "default")
    checkpoint.read_onto(new, zlib.decompress(content_of(folder, "default.checkpoint")))
    assert new.payments and hash_state(new) == hash_state(after)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_shows_what_it_showed(folder: Path, name: str) -> None:
    assert world_as_imported(content_of(folder, name)) == shown_then(folder)[name]


def test_there_is_a_set_of_each_version() -> None:
    assert [folder.name for folder in SETS] == [f"version-{number}" for number in range(1, VERSION + 1)]
    assert form.VERSION == VERSION


@pytest.mark.parametrize("version", [0, 5, VERSION + 1])
def test_a_state_file_of_another_version_is_refused_and_left_as_it_is(version: int, path: Path) -> None:
    path.write_bytes(content_of(SETS[-1], "closed.state"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("UPDATE about SET version = ?", (version,))
        database.commit()
    content = path.read_bytes()
    why = f"has version {version} of the format; this program reads version {VERSION} alone. Begin with a new one"
    with pytest.raises(StateFileError) as error:
        open_store(path)
    assert str(error.value) == f"{path} {why}"
    assert path.read_bytes() == content and [found.name for found in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("version", [5, VERSION + 1, None, "1"])
def test_an_export_of_another_version_is_refused(version: object, app: Flask) -> None:
    head, *rest = content_of(SETS[-1], "export").splitlines()
    lines = sealed([orjson.dumps(orjson.loads(head) | {"version": version}), *rest])
    reply = Tpp(app).http.post("/_sandbox/import?as=old", data=lines)
    assert refused(reply, 400, "SBX-", "file")
    assert f"it has version {version!r} of the format; this program reads version 1 alone" in reply.text
