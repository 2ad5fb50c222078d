"""How a world's clock is moved. A long move lets other calls in between two instants."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from sandbox.bank import timeline
from sandbox.contract.errors import Error, Refusal
from sandbox.world import files_ahead
from sandbox.world.beginning import Pace
from sandbox.world.files_ahead import Unread
from sandbox.world.long_work import AbandonedError, is_caller_gone
from sandbox.world.unloading import Unloadable

SLICE = 200  # events

MOVES_KEPT = 200

Change = Callable[[datetime], tuple[datetime, float]]


class ClockMove(NamedTuple):
    """Bank time before and after a tester moved the clock."""

    begin: datetime
    end: datetime


class Paced(Unloadable):
    """The part of a world that moves its clock."""

    clock_moves: tuple[ClockMove, ...] = ()  # the last ones since this server has the world, for the console's picture

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
            self.deliver_calls()
            base, rate = change(self.bank.clock.now)
            if base < self.bank.clock.now:
                raise Refusal(Error.CONTROL_INVALID, input="set", why="the bank's clock does not go back")
            return base, rate, files_ahead.first_unread(self.bank, base)

    def _move(self, base: datetime, rate: float) -> None:
        """A file that has not been read by now is read when its validation is due.

        Where the caller is gone after the first slice, the clock stays where the move came to, and goes on as before.
        """
        moved = 0
        begin: datetime | None = None
        is_there = is_left = False
        while not is_there:
            is_left = moved > 0 and is_caller_gone()
            with self._answered():
                self._demand_kept()
                self._catch_up()
                begin = begin or self.bank.clock.now
                assert moved <= self.bank.settings.due_events_max, "the agenda never empties"
                moved += SLICE
                self.deliver_calls()
                if is_left:
                    base, rate = self.bank.clock.now, self.pace.rate
                until = max(base, self.bank.clock.now)
                with self._rest(until):
                    is_there = timeline.advance_some(self.bank, until, SLICE)
                if is_there:
                    self.pace = Pace(max(base, self.bank.clock.now), self._machine_time(), rate)
                    if self._store is not None:
                        self._store.writer.note("pace", self._backlog, self.pace)
                    if self.pace.base > begin:
                        self.clock_moves = (*self.clock_moves, ClockMove(begin, self.pace.base))[-MOVES_KEPT:]
        if is_left:
            raise AbandonedError
