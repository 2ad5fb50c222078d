"""Stores worlds in a database. The log of a world, which is the list of its acts, is the only authority on what
happened in it.

A world in memory is a copy of its log up to a position. The position is the number of acts and the mark of the last
one, a checksum that includes the marks of all acts before it. So a server that compares positions knows whether its
copy is equal, behind (then it applies the acts in between), or wrong (then it is discarded).

A call that only reads uses `look`: one query returns the position, the acts after the caller's position, and the time.
A call that may change the world uses `change`: it locks the world's row, so that acts of several servers come one after
the other. Then it reads what `look` reads, lets the caller add acts, and commits.

A check at the commit (a unique key on the number of the act) would need no lock. But a call that loses such a race has
already changed its copy of the bank, so the copy would be discarded and read again for each lost race.

A state file is used by one process. There the copy in memory is never behind, so neither reading nor changing needs
that query.
"""

import secrets
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from sandbox.contract.errors import Error, Refusal
from sandbox.storage import checkpoint
from sandbox.storage.checkpoint import PIECE
from sandbox.storage.codec import UnknownNameError, decode_arguments, encode_arguments, encode_bytes
from sandbox.storage.database import CommitUnknownError, Database, GoneError, Row, TakenError, Transaction
from sandbox.storage.format import OF_A_WORLD, ActsDeletedError, DamageError, StateFileError
from sandbox.storage.marks import (
    ActRow,
    LogHead,
    MarkError,
    chain_rows,
    compute_checksum,
    compute_digest,
    compute_root,
    demand_chain,
)
from sandbox.storage.memory_log import Act, PackedCheckpoint

if TYPE_CHECKING:
    from sandbox.storage.sqlite_database import Sync

log = getLogger("sandbox")
ADDRESSES = ("postgresql://", "postgres://")
ROWS_AT_ONCE = 500
LAST, START = 0, 1  # the two checkpoints that a world may have: the last one, and the one from which it starts
COLUMNS = "id, name, beginning, mark, acts, head, noted, version, until, seal, used"
IN_THE_MAKING = 3_600.0  # seconds after which a world that was not completed is deleted
USED_EVERY = 3_600.0  # seconds between two writes of the time at which a world was called
SIZED_EVERY = 60.0  # seconds for which the size is cached
ASKED_FOR = 3.0  # seconds for which the store tries to learn whether a commit took effect


class Position(NamedTuple):
    """The state that a copy of a world in memory has reached: the number of the world in the store, the position in its
    log (`head`), and a checksum of its pace, fault rules and barriers (`version`)."""

    world: int
    head: LogHead
    version: int


class WorldRow(NamedTuple):
    """A world as it is stored, without its acts."""

    id: int
    name: str
    beginning: bytes
    mark: int
    acts: int
    head: int
    noted: bytes
    version: int
    until: float
    seal: int
    used: float  # the time of the last call, to the hour

    @property
    def position(self) -> Position:
        return Position(self.id, LogHead(self.acts, self.head), self.version)

    @property
    def root(self) -> LogHead:
        """The position in the log before the first act."""
        return LogHead(0, compute_root(self.beginning))


class WorldUpdate(NamedTuple):
    """The changes of a world since the position of a copy in memory."""

    position: Position
    time: float  # the time of the database, and never before the last change
    noted: bytes | None  # the pace, faults and barriers; None if the copy has the same
    rows: list[ActRow]  # the next acts, but perhaps not all


class Change:
    """The acts that a call adds to a world, and the pace, faults and barriers if it changes them. The commit writes
    them."""

    def __init__(
        self, position: Position, transaction: Transaction, act_id: str, time: float, update: WorldUpdate | None
    ) -> None:
        self.position = position  # the position after the acts and notes that were added so far
        self.update = update
        self.time = time
        self.act_id = act_id  # the id of all acts of this change; random values of the bank depend on it
        self.rows: list[ActRow] = []
        self.noted: bytes | None = None
        self._transaction = transaction

    def add(self, act: Act) -> None:
        row = ActRow(*next(chain_rows(self.position.world, self.position.head, [list_columns(act)])))
        self.rows.append(row)
        self.position = self.position._replace(head=row.head)

    def note(self, noted: Any) -> None:
        """Sets the pace, faults and barriers that the commit stores. They are not acts."""
        self.noted = encode_bytes(noted)
        self.position = self.position._replace(version=compute_version(self.noted))


