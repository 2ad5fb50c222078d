"""The calls of a world as they were answered, and what others keep of the world beside its bank.

A call is added when its reply is complete and waits. The calls that wait are observed together: once enough wait, when
somebody looks, and before anything changes that they are judged by. With a store, what was observed is written within
a second, in portions; an orderly end writes all. Where several servers share a store, the numbers of calls come from
the database, and each server reads the portions of the others when somebody looks.
"""

import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from logging import getLogger
from typing import Any, NamedTuple, Protocol, runtime_checkable
from uuid import uuid4

from sandbox.bank.state import Bank
from sandbox.extension_registry import folders_of
from sandbox.storage.checkpoint import digest_of_parts, program_digest, read_plain
from sandbox.storage.format import DamageError, StateFileError
from sandbox.storage.marks import digest_of
from sandbox.storage.store import Store
from sandbox.worlds.beginning import Beginning, nth_id
from sandbox.worlds.calls import Exchange, NumberedCall, Recent, Record
from sandbox.worlds.counts import Limits

ROOMS = ("worlds/calls.py",)  # whose records are in what others keep
FORM = "aside 3"
CALLS, PORTIONS = "calls", "portions"  # names of counts


log = getLogger("sandbox")


@runtime_checkable
class PackableState(Protocol):
    """What another room keeps of a world, also while the world is not in memory. What cannot be packed is lost then."""

    def copied(self) -> bytes: ...


class WrittenWorld(Protocol):
    """A world of a store, for the thread that writes calls."""

    def write_calls(self) -> bool: ...


