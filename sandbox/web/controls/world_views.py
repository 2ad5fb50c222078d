"""Views of worlds, and of a world's clock, export, scenario, faults and settings (choice 10, 13)."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO
from itertools import islice
from typing import Any

from flask import Request, Response

from sandbox.bank.state import Bank, change_settings
from sandbox.bank.timeline import list_coming
from sandbox.banking.durations import LAST_MOMENT, write_duration, write_instant
from sandbox.banking.names import is_world_name
from sandbox.contract.decisions import AXES, Decisions, find_axis_value, list_settings
from sandbox.extension_registry import load_objects
from sandbox.scenarios.model import make_beginning
from sandbox.scenarios.reading import list_shipped, read_changes, read_fault, read_settings
from sandbox.storage.transfer.exporter import export_lines
from sandbox.storage.transfer.form import ParcelError
from sandbox.storage.transfer.importer import read_export
from sandbox.web.controls.request_bodies import TakeBody, choose_scenario, read_sent_scenario, refuse, refuse_as
from sandbox.web.controls.world_rows import NO_CLOCK, PAGE
from sandbox.worlds.beginning import change_seed
from sandbox.worlds.clock_moves import foresee_status, move_clock
from sandbox.worlds.faults import CallCondition
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

WITHIN = timedelta(days=400)  # how far `await` looks ahead by default: beyond any execution date
EVENTS_MAX = 1_000  # of the reply of /timeline
FAULTS_MAX = 1_000  # of a world: each call looks at all of them
PORTION = 1 << 16  # bytes


# Worlds


def list_worlds(worlds: WorldRegistry, query: dict[str, Any]) -> dict[str, Any]:
    rows, last = worlds.list_page(query.get("after", ""), query.get("limit", PAGE))
    return {"worlds": [make_world_row(world) for world in rows]} | ({"next": last} if last else {})


def show_world(worlds: WorldRegistry, name: str) -> dict[str, Any]:
    return make_world_row(worlds.find(name))


def make_world_row(world: World) -> dict[str, Any]:
    return {
        "name": world.name,
        "scenario": world.beginning.scenario,
        "seed": world.beginning.seed,
        "clock": make_clock_row(world),
        "away": world.in_memory is None,
    }


def make_world(worlds: WorldRegistry, name: str, take_body: TakeBody) -> dict[str, Any]:
    """Makes a world. If the body leaves out a value, the value comes from the options with which the server was
    started. The field `clock` has the same form as in a scenario (choice 13). If a world of this name exists, the new
    world replaces it if the body says `replace`; otherwise the call is refused."""
    if not is_world_name(name):
        raise refuse("name", "letters, digits, _, . and -, 64 at most")
    content = take_body()
    beginning = worlds.make_beginning(name)
    if "scenario" in content:
        beginning = make_beginning(choose_scenario(content["scenario"], "scenario"), beginning, worlds.guarded)
    if "seed" in content:
        beginning = change_seed(beginning, content["seed"], worlds.guarded)
    clock = content.get("clock", {})
    if {"frozen", "rate"} <= set(clock):
        raise refuse("clock", NO_CLOCK)
    beginning = replace(beginning, **{field: clock[field] for field in ("at", "rate") if field in clock})
    if "frozen" in clock:
        beginning = replace(beginning, rate=0 if clock["frozen"] else beginning.rate or 1)
    for field in ("life", "variants", "extensions"):
        if field in content:
            with refuse_as(field):
                settings = read_settings({field: content[field]}, beginning.settings)
            beginning = replace(beginning, settings=settings)
    return make_world_row(worlds.make(name, beginning, replacing=content.get("replace", False)))


def drop_world(worlds: WorldRegistry, name: str) -> None:
    worlds.drop(name)


def reset(world: World, take_body: TakeBody) -> dict[str, Any]:
    take_body()  # refuses any field
    world.reset()
    return make_world_row(world)


def fork(worlds: WorldRegistry, name: str, body: dict[str, Any]) -> dict[str, Any]:
    return make_world_row(worlds.fork(name, body["as"], body.get("at"), replacing=body.get("replace", False)))


def rewind(worlds: WorldRegistry, name: str, body: dict[str, Any]) -> dict[str, Any]:
    return make_world_row(worlds.fork(name, name, body["at"], replacing=True))


# Clock


def show_clock(world: World) -> dict[str, Any]:
    return world.ask(lambda bank: make_clock_row(world))


def make_clock_row(world: World) -> dict[str, Any]:
    standing, pace = world.read_clock(), world.clock.pace
    return {
        "now": write_instant(standing.now),
        "mode": "frozen" if pace.frozen else "running",
        "rate": pace.rate if pace.rate % 1 else int(pace.rate),  # an imported world may have 0.0 in place of 0
        "due_next": None if standing.due_next is None else write_instant(standing.due_next),
    }


def change_clock(world: World, body: dict[str, Any]) -> dict[str, Any]:
    if len({"advance", "set", "mode"} & set(body)) != 1:
        raise refuse("body", "it must have one of advance, set and mode")
    if "rate" in body and body.get("mode") != "running":
        raise refuse("rate", "it goes with the mode running")

    def change(now: datetime) -> tuple[datetime, float]:
        """Returns the new time of the bank and the new rate of its clock. The rate 0 freezes the clock."""
        if "mode" in body:
            return now, body.get("rate", 1) if body["mode"] == "running" else 0
        later = body["set"] if "set" in body else now + body["advance"]
        if "advance" in body and later > LAST_MOMENT:
            raise refuse("advance", f"it leads beyond {write_instant(LAST_MOMENT)}, where the bank's time ends")
        return later, world.clock.pace.rate

    move_clock(world, change)
    return show_clock(world)


def await_status(world: World, body: dict[str, Any]) -> dict[str, Any]:
    payment_id, status = body["payment_id"], body["status"]
    before = world.ask(lambda bank: bank.clock.now)
    reached = foresee_status(world, payment_id, status, body.get("within", WITHIN))
    move_clock(world, lambda now: (max(now, reached), world.clock.pace.rate))
    waited = (reached - before).total_seconds()
    return {
        "payment_id": payment_id,
        "status": status.value,
        "at": write_instant(reached),
        "waited": int(waited) if waited.is_integer() else waited,
    }


def timeline(bank: Bank) -> list[dict[str, Any]]:
    return [
        {"at": write_instant(promise.at), "subject": promise.subject_id, "trigger": promise.trigger.value}
        for promise in islice(list_coming(bank), EVENTS_MAX)
    ]


# File. An export may be larger than memory should hold, so its lines are made while the reply is sent. Each piece that
# the application gives costs the server a turn of its loop and a write to the socket, and most lines are short: so
# lines are gathered to portions of 64 KiB. The generator of lines holds a copy of the bank. A caller that hangs up must
# not leave that copy behind, so the portions close the generator however they end.


def send_file(world: World, query: dict[str, Any]) -> Response:
    findings = [finding for carrier in load_objects("findings") for finding in carrier.findings_of(world)]
    lines = export_lines(world, strip=query.get("secrets") == "strip", findings=findings)
    name = f"{world.name}.world.jsonl"
    return Response(
        write_in_portions(lines),
        mimetype="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


def write_in_portions(lines: Generator[bytes]) -> Generator[bytes]:
    portion: list[bytes] = []
    size = 0
    with closing(lines):
        for line in lines:
            portion.append(line)
            size += len(line)
            if size >= PORTION:
                yield b"".join(portion)
                portion, size = [], 0
        if portion:
            yield b"".join(portion)


def take_file(worlds: WorldRegistry, request: Request, query: dict[str, Any]) -> dict[str, Any]:
    """Imports a world from the body. The world gets the name in the query's parameter `as`. Without this parameter, it
    gets the name of the world in the path of the call. If the path names no world, or the world `default`, the imported
    world gets the name in the file. Raises Refusal if the file or its name is wrong. Also raises Refusal if a world of
    the chosen name exists, unless the query says `replace=true`."""
    here = str(request.environ["sandbox.world"])
    try:
        first_name, life = read_export(BytesIO(request.get_data()), worlds.machine_time)
    except ParcelError as fault:
        raise refuse("file", str(fault)) from None
    name = query.get("as") or ("" if here == "default" else here) or first_name
    if not is_world_name(name):
        raise refuse("file", "the name of its world is none")
    replacing = query.get("replace") == "true"

    def make() -> World:
        world = World.from_snapshot(name, life, worlds.machine_time, worlds.store, replaces=replacing)
        for carrier in load_objects("findings"):
            carrier.take_in(world, life.findings)
        return world

    return make_world_row(worlds.settle(name, make, replacing=replacing)) | {"acts": len(life.acts)}


# Scenario and faults


def list_scenarios() -> list[dict[str, str]]:
    return [{"name": name, "title": title, "about": about} for name, title, about in list_shipped()]


def show_scenario(world: World) -> dict[str, Any]:
    return {"scenario": world.beginning.scenario}


def load_scenario(worlds: WorldRegistry, world: World, request: Request, take_body: TakeBody) -> dict[str, Any]:
    """Begins the world again with the scenario that was sent. If the scenario has no seed, the world keeps the seed
    that it has."""
    scenario = read_sent_scenario(request, take_body)
    began = world.beginning
    server = replace(worlds.make_beginning(world.name), seed=began.seed, secret=began.secret)
    world.load(worlds.adapt(make_beginning(scenario, server, worlds.guarded)))
    return make_world_row(world)


def list_faults(world: World) -> list[dict[str, Any]]:
    rules, counts = world.ask(lambda bank: (world.faults.rules, dict(world.faults.met)))
    return [{"title": rule.title, "met": counts.get(place, 0)} for place, rule in enumerate(rules)]


def add_fault(worlds: WorldRegistry, world: World, take_body: TakeBody) -> list[dict[str, Any]]:
    """Adds a fault rule to the world, and returns all fault rules of the world. If the fault is about connections and
    has no condition, it begins at once for the whole server instead, and is not added to the world. Raises Refusal for
    a wrong fault, for a fault of connections that this server cannot make, and if the world has FAULTS_MAX fault rules
    already."""
    title = f"fault {len(world.faults.rules) + 1}"
    if len(world.faults.rules) >= FAULTS_MAX:
        raise refuse("fault", f"there are {FAULTS_MAX} already")
    content = take_body()
    with refuse_as("fault"):
        fault = read_fault(content, title, world.beginning.fixtures)
    if fault.connection is not None and not worlds.line.is_served:
        raise refuse("connection", "this bank is called without a server of its own, so it has no connections")
    if fault.connection == "handshake" and not worlds.line.speaks_tls:
        raise refuse("connection", "the server speaks no TLS: start it with --tls")
    if fault.connection is not None and fault.when == CallCondition():
        worlds.line.order(fault.connection, fault.seconds)
    else:
        world.faults.add(fault)
    return list_faults(world)


def drop_faults(world: World) -> None:
    world.faults.clear()


# Settings


def show_settings(bank: Bank) -> dict[str, Any]:
    return {"settings": make_settings_row(bank.settings)}


def make_settings_row(settings: Decisions) -> dict[str, Any]:
    row = {
        name: write_duration(value) if isinstance(value, timedelta) else value
        for name, value in list_settings(settings).items()
    }
    return row | {"variants": dict(settings.variants)}


def save_settings(world: World, body: dict[str, Any]) -> dict[str, Any]:
    with refuse_as("settings"):
        changes = read_changes(body)
    world.act(change_settings, tuple(sorted(changes.items())))
    return world.ask(show_settings)


def list_axes(world: World) -> list[dict[str, Any]]:
    settings, axes_met = world.ask(lambda bank: bank.settings), world.axes.list_axes_read(world.calls.made > 0)
    return [
        axis.describe() | {"value": find_axis_value(settings, axis), "met": axis.name in axes_met}
        for axis in AXES.values()
    ]
