"""Puts the rooms together: the bank's interface, its own screens, and the controls beside them."""

from datetime import datetime
from typing import TYPE_CHECKING

from flask import Flask

from sandbox.beginning import Beginning
from sandbox.console.app import route as route_console
from sandbox.control.app import route as route_controls
from sandbox.control.lock import OPEN, Lock, guard
from sandbox.control.metrics import tally_if_wanted
from sandbox.pages.app import route as route_pages
from sandbox.referee.watching import REFEREE, watch_acts
from sandbox.reference.app import route as route_reference
from sandbox.register import Worlds
from sandbox.scenario.beginnings import began
from sandbox.scenario.model import Scenario
from sandbox.scenario.reading import load
from sandbox.seed import load_fixtures
from sandbox.wire.addresses import BANK
from sandbox.wire.app import Announce, frame
from sandbox.wire.app import route as route_bank

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust


def first_beginning(
    seed: int = 0, at: datetime | None = None, rate: float = 1.0, scenario: Scenario | None = None
) -> Beginning:
    """What a server starts from: the default scenario, unless another is given."""
    return began(scenario or load("default"), Beginning(load_fixtures(), seed, at, rate))


def assemble(
    worlds: Worlds, announce: Announce | None = None, trust: "Trust | None" = None, lock: Lock = OPEN
) -> Flask:
    app = Flask("sandbox", static_folder=None)
    worlds.tally = worlds.tally or tally_if_wanted()
    route_bank(app, worlds, announce, trust, REFEREE)
    route_pages(app, worlds)
    if lock.here:
        guard(app, lock)
        route_controls(app, worlds)
        route_reference(app, worlds)
        route_console(app, worlds, lock.key)
    return app


def assemble_controls(worlds: Worlds, lock: Lock, bank: str) -> Flask:
    """The controls alone, for a port of their own; they tell where the bank is."""
    app = Flask("sandbox", static_folder=None)
    app.config[BANK] = bank
    watch_acts(app, worlds)
    frame(app)
    guard(app, lock)
    route_controls(app, worlds)
    route_reference(app, worlds)
    route_console(app, worlds, lock.key)
    return app
