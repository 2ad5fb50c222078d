"""The chapters share one app, whose routes are slow to make; each test has fresh worlds in it."""

import pytest
from flask import Flask

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.worlds.registry import Worlds
from tests.conftest import MORNING


@pytest.fixture(scope="session")
def register() -> Worlds:
    return Worlds(first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)


@pytest.fixture(scope="session")
def shared_app(register: Worlds) -> Flask:
    built = assemble(register)
    built.testing = True
    return built


@pytest.fixture
def worlds(register: Worlds) -> Worlds:
    for world in register.all():
        register.drop(world.name)
    register.make("default", register.beginning)
    return register


@pytest.fixture
def app(shared_app: Flask, worlds: Worlds) -> Flask:
    return shared_app
