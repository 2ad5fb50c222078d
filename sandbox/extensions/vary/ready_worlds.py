"""Writes the worlds of a readiness document (ready.json) as files, and checks that such files still replay with the
recorded outcome, also on another machine."""

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx

from sandbox.app import assemble, make_first_beginning
from sandbox.client import Controls, Refused
from sandbox.extensions.vary.readiness import FORMAT, compute_digest, write_document
from sandbox.extensions.vary.space import Variant
from sandbox.machine import machine_time
from sandbox.player.runs import HOST, WithinTransport
from sandbox.worlds.registry import WorldRegistry

LISTS = ("payments", "standing-orders", "bulk-payments")
WORLD = "verified"
ROW = {"file", "sha256", "statuses", "referee"}
WORLD_FILE = re.compile(r"worlds/[A-Za-z0-9_-]+\.jsonl")  # never outside of the folder
WORLDS_MAX = 10  # the most exported worlds: those of the default run, then those of the first findings


def write_worlds(folder: Path, exports: Iterable[tuple[Variant, str]]) -> list[dict[str, Any]]:
    """Writes each world as a file into `worlds` in the folder, and deletes older files there. Returns a row of the
    document for each world. Raises ValueError if a world cannot be replayed (see `describe_export`)."""
    place = folder / "worlds"
    place.mkdir(exist_ok=True)
    for old in place.glob("*.jsonl"):
        old.unlink()
    rows = []
    for number, (variant, text) in enumerate(exports, 1):
        file = place / f"{number:03}-{variant.name}.jsonl"
        file.write_text(text, encoding="utf-8")
        row = {"file": f"worlds/{file.name}", "variant": str(variant), "sha256": sha256(text.encode()).hexdigest()}
        rows.append(row | describe_export(text))
    return rows


def make_local_controls() -> Controls:
    """Returns the controls of a new sandbox in this process, without a server."""
    app = assemble(WorldRegistry(make_first_beginning(), machine_time))
    return Controls(HOST, httpx.Client(transport=WithinTransport(app=app)))


def describe_export(text: str) -> dict[str, Any]:
    """Replays the file of a world in a new sandbox. Returns how many initiations have each status at the end, and which
    rules of the referee have findings (none if the referee is not installed).

    Raises ValueError if the text is not such a file, or if the replay ends in another way than the file says.
    """
    with make_local_controls() as server:
        server.http.headers["Content-Type"] = "application/x-ndjson"
        address = f"{HOST}/_sandbox/import"
        reply = server.http.post(address, params={"as": WORLD}, content=text.encode())
        if reply.is_error:
            raise ValueError(reply.json().get("error_description", reply.text)[:500])
        del server.http.headers["Content-Type"]
        world = server.world(WORLD)
        statuses: dict[str, int] = {}
        for name in LISTS:
            for row in world.listed(name):
                statuses[row["status"]] = statuses.get(row["status"], 0) + 1
        try:
            findings = world.call("GET", "/referee").body["findings"]
        except Refused:  # without the extension
            findings = []
        return {"statuses": statuses, "referee": sorted({row["rule"] for row in findings})}


def list_problems(file: Path) -> list[str]:
    """Returns a sentence for each mistake in a ready.json and its worlds, or an empty list if there is no mistake. If
    the ready.json itself is wrong, its worlds are not checked."""
    content = file.read_bytes()
    try:
        document = json.loads(content)
    except ValueError as error:
        return [f"{file} is no JSON: {error}"]
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return [f"{file} is no file of this version of `ready`: expected the format {FORMAT!r}"]
    digest = compute_digest(document)
    if document.get("digest") != digest:
        return [f"{file} was changed: its digest is {digest}, and it says {document.get('digest')}"]
    if write_document(document) != content:
        return [f"{file} was changed: its text is not as it was written"]
    worlds = document.get("worlds")
    if not isinstance(worlds, list):
        return [f"{file} lists no worlds"]
    return [problem for row in worlds for problem in find_problems_of_world(file.parent, row)]


def find_problems_of_world(folder: Path, row: Any) -> Iterator[str]:
    if not isinstance(row, dict) or ROW - row.keys() or not WORLD_FILE.fullmatch(str(row["file"])):
        yield f"a world is not described as this version of `ready` does: {str(row)[:200]}"
        return
    path = folder / row["file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        yield f"{path} cannot be read: {error.strerror}"
        return
    if sha256(content).hexdigest() != row["sha256"]:
        yield f"{path} was changed: its SHA-256 is not {row['sha256']}"
        return
    try:
        export = describe_export(content.decode())
    except ValueError as error:
        yield f"{path} fails when it is replayed: {error}"
        return
    for name, value in export.items():
        if value != row[name]:
            yield f"{path} ends differently when it is replayed: {name} are {value}, and were {row[name]}"
