"""A state file, and a server that keeps its worlds in it."""

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
