"""A director of a bank with a state file: full disks, locks, kills between two bytes, torn and flipped files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from werkzeug.test import TestResponse

from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.store import Store, open_store
from tests.simulation import faulty, images
from tests.simulation.director import Director, differences
from tests.simulation.faulty import Faulty

TROUBLES = [
    *["nothing"] * 4,
    *["a_failure", "a_lie", "a_full_disk", "a_lock", "a_file_that_is_gone", "a_reader", "racers", "a_kill"],
]
AFTERWARDS = [
    *["nothing"] * 4,
    *["kill", "restart", "write_the_wal_out", "tear", "flip", "clock_steps_forward", "clock_steps_back", "silence"],
    "write_calls",
]


class FileDirector(Director):
    """On a file of its own."""

    place: Path
    troubles = TROUBLES
    afterwards = AFTERWARDS

    def opened(self) -> Store:
        store = open_store(self.place)
        self.database = Faulty(store)
        return store

    def image(self) -> Path:
        return images.image(self.place, self.folder / "image")

    def with_a_full_disk(self, act: Callable[[], Any]) -> list[TestResponse]:
        with faulty.full(self.place):
            return [reply for _ in range(3) for reply in self.done(act)]

    def with_a_lock(self, act: Callable[[], Any]) -> list[TestResponse]:
        with faulty.locked(self.place):
            return self.done(act)

    def with_a_file_that_is_gone(self, act: Callable[[], Any]) -> list[TestResponse]:
        with faulty.moved(self.place):
            replies = self.done(act)
            assert self.tpp().control("GET", "/health").status_code == 503
            assert self.tpp().control("GET", "/payments").status_code == 503
        return replies

    def with_a_kill(self, act: Callable[[], Any]) -> list[TestResponse]:
        """The server is gone before a write is done: nobody heard an answer."""
        taken: list[Path] = []
        self.database.at_commit(lambda: taken.append(images.image(self.place, self.next_folder())))
        self.done(act)
        self.rest()
        if taken:
            self.store.close()
            self.open(taken[0])
            assert not differences(self.journal, self.views()), differences(self.journal, self.views())
            return []
        self.journal = self.views()
        return []

    def kill(self) -> None:
        """Between two writes."""
        path = images.image(self.place, self.next_folder())
        self.store.close()
        self.open(path)

    def write_the_wal_out(self) -> None:
        assert isinstance(self.store.database, SqliteDatabase)
        self.store.database._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()

    def tear(self) -> None:
        path = self.image()
        before = images.content(self.worlds)
        self.counts[images.torn(path, self.random, self.machine.now, before, self.past)] += 1

    def flip(self) -> None:
        before = images.content(self.worlds)
        path = self.image()
        self.counts[images.flipped(path, self.random, self.machine.now, before, self.past)] += 1


@contextmanager
def life(folder: Path, seed: str) -> Iterator[FileDirector]:
    director = FileDirector(folder, seed, folder / "bank.state")
    try:
        yield director
    finally:
        director.close()
