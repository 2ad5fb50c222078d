"""Whether the sandbox is ready (choice 10). Of all views this one is called first, so it needs no referee."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log.format import StateFileError
from sandbox.world.registry import Worlds

if TYPE_CHECKING:
    from sandbox.world.log.state_store import StateStore


def health(worlds: Worlds, query: dict[str, Any]) -> dict[str, Any]:
    """Ready: calls are answered, and what they do is kept. `?live` asks only whether anybody is there."""
    if "live" in query:
        return {"status": "live"}
    if worlds.store is None:
        return {"status": "ready"}
    with suppress(StateFileError):  # which is told below
        worlds.store.connection.demand()  # asks the file again, if it could not be written
    if worlds.store.connection.unready is not None:
        raise Refusal(Error.NOT_READY, why=worlds.store.connection.unready)
    return {"status": "ready", **state_of(worlds.store)}


def state_of(store: "StateStore") -> dict[str, Any]:
    """The state file's figures in the health of a bank that is ready."""
    shown: dict[str, Any] = {}
    if store.progress is not None:
        shown |= {"acts": store.progress.acts, "checked": store.progress.checked}
    if store.connection.notes:
        shown["notes"] = list(store.connection.notes)
    return {"state_file": shown} if shown else {}
