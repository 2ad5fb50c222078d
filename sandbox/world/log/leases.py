"""Which servers live, and which of them has which world: the rows in PostgreSQL.

A server lives as long as its row in `servers` stands, and the row may be removed once its lease has ended by the
database's clock. A world is taken only from a server whose row is gone: a renewal that finds its row has lost nothing.
Each take raises the world's epoch in the row that every write of the world changes: a server that was away writes
nothing under an epoch that has passed.
"""

from typing import TYPE_CHECKING, NamedTuple

from sandbox.world.log.marks import Head
from sandbox.world.log.writer import Backlog

if TYPE_CHECKING:  # psycopg takes a tenth of a start, and few servers need it
    from sandbox.world.log.postgres_line import Statements

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
