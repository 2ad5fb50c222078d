"""State files of earlier formats are refused in one sentence; earlier exports tell what they told then."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from sandbox.storage.format import VERSION, StateFileError
from sandbox.storage.store import open_store
from tests.worlds.made_before import world_as_imported

OLD = Path(__file__).parents[1] / "data"
SETS = sorted(OLD.glob("version-*"))


@pytest.fixture(params=SETS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(gzip.decompress((folder / "seen.json.gz").read_bytes()))
    return found


def test_a_state_file_of_an_earlier_format_is_refused_and_left_as_it_is(folder: Path, path: Path) -> None:
    content = gzip.decompress((folder / "closed.state.gz").read_bytes())
    path.write_bytes(content)
    version = folder.name.removeprefix("version-")
    why = f"has version {version} of the format; this program reads version {VERSION} alone. Begin with a new one"
    with pytest.raises(StateFileError) as refused:
        open_store(path)
    assert str(refused.value) == f"{path} {why}"
    assert path.read_bytes() == content and [found.name for found in path.parent.iterdir()] == [path.name]


def test_an_old_export_tells_what_it_told(folder: Path) -> None:
    assert {"carried": world_as_imported((folder / "export").read_bytes())} == told(folder)["export"]


def test_there_are_old_files_to_look_at() -> None:
    assert SETS
