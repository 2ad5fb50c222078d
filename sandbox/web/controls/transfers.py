"""A world as one file, out and in (choice 10): the thing to attach to a report of a fault."""

from collections.abc import Generator
from contextlib import closing
from io import BytesIO
from typing import Any

from flask import Request, Response

from sandbox.banking.names import is_world_name
from sandbox.referee.report import findings_to_carry, take_in
from sandbox.web.api.replies import json_response
from sandbox.web.controls.request_bodies import refuse
from sandbox.web.controls.world_views import shown
from sandbox.world.registry import Worlds
from sandbox.world.transfer.exporter import exported
from sandbox.world.transfer.form import ParcelError
from sandbox.world.transfer.importer import read_life
from sandbox.world.world import World

PORTION = 1 << 16  # bytes


def send(world: World, query: dict[str, Any]) -> Response:
    """The whole world, line by line; `secrets=strip` takes out what its callers kept secret."""
    strip = query.get("secrets") == "strip"
    name = f"{world.name}.world.jsonl"
    return Response(
        in_portions(exported(world, strip=strip, findings=findings_to_carry(world))),
        mimetype="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


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


def take(worlds: Worlds, request: Request, query: dict[str, Any]) -> Response:
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

    def make() -> World:
        made = World.from_life(name, life, worlds.machine_time, worlds.store, not replacing)
        take_in(made, life.findings)
        return made

    found: dict[str, Any] = shown(worlds.settle(name, make, replacing=replacing)) | {"acts": len(life.acts)}
    return json_response(found, 201)
