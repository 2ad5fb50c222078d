"""How a world's clock is moved. A long move lets other calls in between two instants."""

from collections.abc import Callable
from datetime import datetime

from sandbox.bank import timeline
from sandbox.contract.errors import Error, Refusal
from sandbox.world import files_ahead
from sandbox.world.beginning import Pace
from sandbox.world.files_ahead import Unread
from sandbox.world.unloading import Unloadable

SLICE = 200  # events

Change = Callable[[datetime], tuple[datetime, float]]


class Paced(Unloadable):
    """The part of a world that moves its clock."""

    def set_pace(self, change: Change) -> None:
        """Moves the clock: from its now to where it stands next, and how fast it goes on. Large files on the way are
        read first; others go on meanwhile at the time before. One move at a time: the next one counts from its end."""
        with self._moving:
            for _ in range(files_ahead.MOST):
                base, rate, unread = self._begin_move(change)
                if unread is None:
                    break
                files_ahead.read(unread)
            self._move(base, rate)

    def _begin_move(self, change: Change) -> tuple[datetime, float, Unread | None]:
        """Where the clock goes, and a file that should be read first."""
        with self._lock:
            self._demand_kept()
            self._catch_up()
            base, rate = change(self.bank.clock.now)
            if base < self.bank.clock.now:
                raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
            return base, rate, files_ahead.first_unread(self.bank, base)

    def _move(self, base: datetime, rate: float) -> None:
        """A file that has not been read by now is read when its validation is due."""
        moved = 0
        while True:
            with self._lock:
                self._demand_kept()
                self._catch_up()
                assert moved <= self.bank.settings.due_events_max, "the agenda never empties"
                moved += SLICE
                until = max(base, self.bank.clock.now)
                with self._rest(until):
                    is_there = timeline.advance_some(self.bank, until, SLICE)
                if is_there:
                    self.pace = Pace(max(base, self.bank.clock.now), self._machine_time(), rate)
                    self.log.note_pace(self.pace)
                    backlog, taken = self._backlog, self._backlog.taken
                    break
        self._settle(backlog, taken)
