"""Barriers, at which a call waits until the tester releases it (choice 13)."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sandbox.contract.errors import Error, Refusal
from sandbox.storage.format import StateFileError, stored_as
from sandbox.worlds.faults import CallCondition, ChangeRunner

if TYPE_CHECKING:
    from sandbox.bank.state import Bank

PLACES = ("before_act", "after_act", "before_reply")
HOLDS_MAX = 50  # of a world
HELD_SECONDS_MAX = 30.0  # by the machine's clock; then the call continues by itself
WATCHED_EVERY = 0.05  # seconds between two looks for the release of a call that is held here
WAITING, HELD, EXPIRED, PASSED = "waiting", "held", "expired", "passed"

Wait = Callable[[threading.Event, float], None]  # waits for the event, for at most these seconds


@stored_as("HeldCall")
class HeldCall(NamedTuple):
    """The call that waits at a barrier, or that waited there."""

    request_id: str
    operation: str
    method: str
    path: str
    client_id: str | None


@stored_as("StoredHold")
class StoredHold(NamedTuple):
    """A barrier as the store has it, if servers share the world."""

    name: str
    at: str
    when: CallCondition
    met: int
    state: str
    call: HeldCall | None


@dataclass(eq=False)
class CallHold:
    """A barrier, at which one call waits until the tester releases it.

    Its state is `waiting` until a call comes that meets the condition `when`. The state is `held` while that call
    waits. `expired`: the call waited for HELD_SECONDS_MAX and then continued. `passed`: the call was refused at once,
    because too many calls waited.
    """

    name: str
    at: str
    when: CallCondition
    met: int = 0
    state: str = WAITING
    call: HeldCall | None = None
    released: threading.Event = field(default_factory=threading.Event, repr=False)
    arrived: threading.Event = field(default_factory=threading.Event, repr=False)
    is_held_here: bool = False  # whether this server holds the call

    def fits(self, call: HeldCall, now: datetime) -> bool:
        """Returns whether the barrier is for this call. A call that does not meet the condition is not counted, and the
        result is False. Without `nth`, the barrier is for each counted call. With `nth`, it is only for the call with
        that number."""
        if not self.when.fits(call.operation, call.client_id, now):
            return False
        self.met += 1
        return self.when.nth in (None, self.met)

    def make_stored(self) -> StoredHold:
        return StoredHold(self.name, self.at, self.when, self.met, self.state, self.call)


class Holds:
    """The barriers of a world. They are not in its log, because the acts of a held call are logged when they happen.

    If servers share the world, each server takes the barriers from the store. So a tester can release a barrier at
    another server than the one that holds its call. `change` runs work under the world's lock, `note` marks the
    barriers as changed, so that they are stored, and `follow` brings them up to date.
    """

    def __init__(
        self, change: ChangeRunner, note: Callable[[], None], follow: Callable[[], None], *, is_shared: bool
    ) -> None:
        self.by_name: dict[str, CallHold] = {}
        self._change = change
        self._note = note
        self._follow = follow
        self._is_shared = is_shared
        self._is_watching = False

    def find(self, name: str) -> CallHold | None:
        return self.by_name.get(name)

    def list_all(self) -> list[CallHold]:
        return list(self.by_name.values())

    def add(self, name: str | None, at: str, when: CallCondition) -> CallHold:
        return self._change(lambda bank: self._add(name, at, when))

    def _add(self, name: str | None, at: str, when: CallCondition) -> CallHold:
        if len(self.by_name) >= HOLDS_MAX:
            raise Refusal(Error.CONTROL_INVALID, input="hold", why=f"there are {HOLDS_MAX} already")
        if name is None:
            numbers = range(1, HOLDS_MAX + 1)
            name = next(free for free in (f"hold-{number}" for number in numbers) if free not in self.by_name)
        if name in self.by_name:
            raise Refusal(Error.NAME_TAKEN, kind="hold", input=name)
        self.by_name[name] = hold = CallHold(name, at, when)
        self._note()
        return hold

    def claim(self, at: str, call: HeldCall) -> CallHold | None:
        """Returns the first free barrier at the place `at` whose condition the call meets, or None. From then on the
        barrier belongs to this call alone. `at` is one of PLACES."""

        def work(bank: "Bank") -> CallHold | None:
            waiting = (hold for hold in self.by_name.values() if hold.at == at and hold.call is None)
            hold = next((hold for hold in waiting if hold.fits(call, bank.clock.now)), None)
            if hold is not None:
                hold.call = call
            self._note()
            return hold

        return self._change(work)

    def hold(self, hold: CallHold, wait: Wait) -> None:
        """Waits until the barrier is released, or for HELD_SECONDS_MAX. Runs in the thread of the call that claimed the
        barrier. The world's lock is not held meanwhile. The barrier's state is `held` during the wait, and `expired` if
        nobody released it in that time."""
        self._set_state(hold, HELD)
        hold.arrived.set()  # once every server shows it
        if self._is_shared:
            self._watch()
        wait(hold.released, HELD_SECONDS_MAX)
        if not hold.released.is_set():
            self._set_state(hold, EXPIRED)

    def let_pass(self, hold: CallHold) -> None:
        """Marks a barrier as passed, because too many calls wait already. The caller then refuses the call that has
        claimed the barrier."""
        self._set_state(hold, PASSED)
        hold.arrived.set()

    def _set_state(self, hold: CallHold, state: str) -> None:
        def work(bank: "Bank") -> None:
            hold.state, hold.is_held_here = state, state == HELD
            self._note()

        self._change(work)

    def release(self, name: str) -> None:
        """Lets the call of a barrier continue, and removes the barrier. Does nothing if there is no such barrier."""
        self._change(lambda bank: self._release([name]))

    def release_all(self) -> None:
        self._change(lambda bank: self._release(list(self.by_name)))

    def end(self) -> None:
        """Removes all barriers and lets their calls continue, because the world ended or begins again."""
        self._release(list(self.by_name))

    def _release(self, names: Iterable[str]) -> None:
        for name in names:
            hold = self.by_name.pop(name, None)
            if hold is not None:
                hold.is_held_here = False
                hold.released.set()
                self._note()

    def _watch(self) -> None:
        """Starts a thread that reads the barriers from the store while this server holds a call, because a tester may
        release the call at another server. If the store cannot be read or the world was dropped, the thread removes all
        barriers, and their calls continue. Two such threads at once do no harm."""

        def work() -> None:
            try:
                while any(hold.is_held_here for hold in self.list_all()):
                    threading.Event().wait(WATCHED_EVERY)
                    self._follow()
            except (StateFileError, Refusal):
                self.end()
            finally:
                self._is_watching = False

        if not self._is_watching:
            self._is_watching = True
            threading.Thread(target=work, name="holds", daemon=True).start()

    # What a shared store has of them

    def list_stored(self) -> tuple[StoredHold, ...]:
        return tuple(hold.make_stored() for hold in self.by_name.values())

    def restore(self, holds: Iterable[StoredHold]) -> None:
        """Replaces the barriers by stored ones. If a call is held at a barrier that is not among the stored ones, the
        call continues."""
        stored = {hold.name: hold for hold in holds}
        for hold in self.list_all():
            if hold.name not in stored:
                del self.by_name[hold.name]
                hold.is_held_here = False
                hold.released.set()
        for name, row in stored.items():
            hold = self.by_name.setdefault(name, CallHold(name, row.at, row.when))
            hold.met, hold.state, hold.call = row.met, row.state, row.call
            if row.state != WAITING:
                hold.arrived.set()
