"""Assembles the Flask applications of a server: the bank's interface, the bank's pages for customers, and the controls
(the tester's interface under `/_sandbox`)."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from flask import Flask

from sandbox.contract.decisions import Decisions
from sandbox.contract.decisions_sandbox import OnOff
from sandbox.extension_registry import load_objects
from sandbox.scenarios.model import Scenario, make_beginning
from sandbox.scenarios.reading import load
from sandbox.web.api.addresses import BANK, HOSTS
from sandbox.web.api.app import App, tell_listeners
from sandbox.web.api.app import route as route_bank
from sandbox.web.api.call_records import Announce, Observers
from sandbox.web.console.app import route as route_console
from sandbox.web.controls.app import route as route_controls
from sandbox.web.controls.app import route_pki
from sandbox.web.controls.lock import OPEN, Attempts, Lock, guard
from sandbox.web.controls.monitoring import find_tally
from sandbox.web.docs.app import route as route_reference
from sandbox.web.psu.app import route as route_pages
from sandbox.worlds.beginning import Beginning
from sandbox.worlds.faults import LINE
from sandbox.worlds.registry import WorldRegistry

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust


def make_first_beginning(
    seed: int = 0, at: datetime | None = None, rate: float = 1.0, scenario: Scenario | None = None, life: OnOff = "off"
) -> Beginning:
    """Returns the Beginning (fixtures, scenario, seed and settings) from which a server makes its worlds. Uses the
    scenario `default` if `scenario` is None. `life` says whether customers act by themselves as time goes on."""
    scenario = scenario or load("default")
    return make_beginning(scenario, Beginning(scenario.fixtures, seed, at, rate, settings=Decisions(life=life)))


def assemble(
    worlds: WorldRegistry, announce: Announce | None = None, trust: "Trust | None" = None, lock: Lock = OPEN
) -> Flask:
    app = App()
    worlds.tally = worlds.tally or find_tally()
    app.config[LINE] = worlds.line
    know_hosts(app, lock)
    route_bank(app, worlds, announce, trust, tuple(load_objects("listener")))
    route_pages(app, worlds)
    if trust is not None:
        route_pki(app, trust.folder)
    if lock.here:
        add_controls(app, worlds, lock)
    return app


def know_hosts(app: App, lock: Lock) -> None:
    """Stores the names of this server in the application. The controls refuse a call whose Host header has another
    name. If there is a --public-url, a request to its host counts as sent with the scheme of this URL."""
    hosts = app.config[HOSTS] = lock.hosts
    if hosts.public is not None:
        app.path_reader.public = hosts.public.scheme, hosts.public.names


def add_controls(app: Flask, worlds: WorldRegistry, lock: Lock, bank_app: Flask | None = None) -> None:
    """Adds the controls, the reference (their documentation) and the console (web pages for the tester) to an
    application, and restricts access to them by `lock`. The routes that the application already has stay open to
    everyone. The console sends its calls to the bank to `bank_app`, or to `app` if `bank_app` is None."""
    bank = frozenset(app.view_functions)
    route_controls(app, worlds)
    route_reference(app, worlds)
    keyed = frozenset(app.view_functions)
    route_console(app, worlds, lock.key, bank_app)
    guard(app, lock, Attempts(worlds.machine_time), bank, pages=frozenset(app.view_functions) - keyed)


def assemble_controls(worlds: WorldRegistry, lock: Lock, bank: str) -> Flask:
    """Returns an application that has the controls, the reference and the console, but not the bank's interface. A
    server uses it if the controls have a port of their own. `bank` is the address of the bank's interface on the other
    port. The console's own calls to the bank go to a second application inside the process. No caller can reach this
    second application."""
    app = App()
    listeners = tuple(load_objects("listener"))
    app.config[BANK] = bank
    know_hosts(app, lock)
    app.after_request(partial(tell_listeners, Observers(worlds, None, listeners)))
    inner = App()  # answers what the console asks as the demo client
    know_hosts(inner, lock)
    route_bank(inner, worlds, None, None, listeners)
    add_controls(app, worlds, lock, inner)
    return app
