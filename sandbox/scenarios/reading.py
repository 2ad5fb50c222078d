"""Reads scenarios from files, texts and JSON content. Raises all errors of a scenario together (choice 13)."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from sandbox.bank.rules import ScenarioRule
from sandbox.banking.countries import read_fixture
from sandbox.contract.decisions import Decisions, with_changes
from sandbox.people.fixtures import PEOPLE, Fixtures, load_fixtures, read_fixtures
from sandbox.reader.shapes import (
    FLAG,
    INSTANT,
    TEXT,
    TITLE,
    Each,
    Either,
    Leaf,
    Notes,
    Table,
    make_any_content,
    make_number,
    make_one_of,
)
from sandbox.reader.tree import (
    TEXT_MAX,
    Node,
    ScenarioError,
    ScenarioErrors,
    TreeEntry,
    Wrong,
    make_tree,
    quote,
    read_shipped,
    suggest,
)
from sandbox.scenarios.faults import FAULT
from sandbox.scenarios.model import ROOT, People, Scenario
from sandbox.scenarios.rules import RULE
from sandbox.scenarios.settings import SETTINGS_SHAPE
from sandbox.scenarios.step_words import RATE
from sandbox.scenarios.steps import STEP, check_names, check_steps, step_schema
from sandbox.worlds.faults import Fault

SUFFIX = ".yaml"
SEED_MAX = 2**53 - 1
FIXTURES = ("default",)  # shipped fixtures that a scenario may name
FACTS = "facts"  # the folder of shipped scenarios without steps, for others to extend
NOBODY: People = {kind: {} for kind in PEOPLE.fields}
BLANK = Scenario(
    "", "", "", None, None, None, None, Fixtures("nobody", {}, {}, {}, {}, {}), Decisions(), (), (), (), NOBODY
)

Library = Mapping[str, str]  # texts of scenarios by name


class ShippedScenarios(Library):
    """The texts of the shipped scenarios by name. Each text is read from its file on access."""

    def __getitem__(self, name: str) -> str:
        return _find_shipped_files()[name].read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(_find_shipped_files())

    def __len__(self) -> int:
        return len(_find_shipped_files())


@cache
def _find_shipped_files() -> dict[str, Traversable]:
    """Returns the shipped scenario files by name, from the installed package or from the folder of a checkout."""
    try:
        folder = resources.files("sandbox.scenario_files")
    except ModuleNotFoundError:
        folder = Path(__file__).parents[2] / "scenarios"
    listed = (*folder.iterdir(), *(folder / FACTS).iterdir())
    files = {file.name.removesuffix(SUFFIX): file for file in listed if file.name.endswith(SUFFIX)}
    return dict(sorted(files.items()))


SHIPPED = ShippedScenarios()


def _make_clock(rows: dict[str, Any]) -> dict[str, Any]:
    if rows.get("frozen") and "rate" in rows:
        raise Wrong("a frozen clock has no rate", "take one of the two away", "rate")
    if "frozen" in rows:
        rows = {"rate": 0.0 if rows["frozen"] else 1.0} | rows
    return rows


BANK = Either(make_one_of(FIXTURES, "set of fixtures"), Table(PEOPLE.fields, called="a bank"))
TOP = Table(
    {
        "scenario": TITLE,
        "about": TEXT,
        "extends": Leaf(
            lambda node, notes: None if node.value is None else TEXT.read(node, notes), {"type": ["string", "null"]}
        ),
        "seed": make_number(0, SEED_MAX),
        "clock": Table({"at": INSTANT, "frozen": FLAG, "rate": RATE}, _make_clock, called="a clock"),
        "bank": make_any_content(BANK.make_schema()),  # read before the other keys, which name its people
        "settings": SETTINGS_SHAPE,
        "rules": Each(RULE),
        "faults": Each(FAULT),
        "steps": Each(STEP),
    },
    called="a scenario",
)


def make_schema() -> dict[str, Any]:
    """Returns the JSON Schema 2020-12 of a scenario."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of the bank sandbox",
        "type": ["object", "null"],
        "$defs": {"step": step_schema()},
        **{key: value for key, value in TOP.make_schema().items() if key != "type"},
    }


