"""Barriers as controls: set one, look at them, wait for its call, let the call go (choice 13)."""

from typing import Any

from flask import Request

from sandbox.banking.durations import write_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.reader.tree import suggestion
from sandbox.scenario.fault_rows import read_hold
from sandbox.web.api.fault_replies import waiting_of
from sandbox.web.controls.request_bodies import reading
from sandbox.world.faults import When
from sandbox.world.holds import Hold
from sandbox.world.world import World

NO_HOLD = "There is no hold {input} in world {world}{hint}."


def every(world: World) -> list[dict[str, Any]]:
    return [hold_row(hold) for hold in world.holds.all()]


def one(world: World, request: Request, query: dict[str, Any], name: str) -> dict[str, Any]:
    """One barrier; `within` waits for its call, by the machine's clock."""
    hold = find_hold(world, name)
    if query.get("within"):
        waiting_of(request.environ)(hold.arrived, query["within"].total_seconds())
    return hold_row(hold)


def add(world: World, body: dict[str, Any]) -> dict[str, Any]:
    at, when, name = reading(lambda: read_hold(body, world.beginning.fixtures), "hold")
    return hold_row(world.holds.add(name, at, when))


def release(world: World, name: str) -> None:
    find_hold(world, name)
    world.holds.release(name)


def release_all(world: World) -> None:
    world.holds.release_all()


def find_hold(world: World, name: str) -> Hold:
    hold = world.holds.find(name)
    if hold is None:
        nearest_name = suggestion(name, [one.name for one in world.holds.all()])
        hint = f" ({nearest_name})" if nearest_name else ""
        raise Refusal(Error.NOT_FOUND, input=name[:64], world=world.name, hint=hint, sentence=NO_HOLD)
    return hold


def hold_row(hold: Hold) -> dict[str, Any]:
    return {
        "name": hold.name,
        "at": hold.at,
        "when": _when(hold.when),
        "state": hold.state,
        "call": None if hold.call is None else hold.call._asdict(),
    }


def _when(when: When) -> dict[str, Any]:
    row = {
        "operation": when.operation,
        "client": when.client,
        "nth": when.nth,
        "from": when.since and write_instant(when.since),
        "until": when.until and write_instant(when.until),
    }
    return {name: value for name, value in row.items() if value is not None}
