"""The `bank` of a scenario: people, accounts and TPPs, on top of those it inherits (choice 13)."""

import hashlib
import json
from functools import lru_cache
from typing import Any

from sandbox.banking.countries import fixture_bytes
from sandbox.scenario.scalars import one_of
from sandbox.scenario.scenario_errors import Wrong
from sandbox.scenario.shapes import Either, Notes, Plain, Table
from sandbox.scenario.tree import Node
from sandbox.scenario.yaml_text import read_yaml
from sandbox.seed.fixtures import Fixtures, load_fixtures, read_fixtures

NOBODY: dict[str, Any] = {"customers": {}, "accounts": {}, "clients": {}}
SHIPPED = ("default",)  # fixtures that a scenario may name

MAPPING = Plain({"type": "object", "additionalProperties": {"type": "object"}})
BANK = Either(one_of(SHIPPED, "set of fixtures"), Table(dict.fromkeys(NOBODY, MAPPING), called="a bank"))


@lru_cache(maxsize=4)
def content_of(name: str) -> dict[str, Any]:
    """The content of shipped fixtures."""
    content: dict[str, Any] = read_yaml(fixture_bytes(f"{name}.yaml").decode(), f"{name}.yaml").plain()
    return content


def read_bank(node: Node, notes: Notes, inherited: dict[str, Any]) -> tuple[dict[str, Any], Fixtures]:
    """The content with the additions of the node, and its fixtures."""
    told = notes.read(BANK, node)
    if isinstance(told, str):
        return content_of(told), load_fixtures(told)
    for name, entry in node.rows.items():
        if not isinstance(entry.value.value, dict):
            raise Wrong("a mapping of names is expected", f"{name} by their names", name)
    content = {name: {**inherited[name], **told.get(name, {})} for name in NOBODY}
    return content, _fixtures(content, node)


def _fixtures(content: dict[str, Any], node: Node) -> Fixtures:
    canon = json.dumps(content, sort_keys=True, ensure_ascii=True).encode()
    try:
        return read_fixtures(content, hashlib.sha256(canon).hexdigest())
    except ValueError as fault:
        place, _, why = str(fault).removeprefix("fixtures.").partition(": ")
        raise Wrong(f"{place}: {why}", key=place) from None


def no_people() -> Fixtures:
    """Fixtures without people, for a bank that inherits none."""
    return read_fixtures(NOBODY, "nobody")
