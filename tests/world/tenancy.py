"""A server with a state file, in a test's hand."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.world.history import Room
from sandbox.world.log.store import open_store
from sandbox.world.registry import Worlds
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
    """A server with a state file, whose machine time stands until it is moved."""

    def __init__(
        self, path: Path | str, worlds_max: int = 10_000, rate: float = 0, machine: Machine | None = None
    ) -> None:
        self.machine = machine or Machine()
        self.state = path
        self.store: Any = open_store(path)  # a file or a database
        beginning = first_beginning(seed=7, at=read_instant(MORNING), rate=rate)
        self.worlds = Worlds(beginning, self.machine, self.store, Room(worlds_max, HALF_AN_HOUR))
        self.app: Flask = assemble(self.worlds)
        self.app.testing = True

    def tpp(self, world: str = "default") -> Tpp:
        return Tpp(self.app, world)

    def silence(self, seconds: float = HALF_AN_HOUR) -> None:
        """Time passes, then calls of the default world come, each of which may put one other away."""
        self.machine.now += seconds
        for _ in self.worlds.all():
            assert self.tpp().control("GET", "/health").status_code == 200
            assert self.tpp().control("GET", "/clock").status_code == 200

    def is_unloaded(self, name: str) -> bool:
        return self.worlds.find(name).is_unloaded


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
