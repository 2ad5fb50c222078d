"""Writes a line per call to stderr, as text or as JSON. No line has a query, a header or a body: these hold secrets."""

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import orjson

from sandbox.banking.durations import write_instant
from sandbox.server.call_line import LONGEST, call_line
from sandbox.web.api.call_lines import Announce, error_of
from sandbox.worlds.calls import Exchange


def announcer(kind: str, machine_time: Callable[[], float]) -> Announce | None:
    """Returns the function that writes lines of a kind: text, json or off. One write for a line keeps threads apart."""

    def text(exchange: Exchange, world: str, seconds: float) -> None:
        row = exchange._asdict() | error_of(exchange) | {"at": write_instant(exchange.at)}
        more = f"{exchange.operation or 'no operation'}  {world}  {seconds * 1000:.1f} ms"
        _write(f"{call_line(row, sys.stderr, more)}\n")

    def as_json(exchange: Exchange, world: str, seconds: float) -> None:
        row = {
            "time": datetime.fromtimestamp(machine_time(), UTC).isoformat(timespec="milliseconds"),
            "at": write_instant(exchange.at),
            "world": world,
            "duration_ms": round(seconds * 1000, 3),
        }
        more = {name: value for name, value in exchange._asdict().items() if name != "at"}
        row |= {name: value[:LONGEST] if isinstance(value, str) else value for name, value in more.items()}
        row["error_code"] = error_of(exchange)["error_code"]
        _write(orjson.dumps(row).decode() + "\n")

    return {"text": text, "json": as_json, "off": None}[kind]


def _write(line: str) -> None:
    """Does nothing if stderr is closed: calls are answered without it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line)
