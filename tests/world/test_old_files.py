"""State files and exports of earlier versions of the program open, and tell what they told then."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from sandbox.world.log.store import StateFileError
from tests.world.made_before import unpacked, world_as_imported, worlds_as_seen

OLD = Path(__file__).parents[1] / "data"
SETS = sorted(OLD.glob("version-*"))


@pytest.fixture(params=SETS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(gzip.decompress((folder / "seen.json.gz").read_bytes()))
    return found


@pytest.mark.parametrize("name", ["closed", "killed"])
def test_an_old_state_file_tells_what_it_told_and_does_so_again(folder: Path, name: str, tmp_path: Path) -> None:
    path = unpacked(folder, name, tmp_path)
    assert worlds_as_seen(path) == told(folder)[name]
    assert worlds_as_seen(path) == told(folder)[name]


def test_an_old_export_tells_what_it_told(folder: Path) -> None:
    assert {"carried": world_as_imported((folder / "export").read_bytes())} == told(folder)["export"]


def test_an_old_file_that_is_damaged_is_refused(folder: Path, tmp_path: Path) -> None:
    path = unpacked(folder, "closed", tmp_path)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"OLD-1")] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateFileError, match="damaged"):
        worlds_as_seen(path)


def test_there_are_old_files_to_look_at() -> None:
    assert SETS