class CallHistory:
    """Of one world since it began. Its owner holds the world's lock."""

    def __init__(
        self, beginning: Beginning, exchanges: Iterable[Exchange] = (), made: int = 0, *, is_stored: bool
    ) -> None:
        self.is_read = False  # it has what the store has
        self._is_stored = is_stored
        self.exchanges: Recent[Exchange] = Recent(exchanges)
        self.kept: dict[str, Any] = {}  # by the name of what keeps it; bytes where nobody asked for it yet
        self.made = made  # calls, ever
        self.limits = Limits()
        self._beginning = beginning
        self._waiting: list[NumberedCall[Any]] = []
        self._unwritten: list[Exchange] = list(exchanges) if is_stored else []
        self._observed: list[Any] = []  # by the referee, of a shared world, and not written yet
        self._unjudged: list[tuple[int, bytes]] = []  # numbers and portions of what was observed, of all servers
        self._pack: Callable[[list[Any]], bytes] = lambda observed: b""
        self._portions: set[int] = set()  # those that were read or written
        self._judged = 0  # the last portion of which what others keep has all that was observed

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten or self._observed)

    def add(self, record: Record, bank: Bank, *, is_shared: bool) -> NumberedCall[Any]:
        if is_shared:
            seq, request_id = len(self._waiting) + 1, record.request_id or str(uuid4())
        else:
            self.made = seq = self.made + 1
            request_id = record.request_id or nth_id(self._beginning, seq)
        call = NumberedCall(seq, request_id, bank.clock.now, record)
        self._waiting.append(call)
        return call

    def deliver(self, world: Any, bank: Bank, store: Store | None, row: int) -> None:
        """Hands the waiting calls to the observers, in order. A failure of an observer is logged: the caller who causes
        the delivery is seldom one of those whose calls are delivered."""
        waiting = self._waiting
        if not waiting:
            return
        if store is not None and store.is_shared:
            last = count_up(store, row, CALLS, len(waiting))  # before anything is taken from those that wait
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

    def keep(self, name: str, make: Callable[[bytes | None], PackableState]) -> PackableState:
        found: PackableState | bytes | None = self.kept.get(name)
        if found is None or isinstance(found, bytes):
            found = self.kept[name] = make(found)
        return found

    # What the store has of it

    def take(self, exchanges: list[Exchange], most: int, weight_max: int) -> int:
        """Adds calls that were observed; returns what they weigh."""
        if self._is_stored:
            self._unwritten += exchanges
        return self.exchanges.take(exchanges, most, weight_max)

    def observe(self, observed: Sequence[Any], pack: Callable[[list[Any]], bytes]) -> None:
        """Notes what the referee will judge when somebody asks for its findings, on any server."""
        self._observed += observed
        self._pack = pack

    # What the store has of it

    def take_unwritten(self) -> "Portion":
        """What the store has not."""
        portion = Portion([tuple(call) for call in self._unwritten], self._observed)
        self._unwritten, self._observed = [], []
        return portion

    def put_back(self, portion: "Portion") -> None:
        """It could not be written: the next time is another try."""
        self._unwritten = [*(Exchange(*call) for call in portion.calls), *self._unwritten]
        self._observed = [*portion.observed, *self._observed]

    def write(self, store: Store, row: int, portion: "Portion", oldest: int) -> None:
        """Portions that are older than what is to be kept are deleted."""
        number = count_up(store, row, PORTIONS, 1)
        last = portion.calls[-1][0] if portion.calls else self.made
        observed = self._pack(portion.observed) if portion.observed else b""
        content = pickle.dumps((portion.calls, observed), protocol=5)

        def work() -> None:
            with store.database.transaction() as transaction:
                if transaction.select("SELECT 1 FROM worlds WHERE id = ?", row):
                    transaction.write("DELETE FROM calls WHERE world = ? AND last <= ?", row, oldest)
                    transaction.write_rows("calls", [(row, number, last, content, digest_of(content))])
                    store.note_use(transaction, row)

        store.database.repeat(work)
        if not portion.observed:
            self._portions.add(number)

    def kept_items(self) -> list[tuple[str, Any]]:
        return [(name, kept) for name, kept in self.kept.items() if isinstance(kept, bytes | PackableState)]

    def read_back(self, store: Store, row: int) -> None:
        """What the store has of a world that is loaded. A bank is worth more than its calls: where they are damaged,
        that is noted, and they begin anew."""
        self.read_others(store, row)
        with noting_damage(store, row):
            made, limits, self.kept, self._judged = read_kept(store, row)
            if limits is not None:
                self.limits.restore(limits)
            self.made = max(made, self.made)
        self._unjudged = [(portion, observed) for portion, observed in self._unjudged if portion > self._judged]
        self.is_read = True

    def read_others(self, store: Store, row: int) -> None:
        """Takes in the calls that came to the store since this was called last."""
        select = store.database.select
        calls: list[Exchange] = []
        observed: list[tuple[int, bytes]] = []
        for (portion,) in select("SELECT portion FROM calls WHERE world = ? ORDER BY portion", row):
            if portion in self._portions:
                continue
            query = "SELECT last, content, digest FROM calls WHERE world = ? AND portion = ?"
            for last, content, digest in select(query, row, portion):
                self.made = max(self.made, last)
                with noting_damage(store, row):
                    if digest_of(content) != digest:
                        raise ValueError("a portion of calls is not as it was written")
                    rows, judged_by_referee = read_plain(content)
                    calls += [Exchange(*call) for call in rows]
                    if judged_by_referee and portion > self._judged:
                        observed.append((portion, judged_by_referee))
            self._portions.add(portion)
        if calls:
            together = {call.seq: call for call in (*self.exchanges, *calls)}
            self.exchanges = Recent(together[seq] for seq in sorted(together))
            self.made = max(self.made, self.exchanges[-1].seq)
        self._unjudged += observed

    @property
    def judged(self) -> int:
        """The last portion of which what is kept has all: a copy of a database has portions that nobody judged yet."""
        return self._judged if self._unjudged else max(self._portions, default=self._judged)

    def take_unjudged(self) -> list[bytes]:
        unjudged, self._unjudged = self._unjudged, []
        return [observed for _, observed in unjudged]


