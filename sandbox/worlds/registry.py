"""The registry of all worlds of a server, by name. It makes a world at its first call, forks and drops worlds, and
unloads idle ones."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nsmallest
from logging import getLogger
from typing import NamedTuple
from weakref import WeakValueDictionary

from sandbox.banking.names import is_world_name
from sandbox.contract.errors import Error, Refusal
from sandbox.storage.format import StateFileError
from sandbox.storage.store import Store, WorldRow
from sandbox.worlds.beginning import Beginning, compute_secret, compute_seed
from sandbox.worlds.call_history import CallWriter
from sandbox.worlds.clock import SteadyClock
from sandbox.worlds.counts import Tally
from sandbox.worlds.faults import ConnectionFault
from sandbox.worlds.world import World

log = getLogger("sandbox")
EXPIRY_EVERY = 3_600.0  # seconds
AT_ONCE_MAX = 2  # worlds that one call unloads if there are too many; a call loads one or two itself
FILES_SHARE = 4  # waiting files may take a quarter of the bound
WEIGHED_SHARE = 64  # adding up all worlds takes long, so it is done after each 64th of the bound, not after each call


@dataclass(frozen=True, slots=True)
class Room:
    """The limits of a server on its worlds and memory."""

    worlds_max: int = 10_000  # in memory; without a store also the most worlds that there can be
    put_away_after: float = 1800.0  # seconds without a call, by the machine's clock; needs a store
    history_max: int = 500_000_000  # bytes in memory apart from banks: calls, acts, files that wait
    worlds_expire: float | None = None  # seconds without a call after which a stored world is deleted
    acts_kept: int | None = None  # acts of a stored world after which earlier ones are deleted


USUAL = Room()


class MemoryBound:
    """The bound on the bytes that a server has in memory apart from its banks: calls, acts, and waiting files.

    Beyond the bound, calls are dropped first, beginning with the world that was idle longest. If that is not enough,
    the log of the largest world is compacted, which drops its oldest acts.
    """

    def __init__(self, most: int, worlds: Callable[[], Iterable[World]]) -> None:
        self.most = most
        self._worlds = worlds
        self._grown = 0

    def count_growth(self, weight: int) -> None:
        """Counts bytes that were added to memory. Each time a 64th of the bound was added, calls `shed`. Threads do not
        lock the count, so it is not exact."""
        self._grown += weight
        if self._grown >= self.most // WEIGHED_SHARE:
            self._grown = 0
            self.shed()

    def shed(self) -> None:
        """Frees memory if the worlds exceed the bound: drops half of the calls of each world and then all, beginning
        with the world that was idle longest, until enough is freed. If the calls are not enough, compacts the log of
        the largest world, which drops its oldest acts."""
        worlds = [world for world in self._worlds() if world.in_memory is not None]
        excess = sum(world.weight for world in worlds) - self.most
        if excess <= 0:
            return
        idle_first = sorted(worlds, key=lambda world: world.used)
        for share in (2, 1):  # a half of the calls, then all
            for world in idle_first:
                if excess <= 0:
                    return
                excess -= world.forget_calls(share)
        max(worlds, key=lambda world: world.weight).compact()  # only one world at a time, because it takes long

    def demand_files(self, size: int) -> None:
        """Refuses a file if the waiting files would take over a quarter of the bound with it. If no file waits, accepts
        a file of any size."""
        waiting = sum(world.files_weight for world in self._worlds())
        if waiting and waiting + size > self.most // FILES_SHARE:
            decided_by = {"bytes_waiting": waiting, "bytes_of_this": size, "bytes_allowed": self.most // FILES_SHARE}
            raise Refusal(Error.FILES_FULL, decided_by=decided_by)


class PlayedStep(NamedTuple):
    """The result of one step of a scenario that was played.

    `word` is `holds`, `fails` or `skipped`, and `text` describes the step. The first result of a run has the word
    `world` instead, and its text is the name of the run's world.
    """

    word: str
    text: str
    faults: tuple[str, ...] = ()


class WorldRegistry:
    """The worlds of a server. A call is for the world in the prefix of its path, `/worlds/{name}`, or without this
    prefix for the world `default`."""

    def __init__(
        self,
        beginning: Beginning,
        machine_time: Callable[[], float],
        store: Store | None = None,
        room: Room = USUAL,
        guarded: bool = False,
    ) -> None:
        self.beginning = beginning
        self.guarded = guarded  # for a server on a network: even worlds with a given seed have a secret
        self.store = store
        self.is_shared = store is not None and store.is_shared
        self.room = room
        self.tally: Tally | None = None  # only if somebody can read it
        self.play: Callable[[str], Iterator[PlayedStep]] | None = None  # plays a scenario by its name
        self.line = ConnectionFault()
        # Changes a beginning that a caller gives, as this server demands.
        self.adapt: Callable[[Beginning], Beginning] = lambda beginning: beginning
        self.machine_time = SteadyClock(machine_time, store)
        self._lock = threading.Lock()  # of the two registers below
        self._called: OrderedDict[str, World] = OrderedDict()  # in memory, the longest idle first
        self._known: WeakValueDictionary[str, World] = WeakValueDictionary()
        self._coming: dict[str, threading.Event] = {}  # worlds that are being made
        self._writer = CallWriter(store) if store else None
        self.history = MemoryBound(room.history_max, self.list_in_memory)
        if self._find("default") is None:
            self.make("default")
        if store is not None:
            store.use()
        self._ends = threading.Event()
        if store is not None:
            store.acts_kept = room.acts_kept
        if store is not None and room.worlds_expire is not None:
            store.before_close.append(self._ends.set)
            threading.Thread(target=self._expire, args=(room.worlds_expire,), name="expiry", daemon=True).start()

    # Finding

    def get(self, name: str) -> World:
        """Returns the world for a call. If there is no such world, makes it. Raises NOT_FOUND if the name is not valid,
        or if there is no such world and a setting says that calls make no worlds (choice 10)."""
        world = self._find(name)
        if world is None:
            if name != "default" and self.get("default").decisions.worlds == "declared":
                raise Refusal(Error.NOT_FOUND, input="world")
            world = self.make(name)
        if self.store is not None:
            self._note_call(world)
        return world

    def get_without_query(self, name: str) -> World | None:
        """Returns the world for a call from memory, without a query to the store.

        Returns None if the world is not in memory, or if its settings alone are not enough to check a call.
        """
        world = self._called.get(name)
        if world is None or world.dropped or not world.is_judged_by_settings():
            return None
        self._note_call(world)
        return world

    def find(self, name: str) -> World:
        """Returns a world that exists, else raises NOT_FOUND. Unlike `get`, does not count as a call of the world."""
        world = self._find(name)
        if world is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return world

    def _find(self, name: str) -> World | None:
        """Returns the world of that name, or None. Brings a world that servers share up to date."""
        world = self._called.get(name) or self._known.get(name)
        if self.store is None or not is_world_name(name):
            return world
        if world is not None and not world.dropped:
            with suppress(Refusal):
                world.follow()
                return world
        row = self.store.find(name)
        return None if row is None else self._add(World.make_stored(row, self.machine_time, self.store))

    @property
    def default(self) -> World:
        """The world `default`. If it is in memory, it is returned without a query to the store."""
        return self._called.get("default") or self.get("default")

    def get_or_default(self, name: str) -> World:
        """Returns the world of that name, or the world `default` if there is none. So a call that matches no operation
        gets a reply and makes no world."""
        return self.get(name if self._find(name) else "default")

    def list_all(self) -> list[World]:
        """Returns all worlds, also those that are not loaded. Reading the bank of such a world loads it."""
        worlds, after = [], ""
        while True:
            page, after = self.list_page(after, 500)
            worlds += page
            if not after:
                return worlds

    def list_page(self, after: str, most: int) -> tuple[list[World], str]:
        """Returns at most `most` worlds after a name, and the name after which the next page begins. On the last page
        that name is empty."""
        if self.store is None:
            with self._lock:
                names = nsmallest(most + 1, (name for name in self._called if name > after))
                worlds = [self._called[name] for name in names]
        else:
            time = self.store.read_time() if self.store.is_shared else 0.0
            worlds = [self._load_row(row, time) for row in self.store.read_page(after, most + 1)]
        return worlds[:most], worlds[most - 1].name if len(worlds) > most else ""

    def _load_row(self, row: WorldRow, time: float) -> World:
        """Returns the world of a stored row, brought up to date. `time` is the present time of a shared store's
        database."""
        assert self.store is not None
        world = self._called.get(row.name) or self._known.get(row.name)
        if world is None or world.row != row.id or (world.is_unloaded and self.store.is_shared):
            world = World.make_stored(row, self.machine_time, self.store)
        elif not world.is_unloaded and world.position != row.position:
            with suppress(Refusal):  # it was dropped meanwhile
                world.follow()
        if self.store.is_shared:
            world.clock.note_time(time)
        return world

    def list_in_memory(self) -> list[World]:
        with self._lock:
            return [world for world in self._called.values() if world.in_memory is not None]

    @property
    def counts(self) -> tuple[int, int]:
        """The number of worlds in memory, and of all worlds."""
        return len(self.list_in_memory()), len(self._called) if self.store is None else self.store.count()

    # Making and dropping

    def make(self, name: str, beginning: Beginning | None = None, *, replacing: bool = False) -> World:
        """Makes a world. Without `beginning`, uses the server's beginning, and returns the world of that name if it
        exists already. With `beginning`, an existing world is replaced if `replacing`, else WORLD_TAKEN is raised.
        Raises NOT_FOUND if the name is not valid. Raises WORLDS_FULL if there is no store and there are too many
        worlds."""
        if not is_world_name(name):
            raise Refusal(Error.NOT_FOUND, input="world")
        began = self.make_beginning(name) if beginning is None else self.adapt(beginning)

        def begin() -> World:
            return World.make_begun(name, began, self.machine_time, self.store, replaces=replacing)

        return self._settle(name, begin, replacing, at_call=beginning is None)

    def make_beginning(self, name: str) -> Beginning:
        """Returns the server's beginning with the seed and the secret of this world."""
        server = self.beginning
        return replace(server, seed=compute_seed(server.seed, name), secret=compute_secret(server.secret, name))

    def fork(self, name: str, as_name: str, at: datetime | None, *, replacing: bool = False) -> World:
        """Makes the world `as_name` as a copy of the world `name`. Copies the present world, or with `at` the world as
        it was at that bank time. If the world `as_name` exists already, it is replaced if `replacing`, else WORLD_TAKEN
        is raised."""
        origin = self.find(name)

        def begin() -> World:
            return World.from_snapshot(as_name, origin.snapshot(at), self.machine_time, self.store, replaces=replacing)

        return self.settle(as_name, begin, replacing=replacing)

    def settle(self, name: str, make: Callable[[], World], *, replacing: bool = False) -> World:
        """Adds the world that `make` creates to the registry. Raises WORLD_TAKEN if a world of that name exists, unless
        `replacing`."""
        return self._settle(name, make, replacing)

    def _settle(self, name: str, make: Callable[[], World], replacing: bool, at_call: bool = False) -> World:
        """Makes a world and adds it. Other calls that make or drop a world of this name wait meanwhile. If the world
        exists already, there are three cases: returns it if `at_call`, which means that a call of the world makes it;
        else replaces it if `replacing`; else raises WORLD_TAKEN (choice 10)."""
        with self._turn(name):
            existing = self._find(name)
            if existing is not None and at_call:  # made meanwhile
                return existing
            if existing is not None and not replacing:
                raise Refusal(Error.WORLD_TAKEN, input=name)
            self._demand_room(name)
            try:
                world = make()
            except Refusal as refusal:
                existing = self._find(name)
                if not at_call or existing is None or refusal.error is not Error.WORLD_TAKEN:
                    raise
                return existing  # another server made it meanwhile
            self._forget(name, but=world.row)
            return self._add(world)

    def drop(self, name: str) -> None:
        with self._turn(name):
            world = self.find(name)
            world.calls.deliver()
            if self.store is not None:
                self.store.drop(name)  # first, as it may be refused
            self._forget(name)

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """Within the block, no other caller makes or drops a world of that name."""
        own_turn = threading.Event()
        while (other := self._coming.setdefault(name, own_turn)) is not own_turn:
            other.wait()
        try:
            yield
        finally:
            del self._coming[name]
            own_turn.set()

    def _demand_room(self, name: str) -> None:
        """Without a store, refuses a new world if there are as many worlds as `worlds_max` permits. The world `default`
        always has room, and so has a world that replaces another one of the same name."""
        most = self.room.worlds_max
        count = len(self._called) + len(self._coming) - 1
        if self.store is None and count >= most and name != "default" and name not in self._called:
            raise Refusal(Error.WORLDS_FULL, most=most)

    def _add(self, world: World) -> World:
        """Registers a world. If two callers load the same stored world, both get the one that was registered first."""
        with self._lock:
            if self.store is not None:
                loaded_world = self._known.get(world.name)
                if loaded_world is not None and not loaded_world.dropped and loaded_world.row == world.row:
                    world = loaded_world
            self._called[world.name] = self._known[world.name] = world
        world.on_growth, world.demand_files = self.history.count_growth, self.history.demand_files
        if self._writer is not None:
            world.calls.touched = self._writer.touch
            if world.calls.has_unwritten:  # of the world that it is a fork of, or from a file
                world.calls.touch()
        return world

    def _forget(self, name: str, but: int | None = None) -> None:
        """Removes the world of this name from memory and ends it. `but` is the row of a new world that was just stored
        under the same name. If the world in memory is already this new world, because another caller loaded it, it
        stays."""
        with self._lock:
            world = self._called.get(name) or self._known.get(name)
            if self.store is not None and world is not None and world.row == but:
                return
            self._called.pop(name, None)
            self._known.pop(name, None)
        if world is not None:
            world.end()

    def expire(self, seconds: float) -> int:
        """Deletes the stored worlds that were not called for `seconds`. Returns how many it deleted."""
        assert self.store is not None
        names = self.store.list_expired(seconds)
        for name in names:
            with suppress(Refusal):  # another server deleted it
                self.drop(name)
        return len(names)

    def _expire(self, seconds: float) -> None:
        while not self._ends.is_set():
            try:
                deleted = self.expire(seconds)
                if deleted:
                    log.info("deleted %s worlds that nobody called for %s s", deleted, seconds)
            except StateFileError as error:
                log.warning("worlds that nobody called could not be deleted: %s", error)
            self._ends.wait(min(seconds, EXPIRY_EVERY))

    # Leaving memory

    def put_away(self, world: World) -> bool:
        return self._unload(world, world.used)

    def _note_call(self, world: World) -> None:
        """Notes that the world was called now. Unloads the longest idle world if it was idle for too long. If there are
        more worlds in memory than the limit, unloads those that were idle longest, but at most AT_ONCE_MAX of them, so
        that no call waits long."""
        now = world.used = self.machine_time()
        with self._lock:
            if not world.dropped:
                self._called[world.name] = world
                self._called.move_to_end(world.name)
        for _ in range(AT_ONCE_MAX):
            with self._lock:
                oldest = next(iter(self._called.values()), world)
                oldest_use, crowded = oldest.used, len(self._called) > self.room.worlds_max
                if oldest is world or not (crowded or now - oldest_use >= self.room.put_away_after):
                    return
                del self._called[oldest.name]
            self._unload(oldest, oldest_use)
            if not crowded:
                return

    def _unload(self, world: World, used: float) -> bool:
        """Unloads a world, and returns True. Returns False if the world stays in memory, for example because it was
        called after the time `used`, or because it could not be stored. Does not hold the registry's lock while it
        stores the world."""
        try:
            has_left = world.leave_memory(used)
        except StateFileError:  # the world stays in memory, and changes of a bank are refused from now on
            has_left = False
        except Exception:  # a bug of the sandbox; not raised, because the caller asked for another world
            log.exception("the world %s could not leave memory", world.name)
            world.used, has_left = self.machine_time(), False  # so that not each call tries again
        with self._lock:
            if has_left:
                if self._called.get(world.name) is world:
                    del self._called[world.name]
            elif not world.dropped:
                self._called.setdefault(world.name, world)
        return has_left
