"""A client whose doings are watched."""

import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.referee.actor import Actor


@pytest.fixture
def actor(app: Flask, worlds: WorldRegistry) -> Actor:
    return Actor(app, worlds.get("default").bank)