@contextmanager
def noting_damage(store: Store, row: int) -> Iterator[None]:
    """What cannot be read is left out; a database that does not answer is another matter."""
    try:
        yield
    except Exception as fault:  # whatever damaged content leads to
        if isinstance(fault, StateFileError) and not isinstance(fault, DamageError):
            raise
        store.note(f"the calls and findings of its world {row} are damaged and are not used: {fault}")


class Portion(NamedTuple):
    """Calls that are written together, and what the referee observed of them."""

    calls: list[tuple[Any, ...]]
    observed: list[Any]


def pack_each(held: list[tuple[str, Any]]) -> dict[str, bytes]:
    """What cannot be packed is logged and begins anew: it must keep no world in memory."""
    packed: dict[str, bytes] = {}
    for name, kept in held:
        try:
            packed[name] = kept if isinstance(kept, bytes) else kept.copied()
        except Exception:
            log.exception("what is kept as %s of a world cannot be packed, and begins anew", name)
    return packed


def write_kept(store: Store, row: int, made: int, limits: Any, kept: dict[str, bytes], judged: int) -> None:
    content = pickle.dumps((FORM, kept_shape(), made, limits, kept, judged), protocol=5)

    def work() -> None:
        with store.database.transaction() as transaction:
            if transaction.select("SELECT 1 FROM worlds WHERE id = ?", row):
                transaction.write("DELETE FROM aside WHERE world = ?", row)
                transaction.write_rows("aside", [(row, made, content, digest_of(content))])

    store.database.repeat(work)


def read_kept(store: Store, row: int) -> tuple[int, Any, dict[str, bytes], int]:
    """How many calls there were, the counts of limits, what others keep, and the last portion that it is made of."""
    rows = store.database.select("SELECT content, digest FROM aside WHERE world = ?", row)
    if not rows:
        return 0, None, {}, 0
    if digest_of(rows[0][0]) != rows[0][1]:
        raise ValueError("what is kept beside them is not as it was written")
    form, program, *content = read_plain(rows[0][0])
    if form != FORM:
        return 0, None, {}, 0
    made, limits, kept, judged = content
    return (made, limits, kept, judged) if program == kept_shape() else (made, limits, {}, 0)


def kept_shape() -> str:
    """A digest of the program that knows how to read what others keep: of the extensions that listen to calls, too."""
    listening = (str(place) for place in folders_of("listener"))
    return digest_of_parts((*ROOMS, *listening), program_digest().encode())


def count_up(store: Store, row: int, name: str, count: int) -> int:
    """Adds to a count that all servers share; returns the sum."""
    query = """INSERT INTO counts VALUES (?, ?, 0, ?)
  ON CONFLICT (world, name) DO UPDATE SET count = counts.count + excluded.count RETURNING count"""
    return int(store.database.select(query, row, name, count)[0][0])


class CallWriter:
    """One thread for all worlds of a server writes what was observed; it begins with the first call."""

    EVERY = 1.0  # seconds: what a kill may lose
    ENDS_WITHIN = 1.0  # seconds
    SHARE = 9  # at the most a tenth of the time goes into it: many busy worlds are written less often

    def __init__(self, store: Store) -> None:
        self._store = store
        self._touched: dict[int, WrittenWorld] = {}
        self._lock = threading.Lock()  # of a round
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        store.before_close.append(self.close)

    def touch(self, world: WrittenWorld) -> None:
        """Something came that is to be written."""
        self._touched[id(world)] = world
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
        """What cannot be written now is written the next time."""
        with self._lock:
            # One by one, as calls touch worlds meanwhile.
            touched = [self._touched.popitem()[1] for _ in range(len(self._touched))]
            for world in touched:
                if not world.write_calls():
                    self._touched[id(world)] = world

    def close(self) -> None:
        """An orderly end loses no call of a file. A database that does not answer holds up no end."""
        self._ends.set()
        last = threading.Thread(target=self.write_all, name="last calls", daemon=True)
        last.start()
        last.join(self.ENDS_WITHIN if self._store.is_shared else None)
