"""A state file as a kill would leave it, and what a torn or flipped one may tell."""

import shutil
import struct
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from sandbox.storage.format import StateFileError
from sandbox.storage.store import open_store
from sandbox.worlds.registry import WorldRegistry
from tests.worlds import damage
from tests.worlds.killed import BEGINNING

Content = dict[str, Any]


def image(path: Path, folder: Path) -> Path:
    """The bytes as they are now; nobody writes meanwhile."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    return damage.copied(path, folder)


def content(worlds: WorldRegistry) -> Content:
    """All that a file keeps of worlds, as memory has it. A clock that runs may stand a moment later after a start."""
    found = {world.name: damage.content_of(world) for world in worlds.list_all()}
    return {name: (None if of[4].rate else of[0], *of[1:]) for name, of in found.items()}


def kept(path: Path, machine: float) -> tuple[Content, list[str]]:
    """The same as a file has it, and what was noted of damage."""
    with closing(open_store(path)) as store:
        found = content(WorldRegistry(BEGINNING, lambda: machine, store))
        return found, store.notes


def is_past(found: Content, past: dict[str, list[Any]]) -> bool:
    """Whether each world has the first of the acts that it had at some time."""
    logs = {name: acts for name, (_, acts, *_) in found.items() if acts}
    return all(any(known[: len(acts)] == acts for known in past[name]) for name, acts in logs.items())


def torn(path: Path, random: Random, machine: float, before: Content, past: dict[str, list[Any]]) -> str:
    """The end of its WAL is cut: what is left is what was there some writes ago."""
    wal = path.with_name(f"{path.name}-wal")
    raw = wal.read_bytes() if wal.exists() else b""
    if len(raw) < 32:
        return "nothing to tear"
    page = struct.unpack(">I", raw[8:12])[0] + 24
    end = 32
    while raw[end + 8 : end + 16] == raw[16:24]:  # what was written since the WAL was begun again
        end += page
    left = random.randrange(max(0, end - 6 * page), end)
    with wal.open("r+b") as file:
        file.truncate(left)
    try:
        found, notes = kept(path, machine)
    except StateFileError:
        return "torn and refused"
    if found == before:
        return "torn where nothing was"
    assert notes or is_past(found, past), "it tells acts that never were"
    return "torn and earlier"


def flipped(path: Path, random: Random, machine: float, before: Content, past: dict[str, list[Any]]) -> str:
    """A bit or a block: told, or all is as it was, or as it was at an earlier time where the WAL was hit."""
    what = damage.damaged(path, random, zeroed=random.random() < 0.25)
    try:
        found, notes = kept(path, machine)
    except StateFileError:
        return "flipped and refused"
    if notes:
        return "flipped and told"
    if found == before:
        return "flipped where nothing was"
    assert "-wal" in what and is_past(found, past), f"{what}: it tells something else, and does not say so"
    return "flipped and earlier"
