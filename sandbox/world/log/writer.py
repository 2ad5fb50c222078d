"""Writing what was gathered: many calls' acts in one transaction, and each call answered once its own are in it."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sandbox.world.log.backlog import Backlog, Batch, Logs
from sandbox.world.log.codec import encode_text
from sandbox.world.log.format import ACT, DamageError, StateFileError
from sandbox.world.log.marks import ActRow, Head, mark_of
from sandbox.world.log.place import Database, Place

GROW = "UPDATE heads SET acts = ?, head = ?, mark = ? WHERE world = ? AND head = ?"


class Writer:
    """Rows are gathered under the worlds' locks and written outside of them."""

    def __init__(self, connection: Place, stopwatch: Callable[[], float]) -> None:
        self.connection = connection
        self.stopwatch = stopwatch
        self.flushes = 0
        self.flush_seconds = 0.0
        self._gathered = Batch()
        self._gather = threading.Lock()

    def note(self, what: str, backlog: Backlog, value: Any) -> None:
        """Takes a world's pace or faults as they are now; kept once `settle` returns."""
        assert what in ("pace", "faults")
        with self._gather:
            self._demand_founded(backlog)
            self._gathered.noted[what, backlog] = encode_text(value)
            self._gathered.take(backlog)

    def gather(self, backlog: Backlog, row: ActRow) -> None:
        """Takes an act; it is kept once `settle` returns."""
        with self._gather:
            self._demand_founded(backlog)
            self._gathered.acts.append((backlog, row))
            self._gathered.take(backlog)

    def settle(self, backlog: Backlog, taken: int) -> None:
        """Returns once that much of a world is kept; several callers share one write."""
        if backlog.kept >= taken:
            return
        with self.connection.turn:
            if backlog.kept < taken and not backlog.lost:
                self.flush()
        if backlog.kept < taken:
            self._demand_founded(backlog)

    def _demand_founded(self, backlog: Backlog) -> None:
        if backlog.lost:
            raise StateFileError(self.connection.unready or f"{self.connection.path} could not be written")

    def flush(self) -> None:
        """Writes all that was gathered, or loses it: then memory is undone by those whom it belongs to."""
        began = self.stopwatch()
        with self.connection.turn:
            if not self._gathered:
                return
            batch = Batch()
            try:
                with self._writing() as database:
                    batch = self._take()
                    logs = batch.logs()
                    self._write(database, batch, logs)
            except BaseException:
                self._lose(batch)
                raise
            for backlog, rows in logs:
                backlog.head = Head(rows[-1].number, rows[-1].mark)
            for backlog, taken in batch.taken.items():
                backlog.kept = backlog.kept if backlog.lost else taken
        with self._gather:  # with the commit, which is most of it
            self.flushes += 1
            self.flush_seconds += self.stopwatch() - began

    def _writing(self) -> AbstractContextManager[Database]:
        return self.connection.write()

    def _take(self) -> Batch:
        with self._gather:
            batch, self._gathered = self._gathered, Batch()
        return batch

    def _lose(self, batch: Batch) -> None:
        """Also what was gathered meanwhile, as some of it may follow from what is lost."""
        with self._gather:
            for backlog in (*batch.taken, *self._gathered.taken):
                backlog.lost = True
            self._gathered = Batch()

    def _write(self, database: Database, batch: Batch, logs: Logs) -> None:
        for backlog, rows in logs:
            head = (rows[-1].number, rows[-1].mark)
            row = (*head, mark_of(backlog.world, *head), backlog.world, backlog.head.mark)
            if database.execute(GROW, row).rowcount:
                database.executemany(ACT, rows)
            elif self.connection.is_there(backlog.world):
                raise DamageError(
                    f"{self.connection.path} was changed by another program: the acts of world {backlog.world}"
                )
        for (what, backlog), value in batch.noted.items():
            world = backlog.world
            found = database.execute("SELECT pace, faults FROM heads WHERE world = ?", (world,)).fetchone()
            if found is not None:
                pace, faults = (value, found[1]) if what == "pace" else (found[0], value)
                noted = (pace, faults, mark_of(world, pace, faults), world)
                database.execute("UPDATE heads SET pace = ?, faults = ?, noted = ? WHERE world = ?", noted)
