"""Which server has which world, where several servers share one database.

    ownership = Ownership(line, "http://10.0.0.7:8080", lease=5.0, elapsed=machine.seconds_since_boot)
    ownership.start()                      # registers this server, and renews its lease beside the calls
    ownership.demand()                     # before an answer from memory: LeaseLostError without a fresh lease
    taken = ownership.take(row)            # a world by its row, or ElsewhereError with its owner
    ownership.has(row, taken.epoch)        # False once the world may be another server's: read it anew
    ownership.give(row, taken.epoch)       # after all of it was written and its memory was given back
    ownership.close()                      # at the end, after all worlds were given up

A lease is believed for its length less a margin, counted from the moment before its renewal was sent, by a clock that
nobody sets. A server whose row is gone registers anew; before it believes the new lease it has no world any more, so
each world in memory is read anew, under an epoch of its own, before it answers.

A server lives as long as its row in `servers` stands, and the row may be removed once its lease has ended by the
database's clock. A world is taken only from a server whose row is gone: a renewal that finds its row has lost nothing.
Each take raises the world's epoch in the row that every write of the world changes: a server that was away writes
nothing under an epoch that has passed.
"""

import threading
from collections.abc import Callable
from logging import getLogger
from typing import TYPE_CHECKING, NamedTuple

from sandbox.world.log.format import StateFileError
from sandbox.world.log.marks import Head
from sandbox.world.log.writer import Backlog

if TYPE_CHECKING:  # psycopg takes a tenth of a start, and few servers need it
    from sandbox.world.log.postgres_line import Line, Statements

log = getLogger("sandbox")
LEASE = 5.0  # seconds (choice 12)
MARGIN_SHARE = 5  # a fifth of the lease: clocks of two machines do not run equally fast
RENEWALS = 5  # in one lease
DRAINING = "#draining"  # after the address of a server that ends
RENEW = "UPDATE servers SET until = now() + ? * interval '1 second', address = ? WHERE id = ?"
REGISTER = "INSERT INTO servers (address, until) VALUES (?, now() + ? * interval '1 second') RETURNING id"
LEAVE = "DELETE FROM servers WHERE id = ?"
LIVE = "SELECT id, address FROM servers WHERE until > now() ORDER BY id"
BURY = "DELETE FROM servers WHERE until <= now() AND id != ?"
TAKE = """UPDATE heads SET owner = ?, epoch = epoch + 1 WHERE world = ? AND
  (owner IS NULL OR owner = ? OR NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = heads.owner))
  RETURNING epoch, pace, faults, acts, head"""
GIVE = "UPDATE heads SET owner = NULL WHERE world = ? AND owner = ? AND epoch = ?"
PLACES = """SELECT heads.world, servers.address FROM heads JOIN servers ON servers.id = heads.owner
  WHERE servers.until > now() AND heads.world = ANY(?)"""
OWNER = """SELECT servers.id, servers.address FROM heads JOIN servers ON servers.id = heads.owner
  WHERE heads.world = ? AND servers.until > now()"""


class Peer(NamedTuple):
    """A server that lives."""

    id: int
    address: str

    @property
    def url(self) -> str:
        return self.address.removesuffix(DRAINING)

    @property
    def drains(self) -> bool:
        """Whether it gives its worlds up, as it ends."""
        return self.address.endswith(DRAINING)


def take(database: "Statements", world: int, server: int) -> Backlog | None:
    """The world as it stands: the owner alone changes it from now on. None where another server has it, or where it is
    gone. In a transaction: servers whose lease has ended are removed first. Their rows are locked by this, so a renewal
    that comes at the same moment either saves the server or finds that it is gone."""
    row = database.execute(TAKE, (server, world, server)).fetchone()
    if row is None and database.execute(BURY, (server,)).rowcount:
        row = database.execute(TAKE, (server, world, server)).fetchone()
    if row is None:
        return None
    epoch, pace, faults, acts, head = row
    return Backlog(world, Head(acts, head), epoch=epoch, noted=(pace, faults))


class LeaseLostError(StateFileError):
    """This server may not answer from memory now: another one may have taken its worlds."""


class ElsewhereError(StateFileError):
    """Another server has the world."""

    def __init__(self, owner: Peer | None) -> None:
        super().__init__(f"another server has this world: {owner.address if owner else 'it is being taken over'}")
        self.owner = owner


