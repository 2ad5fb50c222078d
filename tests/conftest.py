"""What every test may ask for: a fresh bank, its clock frozen on a Monday morning."""

import logging
from collections.abc import Iterator

import httpx
import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.client import Controls
from sandbox.machine import machine_time
from sandbox.worlds.registry import WorldRegistry
from tests import authorities, collector, long_runs
from tests.documented import RECORDER
from tests.logs import Logs
from tests.routing import compile_once
from tests.tpp import Tpp

long_runs.register_profiles()
compile_once()
authorities.read_once()
collector.rest()

HERE = "http://127.0.0.1:8080"
MORNING = "2027-03-01T09:00:00+01:00"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m postgres` chooses the tests that need PostgreSQL."""
    for item in items:
        if isinstance(item, pytest.Function):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            if {"cluster", "own_cluster"} & set(item.fixturenames) or parameters.get("state") == "database":
                item.add_marker("postgres")


def pytest_collection_finish() -> None:
    collector.begin()


@pytest.fixture(autouse=True)
def _as_documented() -> Iterator[None]:
    """Whatever the bank replied in this test is as the reference says."""
    RECORDER.faults.clear()
    yield
    assert RECORDER.faults == []


@pytest.fixture
def logs() -> Iterator[Logs]:
    """What is logged from now on."""
    handler = Logs()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def worlds() -> WorldRegistry:
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)


@pytest.fixture
def app(worlds: WorldRegistry) -> Flask:
    built = assemble(worlds)
    built.testing = True
    return built


@pytest.fixture
def tpp(app: Flask) -> Tpp:
    return Tpp(app)


@pytest.fixture
def http(app: Flask) -> Iterator[httpx.Client]:
    with httpx.Client(transport=httpx.WSGITransport(app=app)) as line:
        yield line


@pytest.fixture
def controls(http: httpx.Client) -> Controls:
    return Controls(HERE, http)


@pytest.fixture
def other(app: Flask) -> Tpp:
    """A second client of the same bank."""
    return Tpp(app, client_id="other-tpp")
