"""A state file, a database, and a server that keeps its worlds in one of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import cluster, database
from tests.world.tenancy import Server

__all__ = ["cluster", "database"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bank.state"


@pytest.fixture
def server(path: Path) -> Iterator[Server]:
    made = Server(path)
    yield made
    made.store.close()


@pytest.fixture(params=["file", "database"])
def state(request: pytest.FixtureRequest) -> Path | str:
    """What `--state` names, of both kinds."""
    found: Path | str = request.getfixturevalue("path" if request.param == "file" else "database")
    return found


@pytest.fixture
def kept(state: Path | str) -> Iterator[Server]:
    """A server on a place of each kind."""
    made = Server(state)
    yield made
    made.store.close()
