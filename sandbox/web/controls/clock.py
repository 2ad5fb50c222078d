"""The clock that the tester owns."""

from datetime import datetime, timedelta
from typing import Any

from sandbox.banking.durations import read_duration, read_instant, write_instant
from sandbox.web.controls.request_bodies import refuse, value_of
from sandbox.world.beginning import Pace
from sandbox.world.unloading import Standing
from sandbox.world.world import World

RATE_MAX = 1_000_000


def read_rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= RATE_MAX:
        raise ValueError(f"it must be a number above 0 and up to {RATE_MAX}")
    return value


def show(world: World) -> dict[str, Any]:
    return clock_of(world)


def clock_of(world: World) -> dict[str, Any]:
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
            span = value_of(body, "advance", read_duration)
            world.set_pace(lambda now: (_later(now, span), world.pace.rate))
        case "set":
            instant = value_of(body, "set", read_instant)
            world.set_pace(lambda now: (instant, world.pace.rate))
        case _:
            rate = _rate_of(body)
            world.set_pace(lambda now: (now, rate))
    return clock_of(world)


def _later(now: datetime, span: timedelta) -> datetime:
    later = now + span
    if later.year >= 2300:
        raise refuse("advance", "it leads beyond the year 2300")
    return later


def _rate_of(body: dict[str, Any]) -> float:
    match body["mode"]:
        case "frozen":
            return 0
        case "running":
            return value_of(body, "rate", read_rate) if "rate" in body else 1
        case _:
            raise refuse("mode", "it must be frozen or running")
