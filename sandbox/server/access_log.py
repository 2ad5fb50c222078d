"""Writes a line for each call to stderr, as text or as JSON. No line has a query, a header or a body, because these
hold secrets."""

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson

from sandbox.banking.durations import write_instant
from sandbox.server.call_line import LONGEST, call_line
from sandbox.web.api.call_records import Announce, find_error
from sandbox.worlds.calls import Exchange


def make_announcer(kind: str, machine_time: Callable[[], float]) -> Announce | None:
    """Returns a function that writes the line of a call. `kind` is `text`, `json` or `off`; for `off`, returns None.
    The function writes each line at once, so that lines of several threads do not mix."""

    def write_text(exchange: Exchange, world: str, seconds: float) -> None:
        row = exchange._asdict() | find_error(exchange) | {"at": write_instant(exchange.at)}
        suffix = f"{exchange.operation or 'no operation'}  {world}  {seconds * 1000:.1f} ms"
        _write(f"{call_line(row, sys.stderr, suffix)}\n")

    def write_json(exchange: Exchange, world: str, seconds: float) -> None:
        row: dict[str, Any] = {
            "time": datetime.fromtimestamp(machine_time(), UTC).isoformat(timespec="milliseconds"),
            "at": write_instant(exchange.at),
            "world": world,
            "duration_ms": round(seconds * 1000, 3),
        }
        for name, value in exchange._asdict().items():
            if name != "at":
                row[name] = value[:LONGEST] if isinstance(value, str) else value
        row["error_code"] = find_error(exchange)["error_code"]
        _write(orjson.dumps(row).decode() + "\n")

    return {"text": write_text, "json": write_json, "off": None}[kind]


def _write(line: str) -> None:
    """Writes the line. Does nothing if stderr is closed."""
    with suppress(OSError, ValueError):
        sys.stderr.write(line)