class Store:
    """Reads and changes the worlds in one database, for one server or command."""

    def __init__(self, database: Database, stopwatch: Callable[[], float] = lambda: 0.0) -> None:
        self.database = database
        self.stopwatch = stopwatch  # a clock of the machine that measures durations
        self.path = database.path
        self.is_shared = database.is_shared
        self._is_in_use = False
        self._logged: set[str] = set()
        self.notes: list[str] = []  # damage that was found and does not stop the server
        self.before_close: list[Callable[[], None]] = []
        self.acts_kept: int | None = None  # if a world has more acts, its earlier acts may be deleted
        self._sized: tuple[float, int] | None = None  # the time of the last measurement of the size, and the size
        self.commits = 0  # the number of commits of acts; not exact, because threads do not lock it
        self.commit_seconds = 0.0
        self._background: list[threading.Thread] = []
        self._lock = threading.Lock()
        self.checkpoint_turn = threading.Lock()  # held by a thread that replaces the rows of a checkpoint
        self._ends = threading.Event()
        if not self.is_shared:
            self.sweep(all_of_them=True)

    # Reading

    def find(self, name: str) -> WorldRow | None:
        """Returns the row of a world, or None. Raises DamageError if the row is not as it was written."""
        rows = self.database.select(f"SELECT {COLUMNS} FROM worlds WHERE name = ?", name)
        return self._read_world_row(rows[0]) if rows else None

    def look(self, name: str, position: Position) -> WorldUpdate | None:
        """Returns the changes of a shared world since the position, or None if there is no world of that name."""
        return self._make_update(name, self.database.select(*_look(name, position)), position)

    def read_page(self, after: str, most: int) -> list[WorldRow]:
        """Returns at most `most` worlds after a name, in the order of their names."""
        query = f"SELECT {COLUMNS} FROM worlds WHERE name > ? ORDER BY name LIMIT ?"
        return [self._read_world_row(row) for row in self.database.select(query, after, most)]

    def read_all(self) -> Iterator[WorldRow]:
        after = ""
        while rows := self.read_page(after, ROWS_AT_ONCE):
            yield from rows
            after = rows[-1].name

    def count(self) -> int:
        return int(self.database.select("SELECT count(*) FROM worlds")[0][0])

    def count_acts(self) -> int:
        return int(self.database.select("SELECT coalesce(sum(acts), 0) FROM worlds")[0][0])

    def read_rows(self, world: int, since: LogHead) -> Iterator[ActRow]:
        """Yields the rows of the acts after a position. Reads them in portions. Raises ActsDeletedError if acts after
        the position were deleted meanwhile. Raises DamageError at the first act that does not follow from the acts
        before it."""
        query = "SELECT * FROM acts WHERE world = ? AND number > ? ORDER BY number LIMIT ?"
        while True:
            rows = self.database.select(query, world, since.acts, ROWS_AT_ONCE)
            try:
                yield from demand_chain(rows, since)
            except MarkError as error:
                self._demand_not_deleted(world, since)
                raise self.note_damage(f"act {error.number} of its world {world} is not as it was written") from None
            if len(rows) < ROWS_AT_ONCE:
                return
            since = ActRow(*rows[-1]).head

    def read_acts(self, world: int, since: LogHead, until: LogHead) -> Iterator[Act]:
        """Yields the acts from one position to another. Raises ActsDeletedError if some of them were deleted meanwhile.
        Raises DamageError if the log does not lead to `until`."""
        head = since
        for row in self.read_rows(world, since) if since != until else ():
            head = row.head
            yield self.read_act(row)
            if head == until:
                return
            if head.acts >= until.acts:
                break
        if head != until:
            self._demand_not_deleted(world, head)
            raise self.note_damage(
                f"acts of its world {world} are missing after act {head.acts}, or are of another log"
            )

    def _demand_not_deleted(self, world: int, since: LogHead) -> None:
        """Raises ActsDeletedError if acts after the position were deleted while the caller read them."""
        query = "SELECT 1 FROM checkpoints WHERE world = ? AND is_start = 1 AND acts > ?"
        if self.database.select(query, world, since.acts):
            raise ActsDeletedError(f"{self.path}: acts of its world {world} were deleted while they were read")

    def read_act(self, row: ActRow) -> Act:
        try:
            arguments = decode_arguments(row.verb, orjson.loads(row.given))
            return Act(datetime.fromisoformat(row.at), row.verb, arguments, row.made, row.id)
        except (ValueError, TypeError) as error:
            raise self.make_read_error(f"act {row.number} of its world {row.world}", error) from None

    # Changing

    @contextmanager
    def change(self, name: str, position: Position) -> Iterator[Change]:
        """Yields a Change to which the caller adds acts, and commits it at the end of the block. `position` is the
        position of the caller's copy of the world. If servers share the store, the world is locked meanwhile. Raises
        NOT_FOUND if there is no world of that name.

        If the connection breaks during the commit, asks the database whether the commit took effect, and raises
        CommitUnknownError if it did not. After any exception but NOT_FOUND, the caller's copy of the bank may be wrong.
        """
        change: Change | None = None
        began = 0.0
        try:
            with self.database.transaction() as transaction:
                change = self._begin_change(transaction, name, position)
                yield change
                self._write_change(transaction, change)
                began = self.stopwatch()
        except CommitUnknownError:
            if change is None or not self._has_arrived(change):
                raise
        except GoneError:  # in a file nothing is locked before the commit
            raise Refusal(Error.NOT_FOUND, input="world") from None
        if change.rows:
            self.commits += 1
            self.commit_seconds += self.stopwatch() - began

    def _begin_change(self, transaction: Transaction, name: str, position: Position) -> Change:
        if not self.is_shared:
            return Change(position, transaction, "", 0.0, None)
        query, *values = _look(name, position)
        lock = f"SELECT 1 FROM worlds WHERE name = ?{self.database.lock_row}; "
        world, update = position.world, None
        while update is None or update.position.world != world:
            # If another world took the name while this waited for the lock, the lock found no row, and the look found
            # the new world, which is not locked yet.
            world = update.position.world if update else world
            update = self._make_update(name, transaction.select(lock + query, name, *values), position)
            if update is None:
                raise Refusal(Error.NOT_FOUND, input="world")
        return Change(update.position, transaction, secrets.token_hex(8), update.time, update)

    def _write_change(self, transaction: Transaction, change: Change) -> None:
        if not change.rows and change.noted is None:
            return
        position = change.position
        transaction.write_rows("acts", list(change.rows))
        noted = "" if change.noted is None else ", noted = ?"
        extra = () if change.noted is None else (change.noted,)
        seal = compute_seal(position, change.time)
        query = f"UPDATE worlds SET acts = ?, head = ?, version = ?, until = ?, seal = ?{noted} WHERE id = ?"
        transaction.change_row(query, *position.head, position.version, change.time, seal, *extra, position.world)

    def _has_arrived(self, change: Change) -> bool:
        """Whether a commit without a reply took effect. Asks the database for ASKED_FOR seconds, and raises
        StateFileError if there is no answer in that time.

        The query locks the world's row, so it waits for the end of the transaction in doubt. The update changes
        nothing. Its commit waits until a synchronous standby has everything before it, including the commit in doubt.
        """
        is_over = threading.Event()
        timer = threading.Timer(ASKED_FOR, is_over.set)
        timer.daemon = True
        timer.start()
        position = change.position
        while True:
            try:
                with self.database.transaction() as transaction:
                    query = f"SELECT version FROM worlds WHERE id = ?{self.database.lock_row}"
                    rows = transaction.select(query, position.world)
                    transaction.write("UPDATE worlds SET until = until WHERE id = ?", position.world)
                    if change.rows:
                        last = change.rows[-1]
                        query = "SELECT 1 FROM acts WHERE world = ? AND number = ? AND id = ? AND mark = ?"
                        return bool(transaction.select(query, position.world, last.number, last.id, last.mark))
                    return rows == [(position.version,)]
            except StateFileError:
                if is_over.wait(0.1):
                    raise

    # Making and dropping

    def begin(
        self,
        name: str,
        beginning: bytes,
        noted: Any,
        acts: Iterable[Act] = (),
        start: PackedCheckpoint | None = None,
        *,
        replaces: bool,
        only: int | None = None,
        until: float = 0.0,
    ) -> WorldRow:
        """Stores a new world and returns its row. The world cannot be found before all of it is stored. `noted` are its
        pace, faults and barriers. A world that continues from another one has that world's `acts`. If the first of them
        were dropped, `start` is the bank before the rest.

        Raises WORLD_TAKEN if the name is taken and `replaces` is false. If `only` is given, the present world of that
        name must have this number, else NOT_FOUND is raised.
        """
        world = secrets.randbits(62)
        head = LogHead(start.acts if start else 0, compute_root(beginning))
        checkpoints = [self._write_start(world, head, start)] if start else []
        rows = chain_rows(world, head, map(list_columns, acts))
        portion = list(islice(rows, ROWS_AT_ONCE))
        if len(portion) == ROWS_AT_ONCE and not start:
            after = self.read_time() + IN_THE_MAKING
            self.database.write("INSERT INTO garbage VALUES (?, ?)", world, after)
        while len(portion) == ROWS_AT_ONCE:
            self._write_acts(portion)
            head, portion = portion[-1].head, list(islice(rows, ROWS_AT_ONCE))
        head = portion[-1].head if portion else head
        controls = encode_bytes(noted)
        position = Position(world, head, compute_version(controls))
        mark, seal = compute_checksum(world, name, beginning), compute_seal(position, until)
        used = self.read_time()
        row = WorldRow(world, name, beginning, mark, *head, controls, position.version, until, seal, used)

        def complete() -> None:
            with self.database.transaction() as transaction:
                self._remove(transaction, name, is_allowed=replaces, only=only)
                transaction.write_rows("acts", list(portion))
                transaction.write_rows("checkpoints", checkpoints)
                transaction.write_rows("worlds", [row])
                transaction.write("DELETE FROM garbage WHERE world = ?", world)

        self._repeat(complete)
        if replaces:
            self.run_in_background("sweep", self.sweep)
        return row

    def _write_start(self, world: int, head: LogHead, start: PackedCheckpoint) -> Row:
        """Stores the bank with which a new world starts, in pieces of at most PIECE bytes. Returns the row of the start
        checkpoint, which the caller writes in its last transaction. Until then the world is marked as garbage, so that
        an incomplete one is deleted later."""
        self.database.write("INSERT INTO garbage VALUES (?, ?)", world, self.read_time() + IN_THE_MAKING)
        bank, attempt = zlib.decompress(start.bank), secrets.randbits(62)
        for number, begin in enumerate(range(0, len(bank), PIECE)):
            piece = bank[begin : begin + PIECE]
            self.database.write("INSERT INTO pieces VALUES (?, ?, ?, ?, ?)", world, head.acts, attempt, number, piece)
        at = start.at.astimezone(UTC).isoformat()
        return checkpoint_row(
            START, (world, *head, at, checkpoint.compute_program_digest(), attempt, compute_digest(bank))
        )

    def _write_acts(self, rows: Sequence[Row]) -> None:
        def work() -> None:
            with self.database.transaction() as transaction:
                transaction.write_rows("acts", list(rows))

        self.database.repeat(work)

    def drop(self, name: str) -> None:
        def work() -> None:
            with self.database.transaction() as transaction:
                self._remove(transaction, name, is_allowed=True)

        self._repeat(work)
        self.run_in_background("sweep", self.sweep)

    def _remove(self, transaction: Transaction, name: str, *, is_allowed: bool, only: int | None = None) -> None:
        """Deletes the row of a world, so that its name is free. `sweep` later deletes the other rows. Does nothing if
        there is no world of that name. If `is_allowed` is false and the world exists, raises WORLD_TAKEN. If `only` is
        given and the world of that name does not have this number, raises NOT_FOUND."""
        query = f"SELECT id FROM worlds WHERE name = ?{self.database.lock_row}"
        rows = transaction.select(query, name)
        if only is not None and rows != [(only,)]:
            raise Refusal(Error.NOT_FOUND, input="world")
        for (world,) in rows:
            if not is_allowed:
                raise Refusal(Error.WORLD_TAKEN, input=name)
            transaction.write("DELETE FROM worlds WHERE id = ?", world)
            transaction.write("INSERT INTO garbage VALUES (?, ?)", world, 0.0)

    def _repeat(self, work: Callable[[], None]) -> None:
        """Runs a transaction that makes or drops a world. If another server makes a world of the same name at the same
        time, runs the transaction once more, because it then finds that world."""
        try:
            self.database.repeat(work)
        except TakenError:
            self.database.repeat(work)

    def sweep(self, *, all_of_them: bool = False) -> None:
        """Deletes the rows of dropped worlds, some at a time, so that no call waits long. With `all_of_them`, also
        deletes worlds that were not completely stored. Otherwise these stay until IN_THE_MAKING has passed."""
        query = "SELECT world FROM garbage WHERE after <= ? OR ?"
        with suppress(StateFileError):
            for (world,) in self.database.select(query, self.read_time(), all_of_them):
                for table in OF_A_WORLD:
                    self._sweep_table(world, table)
                self.database.write("DELETE FROM garbage WHERE world = ?", world)

    def sweep_counts(self) -> None:
        """Deletes counts that were written after their world was dropped."""
        with suppress(StateFileError):
            self.database.write("DELETE FROM counts WHERE NOT EXISTS (SELECT 1 FROM worlds WHERE id = counts.world)")

    def _sweep_table(self, world: int, table: str) -> None:
        key = {"acts": "number", "pieces": "number", "calls": "portion"}.get(table)
        while key is not None and not self._ends.is_set():
            query = f"SELECT {key} FROM {table} WHERE world = ? ORDER BY {key} LIMIT 1 OFFSET {ROWS_AT_ONCE}"
            rows = self.database.select(query, world)
            if not rows:
                break
            self.database.write(f"DELETE FROM {table} WHERE world = ? AND {key} < ?", world, rows[0][0])
        self.database.write(f"DELETE FROM {table} WHERE world = ?", world)

    def note_use(self, transaction: Transaction, world: int) -> None:
        """Stores the time at which a world was called, at most once an hour."""
        now = self.read_time()
        transaction.write("UPDATE worlds SET used = ? WHERE id = ? AND used < ?", now, world, now - USED_EVERY)

    def list_expired(self, seconds: float) -> list[str]:
        """Returns the names of the worlds that were not called for `seconds`. The world `default` never expires."""
        query = "SELECT name FROM worlds WHERE used < ? AND name <> 'default' ORDER BY name"
        return [str(name) for (name,) in self.database.select(query, self.read_time() - seconds)]

    # Time

    def read_time(self) -> float:
        """Returns the time by the database's clock."""
        return self.database.read_time()

    def read_latest_time(self) -> float:
        """Returns the time of the machine that `keep_latest_time` stored last in a state file, so that running clocks
        do not go back behind it after a restart. Returns 0 if no time is stored, or if it is damaged."""
        rows = self.database.select("SELECT latest, mark FROM clock")
        if not rows:
            return 0.0
        latest, mark = rows[0]
        if compute_checksum(latest) != mark:
            self.note("the time of the last answer is damaged and is not used: running clocks follow the machine's")
            return 0.0
        return float(latest)

    def keep_latest_time(self, latest: float) -> None:
        with self.database.transaction() as transaction:
            transaction.write("DELETE FROM clock")
            transaction.write("INSERT INTO clock VALUES (?, ?)", float(latest), compute_checksum(float(latest)))

    # Trouble and the end

    def read_size(self) -> int:
        """Returns the stored bytes. The value may be a minute old, because it takes a database long to count them."""
        now = self.stopwatch()
        if self._sized is None or now - self._sized[0] >= SIZED_EVERY:
            self._sized = now, self.database.read_size()
        return self._sized[1]

    def demand_writable(self) -> None:
        """Raises StateFileError if acts cannot be stored now, or if stored data is damaged."""
        self.database.demand_present()
        if self.is_shared:
            self.database.read_time()
        elif self.database.trouble is not None:
            self.keep_latest_time(self.read_latest_time())
        if self.database.damage is not None:
            raise StateFileError(self.database.damage)

    def use(self) -> None:
        """Notes that a server begins to answer calls. From now on, damage that is found is logged. Before, the command
        that opens the store prints it. Also deletes the counts of dropped worlds in the background."""
        self._is_in_use = True
        self.run_in_background("sweep", self.sweep_counts)

    def note(self, loss: str) -> None:
        """Adds a sentence about damage that does not affect the bank's money to `notes`. Each sentence is added
        once."""
        if loss not in self.notes:
            self.notes.append(loss)
            self._log_once(f"{self.path}: {loss}")

    def _log_once(self, text: str) -> None:
        if self._is_in_use and text not in self._logged:
            self._logged.add(text)
            log.error("%s", text)

    def note_damage(self, damage: str) -> DamageError:
        """Notes damage that makes the store unusable, and returns the error that the caller raises."""
        text = f"{self.path} is damaged: {damage}"
        self.database.damage = self.database.damage or text
        self._log_once(text)
        return DamageError(text)

    def make_read_error(self, part: str, error: Exception) -> StateFileError:
        """Returns the error for content that cannot be decoded. An unknown name is not noted as damage, because a newer
        program may have written it."""
        if isinstance(error, UnknownNameError):
            return StateFileError(f"{self.path}: {part} cannot be read: {error}")
        return self.note_damage(f"{part} cannot be read: {error}")

    def run_in_background(self, name: str, work: Callable[[], None]) -> None:
        """Starts a thread for the work. `close` waits for such threads, but not longer than a second."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._lock:  # a thread in the list that is not started yet would be taken for one that has ended
            thread.start()
            self._background = [other for other in self._background if other.is_alive()] + [thread]

    def close(self) -> None:
        for last in self.before_close:
            last()
        self._ends.set()
        with self._lock:
            beside = self._background
        for thread in beside:
            thread.join(1.0 / len(beside))
        self.database.close()

    def _make_update(self, name: str, rows: list[Row], position: Position) -> WorldUpdate | None:
        if not rows:
            return None
        world, acts, head, version, until, seal, now, noted = rows[0][:8]
        latest = Position(world, LogHead(acts, head), version)
        self._demand_seal(name, latest, until, seal)
        new = [ActRow(*row[8:]) for row in rows if row[8] is not None and world == position.world]
        return WorldUpdate(latest, max(now, until), noted, new)

    def _read_world_row(self, row: Row) -> WorldRow:
        world = WorldRow(*row)
        if compute_checksum(world.id, world.name, world.beginning) != world.mark:
            raise self.note_damage(f"what its world {world.id} begins with is not as it was written")
        self._demand_seal(world.name, world.position, world.until, world.seal)
        if compute_version(world.noted) != world.version:
            raise self._note_position_damage(world.name)
        return world

    def _demand_seal(self, name: str, position: Position, until: float, seal: int) -> None:
        if compute_seal(position, until) != seal:
            raise self._note_position_damage(name)

    def _note_position_damage(self, name: str) -> DamageError:
        return self.note_damage(f"the position of its world {name} is not as it was written")


def checkpoint_row(which: int, row: Row) -> Row:
    """Returns the row of a checkpoint with its mark. `which` is LAST or START."""
    world, *columns = row
    return (world, which, *columns, compute_checksum(which, *row))


def compute_version(noted: bytes) -> int:
    """Returns a checksum of a world's pace, faults and barriers. Other servers see by it that they have changed."""
    return compute_checksum("noted", noted)


