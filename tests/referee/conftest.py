"""A client whose doings are watched. One app is for all tests of the referee; each has fresh worlds in it."""

import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.referee.actor import Actor
from tests.spec.conftest import app, register, shared_app, worlds

__all__ = ["actor", "app", "register", "shared_app", "worlds"]


@pytest.fixture
def actor(app: Flask, worlds: WorldRegistry) -> Actor:
    return Actor(app, worlds.get("default").bank)