class Ownership:
    """This server among those that share a database."""

    def __init__(self, line: "Line", address: str, lease: float, elapsed: Callable[[], float]) -> None:
        self._line = line
        self.address = address
        self.lease = lease
        self.id = 0
        self.trouble: str | None = None  # why the last renewal failed
        self.taken = self.given = 0  # worlds, ever
        self.handed_on = 0  # calls, ever
        self.reloads, self.reload_seconds = 0, 0.0  # of worlds that were taken
        self._elapsed = elapsed
        self.drains = False
        self._believed_until = float("-inf")
        self._epochs: dict[int, int] = {}  # of the worlds that this server has
        self._lock = threading.Lock()  # of id and epochs, which change together
        self._renewing = threading.Lock()
        self._ends = threading.Event()

    def start(self) -> None:
        self.renew()
        threading.Thread(target=self._renew_until_closed, name="lease", daemon=True).start()

    def renew(self) -> None:
        """Once, and registers a server that has no row."""
        with self._renewing:
            if self._ends.is_set():
                return
            sent = self._elapsed()
            address = self.address + DRAINING * self.drains
            renewed = self.id and self._line.run_one(RENEW, self.lease, address, self.id).rowcount
            if not renewed:  # once its row is gone, other servers may have taken its worlds
                self._forget_all()
                sent = self._elapsed()
                made = self._line.run_one(REGISTER, address, self.lease).fetchall()
                with self._lock:
                    self.id = int(made[0][0])
            self._believed_until = sent + self.lease * (1 - 1 / MARGIN_SHARE)
            self.trouble = None

    def _forget_all(self) -> None:
        with self._lock:
            if self.id:
                log.warning("server %s was away for longer than its lease; it reads its worlds anew", self.id)
            self.id, self._epochs = 0, {}

    def _renew_until_closed(self) -> None:
        while not self._ends.wait(self.lease / RENEWALS):
            try:
                self.renew()
            except StateFileError as error:
                if self.trouble is None:
                    log.warning("the lease of server %s could not be renewed: %s", self.id, error)
                self.trouble = str(error)

    @property
    def is_fresh(self) -> bool:
        """Whether no other server can have taken a world of this one."""
        return self._elapsed() < self._believed_until

    @property
    def unready(self) -> str | None:
        """Why this server has no lease, or will not have one for long."""
        if self.drains:
            return "this server gives its worlds up, as it ends"
        if self.is_fresh:
            return self.trouble
        return f"the lease of this server has ended: {self.trouble or 'it was away for too long'}"

    def demand(self) -> None:
        if not self.is_fresh:
            raise LeaseLostError(self.unready)

    def take(self, world: int) -> Backlog:
        """Makes a world this server's, under an epoch of its own; also one that it has already."""
        self.demand()
        server = self.id
        taken = self._line.run(lambda database: take(database, world, server))
        if taken is None:
            raise ElsewhereError(self.owner(world))
        self.note(world, taken.epoch, server)
        log.info("server %s took world %s under epoch %s", server, world, taken.epoch)
        return taken

    def note(self, world: int, epoch: int, server: int) -> None:
        """Notes the epoch of a world; raises LeaseLostError where the id is no longer this server's."""
        with self._lock:
            if server != self.id or not server:
                raise LeaseLostError("this server was away for longer than its lease")
            self._epochs[world] = epoch
            self.taken += 1

    @property
    def count(self) -> int:
        """Of the worlds that this server has."""
        return len(self._epochs)

    def epoch(self, world: int) -> int:
        """Under which this server has a world; 0 where it has not."""
        return self._epochs.get(world, 0)

    def has(self, world: int, epoch: int) -> bool:
        return self._epochs.get(world) == epoch

    def give(self, world: int, epoch: int) -> None:
        """Other servers may take it at once; of a world that was taken anew meanwhile this does nothing."""
        with self._lock:
            server = self.id
            if self._epochs.get(world) != epoch:
                return
            del self._epochs[world]
        if self._line.run_one(GIVE, world, server, epoch).rowcount:
            self.given += 1
            log.info("server %s gave world %s up, epoch %s", server, world, epoch)

    def note_reload(self, seconds: float) -> None:
        """A world was taken and read."""
        with self._lock:
            self.reloads += 1
            self.reload_seconds += seconds

    def forget(self, world: int) -> None:
        """A world that was dropped."""
        with self._lock:
            self._epochs.pop(world, None)

    def peers(self) -> list[Peer]:
        """All servers that live, with this one, in the order of their ids."""
        return [Peer(*row) for row in self._line.run_one(LIVE).fetchall()]

    def owner(self, world: int) -> Peer | None:
        """The living server that has a world."""
        row = self._line.run_one(OWNER, world).fetchone()
        return None if row is None else Peer(*row)

    def places(self, worlds: list[int]) -> dict[int, str]:
        """Where each of these worlds is that a living server has."""
        rows = self._line.run_one(PLACES, worlds).fetchall()
        return {int(world): Peer(0, address).url for world, address in rows}

    def drain(self) -> None:
        """No world is meant for this server any more, says its row."""
        self.drains = True
        self.renew()

    def close(self) -> None:
        """What it still has is free at once; without a database the lease ends by itself."""
        self._ends.set()
        with self._renewing:
            self._believed_until = float("-inf")
            server, self.id = self.id, 0
        if not server:
            return
        try:
            self._line.run_one(LEAVE, server)
        except StateFileError as error:
            log.warning("server %s could not say that it ends: %s", server, error)
