"""Writing what was gathered to PostgreSQL: one statement for all of it, so one trip to the database."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sandbox.world.log.backlog import Backlog, Batch, Logs
from sandbox.world.log.marks import mark_of
from sandbox.world.log.place import Database
from sandbox.world.log.postgres_arrays import contents, numbers, packed, placeholders, texts
from sandbox.world.log.postgres_connection import PostgresConnection
from sandbox.world.log.postgres_line import TRIES, AgainError, BrokenError, DatabaseError, SilentError
from sandbox.world.log.writer import Writer

HEAD = (numbers, numbers, numbers, numbers, numbers, numbers, numbers, contents, contents, numbers)
ACT = (numbers, numbers, texts, texts, contents, numbers, numbers)
# The head of a world changes only under the epoch that it was taken under, and only after the act that it stood at;
# its acts and its notes are written where that held, and nowhere else. Always the same statement, however many rows.
QUERY = f"""WITH grown AS (
  UPDATE heads SET acts = n.acts, head = n.head, mark = n.mark, pace = n.pace, faults = n.faults, noted = n.noted
  FROM unnest({placeholders(HEAD)}) AS n (place, world, epoch, was, acts, head, mark, pace, faults, noted)
  WHERE heads.world = n.world AND heads.epoch = n.epoch AND heads.head = n.was RETURNING n.place, n.world),
added AS (
  INSERT INTO acts SELECT grown.world, a.number, a.at, a.verb, a.given, a.made, a.mark
  FROM unnest({placeholders(ACT, len(HEAD) + 1)}) AS a (place, number, at, verb, given, made, mark)
  JOIN grown ON grown.place = a.place)
SELECT place FROM grown""".encode()


class PostgresWriter(Writer):
    """What another server's epoch keeps from being written is lost for its own world alone."""

    connection: PostgresConnection

    def _writing(self) -> AbstractContextManager[Any]:
        """Nothing: one statement is a transaction by itself."""
        return nullcontext()

    def _write(self, database: Database, batch: Batch, logs: Logs) -> None:
        acts = dict(logs)
        notes = {backlog: _noted(batch, backlog) for backlog in batch.taken}
        heads: list[tuple[Any, ...]] = []
        rows: list[tuple[Any, ...]] = []
        for place, backlog in enumerate(batch.taken):
            world, new = backlog.world, acts.get(backlog, ())
            head = (new[-1].number, new[-1].mark) if new else backlog.head
            whole = (*head, mark_of(world, *head), *notes[backlog], mark_of(world, *notes[backlog]))
            heads.append((place, world, backlog.epoch, backlog.head.mark, *whole))
            rows += [(place, *row[1:]) for row in new]
        places = self._send([*packed(HEAD, heads), *packed(ACT, rows)])
        for place, backlog in enumerate(batch.taken):
            if place in places:
                backlog.noted = notes[backlog]
            else:
                backlog.lost = True

    def _send(self, values: list[bytes]) -> set[int]:
        """Done again where the database could not put it in order with others, and once where the line broke: what was
        written after all finds another head then, and is read back."""
        broke = False
        for left in reversed(range(TRIES)):
            try:
                with self.connection.write_alone() as database:
                    return {int.from_bytes(place or b"") for place in database.send(QUERY, values)}
            except AgainError:
                if not left:
                    raise
            except BrokenError as error:
                if broke or isinstance(error.__cause__, SilentError):
                    raise
                broke = True
        raise DatabaseError("the line broke again and again")


def _noted(batch: Batch, backlog: Backlog) -> tuple[bytes, bytes | None]:
    """Pace and faults as they stand now."""
    assert backlog.noted is not None, "a world is taken before it is written"
    pace, faults = backlog.noted
    return batch.noted.get(("pace", backlog), pace), batch.noted.get(("faults", backlog), faults)
