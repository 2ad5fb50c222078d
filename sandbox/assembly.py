"""Puts the rooms together: the bank's interface, its own screens, and the controls beside them."""

from datetime import datetime

from flask import Flask

from sandbox.control.app import route as route_controls
from sandbox.pages.app import route as route_pages
from sandbox.referee.watching import watch
from sandbox.scenario.beginnings import began
from sandbox.scenario.model import Scenario
from sandbox.scenario.reading import load
from sandbox.seed import load_fixtures
from sandbox.wire.app import Announce
from sandbox.wire.app import route as route_bank
from sandbox.worlds import Beginning, Worlds


def first_beginning(
    seed: int = 0, at: datetime | None = None, rate: float = 1.0, scenario: Scenario | None = None
) -> Beginning:
    """What a server starts from: the default scenario, unless another is given."""
    return began(scenario or load("default"), Beginning(load_fixtures(), seed, at, rate))


def assemble(worlds: Worlds, announce: Announce | None = None) -> Flask:
    app = Flask("sandbox", static_folder=None)
    watch(app, worlds)
    route_bank(app, worlds, announce)
    route_pages(app, worlds)
    route_controls(app, worlds)
    return app
