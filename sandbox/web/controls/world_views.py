"""Worlds, their time and their files: made, moved, awaited, forked, shown, sent, taken and dropped (choice 10)."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO
from itertools import islice
from typing import Any

from flask import Request, Response

from sandbox.bank.state import Bank
from sandbox.bank.timeline import coming
from sandbox.banking.durations import LAST_MOMENT, write_instant
from sandbox.banking.names import is_world_name
from sandbox.extension_registry import objects
from sandbox.scenarios.model import scenario_beginning
from sandbox.scenarios.reading import read_settings
from sandbox.storage.transfer.exporter import exported
from sandbox.storage.transfer.form import CarriedFinding, ParcelError
from sandbox.storage.transfer.importer import read_life
from sandbox.web.controls.request_bodies import TakeBody, reading, refuse, scenario_of
from sandbox.web.controls.world_rows import NO_CLOCK, PAGE
from sandbox.worlds.await_status import foresee
from sandbox.worlds.beginning import Beginning, seeded
from sandbox.worlds.registry import Worlds
from sandbox.worlds.world import World


def every(worlds: Worlds, query: dict[str, Any]) -> dict[str, Any]:
    """In the order of their names; where there are more, `next` is the name after which the next page begins."""
    rows, last = worlds.page(query.get("after", ""), query.get("limit", PAGE))
    return {"worlds": [shown(world) for world in rows]} | ({"next": last} if last else {})


def one(worlds: Worlds, name: str) -> dict[str, Any]:
    return shown(worlds.find(name))


def make(worlds: Worlds, name: str, take_body: TakeBody) -> dict[str, Any]:
    """Makes a world; one of that name is replaced only where the body says so."""
    if not is_world_name(name):
        raise refuse("name", "letters, digits, _, . and -, 64 at most")
    content = take_body()
    beginning = worlds.beginning_of(name)
    if "scenario" in content:
        beginning = scenario_beginning(scenario_of(content["scenario"], "scenario"), beginning, worlds.guarded)
    if "seed" in content:
        beginning = seeded(beginning, content["seed"], worlds.guarded)
    if "clock" in content:
        beginning = _clocked(beginning, content["clock"])
    for field in ("life", "variants"):
        if field in content:
            changes, before = {field: content[field]}, beginning.settings
            settings = reading(partial(read_settings, changes, before), field)
            beginning = replace(beginning, settings=settings)
    return shown(worlds.make(name, beginning, replacing=content.get("replace", False)))


def _clocked(beginning: Beginning, clock: dict[str, Any]) -> Beginning:
    """`at`, and `frozen` or `rate`, as in a scenario (choice 13)."""
    if {"frozen", "rate"} <= set(clock):
        raise refuse("clock", NO_CLOCK)
    beginning = replace(beginning, **{name: clock[name] for name in ("at", "rate") if name in clock})
    if "frozen" in clock:
        beginning = replace(beginning, rate=0 if clock["frozen"] else beginning.rate or 1)
    return beginning


def drop(worlds: Worlds, name: str) -> None:
    worlds.drop(name)


def reset(world: World, take_body: TakeBody) -> dict[str, Any]:
    take_body()  # refuses any field
    world.reset()
    return shown(world)


def shown(world: World) -> dict[str, Any]:
    return {
        "name": world.name,
        "scenario": world.beginning.scenario,
        "seed": world.beginning.seed,
        "clock": clock_shown(world),
        "away": world.in_memory is None,
    }


def show_clock(world: World) -> dict[str, Any]:
    return world.ask(lambda bank: clock_shown(world))


def clock_shown(world: World) -> dict[str, Any]:
    standing, pace = world.standing(), world.pace
    mode = "frozen" if pace.frozen else "running"
    return {
        "now": write_instant(standing.now),
        "mode": mode,
        "rate": pace.rate if pace.rate % 1 else int(pace.rate),  # 0 and 0.0 are one, wherever the world came from
        "due_next": None if standing.due_next is None else write_instant(standing.due_next),
    }


def change_clock(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """One of advance, set and mode; all that falls due on the way happens, each at its own time."""
    given = [name for name in ("advance", "set", "mode") if name in body]
    if len(given) != 1:
        raise refuse("body", "it must have one of advance, set and mode")
    if "rate" in body and body.get("mode") != "running":
        raise refuse("rate", "it goes with the mode running")
    match given[0]:
        case "advance":
            world.set_pace(lambda now: (_later(now, body["advance"]), world.pace.rate))
        case "set":
            world.set_pace(lambda now: (body["set"], world.pace.rate))
        case _:
            world.set_pace(lambda now: (now, body.get("rate", 1) if body["mode"] == "running" else 0))
    return show_clock(world)


def _later(now: datetime, span: timedelta) -> datetime:
    later = now + span
    if later > LAST_MOMENT:
        raise refuse("advance", f"it leads beyond {write_instant(LAST_MOMENT)}, where the bank's time ends")
    return later


WITHIN = timedelta(days=400)  # when the caller names none: beyond any execution date
SHOWN_MAX = 1_000


def wait(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Moves bank time from event to event until the status holds."""
    payment_id, status, within = body["payment_id"], body["status"], body.get("within", WITHIN)
    before = world.ask(lambda bank: bank.clock.now)
    held = foresee(world, payment_id, status, within)
    world.set_pace(lambda now: (max(now, held), world.pace.rate))
    waited = (held - before).total_seconds()
    return {
        "payment_id": payment_id,
        "status": status.value,
        "at": write_instant(held),
        "waited": int(waited) if waited == int(waited) else waited,
    }


