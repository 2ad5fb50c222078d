"""Where a bank is kept: a file, or a database by its address."""

from collections.abc import Callable
from pathlib import Path

from sandbox.world.log.format import StateFileError
from sandbox.world.log.opening import Sync
from sandbox.world.log.state_store import StateStore
from sandbox.world.log.store import Store

ADDRESSES = ("postgresql://", "postgres://")
HERE = "http://127.0.0.1"


def is_address(state: Path | str) -> bool:
    """Whether it names a database, and no file."""
    return str(state).startswith(ADDRESSES)


def open_store(
    state: Path | str,
    stopwatch: Callable[[], float] = lambda: 0.0,
    sync: Sync = "normal",
    advertised: str = HERE,
    lease: float | None = None,
    *,
    serves: bool = True,
    makes: bool = True,
) -> StateStore:
    """A StateFileError where it cannot be used; what is not ours is left as it is. How far an answer waits for the
    disk of a database is its own setting. Where other servers reach this one is said to the database alone, and only if
    it serves; a database that is only read is not made."""
    if not is_address(state):
        return Store(Path(state), stopwatch, sync)
    try:
        from sandbox.world.log.postgres_store import PostgresStore
    except ImportError as error:
        raise StateFileError(
            f"a database needs the extra postgres ({error}). Install it: pip install 'bank-sandbox[postgres]'"
        ) from None
    return PostgresStore(str(state), stopwatch, advertised, lease, serves, makes)
