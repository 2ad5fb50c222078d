"""The line per call: for a person, or as JSON."""

import sys
from collections.abc import Callable

import orjson

from sandbox.exchanges import Exchange
from sandbox.rules.durations import write_instant
from sandbox.wire.app import Announce


def announcer(kind: str, machine_time: Callable[[], float]) -> Announce | None:
    """What writes the lines of a kind: text, json, or none. One write a line, so that threads do not tear them."""

    def text(exchange: Exchange, world: str, seconds: float) -> None:
        what = ascii((exchange.operation or f"{exchange.method} {exchange.path}")[:120])[1:-1]
        when = f"{write_instant(exchange.at)}  {machine_time():.3f}"
        sys.stderr.write(f"{when}  {world}  {exchange.status}  {what}  {seconds * 1000:.1f} ms\n")

    def as_json(exchange: Exchange, world: str, seconds: float) -> None:
        row = exchange._asdict() | {
            "at": write_instant(exchange.at),
            "machine": round(machine_time(), 3),
            "world": world,
            "ms": round(seconds * 1000, 1),
        }
        sys.stderr.write(orjson.dumps(row).decode() + "\n")

    return {"text": text, "json": as_json, "off": None}[kind]
