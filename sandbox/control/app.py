"""The sandbox's controls: not part of the bank (choice 10). One row per call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Flask, Request, Response, request

from sandbox.control import (
    bookings,
    carrying,
    choices,
    clock,
    contracts,
    discovery,
    files,
    holdings,
    metrics,
    psu,
    registering,
    stories,
    tenants,
    traveller,
    watching,
)
from sandbox.register import Worlds
from sandbox.rules import countries
from sandbox.wire.app import here
from sandbox.wire.replies import json_response
from sandbox.worlds import World


@dataclass(frozen=True, slots=True)
class Reach:
    """What a control may touch."""

    worlds: Worlds
    request: Request
    path: dict[str, str]
    world_here: Callable[[], World]

    @property
    def world(self) -> World:
        return self.world_here()


def _of_world(view: Callable[[World, Request], Any]) -> Callable[[Reach], Any]:
    return lambda reach: view(reach.world, reach.request)


def _of_worlds(view: Callable[[Worlds, Request, dict[str, str]], Any]) -> Callable[[Reach], Any]:
    return lambda reach: view(reach.worlds, reach.request, reach.path)


def _by(name: str, view: Callable[[World, Request, str], Any]) -> Callable[[Reach], Any]:
    """A view of one thing, named in the path."""
    return lambda reach: view(reach.world, reach.request, reach.path[name])


# Method, path below /_sandbox, what it does.
CONTROLS: tuple[tuple[str, str, Callable[[Reach], Any]], ...] = (
    ("GET", "/health", lambda reach: watching.health(reach.worlds, reach.request)),
    ("GET", "/metrics", lambda reach: metrics.show(reach.worlds)),
    ("GET", "/clock", _of_world(clock.show)),
    ("POST", "/clock", _of_world(clock.change)),
    ("POST", "/reset", _of_world(tenants.reset)),
    ("GET", "/worlds", _of_worlds(tenants.every)),
    ("GET", "/worlds/<name>", _of_worlds(tenants.one)),
    ("PUT", "/worlds/<name>", _of_worlds(tenants.make)),
    ("DELETE", "/worlds/<name>", _of_worlds(tenants.drop)),
    ("POST", "/worlds/<name>/fork", _of_worlds(traveller.fork)),
    ("GET", "/export", _of_world(carrying.send)),
    ("POST", "/import", lambda reach: carrying.take(reach.worlds, reach.request)),
    ("POST", "/await", _of_world(traveller.wait)),
    ("GET", "/timeline", _of_world(traveller.timeline)),
    ("GET", "/explain/<request_id>", _by("request_id", traveller.explain)),
    ("GET", "/referee", _of_world(watching.findings)),
    ("GET", "/coverage", _of_world(watching.coverage)),
    ("GET", "/scenarios", _of_worlds(stories.every)),
    ("GET", "/scenario", _of_world(stories.one)),
    ("PUT", "/scenario", lambda reach: stories.put(reach.worlds, reach.world, reach.request)),
    ("GET", "/faults", _of_world(stories.faults)),
    ("POST", "/faults", _of_world(stories.add_fault)),
    ("DELETE", "/faults", _of_world(stories.drop_faults)),
    ("GET", "/settings", _of_world(choices.show)),
    ("PATCH", "/settings", _of_world(choices.change)),
    ("GET", "/callbacks", _of_world(traveller.callbacks)),
    ("GET", "/customers", _of_world(holdings.customers)),
    ("GET", "/clients", _of_world(holdings.clients)),
    ("POST", "/clients", _of_world(registering.make)),
    ("PUT", "/clients/<client_id>", _by("client_id", registering.change)),
    ("GET", "/accounts", _of_world(holdings.accounts)),
    (
        "POST",
        "/accounts/<iban>/transactions",
        lambda reach: bookings.book(reach.world, reach.request, reach.path["iban"]),
    ),
    ("GET", "/payments", _of_world(holdings.payments)),
    ("GET", "/payments/<payment_id>", _by("payment_id", holdings.payment)),
    ("POST", "/payments/<payment_id>/move", _by("payment_id", psu.move)),
    ("GET", "/standing-orders", _of_world(contracts.every)),
    ("GET", "/standing-orders/<payment_id>", _by("payment_id", contracts.one)),
    ("GET", "/bulk-payments", _of_world(files.every)),
    ("GET", "/bulk-payments/<payment_id>", _by("payment_id", files.one)),
    ("POST", "/psu/approve", _of_world(psu.approve)),
    ("POST", "/psu/refuse", _of_world(psu.refuse)),
    ("POST", "/psu/sign", _of_world(psu.sign)),
    ("POST", "/psu/withdraw", _of_world(psu.withdraw)),
    ("GET", "/reference/countries", lambda reach: countries.published()),
    ("GET", discovery.METADATA, _of_world(discovery.metadata)),
    ("GET", "/authorize", _of_world(discovery.authorize)),
    ("GET", "/journal", _of_world(holdings.journal)),
    ("GET", "/requests", _of_world(holdings.requests)),
)


def route(app: Flask, worlds: Worlds) -> None:
    for method, path, view in CONTROLS:
        app.add_url_rule(
            f"/_sandbox{path}",
            f"control {method} {path}",
            _endpoint(view, worlds),
            methods=[method],
            provide_automatic_options=False,
        )


def _endpoint(view: Callable[[Reach], Any], worlds: Worlds) -> Callable[..., Response]:
    def endpoint(**path: str) -> Response:
        outcome = view(Reach(worlds, request, path, lambda: here(worlds)))
        return outcome if isinstance(outcome, Response) else json_response(outcome)

    return endpoint
