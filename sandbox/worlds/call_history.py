"""The answered calls of a world, and the states (attachments) that other packages attach to the world.

A call is added when its reply is complete, and waits. The waiting calls are later delivered together to their
observers, which are functions that record or judge calls. They are delivered once 16 wait, when somebody reads the
calls, and before the bank changes in a way that may affect how they are judged.

With a store, the calls are written within a second. Calls that are written together are a portion. When the server ends
in an orderly way, it writes all calls. If several servers share a store, the numbers of calls come from the database,
and each server loads the portions of the others when somebody reads the calls.

An attachment is the state of another package, such as the referee, which checks how clients behave. A state file has
the attachments beside the calls, and an attachment that cannot be read is made anew. A shared database has no
attachments. There the observations of the calls, which are the referee's input, are stored with the calls, and each
server makes its own attachments from them. The bank's money does not depend on calls and attachments, so damaged ones
are noted and left out.
"""

import pickle
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import groupby
from logging import getLogger
from typing import Any, NamedTuple, Protocol, runtime_checkable
from uuid import uuid4

from sandbox.bank.state import Bank
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Refusal
from sandbox.extension_registry import list_folders
from sandbox.storage.checkpoint import compute_program_digest, digest_of_parts, read_plain
from sandbox.storage.format import DamageError, StateFileError
from sandbox.storage.marks import compute_digest
from sandbox.storage.store import Store
from sandbox.worlds.beginning import Beginning, compute_nth_id
from sandbox.worlds.calls import Exchange, NumberedCall, Recent, Record
from sandbox.worlds.counts import AxesMet, Limits, SharedLimits, count_up

PARTS = ("worlds/calls.py",)  # source files of the records that attachments contain
CALLS, PORTIONS = "calls", "portions"  # names of counts

log = getLogger("sandbox")


@runtime_checkable
class Attachment(Protocol):
    """What another package keeps for one world, such as the findings of the referee. `pack` returns it as bytes for the
    state file. If `pack` raises an error, the attachment is not stored, and begins anew when the world is loaded
    again."""

    def pack(self) -> bytes: ...


class OwnerWorld(Protocol):
    """The part of a world that its call history uses."""

    name: str
    store: Store | None
    is_shared: bool
    dropped: bool
    lock: threading.RLock
    beginning: Beginning
    axes: AxesMet

    @property
    def row(self) -> int: ...

    @property
    def bank(self) -> Bank: ...

    @property
    def decisions(self) -> Decisions: ...

    def note_used(self) -> None: ...

    def compute_now(self, bank: Bank) -> datetime: ...


class Portion(NamedTuple):
    """Answered calls that are stored in one row. `observed` has the observations that the referee (the check of how
    clients behave) made of these calls, as bytes. It is empty if there are none."""

    number: int
    last: int  # number of the last call so far
    calls: list[Exchange]
    observed: bytes


@dataclass(frozen=True)
class StoredAttachments:
    """The attachments of a world, which are states of other packages, and the counts of its calls, as the store has
    them."""

    made: int = 0  # calls, ever
    limits: Any = None
    packed: dict[str, bytes] = field(default_factory=dict)
    judged: int = 0  # the last portion whose observations the attachments include


