"""The `bank` of a scenario: people, accounts and TPPs, on top of those it inherits (choice 13)."""

import hashlib
import json
from functools import lru_cache

from sandbox.banking.countries import fixture_bytes
from sandbox.people.fixtures import PEOPLE, Fixtures, load_fixtures, read_fixtures
from sandbox.reader.scalars import one_of
from sandbox.reader.shapes import Either, Notes, Table
from sandbox.reader.tree import AlreadyReported, Node, ScenarioErrors, TreeEntry, tree_of
from sandbox.reader.yaml_text import read_shipped
from sandbox.scenarios.model import People

NOBODY: People = {kind: {} for kind in PEOPLE.fields}
SHIPPED = ("default",)  # fixtures that a scenario may name
BANK = Either(one_of(SHIPPED, "set of fixtures"), Table(PEOPLE.fields, called="a bank"))


@lru_cache(maxsize=4)
def _inherited(name: str) -> Node:
    """Shipped fixtures are read once more for it, which takes long, and only a scenario that adds to them asks."""
    return tree_of(read_shipped(fixture_bytes(f"{name}.yaml").decode(), f"{name}.yaml").plain(), name)


def read_bank(node: Node, notes: Notes, inherited: People) -> tuple[People, Fixtures]:
    """The people with the additions of the node, and their fixtures."""
    if not isinstance(node.value, dict):
        name: str = notes.read(BANK, node)
        return name, load_fixtures(name)
    earlier = _inherited(inherited) if isinstance(inherited, str) else tree_of(inherited, "inherited")
    rows = dict(node.rows)
    for kind, entry in earlier.rows.items():
        own = rows.get(kind, entry)
        if isinstance(own.value.value, dict):
            both = {**entry.value.rows, **own.value.rows}
            rows[kind] = TreeEntry(own.key, Node(both, own.value.path, "", own.value.line, own.value.column))
    tree = Node(rows, node.path, "", node.line, node.column)
    canon = json.dumps(tree.plain(), sort_keys=True, ensure_ascii=True).encode()
    try:
        return tree.plain(), read_fixtures(tree, hashlib.sha256(canon).hexdigest(), notes)
    except ScenarioErrors:
        raise AlreadyReported from None