def compute_seal(position: Position, until: float) -> int:
    """Returns the checksum of those columns of a world's row that each change writes."""
    return compute_checksum(position.world, *position.head, position.version, until)


def list_columns(act: Act) -> tuple[str, str, str, bytes, int]:
    """Returns the columns of an act's row that do not depend on its place in the log."""
    arguments = orjson.dumps(encode_arguments(act.verb, act.arguments))
    return act.id, act.at.astimezone(UTC).isoformat(), act.verb, arguments, act.made


def _look(name: str, position: Position) -> tuple[Any, ...]:
    """Returns the SQL query that reads a world's changes since a position, followed by the values for its `?`."""
    from sandbox.storage.postgres_database import NOW

    query = f"""SELECT w.id, w.acts, w.head, w.version, w.until, w.seal, {NOW},
  CASE WHEN w.version <> ? THEN w.noted END, a.*
  FROM worlds w LEFT JOIN acts a ON a.world = w.id AND a.number > ?
  WHERE w.name = ? ORDER BY a.number LIMIT {ROWS_AT_ONCE}"""
    return query, position.version, position.head.acts, name


def is_address(place: object) -> bool:
    return str(place).startswith(ADDRESSES)


def open_store(
    place: str | Path, sync: "Sync" = "normal", *, makes: bool = True, stopwatch: Callable[[], float] = lambda: 0.0
) -> Store:
    """Opens the store of a state file, which is given by its path, or of a database, which is given by its address. If
    `makes` is true, makes what does not exist yet. Otherwise raises StateFileError if the file does not exist or the
    database is empty."""
    if not is_address(place):
        from sandbox.storage.sqlite_database import SqliteDatabase  # with sqlite3, which a bank in memory never needs

        return Store(SqliteDatabase(Path(place), sync, makes=makes), stopwatch)
    try:
        from sandbox.storage.postgres_database import PostgresDatabase
    except ImportError:
        raise StateFileError("PostgreSQL needs the extra state: pip install 'bank-sandbox[state]'") from None
    return Store(PostgresDatabase(str(place), makes=makes), stopwatch)
