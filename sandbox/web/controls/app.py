"""The sandbox's controls: not part of the bank (choice 10). One row per call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Flask, Request, Response, request

from sandbox.banking import countries
from sandbox.web.api.app import here
from sandbox.web.api.replies import json_response
from sandbox.web.controls import (
    bookings,
    bulk_views,
    client_views,
    clock,
    discovery,
    health,
    metrics,
    psu,
    registers,
    scenario_views,
    settings_views,
    standing_order_views,
    time_travel,
    transfers,
    world_views,
)
from sandbox.world.registry import Worlds
from sandbox.world.world import World


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
    ("GET", "/health", lambda reach: health.health(reach.worlds, reach.request)),
    ("GET", "/metrics", lambda reach: metrics.show(reach.worlds)),
    ("GET", "/clock", _of_world(clock.show)),
    ("POST", "/clock", _of_world(clock.change)),
    ("POST", "/reset", _of_world(world_views.reset)),
    ("GET", "/worlds", _of_worlds(world_views.every)),
    ("GET", "/worlds/<name>", _of_worlds(world_views.one)),
    ("PUT", "/worlds/<name>", _of_worlds(world_views.make)),
    ("DELETE", "/worlds/<name>", _of_worlds(world_views.drop)),
    ("POST", "/worlds/<name>/fork", _of_worlds(time_travel.fork)),
    ("GET", "/export", _of_world(transfers.send)),
    ("POST", "/import", lambda reach: transfers.take(reach.worlds, reach.request)),
    ("POST", "/await", _of_world(time_travel.wait)),
    ("GET", "/timeline", _of_world(time_travel.timeline)),
    ("GET", "/explain/<request_id>", _by("request_id", time_travel.explain)),
    ("GET", "/referee", _of_world(health.findings)),
    ("GET", "/coverage", _of_world(health.coverage)),
    ("GET", "/scenarios", _of_worlds(scenario_views.every)),
    ("GET", "/scenario", _of_world(scenario_views.one)),
    ("PUT", "/scenario", lambda reach: scenario_views.put(reach.worlds, reach.world, reach.request)),
    ("GET", "/faults", _of_world(scenario_views.faults)),
    ("POST", "/faults", _of_world(scenario_views.add_fault)),
    ("DELETE", "/faults", _of_world(scenario_views.drop_faults)),
    ("GET", "/settings", _of_world(settings_views.show)),
    ("PATCH", "/settings", _of_world(settings_views.change)),
    ("GET", "/callbacks", _of_world(time_travel.callbacks)),
    ("GET", "/customers", _of_world(registers.customers)),
    ("GET", "/clients", _of_world(registers.clients)),
    ("POST", "/clients", _of_world(client_views.make)),
    ("PUT", "/clients/<client_id>", _by("client_id", client_views.change)),
    ("GET", "/accounts", _of_world(registers.accounts)),
    (
        "POST",
        "/accounts/<iban>/transactions",
        lambda reach: bookings.book(reach.world, reach.request, reach.path["iban"]),
    ),
    ("GET", "/payments", _of_world(registers.payments)),
    ("GET", "/payments/<payment_id>", _by("payment_id", registers.payment)),
    ("POST", "/payments/<payment_id>/move", _by("payment_id", psu.move)),
    ("GET", "/standing-orders", _of_world(standing_order_views.every)),
    ("GET", "/standing-orders/<payment_id>", _by("payment_id", standing_order_views.one)),
    ("GET", "/bulk-payments", _of_world(bulk_views.every)),
    ("GET", "/bulk-payments/<payment_id>", _by("payment_id", bulk_views.one)),
    ("POST", "/psu/approve", _of_world(psu.approve)),
    ("POST", "/psu/refuse", _of_world(psu.refuse)),
    ("POST", "/psu/sign", _of_world(psu.sign)),
    ("POST", "/psu/withdraw", _of_world(psu.withdraw)),
    ("GET", "/reference/countries", lambda reach: countries.published()),
    ("GET", discovery.METADATA, _of_world(discovery.metadata)),
    ("GET", "/authorize", _of_world(discovery.authorize)),
    ("GET", "/journal", _of_world(registers.journal)),
    ("GET", "/requests", _of_world(registers.requests)),
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
