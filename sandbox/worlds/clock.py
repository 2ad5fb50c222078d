"""The clock of a world: bank time = base + rate x elapsed real time.

Bank time never goes back. Without a store, or with a state file, real time is the machine's time, which somebody may
set back. Therefore it is read through a SteadyClock. If the machine's time is set back by at most AHEAD seconds, the
SteadyClock stops until the machine's time has caught up. If it is set back further, the SteadyClock continues from its
own last time. The state file stores how far the clock came, so bank time does not go back after a restart either.

If servers share a store, real time is the database's, so that all of them have the same. Each change of a world stores
its time, and no later answer has an earlier time. Otherwise a failover could set bank time back, because the new
database may have a clock that is behind.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sandbox.banking.durations import LAST_MOMENT
from sandbox.storage.format import StateFileError, stored_as
from sandbox.storage.store import Store

AHEAD = 0.5  # seconds that the time in a state file may be ahead of the last answer, so that few answers write it
MOVES_KEPT = 200


@stored_as("Pace")
@dataclass(frozen=True, slots=True)
class Pace:
    """How bank time follows real time. Bank time is `base` at the real time `since`, and passes `rate` times as fast as
    real time. A frozen clock has the rate 0.

    Bank time stops at LAST_MOMENT, the latest time that a caller may write.
    """

    base: datetime
    since: float
    rate: float

    def compute_time(self, real: float) -> datetime:
        if not self.rate:
            return self.base
        gone = max(0.0, real - self.since) * self.rate
        seconds_left = (LAST_MOMENT - self.base).total_seconds()
        return self.base + timedelta(seconds=gone) if gone < seconds_left else max(self.base, LAST_MOMENT)

    @property
    def frozen(self) -> bool:
        return self.rate == 0


class ClockMove(NamedTuple):
    """Bank time before and after a tester moved the clock."""

    begin: datetime
    end: datetime


class WorldClock:
    """The clock of one world. Callers hold the world's lock, except for `read_real_time`."""

    def __init__(self, machine_time: Callable[[], float], store: Store | None) -> None:
        self.pace = Pace(LAST_MOMENT, 0.0, 0.0)  # until the world is read
        self.moving = threading.RLock()  # held during a whole move of the clock; taken before the world's lock
        self.moves: tuple[ClockMove, ...] = ()  # the last moves on this server
        self.machine_time = machine_time if isinstance(machine_time, SteadyClock) else SteadyClock(machine_time)
        self._store = store
        self._shared = store if store is not None and store.is_shared else None
        self._time = 0.0  # the database's time when it was read last
        self._has_time = False  # whether `_time` was read since the world was loaded

    def read_time(self) -> float:
        """Returns the real time from which bank time is computed. Without a store, or with a state file, this is the
        machine's time. If servers share the store, it is the database's time as a query last returned it. If there was
        no such query since the world was loaded, asks the database now."""
        if self._shared is None:
            return self.machine_time()
        if not self._has_time:
            self.note_time(self._shared.read_time())
        return self._time

    def note_time(self, time: float) -> None:
        """Remembers the time of the shared database, which a query just returned. From then on `read_time` needs no
        query."""
        self.note_change(time)
        self._has_time = True

    def note_change(self, time: float) -> None:
        """Remembers the time of the world's last change. The clock never goes back behind it."""
        self._time = max(self._time, time)

    def read_now(self) -> datetime:
        """Returns bank time as computed from the pace. During a long move of the clock, the bank itself has a later
        time already, because the pace is set at the end of the move."""
        return self.pace.compute_time(self.read_time())

    def read_real_time(self) -> datetime:
        """Returns the machine's time, for checks of certificates and of the Date of a signature (choice 9)."""
        return datetime.fromtimestamp(self.machine_time.real(), UTC)

    def set_pace(self, begin: datetime, base: datetime, rate: float) -> None:
        """Sets bank time to `base`. From then on it passes `rate` times as fast as real time. `begin` is bank time
        before this change. If `base` is later than `begin`, adds the move to `moves`."""
        self.pace = Pace(base, self.read_time(), rate)
        if base > begin:
            self.moves = (*self.moves, ClockMove(begin, base))[-MOVES_KEPT:]

    def keep(self) -> None:
        """If the world is in a state file, stores its time there. Callers do this before a reply shows that time, so
        that a restart cannot set it back."""
        if self._store is not None and self._shared is None:
            self.machine_time.keep()


class SteadyClock:
    """The machine's clock, from which all running worlds of a server take their time. It never goes back."""

    def __init__(self, real: Callable[[], float], store: Store | None = None) -> None:
        self.real = real
        self._store = store
        self._latest = self._kept = 0.0 if store is None else store.read_latest_time()  # _kept: the time in the file
        self._offset = 0.0
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        if store is not None:
            store.before_close.append(self._keep_exactly)

    def __call__(self) -> float:
        with self._lock:
            now = self.real() + self._offset
            if now < self._latest - AHEAD:
                self._offset += self._latest - now
            self._latest = max(self._latest, now)
            return self._latest

    def keep(self) -> None:
        """Stores the latest time of this clock plus AHEAD in the state file, if the stored time is earlier than the
        clock's. Callers do this before a reply shows that time. Ignores a state file that cannot be written, because
        such a file already refuses every change of a bank."""
        if self._latest > self._kept:
            with self._writing:
                if self._latest > self._kept:
                    self._keep(self._latest + AHEAD)

    def _keep_exactly(self) -> None:
        with self._writing:
            if self._kept > self._latest:
                self._keep(self._latest)

    def _keep(self, until: float) -> None:
        if self._store is not None:
            with suppress(StateFileError):
                self._store.keep_latest_time(until)
        self._kept = until
