"""Barriers in the way of calls: a call stands at a place until the tester lets it go (choice 13)."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sandbox.contract.errors import Error, Refusal
from sandbox.storage.record_names import stored_as
from sandbox.worlds.faults import CallCondition

PLACES = ("before_act", "after_act", "before_reply")
HOLDS_MAX = 50  # of a world
HELD_SECONDS_MAX = 30.0  # of the machine's clock; then the call goes on by itself
WAITING, HELD, EXPIRED, PASSED = "waiting", "held", "expired", "passed"

Wait = Callable[[threading.Event, float], None]  # until the event, or so many seconds


@stored_as("HeldCall")
class HeldCall(NamedTuple):
    """The call that stands at a barrier."""

    request_id: str
    operation: str
    method: str
    path: str
    client_id: str | None


@stored_as("StoredHold")
class StoredHold(NamedTuple):
    """A barrier as a shared store has it."""

    name: str
    at: str
    when: CallCondition
    met: int
    state: str
    call: HeldCall | None


@dataclass(eq=False)
class CallHold:
    """A barrier for one call. `expired`: the call went on by itself; `passed`: it was refused, as too many wait."""

    name: str
    at: str
    when: CallCondition
    met: int = 0
    state: str = WAITING
    call: HeldCall | None = None
    released: threading.Event = field(default_factory=threading.Event, repr=False)
    arrived: threading.Event = field(default_factory=threading.Event, repr=False)
    is_held_here: bool = False  # by this server

    def fits(self, call: HeldCall, now: datetime) -> bool:
        if not self.when.fits(call.operation, call.client_id, now):
            return False
        self.met += 1
        return self.when.nth in (None, self.met)

    def stored(self) -> StoredHold:
        return StoredHold(self.name, self.at, self.when, self.met, self.state, self.call)


class Holds:
    """The barriers of a world. They are no part of its log: what a held call does is noted when it does it. Each change
    is made under the world's lock and told to `changed`."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.by_name: dict[str, CallHold] = {}

    def add(self, name: str | None, at: str, when: CallCondition) -> CallHold:
        if len(self.by_name) >= HOLDS_MAX:
            raise Refusal(Error.CONTROL_INVALID, input="hold", why=f"there are {HOLDS_MAX} already")
        if name is None:
            numbers = range(1, HOLDS_MAX + 1)
            name = next(free for free in (f"hold-{number}" for number in numbers) if free not in self.by_name)
        if name in self.by_name:
            raise Refusal(Error.NAME_TAKEN, kind="hold", input=name)
        self.by_name[name] = hold = CallHold(name, at, when)
        self._changed()
        return hold

    def take(self, at: str, call: HeldCall, now: datetime) -> CallHold | None:
        """The barrier that waits for this call at this place, if any. It is for no other call from now on."""
        waiting = (hold for hold in self.by_name.values() if hold.at == at and hold.call is None)
        hold = next((hold for hold in waiting if hold.fits(call, now)), None)
        if hold is not None:
            hold.call = call
        self._changed()
        return hold

    def set_state(self, hold: CallHold, state: str) -> None:
        """What became of its call: it is held, it went on by itself, or it was refused."""
        hold.state, hold.is_held_here = state, state == HELD
        self._changed()

    def find(self, name: str) -> CallHold | None:
        return self.by_name.get(name)

    def all(self) -> list[CallHold]:
        return list(self.by_name.values())

    def release(self, name: str) -> CallHold | None:
        """Lets its call go, and takes the barrier away."""
        hold = self.by_name.pop(name, None)
        if hold is not None:
            hold.is_held_here = False
            hold.released.set()
            self._changed()
        return hold

    def release_all(self) -> None:
        for hold in self.all():
            self.release(hold.name)

    # What a shared store has of them

    def stored(self) -> tuple[StoredHold, ...]:
        return tuple(hold.stored() for hold in self.by_name.values())

    def restore(self, holds: Iterable[StoredHold]) -> None:
        """As the store has them: a barrier that is gone lets its call go."""
        stored = {hold.name: hold for hold in holds}
        for hold in self.all():
            if hold.name not in stored:
                del self.by_name[hold.name]
                hold.is_held_here = False
                hold.released.set()
        for name, row in stored.items():
            hold = self.by_name.setdefault(name, CallHold(name, row.at, row.when))
            hold.met, hold.state, hold.call = row.met, row.state, row.call
            if row.state != WAITING:
                hold.arrived.set()
