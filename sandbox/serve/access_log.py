"""The line per call: for a person, or as JSON. Never a query, a header or a body, where secrets would be."""

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import orjson

from sandbox.banking.durations import write_instant
from sandbox.web.api.app import Announce
from sandbox.world.calls import Exchange

LONGEST = 200  # letters of what a client made up: a path that is none of ours, a name, a method


def announcer(kind: str, machine_time: Callable[[], float]) -> Announce | None:
    """What writes the lines of a kind: text, json, or none. One write a line, so that threads do not tear them."""

    def text(exchange: Exchange, world: str, seconds: float) -> None:
        what = ascii((exchange.operation or f"{exchange.method} {exchange.path}")[:120])[1:-1]
        when = f"{write_instant(exchange.at)}  {machine_time():.3f}"
        _write(f"{when}  {world}  {exchange.status}  {what}  {seconds * 1000:.1f} ms\n")

    def as_json(exchange: Exchange, world: str, seconds: float) -> None:
        row = {
            "time": datetime.fromtimestamp(machine_time(), UTC).isoformat(timespec="milliseconds"),
            "at": write_instant(exchange.at),
            "world": world,
            "duration_ms": round(seconds * 1000, 3),
        }
        for name, value in zip(Exchange._fields, exchange, strict=True):
            if name != "at":
                row[name] = value[:LONGEST] if isinstance(value, str) else value
        _write(orjson.dumps(row).decode() + "\n")

    return {"text": text, "json": as_json, "off": None}[kind]


def _write(line: str) -> None:
    """A reader who went away stops no bank."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line)
