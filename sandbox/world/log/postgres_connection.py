"""The lines of one server to its database: one for what is written, one for what is read, one for its lease."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sandbox.world.log.place import Place
from sandbox.world.log.postgres_line import DatabaseError, Line, Statements
from sandbox.world.log.postgres_opening import advise, name_of, open_database
from sandbox.world.ownership import Ownership

MINE = "SELECT 1 FROM heads WHERE world = ? AND epoch = ? FOR UPDATE"


class PostgresConnection(Place):
    """A write takes the world's head first, under this server's epoch; so none is older than a take-over."""

    def __init__(
        self, url: str, stopwatch: Callable[[], float], address: str, lease: float, *, makes: bool = True
    ) -> None:
        super().__init__(stopwatch)
        self.path: str = name_of(url)
        self._trouble: tuple[float, str] | None = None  # when a write failed last, and why
        self._writing, self._reading, self._leasing = (Line(url, reply_waits=lease) for _ in range(3))
        self.turn = self._writing.turn
        self._inside: Statements | None = None  # the transaction of the thread that has the turn
        try:
            self.notes = open_database(self._writing, makes=makes)
        except BaseException:
            self._writing.close()
            raise
        self.ownership = Ownership(self._leasing, address, lease, stopwatch)

    @property
    def unwritable(self) -> str | None:
        return self.broken or self.ownership.unready or self.trouble

    @property
    def trouble(self) -> str | None:
        """Why the last write failed; for as long as a lease, since only calls write more than that."""
        if self._trouble is None or self.stopwatch() - self._trouble[0] > self.ownership.lease:
            return None
        return self._trouble[1]

    def start(self) -> None:
        """Every line is tried before the first call comes."""
        try:
            self.ownership.start()
            with self._reading.statements() as database:
                database.execute("SELECT latest FROM clock")
        except DatabaseError as error:
            raise DatabaseError(advise(error, self.path)) from None

    def demand(self) -> None:
        """A database that could not be written is asked again by the next write: nothing waits for it here."""
        self.look()

    def look(self) -> None:
        """Nothing is answered without a lease: another server may have the world."""
        self.demand_open()
        self.ownership.demand()

    @contextmanager
    def read(self) -> Iterator[Statements]:
        self.demand_open()
        with self._reading.statements() as database:
            yield database

    @contextmanager
    def write(self) -> Iterator[Statements]:
        """A transaction. A DatabaseError may come of one that passes when it is done again: an AgainError."""
        self.demand_open()
        with self._noted(), self._writing.transaction() as database:
            self._inside = database
            yield database

    @contextmanager
    def write_alone(self) -> Iterator[Statements]:
        """For one statement that is a transaction by itself, and needs one trip to the database."""
        self.demand_open()
        with self._noted(), self._writing.statements() as database:
            yield database

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            self._trouble = self.stopwatch(), f"{self.path}: {error}"
            raise
        self._trouble = None

    def is_there(self, world: int) -> bool:
        """For one who is in `write`: locks the world's head until the end of it."""
        assert self._inside is not None
        row = (world, self.ownership.epoch(world))
        return self._inside.execute(MINE, row).fetchone() is not None

    def close(self) -> None:
        self.broken = self.broken or f"{self.path} was closed"
        self.ownership.close()
        for line in (self._writing, self._reading, self._leasing):
            line.close()