class CallHistory:
    """The answered calls of one world, and its attachments, which are states that other packages keep for the world.
    The oldest calls are dropped."""

    def __init__(self, world: OwnerWorld) -> None:
        self.touched: Callable[[CallHistory], None] = lambda history: None  # called when there is something to write
        self.writing = threading.Lock()  # taken after the world's lock
        self._world = world
        self.begin()

    def begin(self, exchanges: Sequence[Exchange] = (), made: int = 0, *, is_loaded: bool = True) -> None:
        """Drops all calls and starts with `exchanges`. If `is_loaded` is false, the store has calls of this world. They
        must be loaded before new calls are written."""
        self.is_loaded = is_loaded
        self.recent: Recent[Exchange] = Recent(exchanges)
        self.made = made  # calls, ever
        self._attachments: dict[str, Any] = {}  # by name; still bytes if not used yet
        self._limits = Limits()
        self._waiting: list[NumberedCall[Any]] = []
        self._latest: datetime | None = None  # the time of the last call
        self._unwritten: list[Exchange] = list(exchanges) if self._world.store else []
        self._observed: list[Any] = []  # observations for the referee that are not written yet; only in a shared world
        self._unjudged: list[tuple[int, bytes]] = []  # numbers and observations of portions of all servers
        self._pack: Callable[[list[Any]], bytes] = lambda observed: b""
        self._portions: set[int] = set()  # the numbers of those that this server read or wrote
        self._judged = 0

    # Calls that were answered

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def add(self, record: Record) -> NumberedCall[Any]:
        """Adds an answered call to the waiting calls, and returns it with its number and id. `deliver` later passes it
        to its observer. If servers share the world, the number is provisional: `deliver` replaces it by a number from
        the database."""
        world = self._world
        with world.lock:
            bank = world.bank  # loads the bank and its calls if they are not in memory
            if world.is_shared:
                seq, request_id = len(self._waiting) + 1, record.request_id or str(uuid4())
            else:
                self.made = seq = self.made + 1
                request_id = record.request_id or compute_nth_id(world.beginning, seq)
            # A call that was refused before it entered the bank did not bring the bank's time up to date.
            at = bank.clock.now if record.has_entered else world.compute_now(bank)
            self._latest = at = max(at, self._latest or at)  # a later number never has an earlier time
            call = NumberedCall(seq, request_id, at, record)
            self._waiting.append(call)
            self.touched(self)
            return call

    def deliver(self) -> None:
        """Passes the waiting calls to their observers, in order. If servers share the world, first gives the calls
        their final numbers, which come from the database.

        An observer's failure is logged and not raised, because it usually concerns another call than the one that
        triggers the delivery.
        """
        world = self._world
        with world.lock:
            if not self._waiting:
                return
            bank, waiting = world.bank, self._waiting
            if world.store is None:  # else the registry notes each call
                world.note_used()
            elif world.is_shared:
                last = count_up(world.store, world.row, CALLS, len(waiting))  # may fail, so it comes first
                waiting = [call._replace(seq=last - len(waiting) + call.seq) for call in waiting]
                self.made = last
            self._waiting = []
            for observe, group in groupby(waiting, key=lambda call: call.record.observe):
                calls = list(group)
                try:
                    observe(world, bank, calls)
                except Exception:
                    ids = ", ".join(call.request_id for call in calls)
                    log.exception("the calls %s were answered, and cannot be observed", ids)

    def add_observed(self, exchanges: list[Exchange], most: int, weight_max: int) -> int:
        """Adds calls to the list of calls, after their observer has processed them. Drops the oldest calls beyond
        `most` calls or `weight_max` bytes. Returns the bytes of the added calls."""
        if self._world.store is not None:
            self._unwritten += exchanges
        return self.recent.add(exchanges, most, weight_max)

    # Looking at them

    def list_all(self) -> list[Exchange]:
        """Returns the calls that are not dropped yet, including those of other servers."""
        return list(self._read().recent)

    def list_after(self, number: int) -> list[Exchange]:
        return [exchange for exchange in self.list_all() if exchange.seq > number]

    def find(self, request_id: str) -> Exchange | None:
        """Returns the last call with this id, or None."""
        return next((call for call in reversed(self.list_all()) if call.request_id == request_id), None)

    def _read(self) -> "CallHistory":
        world = self._world
        with world.lock:
            decisions = world.decisions
            self.deliver()
            if world.store is not None and world.is_shared:
                self._read_portions(world.store)
                self.recent.add((), decisions.requests_kept, decisions.calls_bytes_max)
            return self

    @property
    def weight(self) -> int:
        """The approximate bytes of the calls in memory."""
        return sum(calls.weight for calls in self._list_weighed())

    def forget(self, share: int) -> None:
        """Drops the oldest calls. With `share` 10, drops the oldest tenth of them."""
        for calls in self._list_weighed():
            if calls:
                calls.forget(max(1, len(calls) // share))

    def _list_weighed(self) -> list[Recent[Any]]:
        return [calls for calls in (self.recent, self._attachments.get("contents")) if isinstance(calls, Recent)]

    # Counts of calls

    @property
    def limits(self) -> Limits | SharedLimits:
        """The counts of the clients' calls: in memory, or in the database if servers share the world."""
        world = self._world
        return SharedLimits(world.store, world.row) if world.store and world.is_shared else self._limits

    def is_first_use(self, axis: str, operation: str) -> bool:
        """Returns True at the first use of this pair of axis and operation, and False at each later use. So an axis can
        affect only the first request of an operation. If servers share the world, the database counts the uses. Else
        they are in memory only, so after a reload of the world the next use counts as the first."""
        world = self._world
        if world.store is not None and world.is_shared:
            return count_up(world.store, world.row, f"first {axis} {operation}", 1) == 1
        return world.axes.is_first_use(axis, operation)

    # Attachments

    @property
    def attachments(self) -> dict[str, Any]:
        """The attachments by name, after the waiting calls were delivered. An attachment that was not used since the
        world was loaded is still its stored bytes."""
        with self._world.lock:
            assert self._world.bank
            self.deliver()
            return self._attachments

    def attach(self, name: str, make: Callable[[bytes | None], Attachment]) -> Attachment:
        """Returns the attachment with this name. At its first use since the world was loaded, `make` creates it from
        its stored bytes, or from None if nothing is stored."""
        with self._world.lock:
            assert self._world.bank
            attachment: Attachment | bytes | None = self._attachments.get(name)
            if attachment is None or isinstance(attachment, bytes):
                attachment = self._attachments[name] = make(attachment)
            return attachment

    def touch(self) -> None:
        """Marks the attachments as changed, so that they are written within a second."""
        self.touched(self)

    def observe(self, observed: Sequence[Any], pack: Callable[[list[Any]], bytes]) -> None:
        """Adds observations of calls to those that the next `write` stores. `pack` makes bytes of them. Only worlds
        that servers share need this: the referee judges the observations of all servers when somebody reads its
        findings."""
        with self._world.lock:
            self._observed += observed
            self._pack = pack
            self.touched(self)

    def take_unjudged(self) -> list[bytes]:
        """Returns the packed observations that the attachments on this server do not include yet. Each observation is
        returned once. If servers share the world, first writes the observations of this server, and reads those of the
        others.

        The world of a state file has such observations only if the file is a copy of a database that servers shared.
        """
        if self._world.is_shared:
            self.write()
        with self._world.lock:
            assert self._world.bank
            unjudged = (self._read() if self._world.is_shared else self)._unjudged
            self._unjudged = []
            return [observed for _, observed in unjudged]

    # What the store has of them

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten or self._observed)

    def write(self) -> bool:
        """Stores new calls, and in a state file also the attachments. Returns False if the store could not be written.
        The next call then tries again. Returns True without storing anything if the world was dropped or its calls are
        not loaded. Any other error is logged, and also returns True, but the new calls are then not stored."""
        world, store = self._world, self._world.store
        assert store is not None
        with world.lock:
            if world.dropped or not self.is_loaded:
                return True
            try:
                self.deliver()
                oldest = self.made - world.decisions.requests_kept
            except StateFileError:
                return False
            except Refusal:  # the world was dropped
                return True
            self.writing.acquire()
            row, made, limits = world.row, self.made, self._limits.copy_counts()
            calls, observed, self._unwritten, self._observed = self._unwritten, self._observed, [], []
            attachments = [(name, of) for name, of in self._attachments.items() if isinstance(of, bytes | Attachment)]
            judged = self._judged if self._unjudged else max(self._portions, default=self._judged)
        try:
            if calls or observed:
                self._write_portion(store, row, calls, observed, oldest)
            if not store.is_shared:
                write_attachments(store, row, StoredAttachments(made, limits, pack_each(attachments), judged))
        except StateFileError:  # the next call of `write` tries again
            self._unwritten, self._observed = [*calls, *self._unwritten], [*observed, *self._observed]
            return False
        except Exception:  # a bug of the sandbox; no call depends on the stored calls
            log.exception("the calls of the world %s could not be stored", world.name)
        finally:
            self.writing.release()
        return True

    def _write_portion(self, store: Store, row: int, calls: list[Exchange], observed: list[Any], oldest: int) -> None:
        """Writes a portion of calls, and deletes the portions whose calls all have numbers up to `oldest`. Writes
        nothing if the world was dropped."""
        number = count_up(store, row, PORTIONS, 1)
        last = calls[-1].seq if calls else self.made
        packed_observations = self._pack(observed) if observed else b""
        content = pickle.dumps((Exchange._fields, [tuple(call) for call in calls], packed_observations), protocol=5)

        def work() -> None:
            with store.database.transaction() as transaction:
                if transaction.select("SELECT 1 FROM worlds WHERE id = ?", row):
                    transaction.write("DELETE FROM calls WHERE world = ? AND last <= ?", row, oldest)
                    transaction.write_rows("calls", [(row, number, last, content, compute_digest(content))])
                    store.note_use(transaction, row)

        store.database.repeat(work)
        if not observed:
            self._portions.add(number)

    def read_back(self, store: Store, row: int) -> None:
        """Loads the stored calls and attachments of a world."""
        self._read_portions(store)
        stored = read_attachments(store, row)
        self._attachments, self._judged = dict(stored.packed), stored.judged
        if stored.limits is not None:
            self._limits.restore(stored.limits)
        self.made = max(stored.made, self.made)
        self._unjudged = [(portion, observed) for portion, observed in self._unjudged if portion > self._judged]
        self.is_loaded = True

    def _read_portions(self, store: Store) -> None:
        """Loads the portions that this server has neither read nor written."""
        calls: list[Exchange] = []
        for portion in read_portions(store, self._world.row, self._portions):
            self._portions.add(portion.number)
            self.made = max(self.made, portion.last)
            calls += portion.calls
            if portion.observed and portion.number > self._judged:
                self._unjudged.append((portion.number, portion.observed))
        if calls:
            together = {call.seq: call for call in (*self.recent, *calls)}
            self.recent = Recent(together[seq] for seq in sorted(together))
            self.made = max(self.made, self.recent[-1].seq)


def read_portions(store: Store, row: int, skipped: Collection[int] = ()) -> Iterator[Portion]:
    """Yields the portions of a world except those whose numbers are in `skipped`. Notes a damaged portion and yields it
    without calls."""
    select = store.database.select
    for (number,) in select("SELECT portion FROM calls WHERE world = ? ORDER BY portion", row):
        if number in skipped:
            continue
        query = "SELECT last, content, digest FROM calls WHERE world = ? AND portion = ?"
        for last, content, digest in select(query, row, number):
            portion = Portion(number, last, [], b"")
            with note_damage_within(store, row):
                if compute_digest(content) != digest:
                    raise ValueError("a portion of calls is not as it was written")
                names, rows, observed = read_plain(content)
                calls = [Exchange(**dict(zip(names, values, strict=True))) for values in rows]
                portion = Portion(number, last, calls, observed)
            yield portion


@contextmanager
def note_damage_within(store: Store, row: int) -> Iterator[None]:
    """Suppresses an error in the block, and notes in the store that calls or findings of the world are damaged. A
    StateFileError that is not a DamageError is raised, because then the store could not be read."""
    try:
        yield
    except Exception as fault:  # whatever damaged content leads to
        if isinstance(fault, StateFileError) and not isinstance(fault, DamageError):
            raise
        store.note(f"the calls and findings of its world {row} are damaged and are not used: {fault}")


def pack_each(attachments: list[tuple[str, Any]]) -> dict[str, bytes]:
    """Packs attachments. Logs and drops an attachment that cannot be packed, so that the world can leave memory."""
    packed_attachments: dict[str, bytes] = {}
    for name, attachment in attachments:
        try:
            packed_attachments[name] = attachment if isinstance(attachment, bytes) else attachment.pack()
        except Exception:
            log.exception("the attachment %s of a world cannot be packed, and begins anew", name)
    return packed_attachments


def write_attachments(store: Store, row: int, attachments: StoredAttachments) -> None:
    content = pickle.dumps(vars(attachments) | {"program": compute_attachments_digest()}, protocol=5)

    def work() -> None:
        with store.database.transaction() as transaction:
            if transaction.select("SELECT 1 FROM worlds WHERE id = ?", row):
                transaction.write("DELETE FROM aside WHERE world = ?", row)
                transaction.write_rows("aside", [(row, attachments.made, content, compute_digest(content))])

    store.database.repeat(work)


def read_attachments(store: Store, row: int) -> StoredAttachments:
    """Returns the stored attachments and counts of calls of a world. If they are damaged or missing, returns an empty
    StoredAttachments, and notes the damage. If they were stored by another version of the program, or of the extensions
    that listen to calls, leaves out the attachments."""
    rows = store.database.select("SELECT content, digest FROM aside WHERE world = ?", row)
    stored = StoredAttachments()
    for content, digest in rows:
        with note_damage_within(store, row):
            if compute_digest(content) != digest:
                raise ValueError("what is attached to them is not as it was written")
            values = read_plain(content)
            program = values.pop("program")
            stored = StoredAttachments(**values)
            if program != compute_attachments_digest():
                stored = replace(stored, packed={}, judged=0)
    return stored


@cache
def compute_attachments_digest() -> str:
    """Returns a digest of the source files that define the stored attachments, including the extensions that listen to
    calls."""
    listening = (str(place) for place in list_folders("listener"))
    return digest_of_parts((*PARTS, *listening), compute_program_digest().encode())


class CallWriter:
    """Writes the calls of all worlds of a server, in one thread. The thread starts when there is something to write for
    the first time."""

    EVERY = 1.0  # seconds: what a kill may lose
    ENDS_WITHIN = 1.0  # seconds
    SHARE = 9  # writing takes at most a tenth of the time, so many busy worlds are written less often

    def __init__(self, store: Store) -> None:
        self._store = store
        self._touched: dict[int, CallHistory] = {}
        self._lock = threading.Lock()  # held while all histories are written
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        store.before_close.append(self.close)

    def touch(self, history: CallHistory) -> None:
        """Registers a history that has something to write. Starts the thread that writes, unless it runs already."""
        self._touched[id(history)] = history
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="calls", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        pause = self.EVERY
        while not self._ends.wait(pause):
            began = self._store.stopwatch()
            self.write_all()
            pause = max(self.EVERY, (self._store.stopwatch() - began) * self.SHARE)

    def write_all(self) -> None:
        """Writes the calls of all registered histories. A history that cannot be written stays registered."""
        with self._lock:
            # Taken one by one, because calls register histories meanwhile.
            touched = [self._touched.popitem()[1] for _ in range(len(self._touched))]
            for history in touched:
                if not history.write():
                    self._touched[id(history)] = history

    def close(self) -> None:
        """Writes all calls when the server ends. For a shared database, which may not answer, it waits at most
        ENDS_WITHIN seconds."""
        self._ends.set()
        last = threading.Thread(target=self.write_all, name="last calls", daemon=True)
        last.start()
        last.join(self.ENDS_WITHIN if self._store.is_shared else None)
