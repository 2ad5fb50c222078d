"""Which servers live, and which of them has which world: the rows in PostgreSQL.

A server lives as long as its row in `servers` stands, and the row may be removed once its lease has ended by the
database's clock. A world is taken only from a server whose row is gone: a renewal that finds its row has lost nothing.
Each take raises the world's epoch in the row that every write of the world changes: a server that was away writes
nothing under an epoch that has passed.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # psycopg takes a tenth of a start, and few servers need it
    from sandbox.world.log.postgres_line import Line, Statements

DRAINING = "#draining"  # after the address of a server that ends
RENEW = "UPDATE servers SET until = now() + ? * interval '1 second', address = ? WHERE id = ?"
REGISTER = "INSERT INTO servers (address, until) VALUES (?, now() + ? * interval '1 second') RETURNING id"
BURY = "DELETE FROM servers WHERE until <= now() AND id != ?"
TAKE = """UPDATE heads SET owner = ?, epoch = epoch + 1 WHERE world = ? AND
  (owner IS NULL OR owner = ? OR NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = heads.owner))
  RETURNING epoch, pace, faults, noted, acts, head, mark"""
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


class Taken(NamedTuple):
    """A world's head as it stood when it was taken: the owner alone changes it from then on."""

    epoch: int
    pace: bytes
    faults: bytes | None
    noted: int
    acts: int
    head: int
    mark: int


class Leases:
    """The statements; each is one transaction. How long a lease is believed is the caller's affair."""

    def __init__(self, line: "Line") -> None:
        self.line = line

    def register(self, address: str, lease: float) -> int:
        """A new server; the answer is its id."""
        row = self.line.run_one(REGISTER, address, lease).fetchone()
        assert row is not None
        return int(row[0])

    def renew(self, server: int, address: str, lease: float) -> bool:
        """False once the row is gone: other servers may have taken its worlds."""
        return self.line.run_one(RENEW, lease, address, server).rowcount == 1

    def leave(self, server: int) -> None:
        """All that it still has is free at once."""
        self.line.run_one("DELETE FROM servers WHERE id = ?", server)

    def live_servers(self) -> list[Peer]:
        """All servers whose lease has not ended, in the order of their ids."""
        query = "SELECT id, address FROM servers WHERE until > now() ORDER BY id"
        return [Peer(*row) for row in self.line.run_one(query).fetchall()]

    def owner(self, world: int) -> Peer | None:
        """The living server that has a world."""
        row = self.line.run_one(OWNER, world).fetchone()
        return None if row is None else Peer(*row)

    def places(self, worlds: list[int]) -> dict[int, str]:
        """Where each of these worlds is that a living server has."""
        return {int(world): Peer(0, address).url for world, address in self.line.run_one(PLACES, worlds).fetchall()}

    def take(self, world: int, server: int) -> Taken | None:
        """None where another server has it, or where it is gone."""
        return self.line.run(lambda database: take(database, world, server))

    def give(self, world: int, server: int, epoch: int) -> bool:
        """Whether it was still this server's to give up."""
        return self.line.run_one(GIVE, world, server, epoch).rowcount == 1


def take(database: "Statements", world: int, server: int) -> Taken | None:
    """In a transaction: servers whose lease has ended are removed first. Their rows are locked by this, so a renewal
    that comes at the same moment either saves the server or finds that it is gone."""
    row = database.execute(TAKE, (server, world, server)).fetchone()
    if row is None and database.execute(BURY, (server,)).rowcount:
        row = database.execute(TAKE, (server, world, server)).fetchone()
    return None if row is None else Taken(*row)
