"""The worlds of a bank by their names: all of them known, or looked up where several servers share a database."""

import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from heapq import nsmallest
from weakref import WeakValueDictionary

from sandbox.banking.names import is_world_name
from sandbox.world.log.state_store import PAGE, Listed, StateStore
from sandbox.world.world import World


class Roll:
    """Every world of this server."""

    def __init__(self) -> None:
        self._worlds: MutableMapping[str, World] = {}
        self._lock = threading.Lock()
        self.held = self._worlds.get  # a world that this server knows, also where another server has it now
        self.find: Callable[[str], World | None] = self._worlds.get  # at every call, so it is cheap

    def each(self, after: str = "", most: int | None = None) -> Iterator[World]:
        """In the order of their names, unloaded ones too; looking at what they hold reloads them. At the most so many
        after a name."""
        names = (name for name in list(self._worlds) if name > after)
        chosen = sorted(names) if most is None else nsmallest(most, names)
        yield from (self._worlds[name] for name in chosen)

    def in_memory(self) -> list[World]:
        """Those of which memory holds anything."""
        return list(self._worlds.values())

    def add(self, world: World) -> None:
        with self._lock:
            self._worlds[world.name] = world

    def making(self, name: str) -> AbstractContextManager[None]:
        """While a world is made, until it is added."""
        return nullcontext()

    def remove(self, world: World) -> None:
        with self._lock:
            if self._worlds.get(world.name) is world:
                del self._worlds[world.name]

    def __len__(self) -> int:
        return len(self._worlds)


class SharedRoll(Roll):
    """What another server may change is looked up each time, unless this server has the world. There is one object for
    a world at a time, for as long as anybody holds it; a world in memory is held by the registry."""

    def __init__(self, store: StateStore, machine_time: Callable[[], float], adopt: Callable[[World], object]) -> None:
        super().__init__()
        self._worlds = WeakValueDictionary()
        self.held, self.find = self._worlds.get, self._look_up
        self._store = store
        self._machine_time = machine_time
        self._adopt = adopt
        self._makers: dict[str, tuple[int, threading.Event]] = {}  # threads

    def _look_up(self, name: str) -> World | None:
        """Nothing is answered of a world without a lease: another server may have it. The database is asked for names
        of worlds alone, as it refuses some other texts."""
        self._store.connection.look()
        world = self._worlds.get(name)
        if world is not None and world.is_here:
            return world
        row = self._store.listed(name) if is_world_name(name) else None
        if row is not None:
            return self._world(row)
        if world is not None:
            self.remove(world)
        return None

    @contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Its row may be found before it is added: others wait, so that there is one object for it."""
        added = threading.Event()
        self._makers[name] = threading.get_ident(), added
        try:
            yield
        finally:
            del self._makers[name]
            added.set()

    def _world(self, row: Listed) -> World:
        maker, added = self._makers.get(row.name, (0, None))
        if added is not None and maker != threading.get_ident():
            added.wait()
        with self._lock:
            world = self._worlds.get(row.name)
            if world is not None and (world.is_here or world.row == row.id):
                return world
            made = World.unloaded(self._store, row, self._machine_time)
            self._worlds[row.name] = made
        self._adopt(made)
        return made

    def each(self, after: str = "", most: int | None = None) -> Iterator[World]:
        for row in self._store.each(after, most or PAGE):
            world = self._worlds.get(row.name)
            yield world if world is not None and world.is_here else self._world(row)

    def __len__(self) -> int:
        return self._store.count()
