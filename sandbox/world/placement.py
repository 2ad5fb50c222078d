"""Which server answers a call of a world, where several share a database; and how a world is given up between calls.

placement = Placement(worlds, ownership, elapsed)
where = placement.enter("w")           # a Peer: hand the call on; HERE: answer, then leave; AGAIN: ask again soon
placement.leave("w")
placement.balance()                    # gives up the worlds that another server should have
placement.drain()                      # gives up all of them, as this server ends
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from enum import Enum
from hashlib import blake2b
from logging import getLogger

from sandbox.contract.errors import Refusal
from sandbox.world.log.format import StateFileError
from sandbox.world.log.state_store import StateStore
from sandbox.world.ownership import ElsewhereError, Ownership, Peer
from sandbox.world.registry import Worlds
from sandbox.world.world import World

log = getLogger("sandbox")
QUIET_WITHIN = 0.5  # seconds that a world may be in use before it stays, and is tried again later
DRAINS_WITHIN = 20.0  # seconds in which a server that ends gives up its worlds
LOOKS = 5  # in one lease: how often living servers are read anew


Wakes = Callable[[], bool]  # whether a call is one for the bank of its world, which is made or read for it


class Where(Enum):
    """The place of an answer, where it is no other server."""

    HERE = "here"
    AGAIN = "again"  # the world is on its way, or its owner has died and its lease has not ended


HERE, AGAIN = Where.HERE, Where.AGAIN


def preferred(name: str, peers: Iterable[Peer]) -> Peer | None:
    """Rendezvous hashing: a server that comes or goes moves its own share of the worlds alone."""

    def rank(peer: Peer) -> tuple[bytes, int]:
        return blake2b(f"{peer.url} {name}".encode(), digest_size=8).digest(), peer.id

    return max((peer for peer in peers if not peer.drains), key=rank, default=None)


class Placement:
    """Of one server. The calls of a world are counted, so that it is given up between them."""

    def __init__(self, worlds: Worlds, store: StateStore, ownership: Ownership, elapsed: Callable[[], float]) -> None:
        self.worlds = worlds
        self.store = store
        self.ownership = ownership
        self.hands_on = True  # whether calls can reach another server from here
        self.drained_at = 0.0
        self._elapsed = elapsed
        self._counted = threading.Condition()  # of calls and leaving
        self._calls: Counter[str] = Counter()
        self._leaving: set[str] = set()
        self._peers: tuple[float, list[Peer]] = float("-inf"), []
        self._owners: tuple[float, dict[str, Peer]] = float("-inf"), {}  # of worlds that were called here
        self._ends = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._balance_until_closed, name="balance", daemon=True).start()

    def enter(
        self, name: str, handed: bool = False, wakes: Wakes = lambda: True, dead: Collection[int] = ()
    ) -> Peer | Where:
        """Counts a call and says where it is answered; a call that was handed on, here or nowhere. `dead` are servers
        that were not reached."""
        with self._counted:
            if name in self._leaving:
                return AGAIN
            self._calls[name] += 1
        try:
            where = self._where(name, handed, wakes, dead)
        except BaseException:
            self.leave(name)
            raise
        if where is not HERE:
            self.leave(name)
        return where

    def leave(self, name: str) -> None:
        """A call ended."""
        with self._counted:
            self._calls[name] -= 1
            if not self._calls[name]:
                del self._calls[name]
                self._counted.notify_all()

    def _where(self, name: str, handed: bool, wakes: Wakes, dead: Collection[int]) -> Peer | Where:
        world = self.worlds.held(name)
        if world is not None and world.is_here:
            return HERE
        self.ownership.demand()
        known = self._known_owners().get(name)
        if known is not None and not handed and known.id not in dead:
            return known
        row = self.store.listed(name)
        owner = None if row is None else self.ownership.owner(row.id)
        if owner is not None:
            return self._at(owner, name, dead)
        others = [] if handed or not self.hands_on else self.live_peers()
        first = preferred(name, [peer for peer in others if peer.id not in dead])
        if first is not None and not self._is_own(first):
            return first
        return self._taken(name) if wakes() else HERE

    def _at(self, owner: Peer, name: str, dead: Collection[int]) -> Peer | Where:
        if owner.id == self.ownership.id:  # a checkpoint of it is still being written, perhaps
            return AGAIN if self.ownership.drains and self._has_others() else HERE
        if owner.id in dead or self._is_own(owner):  # an earlier run of this server: its lease must end
            return AGAIN
        self._known_owners()[name] = owner
        return owner

    def _known_owners(self) -> dict[str, Peer]:
        """As of not long ago; one that has the world no more says so."""
        now = self._elapsed()
        if now - self._owners[0] > self.ownership.lease / LOOKS:
            self._owners = now, {}
        return self._owners[1]

    def forget_owner(self, name: str) -> None:
        self._owners[1].pop(name, None)

    def _is_own(self, peer: Peer) -> bool:
        return peer.id == self.ownership.id or peer.url == self.ownership.address

    def _has_others(self) -> bool:
        return any(not peer.drains for peer in self.live_peers())

    def _taken(self, name: str) -> Peer | Where:
        """Before the call itself, so that one that cannot be answered here has done nothing."""
        try:
            self.worlds.get(name).loaded()
        except ElsewhereError as error:
            return AGAIN if error.owner is None or self._is_own(error.owner) else error.owner
        except Refusal:  # it was dropped, or must be declared: the call says so
            pass
        return HERE

    def live_peers(self) -> list[Peer]:
        """All servers, as of not long ago."""
        now = self._elapsed()
        if now - self._peers[0] > self.ownership.lease / LOOKS:
            self._peers = now, self.ownership.peers()
        return self._peers[1]

    def balance(self) -> None:
        """A server that joined gets its share: each world that it should have is given up between two calls."""
        peers = self.live_peers()
        for world in self.worlds.in_memory():
            first = preferred(world.name, peers) if self.hands_on else None
            if first is not None and not self._is_own(first) and world.is_here:
                self.give_up(world, QUIET_WITHIN)

    def give_up(self, world: World, patience: float) -> bool:
        """Calls that come meanwhile wait, and are handed on then."""
        name = world.name
        with self._counted:
            if name in self._leaving:
                return False
            self._leaving.add(name)
        try:
            with self._counted:
                if not self._counted.wait_for(lambda: not self._calls[name], patience):
                    return False
            return self.worlds.put_away(world)
        finally:
            with self._counted:
                self._leaving.discard(name)

    def drain(self) -> None:
        """Others take no world of this server for its own any more; what it has is given up one by one."""
        ends = self._elapsed() + DRAINS_WITHIN
        self._ends.set()
        with suppress(StateFileError):
            self.ownership.drain()
            self._peers = float("-inf"), []
            self._give_all_up(ends)
        self.drained_at = self._elapsed()

    def _give_all_up(self, ends: float) -> None:
        """Where another server lives; otherwise its end gives all of them up at once."""
        while self._has_others() and self._elapsed() < ends:
            mine = [world for world in self.worlds.in_memory() if world.is_here]
            for world in mine:
                with suppress(StateFileError, Refusal):
                    self.give_up(world, QUIET_WITHIN)
            if not mine and not self.ownership.count:
                return
            if not mine:  # a checkpoint is still being written
                threading.Event().wait(0.05)

    def _balance_until_closed(self) -> None:
        while not self._ends.wait(self.ownership.lease / LOOKS):
            try:
                self.balance()
            except (StateFileError, Refusal) as error:
                log.info("worlds could not be balanced: %s", error)

    def close(self) -> None:
        self._ends.set()
