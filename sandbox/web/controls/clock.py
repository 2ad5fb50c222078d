"""The clock that the tester owns."""

from datetime import datetime, timedelta
from typing import Any

from sandbox.banking.durations import write_instant
from sandbox.web.controls.request_bodies import refuse
from sandbox.world.beginning import Pace
from sandbox.world.unloading import Standing
from sandbox.world.world import World


def show(world: World) -> dict[str, Any]:
    return world.ask(lambda bank: clock_shown(world.standing(), world.pace))


def clock_shown(standing: Standing, pace: Pace) -> dict[str, Any]:
    return {
        "now": write_instant(standing.now),
        "mode": "frozen" if pace.frozen else "running",
        "rate": pace.rate if pace.rate % 1 else int(pace.rate),  # 0 and 0.0 are one, wherever the world came from
        "due_next": None if standing.due_next is None else write_instant(standing.due_next),
    }


def change(world: World, body: dict[str, Any]) -> dict[str, Any]:
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
    return show(world)


def _later(now: datetime, span: timedelta) -> datetime:
    later = now + span
    if later.year >= 2300:
        raise refuse("advance", "it leads beyond the year 2300")
    return later
