"""The register of worlds: found, made when they are called, forked and dropped."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sandbox.beginning import Beginning, seed_of
from sandbox.errors import Error, Refusal
from sandbox.log.store import Store
from sandbox.rules.names import is_world_name
from sandbox.worlds import Life, World


class Worlds:
    """The register of worlds. The bare address is the world `default`."""

    def __init__(self, beginning: Beginning, machine_time: Callable[[], float], store: Store | None = None) -> None:
        self.beginning = beginning
        self.machine_time = machine_time
        self._store = store
        self._lock = threading.Lock()
        self._worlds: dict[str, World] = {}
        for name, kept in (store.worlds() if store else {}).items():
            assert store is not None
            self._worlds[name] = World.revived(name, store, kept, machine_time)
        if "default" not in self._worlds:
            self.make("default")

    def get(self, name: str) -> World:
        """A world that is called before it is made is made as the server was started (choice 10)."""
        world = self._worlds.get(name)
        if world is not None:
            return world
        default = self._worlds.get("default")
        settings = self.beginning.settings if default is None else default.bank.settings
        if settings.worlds == "declared" and name != "default":
            raise Refusal(Error.NOT_FOUND, input="world")
        return self.make(name)

    def find(self, name: str) -> World:
        """Only a world that is there."""
        world = self._worlds.get(name)
        if world is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return world

    def known(self, name: str) -> World:
        """For a call that reached no operation: its world if that is there, else the default one."""
        return self._worlds.get(name) or self.get("default")

    def make(self, name: str, beginning: Beginning | None = None) -> World:
        """Without a beginning: like the server's, unless it was made meanwhile. With one: anew."""
        if not is_world_name(name):
            raise Refusal(Error.NOT_FOUND, input="world")
        with self._lock:
            if beginning is None and name in self._worlds:  # made meanwhile
                return self._worlds[name]
            made = World(name, beginning or self.beginning_of(name), self.machine_time, self._store)
            self._worlds[name] = made
            return made

    def beginning_of(self, name: str) -> Beginning:
        """The server's, with a seed of the world's own."""
        return replace(self.beginning, seed=seed_of(self.beginning.seed, name))

    def fork(self, name: str, as_name: str, at: datetime | None) -> World:
        """The new world takes the name, also from one that bore it before."""
        twin = self.find(name).fork(as_name, at)
        with self._lock:
            self._worlds[as_name] = twin
        return twin

    def settle(self, name: str, life: Life) -> World:
        """A world that goes on from a life led elsewhere takes the name, also from one that bore it before."""
        world = World.settled(name, life, self.machine_time, self._store)
        with self._lock:
            self._worlds[name] = world
        return world

    def drop(self, name: str) -> None:
        with self._lock:
            if self._worlds.pop(name, None) is None:
                raise Refusal(Error.NOT_FOUND, input="world")
            if self._store is not None:
                self._store.drop(name)

    def all(self) -> list[World]:
        return [self._worlds[name] for name in sorted(self._worlds)]