# Parts of a scenario, for running worlds (choice 10)


def read_settings(content: Any, onto: Decisions) -> Decisions:
    """Returns the decisions `onto`, changed by the settings and variants in `content`. Raises ScenarioErrors."""
    return with_changes(onto, read_changes(content))


def read_changes(content: Any) -> dict[str, Any]:
    """Returns the settings that the content sets, directly or by its variants. Raises ScenarioErrors."""
    changes: dict[str, Any] = _read_part(SETTINGS_SHAPE, content, "settings")
    return changes


def read_fault(content: Any, title: str, fixtures: Fixtures | None = None) -> Fault:
    fault: Fault = _read_part(FAULT, content, "fault", fixtures)
    return fault if fault.title else replace(fault, title=title)


def read_rule(content: Any) -> ScenarioRule:
    """Reads one rule. Does not check whether its customers, accounts and clients exist. Raises ScenarioErrors."""
    rule: ScenarioRule = _read_part(RULE, content, "rule")
    return rule


def _read_part(shape: Table, content: Any, called: str, fixtures: Fixtures | None = None) -> Any:
    return Notes(called, fixtures).read_whole(shape, make_tree(content, called))


# Whole scenarios


def load(name_or_path: str) -> Scenario:
    """Returns the shipped scenario with this name, or the scenario in the file with this path. Raises
    ScenarioErrors."""
    path = Path(name_or_path)
    if name_or_path in SHIPPED or (path.suffix not in (SUFFIX, ".yml") and path.name == name_or_path):
        return load_shipped(name_or_path)
    try:
        with path.open("rb") as file:
            text = file.read(4 * TEXT_MAX + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _make_read_error(name_or_path, f"the file cannot be read: {reason}", None) from None
    return replace(read_scenario(text, name_or_path), name=path.stem)


def load_shipped(name: str) -> Scenario:
    """Returns a shipped scenario. Unlike `load`, it never opens a file by its path, so names from the network are safe.
    Raises ScenarioErrors for an unknown name."""
    if name not in SHIPPED:
        raise _make_read_error(name, "there is no such scenario", suggest(name, SHIPPED))
    return _load_shipped(name)


@cache
def _load_shipped(name: str) -> Scenario:
    return replace(read_scenario(SHIPPED[name], f"{name}{SUFFIX}"), name=name)


def _make_read_error(file: str, text: str, hint: str | None) -> ScenarioErrors:
    return ScenarioErrors([ScenarioError(file, None, None, "(file)", text, hint)])


def list_shipped() -> list[tuple[str, str, str]]:
    """Returns the name, the title and the description of every shipped scenario."""
    return [(scenario.name, scenario.title, scenario.about) for scenario in map(_load_shipped, SHIPPED)]


def read_scenario(text: str, name: str, library: Library = SHIPPED) -> Scenario:
    """Reads a scenario from YAML. Raises ScenarioErrors."""
    return _read(read_shipped(text, name), name, name.removesuffix(SUFFIX), library, ())


def read_content(content: Any, name: str, library: Library = SHIPPED) -> Scenario:
    """Reads a scenario from JSON content. Raises ScenarioErrors. Each error has the path of the wrong value."""
    return _read(make_tree(content, name), name, name, library, ())


def _read(tree: Node, file: str, name: str, library: Library, chain: tuple[str, ...]) -> Scenario:
    if tree.value is None:
        tree = tree.with_rows({})
    notes = Notes(file)
    parent = _read_parent(tree, notes, name, library, chain)
    bank, fixtures = _read_bank(tree, notes, parent)
    rows = notes.read_or_none(TOP, tree) or {}
    if "steps" in tree.rows:
        if notes.fixtures is None and parent is not BLANK:  # the people have errors, but their names are known
            notes.fixtures = parent.fixtures
            for entry in tree.rows["bank"].value.rows.values() if "bank" in tree.rows else ():
                notes.added |= entry.value.rows.keys()
        check_steps(tree.rows["steps"].value.items, notes)
    check_names(rows.get("steps", ()), notes)
    notes.finish()
    assert fixtures is not None
    clock, settings = rows.get("clock", {}), rows.get("settings", {})
    return Scenario(
        name,
        rows.get("scenario", name),
        rows.get("about", ""),
        parent.name or None,
        rows.get("seed", parent.seed),
        clock.get("at", parent.at),
        clock.get("rate", parent.rate),
        fixtures,
        with_changes(parent.settings, settings),
        _add_titles(rows.get("rules", ()), name, "rule") + parent.rules,
        _add_titles(rows.get("faults", ()), name, "fault") + parent.faults,
        rows.get("steps", ()),
        bank,
        settings.get("life", parent.life),
    )


def _add_titles(rows: tuple[Any, ...], name: str, called: str) -> tuple[Any, ...]:
    """Gives a title to each rule or fault without one. Explanations and the journal show the title."""
    return tuple(row if row.title else replace(row, title=f"{name}, {called} {at}") for at, row in enumerate(rows, 1))


def _read_parent(tree: Node, notes: Notes, name: str, library: Library, chain: tuple[str, ...]) -> Scenario:
    """Returns the scenario that this one extends. Without `extends` in the file, this is the scenario ROOT. Returns
    BLANK, the empty scenario, for `extends: null`, and after an error. `chain` has the names of the scenarios that
    extend this one, directly or through others. It is an error if the parent is among them."""
    extends = tree.rows.get("extends")
    place = extends.value if extends else tree
    parent = place.value if extends else ROOT
    if not isinstance(parent, str):
        return BLANK  # null; other values are errors of the shape
    chain = (*chain, name)
    if parent in chain:
        notes.add(place, f"it extends itself: {' -> '.join((*chain, parent))}", "extends: null inherits nothing")
        return BLANK
    if parent not in library:
        notes.add(place, f"there is no scenario {quote(parent)}", suggest(parent, library))
        return BLANK
    try:
        if library is SHIPPED and parent == ROOT:
            return _load_shipped(ROOT)  # read once
        file = f"{parent}{SUFFIX}"
        return _read(read_shipped(library[parent], file), file, parent, library, chain)
    except ScenarioErrors as error:
        notes.errors.extend(error.errors)
        return BLANK


def _read_bank(tree: Node, notes: Notes, parent: Scenario) -> tuple[People, Fixtures | None]:
    """Returns the customers, accounts and clients of the scenario twice: as the content of fixtures (or the name of
    shipped fixtures), and as `Fixtures`. These are the ones of the parent scenario, together with the ones of the file.
    But if the file names shipped fixtures, they are only the shipped ones.

    After an error, returns the content of the parent scenario, and None for the fixtures.
    """
    if "bank" not in tree.rows:
        notes.fixtures = None if notes.errors else parent.fixtures
        return parent.bank, parent.fixtures
    node = tree.rows["bank"].value
    if not isinstance(node.value, dict):
        name = notes.read_or_none(BANK, node)
        if name is None:
            return parent.bank, None
        notes.fixtures = None if notes.errors else load_fixtures(name)
        return name, load_fixtures(name)
    inherited = _read_inherited(parent.bank) if isinstance(parent.bank, str) else make_tree(parent.bank, "inherited")
    rows = dict(node.rows)
    for kind, entry in inherited.rows.items():
        own = rows.get(kind, entry)
        if isinstance(own.value.value, dict):
            rows[kind] = TreeEntry(own.key, own.value.with_rows({**entry.value.rows, **own.value.rows}))
    people = node.with_rows(rows)
    content = people.to_python()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
    try:
        fixtures = read_fixtures(people, digest, notes)
    except ScenarioErrors:
        return parent.bank, None  # the errors are in the notes
    notes.fixtures = None if notes.errors else fixtures
    return content, fixtures


@lru_cache(maxsize=4)
def _read_inherited(name: str) -> Node:
    """Returns the tree of shipped fixtures without line numbers. Errors give line numbers of the scenario file, and
    those of the fixtures would be mistaken for them."""
    return make_tree(read_shipped(read_fixture(f"{name}.yaml").decode(), f"{name}.yaml").to_python(), name)
