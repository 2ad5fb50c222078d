"""The `bank` of a scenario: people, accounts and TPPs, on top of those it inherits (choice 13)."""

import copy
import hashlib
import json
from functools import lru_cache
from typing import Any

from sandbox.banking.countries import fixture_bytes
from sandbox.scenario.model import People
from sandbox.scenario.scalars import one_of
from sandbox.scenario.scenario_errors import AlreadyReported, Wrong, suggestion
from sandbox.scenario.shapes import ERRORS_MAX, Either, Notes, Plain, Table
from sandbox.scenario.tree import Node
from sandbox.scenario.yaml_text import read_yaml
from sandbox.seed.fixtures import Fixtures, load_fixtures, read_fixtures
from sandbox.seed.shape import UnknownWord

NOBODY: dict[str, Any] = {"customers": {}, "accounts": {}, "clients": {}}
SHIPPED = ("default",)  # fixtures that a scenario may name

MAPPING = Plain({"type": "object", "additionalProperties": {"type": "object"}})
BANK = Either(one_of(SHIPPED, "set of fixtures"), Table(dict.fromkeys(NOBODY, MAPPING), called="a bank"))


def content_of(people: People) -> dict[str, Any]:
    """Shipped fixtures are read once more for it, which takes long, and only a scenario that adds to them asks."""
    return _shipped(people) if isinstance(people, str) else people


@lru_cache(maxsize=4)
def _shipped(name: str) -> dict[str, Any]:
    content: dict[str, Any] = read_yaml(fixture_bytes(f"{name}.yaml").decode(), f"{name}.yaml").plain()
    return content


def read_bank(node: Node, notes: Notes, inherited: People) -> tuple[People, Fixtures]:
    """The people with the additions of the node, and their fixtures."""
    told = notes.read(BANK, node)
    if isinstance(told, str):
        return told, load_fixtures(told)
    for name, entry in node.rows.items():
        if not isinstance(entry.value.value, dict):
            raise Wrong("a mapping of names is expected", f"{name} by their names", name)
    earlier = content_of(inherited)
    content = {name: {**earlier[name], **told.get(name, {})} for name in NOBODY}
    return content, _fixtures(content, node, notes)


def _fixtures(content: dict[str, Any], node: Node, notes: Notes) -> Fixtures:
    """The fixtures; else every fault that can be found without guessing what was meant."""
    canon = json.dumps(content, sort_keys=True, ensure_ascii=True).encode()
    try:
        return read_fixtures(content, hashlib.sha256(canon).hexdigest())
    except ValueError as fault:
        _add_faults(copy.deepcopy(content), fault, node, notes)
        raise AlreadyReported from None


def _add_faults(content: dict[str, Any], fault: ValueError, node: Node, notes: Notes) -> None:
    """Notes a fault, takes its place away, and reads again; what is missing then is no fault of the file."""
    taken: set[str] = set()
    for _ in range(ERRORS_MAX):
        place, _, why = str(fault).removeprefix("fixtures.").partition(": ")
        entry = ".".join(place.split(".")[:2])
        if place not in taken and entry not in taken and not _is_of(taken, fault):
            hint = suggestion(fault.word, fault.known) if isinstance(fault, UnknownWord) else None
            notes.add(node.find(place), f"{place}: {why}", hint)
        step = place if why != "missing" and place not in taken else entry
        is_put_right = isinstance(fault, UnknownWord) and step == place and _put_right(content, place, fault)
        if not is_put_right and not _take(content, step) and not _take(content, step := entry):
            return
        taken.add(step)
        try:
            read_fixtures(content, "faulty")
        except ValueError as next_fault:
            fault = next_fault
        else:
            return


def _is_of(taken: set[str], fault: ValueError) -> bool:
    """Whether the fault comes from an entry that was taken away."""
    gone = {place.partition(".")[2] for place in taken if place.count(".") == 1}
    return isinstance(fault, UnknownWord) and fault.word in gone


def _put_right(content: dict[str, Any], place: str, fault: UnknownWord) -> bool:
    """Puts a name that is known in the place of one that is not, so that the rest can be read."""
    *outer, last = place.split(".")
    found: Any = content
    for name in outer:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not fault.known or not isinstance(found.get(last), str | list):
        return False
    if last == fault.word:
        return False  # the key itself is unknown
    found[last] = fault.known[0] if isinstance(found[last], str) else [fault.known[0]]
    return True


def _take(content: dict[str, Any], place: str) -> bool:
    """Takes an entry away, or a part of one."""
    *outer, last = place.split(".")
    found: Any = content
    for name in outer:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, dict) or last not in found:
        return False
    del found[last]
    return True


def no_people() -> Fixtures:
    """Fixtures without people, for a bank that inherits none."""
    return read_fixtures(NOBODY, "nobody")
