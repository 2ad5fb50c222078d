"""The register of worlds: found, made when they are called, forked, dropped; and put away when nobody calls."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from logging import getLogger
from typing import NamedTuple

from sandbox.banking.names import is_world_name
from sandbox.contract.errors import Error, Refusal
from sandbox.world.beginning import Beginning, secret_of, seed_of
from sandbox.world.counts import Tally
from sandbox.world.faults import Line
from sandbox.world.history import USUAL, CallKeeper, History, Room
from sandbox.world.log import checkpoint
from sandbox.world.log.format import StateFileError
from sandbox.world.log.state_store import StateStore
from sandbox.world.ownership import ElsewhereError, Peer
from sandbox.world.roll import Roll, SharedRoll
from sandbox.world.steady_clock import SteadyClock
from sandbox.world.world import Terms, World

log = getLogger("sandbox")
FETCHES = 5  # tries to have a world for which several servers ask
AT_ONCE_MAX = 2  # worlds that one call puts away where there are too many: it brings one, or two, itself


class PlayedStep(NamedTuple):
    """A step of a scenario as it was played: `holds`, `fails` or `skipped`; `world` names the world it is played in."""

    word: str
    text: str
    faults: tuple[str, ...] = ()


class Worlds:
    """The register of worlds. The bare address is the world `default`."""

    def __init__(
        self,
        beginning: Beginning,
        machine_time: Callable[[], float],
        store: StateStore | None = None,
        room: Room = USUAL,
        guarded: bool = False,
    ) -> None:
        self.beginning = beginning
        self.guarded = guarded  # on a network: worlds whose seed is given keep a secret too
        self.store = store
        self.room = room
        self.tally: Tally | None = None  # where somebody can read it
        self.play: Callable[[str], Iterator[PlayedStep]] | None = None  # a scenario by its name
        self.fetch: Callable[[str, Peer | None], bool] = lambda name, owner: False  # asks its server to give it up
        self.line = Line()
        self.machine_time = SteadyClock(machine_time, store)
        self._lock = threading.Lock()  # of making and dropping; calls of existing worlds never wait for it
        self._coming: dict[str, threading.Event] = {}  # worlds that are being made
        self._order = threading.Lock()
        self._awake: OrderedDict[str, World] = OrderedDict()  # in memory, the longest idle first
        self._keeper = CallKeeper(store) if store else None
        shared = store if store is not None and store.is_shared else None
        self._roll = SharedRoll(shared, self.machine_time, self._adopt) if shared else Roll()
        self.held = self._roll.held  # without a question to the database; another server may have the world
        self.history = History(room.history_max, self._roll.in_memory)
        for row in store.worlds(checkpoint.shape()) if store else ():
            assert store is not None
            self._add(World.unloaded(store, row, self.machine_time))
        if store is not None and store.is_of_another_program:  # which may not be able to go on: that is told now
            for world in self.all():
                world.ask(lambda bank: None)
                self._called(world)  # for which others may have to go
        if self._roll.find("default") is None:
            self.make("default")
        if store is not None:
            store.connection.use()

    def get(self, name: str) -> World:
        """A world that is called before it is made is made as the server was started (choice 10)."""
        world = self._roll.find(name)
        if world is None:
            if name != "default" and self._are_declared():
                raise Refusal(Error.NOT_FOUND, input="world")
            world = self.make(name)
        if self.store is not None:
            self._called(world)
        return world

    def _are_declared(self) -> bool:
        """As the default world says; where another server has that, as it said when it began."""
        default = self.get("default")
        shared = self.store is not None and self.store.is_shared and not default.is_here
        return (default.beginning if shared else default.bank).settings.worlds == "declared"

    def terms_of(self, world: World) -> Terms:
        """A world's terms; of a world that another server has, those of its beginning. Reloads an unloaded one."""
        away = world.is_unloaded
        try:
            return world.terms()
        except ElsewhereError:
            return Terms(world.beginning.settings, lambda axis: None)
        finally:
            if away and not world.is_unloaded:
                self._called(world)  # for which another may have to go

    def find(self, name: str) -> World:
        """Only a world that is there; this is no call of it."""
        world = self._roll.find(name)
        if world is None:
            raise Refusal(Error.NOT_FOUND, input="world")
        return world

    def places(self, worlds: list[World]) -> dict[int, str]:
        """The address of the server that has a world, by the world's row; nothing where all are here."""
        ownership = self.store.ownership if self.store else None
        return ownership.places([world.row for world in worlds]) if ownership else {}

    def put_away(self, world: World) -> bool:
        """Unloads a world that is not in use, and gives it up where others may take it."""
        with self._order:
            self._awake.pop(world.name, None)
        self._unload(world, world.used)
        return world.is_unloaded

    def get_or_default(self, name: str) -> World:
        """For a call that reached no operation: its world if that is there, else the default one."""
        return self.get(name if self._roll.find(name) else "default")

    def make(self, name: str, beginning: Beginning | None = None, *, replacing: bool = False) -> World:
        """Without a beginning: begin as the server does, or return the world that another call made meanwhile."""
        if not is_world_name(name):
            raise Refusal(Error.NOT_FOUND, input="world")
        began = beginning or self.beginning_of(name)
        make = partial(World, name, began, self.machine_time, self.store, not replacing)
        return self._fetched(name, lambda: self._settle(name, make, replacing, at_call=beginning is None))

    def _fetched(self, name: str, make: Callable[[], World]) -> World:
        """Again, once the server that has a world of that name gave it up."""
        for left in reversed(range(FETCHES)):
            try:
                return make()
            except ElsewhereError as error:
                if not left or not self.fetch(name, error.owner):
                    raise
        raise AssertionError("the last try returns or raises")

    def beginning_of(self, name: str) -> Beginning:
        """The server's, with a seed and a secret of the world's own."""
        server = self.beginning
        return replace(server, seed=seed_of(server.seed, name), secret=secret_of(server.secret, name))

    def fork(self, name: str, as_name: str, at: datetime | None, *, replacing: bool = False) -> World:
        """Make a second world that is the first as it is, or as it was at a time."""
        origin = self.find(name)
        return self.settle(as_name, lambda: origin.fork(as_name, at, not replacing), replacing=replacing)

    def settle(self, name: str, make: Callable[[], World], *, replacing: bool = False) -> World:
        """Make a world that goes on from another life. `make` returns it whole: once it can be found, it may be given
        up to another server at any moment."""
        return self._fetched(name, lambda: self._settle(name, make, replacing))

    def _settle(self, name: str, make: Callable[[], World], replacing: bool, at_call: bool = False) -> World:
        """Only calls that make a world of the same name wait for it. No world is replaced unless the caller says so,
        nor one that a call made on demand (choice 10)."""
        with self._turn(name):
            there = self._roll.find(name)
            if there is not None and at_call:  # made meanwhile
                return there
            if there is not None and not replacing:
                raise Refusal(Error.WORLD_TAKEN, input=name)
            self._demand_room(name)
            self._coming[name] = threading.Event()
        try:
            with self._roll.making(name):
                world = make()
                with self._lock:
                    return self._add(world)
        except Refusal as refusal:
            there = self._roll.find(name)
            if not at_call or there is None or refusal.error is not Error.WORLD_TAKEN:
                raise
            return there  # another server made it meanwhile
        finally:
            self._coming.pop(name).set()

    def drop(self, name: str) -> None:
        self.find(name).deliver_calls()
        with self._turn(name):
            world = self.find(name)
            if self.store is not None:
                self.store.drop(name)  # first, as it may be refused
            self._roll.remove(world)
            self._forget(world)

    def all(self) -> list[World]:
        """Also those that are away; looking at what they hold brings them back."""
        return list(self._roll.each())

    def page(self, after: str, most: int) -> tuple[list[World], str]:
        """So many worlds after a name, as there may be more than memory holds; and the name after which the next page
        begins, empty where none does."""
        found = list(islice(self._roll.each(after, most + 1), most + 1))
        return found[:most], found[most - 1].name if len(found) > most else ""

    def in_memory(self) -> list[World]:
        return [world for world in self._roll.in_memory() if not world.is_unloaded]

    @property
    def counts(self) -> tuple[int, int]:
        """How many are in memory, and how many there are."""
        return len(self._awake), len(self._roll)

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """The lock, once no other call makes a world of that name."""
        while True:
            with self._lock:
                coming = self._coming.get(name)
                if coming is None:
                    yield
                    return
            coming.wait()

    def _demand_room(self, name: str) -> None:
        """Where nothing can be put away, a new world is refused; the bare address always has its own."""
        most = self.room.worlds_max
        there = len(self._roll) + len(self._coming)
        if self.store is None and there >= most and name != "default" and self._roll.find(name) is None:
            raise Refusal(Error.WORLDS_FULL, most=most)

    def _add(self, world: World) -> World:
        earlier = self._roll.held(world.name)
        if earlier is not None:
            self._forget(earlier)
        self._roll.add(world)
        return self._adopt(world)

    def _adopt(self, world: World) -> World:
        world.returned = self._returned
        world.touched = self._keeper.touch if self._keeper else None
        world.history = self.history
        if not world.is_unloaded:
            self._returned(world)
        return world

    def _forget(self, world: World) -> None:
        """Forgets a world, also where a caller still holds it."""
        with self._order:
            world.dropped = True
            world.holds.release_all()
            if self._awake.get(world.name) is world:
                del self._awake[world.name]
        if (held := world.in_memory) is not None:
            held.release()

    def _returned(self, world: World) -> None:
        with self._order:
            if not world.dropped:
                self._awake[world.name] = world
                self._awake.move_to_end(world.name)

    def _called(self, world: World) -> None:
        """Puts away one idle world at the most: a crowd that fell silent is soon gone, and no call waits long."""
        now = world.used = self.machine_time()
        with self._order:
            if world.name in self._awake:
                self._awake.move_to_end(world.name)
        for _ in range(AT_ONCE_MAX):
            with self._order:
                oldest = next(iter(self._awake.values()), world)
                used, crowded = oldest.used, len(self._awake) > self.room.worlds_max
                if oldest is world or not (crowded or now - used >= self.room.put_away_after):
                    return
                del self._awake[oldest.name]
            self._unload(oldest, used)
            if not crowded:
                return

    def _unload(self, world: World, used: float) -> None:
        """Unloads a world without the registry's lock; a world that is called in that moment stays."""
        try:
            away = world.unload(used)
        except StateFileError:  # it stays, and what changes a bank is refused from now on
            away = False
        except Exception:  # our mistake: told, and none of the caller's, who asked for another world
            log.exception("the world %s could not be put away", world.name)
            world.used, away = self.machine_time(), False  # nor is it tried again at each call
        if not away and not world.is_unloaded:
            self._returned(world)
