"""A state file, a database, and a server that keeps its worlds in one of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import cluster, database
from tests.worlds.tenancy import Machine, Server

__all__ = ["cluster", "database"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bank.state"


@pytest.fixture(params=["file", "database"])
def state(request: pytest.FixtureRequest) -> Path | str:
    """What `--state` names, of both kinds."""
    found: Path | str = request.getfixturevalue("path" if request.param == "file" else "database")
    return found


@pytest.fixture
def server(state: Path | str) -> Iterator[Server]:
    """On a place of each kind, unless a test says of which."""
    made = Server(state)
    yield made
    made.store.close()


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def servers(database: str, machine: Machine) -> Iterator[list[Server]]:
    """Two servers on one database, whose machines have one clock."""
    made = [Server(database, machine=machine) for _ in range(2)]
    yield made
    for server in made:
        server.store.close()
