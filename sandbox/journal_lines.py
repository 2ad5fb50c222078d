"""The line per call: for a person, or as JSON."""

import sys

import orjson

from sandbox.machine import machine_time
from sandbox.rules.durations import write_instant
from sandbox.wire.app import Announce
from sandbox.worlds import Exchange


def _text(exchange: Exchange, world: str, seconds: float) -> None:
    clock = f"{machine_time() % 86_400:09.3f}"
    what = exchange.operation or f"{exchange.method} {exchange.path}"
    when = f"{write_instant(exchange.at)}  {clock}"
    sys.stderr.write(f"{when}  {world}  {exchange.status}  {ascii(what[:120])[1:-1]}  {seconds * 1000:.1f} ms\n")


def _json(exchange: Exchange, world: str, seconds: float) -> None:
    row = exchange._asdict() | {
        "at": write_instant(exchange.at),
        "machine": round(machine_time(), 3),
        "world": world,
        "ms": round(seconds * 1000, 1),
    }
    sys.stderr.write(orjson.dumps(row).decode() + "\n")


ANNOUNCERS: dict[str, Announce | None] = {"text": _text, "json": _json, "off": None}
