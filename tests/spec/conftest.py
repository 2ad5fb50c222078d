"""The chapters share one app, whose routes are slow to make; each test has fresh worlds in it."""

from collections.abc import Iterator

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.payer import is_balanced
from tests.tpp import Tpp


@pytest.fixture(scope="session")
def register() -> WorldRegistry:
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)


@pytest.fixture(scope="session")
def shared_app(register: WorldRegistry) -> Flask:
    built = assemble(register)
    built.testing = True
    return built


@pytest.fixture
def worlds(register: WorldRegistry) -> WorldRegistry:
    for world in register.list_all():
        register.drop(world.name)
    register.make("default", register.beginning)
    return register


@pytest.fixture
def app(shared_app: Flask, worlds: WorldRegistry) -> Flask:
    return shared_app


@pytest.fixture
def bank(tpp: Tpp, worlds: WorldRegistry) -> Iterator[Bank]:
    """After every test the books are balanced and nothing settled is still reserved."""
    bank = worlds.get("default").bank
    yield bank
    assert is_balanced(bank)
    over = all(payment.status not in ("RCVD", "PATC", "PDNG") for payment in bank.payments.values())
    assert not over or not (bank.reserved or bank.reserved_later)
