"""A server with a state file or a database, in a test's hand."""

from pathlib import Path

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Store, open_store
from sandbox.worlds.registry import Room, WorldRegistry
from tests.conftest import MORNING
from tests.tpp import Tpp, payment

HALF_AN_HOUR = 1800.0


class Machine:
    """The machine's clock, in a test's hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Server:
    """A server whose machine time stands until it is moved. A database has a clock of its own."""

    def __init__(
        self, path: Path | str, worlds_max: int = 10_000, rate: float = 0, machine: Machine | None = None
    ) -> None:
        self.machine = machine or Machine()
        self.state = path
        self.store: Store = open_store(path)  # a file or a database
        beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=rate)
        self.worlds = WorldRegistry(beginning, self.machine, self.store, Room(worlds_max, HALF_AN_HOUR))
        self.app: Flask = assemble(self.worlds)
        self.app.testing = True

    def tpp(self, world: str = "default") -> Tpp:
        return Tpp(self.app, world)

    def silence(self, seconds: float = HALF_AN_HOUR) -> None:
        """Time passes, then calls of the default world come, each of which may let one other leave memory."""
        self.machine.now += seconds
        for _ in self.worlds.list_all():
            assert self.tpp().control("GET", "/health").status_code == 200
            assert self.tpp().control("GET", "/clock").status_code == 200

    def is_unloaded(self, name: str) -> bool:
        """To look for it by its name would load it."""
        return next(world for world in self.worlds.list_all() if world.name == name).is_unloaded

    def leave_memory(self, name: str) -> bool:
        return self.worlds.put_away(self.worlds.find(name))

    def write_calls(self) -> None:
        """As the thread does each second."""
        assert self.worlds._writer is not None
        self.worlds._writer.write_all()

    def hashes(self) -> dict[str, str]:
        return {world.name: world.ask(hash_state) for world in self.worlds.list_all()}

    def payments(self, world: str = "default") -> list[str]:
        return [row["payment_id"] for row in self.tpp(world).listed("payments")]

    def restarted(self) -> "Server":
        """Another server with what this one stored when it ended in order."""
        self.store.close()
        return Server(self.state, machine=self.machine)


def lived(tpp: Tpp) -> list[str]:
    ids = []
    for number in range(4):
        reply = tpp.initiate()
        ids.append(str(reply.get_json()["payment_id"]))
        if number % 2:
            tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")
        tpp.initiate(body=payment(creditor_name=None))
        tpp.status(ids[-1])
    tpp.advance("30s")
    return ids


ON_A_FILE = pytest.mark.parametrize("state", ["file"], indirect=True)  # for what SQLite alone does
ON_A_DATABASE = pytest.mark.parametrize("state", ["database"], indirect=True)