def timeline(bank: Bank) -> list[dict[str, Any]]:
    """What will happen next, soonest first; what no longer matters is left out."""
    return [
        {"at": write_instant(promise.at), "subject": promise.subject_id, "trigger": promise.trigger.value}
        for promise in islice(coming(bank), SHOWN_MAX)
    ]


def fork(worlds: Worlds, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Makes a copy of the world as it is, or was at a time; both go on apart."""
    twin = worlds.fork(name, body["as"], body.get("at"), replacing=body.get("replace", False))
    return shown(twin)


def rewind(worlds: Worlds, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Takes the world back to a time; what came later is gone."""
    return shown(worlds.fork(name, name, body["at"], replacing=True))


PORTION = 1 << 16  # bytes


def send(world: World, query: dict[str, Any]) -> Response:
    """The whole world, line by line; `secrets=strip` takes out what its callers kept secret."""
    strip = query.get("secrets") == "strip"
    name = f"{world.name}.world.jsonl"
    return Response(
        in_portions(exported(world, strip=strip, findings=carried_findings(world))),
        mimetype="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


def carried_findings(world: World) -> list[CarriedFinding]:
    """What extensions have found about the calls of a world, which goes with its file."""
    return [finding for carrier in objects("findings") for finding in carrier.findings_of(world)]


def in_portions(lines: Generator[bytes]) -> Generator[bytes]:
    """Each portion costs the server a turn of its own, so single lines are gathered."""
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


def take(worlds: Worlds, request: Request, query: dict[str, Any]) -> dict[str, Any]:
    """Make a world of that file; one of that name is replaced only with ?replace=true."""
    here = str(request.environ["sandbox.world"])
    try:
        first_name, life = read_life(BytesIO(request.get_data()), worlds.machine_time)
    except ParcelError as fault:
        raise refuse("file", str(fault)) from None
    name = query.get("as") or ("" if here == "default" else here) or first_name
    if not is_world_name(name):
        raise refuse("file", "the name of its world is none")
    replacing = query.get("replace") == "true"

    def completed() -> World:
        made = World.from_life(name, life, worlds.machine_time, worlds.store, replaces=replacing)
        for carrier in objects("findings"):
            carrier.take_in(made, life.findings)
        return made

    return shown(worlds.settle(name, completed, replacing=replacing)) | {"acts": len(life.acts)}
