"""Many worlds of one app: building it once leaves room for many examples."""

from collections.abc import Callable
from itertools import count

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.worlds.registry import WorldRegistry
from tests.bank.lives import Life
from tests.conftest import MORNING

Lives = Callable[[], Life]


@pytest.fixture(scope="module")
def crowd() -> WorldRegistry:
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)


@pytest.fixture(scope="module")
def crowd_app(crowd: WorldRegistry) -> Flask:
    built = assemble(crowd)
    built.testing = True
    return built


@pytest.fixture(scope="module")
def new_life(crowd: WorldRegistry, crowd_app: Flask) -> Lives:
    """A life in a world of its own; all of them begin alike, so the same steps make the same bank."""
    numbers = count()
    return lambda: Life(crowd_app, crowd, f"life-{next(numbers)}")
