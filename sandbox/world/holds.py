"""Barriers in the way of calls: a call stands at a place until the tester lets it go (choice 13)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sandbox.contract.errors import Error, Refusal
from sandbox.world.faults import When

PLACES = ("before_act", "after_act", "before_reply")
HOLDS_MAX = 50  # of a world
HELD_SECONDS_MAX = 30.0  # of the machine's clock; then the call goes on by itself
WAITING, HELD, EXPIRED, PASSED = "waiting", "held", "expired", "passed"

Wait = Callable[[threading.Event, float], None]  # until the event, or so many seconds


class HeldCall(NamedTuple):
    """The call that stands at a barrier."""

    request_id: str
    operation: str
    method: str
    path: str
    client_id: str | None


@dataclass(eq=False)
class Hold:
    """A barrier for one call. `expired`: the call went on by itself; `passed`: it was refused, as too many wait."""

    name: str
    at: str
    when: When
    met: int = 0
    state: str = WAITING
    call: HeldCall | None = None  # the one that it is for, from when it came
    released: threading.Event = field(default_factory=threading.Event, repr=False)
    arrived: threading.Event = field(default_factory=threading.Event, repr=False)

    def fits(self, call: HeldCall, now: datetime) -> bool:
        if not self.when.fits(call.operation, call.client_id, now):
            return False
        self.met += 1
        return self.when.nth in (None, self.met)


class Holds:
    """The barriers of a world. They are no part of its log: what a held call does is noted when it does it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.by_name: dict[str, Hold] = {}

    def add(self, name: str | None, at: str, when: When) -> Hold:
        with self._lock:
            if len(self.by_name) >= HOLDS_MAX:
                raise Refusal(Error.CONTROL_INVALID, input="hold", why=f"there are {HOLDS_MAX} already")
            if name is None:
                numbers = range(1, HOLDS_MAX + 1)
                name = next(free for free in (f"hold-{number}" for number in numbers) if free not in self.by_name)
            if name in self.by_name:
                raise Refusal(Error.NAME_TAKEN, kind="hold", input=name)
            self.by_name[name] = hold = Hold(name, at, when)
            return hold

    def take(self, at: str, call: HeldCall, now: datetime) -> Hold | None:
        """The barrier that waits for this call, if any. It is for no other call from now on."""
        with self._lock:
            waiting = (hold for hold in self.by_name.values() if hold.at == at and hold.call is None)
            hold = next((hold for hold in waiting if hold.fits(call, now)), None)
            if hold is not None:
                hold.call = call
            return hold

    def hold(self, hold: Hold, wait: Wait) -> None:
        """Holds the call of this barrier. No lock is held meanwhile."""
        hold.state = HELD
        hold.arrived.set()
        wait(hold.released, HELD_SECONDS_MAX)
        with self._lock:
            if not hold.released.is_set():
                hold.state = EXPIRED

    def let_pass(self, hold: Hold) -> None:
        """The call of this barrier is refused: too many wait already."""
        hold.state = PASSED
        hold.arrived.set()

    def find(self, name: str) -> Hold | None:
        return self.by_name.get(name)

    def all(self) -> list[Hold]:
        with self._lock:
            return list(self.by_name.values())

    def release(self, name: str) -> Hold | None:
        """Lets its call go, and takes the barrier away."""
        with self._lock:
            hold = self.by_name.pop(name, None)
        if hold is not None:
            hold.released.set()
        return hold

    def release_all(self) -> None:
        for hold in self.all():
            self.release(hold.name)
