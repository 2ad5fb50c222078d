"""Scenarios, faults, barriers, settings and axes of a running world (choice 10, 13)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from flask import Request

from sandbox.bank.state import Bank, change_settings
from sandbox.banking.durations import write_duration, write_instant
from sandbox.contract.decisions import AXES, Decisions, settings_of, value_in
from sandbox.contract.errors import Error, Refusal
from sandbox.reader.tree import suggestion
from sandbox.scenarios.fault_rows import read_hold
from sandbox.scenarios.model import scenario_beginning
from sandbox.scenarios.reading import read_changes, read_fault, shipped_scenarios
from sandbox.web.api.faults import room_to_wait, waiting_of
from sandbox.web.controls.request_bodies import TakeBody, reading, refuse, sent_scenario
from sandbox.web.controls.world_views import shown
from sandbox.worlds.faults import CallCondition, Fault
from sandbox.worlds.holds import CallHold
from sandbox.worlds.registry import Worlds
from sandbox.worlds.world import World

FAULTS_MAX = 1_000  # of a world: each call looks at all of them


def every() -> list[dict[str, str]]:
    """The shipped scenarios."""
    return [{"name": name, "title": title, "about": about} for name, title, about in shipped_scenarios()]


def one(world: World) -> dict[str, Any]:
    return {"scenario": world.beginning.scenario}


def put(worlds: Worlds, world: World, request: Request, take_body: TakeBody) -> dict[str, Any]:
    """Begins the world again with the scenario that was sent; its seed stays unless the scenario names one."""
    scenario = sent_scenario(request, take_body)
    began = world.beginning
    server = replace(worlds.beginning_of(world.name), seed=began.seed, secret=began.secret)
    world.load(scenario_beginning(scenario, server, worlds.guarded))
    return shown(world)


def faults(world: World) -> list[dict[str, Any]]:
    """The fault rules as they stand, and how often each was met."""
    rules, met = world.ask(lambda bank: (world.faults.rules, dict(world.faults.met)))
    return [{"title": rule.title, "met": met.get(at, 0)} for at, rule in enumerate(rules)]


def add_fault(worlds: Worlds, world: World, take_body: TakeBody) -> list[dict[str, Any]]:
    title = f"fault {len(world.faults.rules) + 1}"
    if len(world.faults.rules) >= FAULTS_MAX:
        raise refuse("fault", f"there are {FAULTS_MAX} already")
    content = take_body()
    fault: Fault = reading(lambda: read_fault(content, title, world.beginning.fixtures), "fault")
    if fault.connection is not None and not worlds.line.is_served:
        raise refuse("connection", "this bank is called without a server of its own, so it has no connections")
    if fault.connection == "handshake" and not worlds.line.speaks_tls:
        raise refuse("connection", "the server speaks no TLS: start it with --tls")
    if fault.connection is not None and fault.when == CallCondition():
        worlds.line.order(fault.connection, fault.seconds)  # at once, and of the whole server: no rule of this world
    else:
        world.order_fault(fault)
    return faults(world)


def drop_faults(world: World) -> None:
    world.drop_faults()


NO_HOLD = "There is no hold {input} in world {world}{hint}."


def holds(world: World) -> list[dict[str, Any]]:
    return [hold_row(hold) for hold in world.holds.all()]


def hold(world: World, request: Request, query: dict[str, Any], name: str) -> dict[str, Any]:
    """One barrier; `within` waits for its call, by the machine's clock."""
    found = find_hold(world, name)
    if query.get("within"):
        with room_to_wait(request.environ):
            waiting_of(request.environ)(found.arrived, query["within"].total_seconds())
    return hold_row(found)


def add_hold(world: World, body: dict[str, Any]) -> dict[str, Any]:
    at, when, name = reading(lambda: read_hold(body, world.beginning.fixtures), "hold")
    return hold_row(world.add_hold(name, at, when))


def release(world: World, name: str) -> None:
    find_hold(world, name)
    world.release_hold(name)


def release_all(world: World) -> None:
    world.release_holds()


def find_hold(world: World, name: str) -> CallHold:
    hold = world.holds.find(name)
    if hold is None:
        nearest_name = suggestion(name, [one.name for one in world.holds.all()])
        hint = f" ({nearest_name})" if nearest_name else ""
        raise Refusal(Error.NOT_FOUND, input=name[:64], world=world.name, hint=hint, sentence=NO_HOLD)
    return hold


def hold_row(hold: CallHold) -> dict[str, Any]:
    return {
        "name": hold.name,
        "at": hold.at,
        "when": _when(hold.when),
        "state": hold.state,
        "call": None if hold.call is None else hold.call._asdict(),
    }


def _when(when: CallCondition) -> dict[str, Any]:
    row = {
        "operation": when.operation,
        "client": when.client,
        "nth": when.nth,
        "from": when.since and write_instant(when.since),
        "until": when.until and write_instant(when.until),
    }
    return {name: value for name, value in row.items() if value is not None}


def show_settings(bank: Bank) -> dict[str, Any]:
    return {"settings": settings_row(bank.settings)}


def settings_row(settings: Decisions) -> dict[str, Any]:
    rows = settings_of(settings).items()
    shown = {name: write_duration(value) if isinstance(value, timedelta) else value for name, value in rows}
    return shown | {"variants": dict(settings.variants)}


def save_settings(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Changes apply from now on; scheduled events keep their times. Variants are merged into those of the world."""
    changes = reading(lambda: read_changes(body), "settings")
    world.act(change_settings, tuple(sorted(changes.items())))
    return world.ask(show_settings)


def axes(world: World) -> list[dict[str, Any]]:
    """What each axis decides, what this world has chosen, and which were met."""
    settings, met = world.ask(lambda bank: bank.settings), world.axes.met(world.exchanges_made > 0)
    return [axis.described() | {"value": value_in(settings, axis), "met": axis.name in met} for axis in AXES.values()]
