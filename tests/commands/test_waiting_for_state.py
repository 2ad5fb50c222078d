"""A server that starts waits for a database, as long as --wait-for-state says, and for nothing that stays wrong."""

from datetime import timedelta
from pathlib import Path

import pytest

from sandbox.app import make_first_beginning
from sandbox.commands.serve_options import StateOptions
from sandbox.machine import machine_time
from sandbox.storage.database import AgainError, CommitUnknownError, UnreachableError
from sandbox.storage.format import StateFileError
from sandbox.storage.store import Store
from sandbox.worlds.registry import WorldRegistry


def start_with(error: Exception, folder: Path, wait: timedelta) -> None:
    """Begins with a database that fails once."""
    failures = [error]

    def begin(store: Store) -> WorldRegistry:
        if failures:
            raise failures.pop()
        return WorldRegistry(make_first_beginning(), machine_time)

    options = StateOptions(
        str(folder / "state.db"), sync="normal", wait_for_state=wait, lease=None, advertise=None, peers_key=None
    )
    _, store = options._begin_with_store(begin)
    store.close()


@pytest.mark.parametrize("kind", [UnreachableError, AgainError, CommitUnknownError])
def test_a_database_that_fails_for_a_moment_is_waited_for(kind: type[StateFileError], tmp_path: Path) -> None:
    start_with(kind("for a moment"), tmp_path, timedelta(minutes=1))


@pytest.mark.parametrize("kind", [UnreachableError, AgainError, CommitUnknownError])
def test_nobody_waits_without_the_option(kind: type[StateFileError], tmp_path: Path) -> None:
    with pytest.raises(kind, match="for a moment"):
        start_with(kind("for a moment"), tmp_path, timedelta(0))


def test_a_database_that_stays_wrong_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(StateFileError, match="an earlier format"):
        start_with(StateFileError("an earlier format"), tmp_path, timedelta(hours=1))
