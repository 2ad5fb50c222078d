"""Reads a scenario, or raises all its errors at once (choice 13)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sandbox.bank.rules import ScenarioRule
from sandbox.contract.decisions import Decisions, with_changes
from sandbox.people.fixtures import Fixtures
from sandbox.reader.scalars import FLAG, INSTANT, TEXT, TITLE, number
from sandbox.reader.shapes import Each, Leaf, Notes, Table, plain
from sandbox.reader.tree import AlreadyReported, Node, ScenarioError, ScenarioErrors, Wrong, quote, suggestion, tree_of
from sandbox.reader.yaml_text import TEXT_MAX, read_shipped
from sandbox.scenarios.fault_rows import FAULT
from sandbox.scenarios.library import SHIPPED, SUFFIX
from sandbox.scenarios.model import ROOT, People, Scenario
from sandbox.scenarios.people import BANK, NOBODY, read_bank
from sandbox.scenarios.rule_rows import RULE
from sandbox.scenarios.setting_rows import SETTINGS_SHAPE
from sandbox.scenarios.step_names import check_names
from sandbox.scenarios.step_reading import StepShape, check_steps, step_schema
from sandbox.scenarios.step_rows import RATE
from sandbox.worlds.faults import Fault

SEED_MAX = 2**53 - 1

Library = Mapping[str, str]  # name to text
_NO_PEOPLE = Fixtures("nobody", {}, {}, {}, {}, {})
BLANK = Scenario("", "", "", None, None, None, None, _NO_PEOPLE, Decisions(), (), (), (), NOBODY)


def _clock(rows: dict[str, Any]) -> dict[str, Any]:
    if rows.get("frozen") and "rate" in rows:
        raise Wrong("a frozen clock has no rate", "take one of the two away", "rate")
    if "frozen" in rows:
        rows = {"rate": 0.0 if rows["frozen"] else 1.0} | rows
    return rows


CLOCK = Table({"at": INSTANT, "frozen": FLAG, "rate": RATE}, _clock, called="a clock")
EXTENDS = Leaf(lambda node, notes: None if node.value is None else TEXT.read(node, notes), {"type": ["string", "null"]})
TOP = Table(
    {
        "scenario": TITLE,
        "about": TEXT,
        "extends": EXTENDS,
        "seed": number(0, SEED_MAX),
        "clock": CLOCK,
        "bank": plain(BANK.schema()),  # read before the rest, which names its people
        "settings": SETTINGS_SHAPE,
        "rules": Each(RULE),
        "faults": Each(FAULT),
        "steps": Each(StepShape()),
    },
    called="a scenario",
)


def read_scenario(text: str, name: str, library: Library = SHIPPED) -> Scenario:
    """Reads a scenario from YAML; raises ScenarioErrors."""
    return _read(read_shipped(text, name), name, name.removesuffix(SUFFIX), library, ())


def read_content(content: Any, name: str, library: Library = SHIPPED) -> Scenario:
    """Reads a scenario from JSON; its errors name a path."""
    return _read(tree_of(content, name), name, name, library, ())


def read_settings(content: Any, onto: Decisions) -> Decisions:
    """The settings with the changes of the content, for a running world (choice 10)."""
    return with_changes(onto, read_changes(content))


def read_changes(content: Any) -> dict[str, Any]:
    """The settings that the content names, and those that its variants stand for."""
    changes: dict[str, Any] = _part(SETTINGS_SHAPE, content, "settings", None)
    return changes


def read_fault(content: Any, title: str, fixtures: Fixtures | None = None) -> Fault:
    """One fault rule; for a running world (choice 10)."""
    fault: Fault = _part(FAULT, content, "fault", fixtures)
    return fault if fault.title else replace(fault, title=title)


def read_rule(content: Any) -> ScenarioRule:
    """One rule, without a look at whom it names."""
    rule: ScenarioRule = _part(RULE, content, "rule", None)
    return rule


def load(name_or_path: str) -> Scenario:
    """A shipped scenario by its name, or a file by its path."""
    path = Path(name_or_path)
    if name_or_path in SHIPPED or (path.suffix not in (SUFFIX, ".yml") and path.name == name_or_path):
        return load_shipped(name_or_path)
    try:
        with path.open("rb") as file:
            text = file.read(4 * TEXT_MAX + 1).decode("utf-8-sig")
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        raise _unreadable(name_or_path, f"the file cannot be read: {why}", None) from None
    return replace(read_scenario(text, name_or_path), name=path.stem)


def load_shipped(name: str) -> Scenario:
    """Loads a shipped scenario only, as callers over the network must not read files."""
    if name not in SHIPPED:
        raise _unreadable(name, "there is no such scenario", suggestion(name, SHIPPED))
    return _shipped(name)


def shipped_scenarios() -> list[tuple[str, str, str]]:
    """Name, title and about of every shipped scenario."""
    return [(one.name, one.title, one.about) for one in map(_shipped, SHIPPED)]


@lru_cache(maxsize=64)
def _shipped(name: str) -> Scenario:
    return replace(read_scenario(SHIPPED[name], f"{name}{SUFFIX}"), name=name)


def _unreadable(file: str, text: str, hint: str | None) -> ScenarioErrors:
    return ScenarioErrors([ScenarioError(file, None, None, "(file)", text, hint)])


def _part(shape: Table, content: Any, called: str, fixtures: Fixtures | None) -> Any:
    return Notes(called, fixtures).read_whole(shape, tree_of(content, called))


def _read(tree: Node, file: str, name: str, library: Library, chain: tuple[str, ...]) -> Scenario:
    if tree.value is None:
        tree = Node({}, "", line=tree.line, column=tree.column)
    notes = Notes(file)
    parent = _parent(tree, notes, name, library, chain)
    bank, fixtures = _people(tree, notes, parent)
    try:
        rows = notes.read(TOP, tree)
    except AlreadyReported:
        rows = {}
    if "steps" in tree.rows:
        _check_steps(tree, notes, parent)
    check_names(rows.get("steps", ()), notes)
    notes.finish()
    assert fixtures is not None
    clock = rows.get("clock", {})
    settings = rows.get("settings", {})
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


def _check_steps(tree: Node, notes: Notes, parent: Scenario) -> None:
    """Where the file's own people have faults, their names are known all the same."""
    if notes.fixtures is None and parent is not BLANK:
        notes.fixtures = parent.fixtures
        for rows in tree.rows["bank"].value.rows.values() if "bank" in tree.rows else ():
            notes.added |= rows.value.rows.keys()
    check_steps(tree.rows["steps"].value.items, notes)


def _parent(tree: Node, notes: Notes, name: str, library: Library, chain: tuple[str, ...]) -> Scenario:
    """The inherited scenario, or a blank one."""
    extends = tree.rows.get("extends")
    place = extends.value if extends else tree
    parent = place.value if extends else ROOT
    if parent is None or not isinstance(parent, str):
        return BLANK  # a value that is no text is noted with the rest
    chain = (*chain, name)
    if parent in chain:
        notes.add(place, f"it extends itself: {' -> '.join((*chain, parent))}", "extends: null inherits nothing")
        return BLANK
    if parent not in library:
        notes.add(place, f"there is no scenario {quote(parent)}", suggestion(parent, library))
        return BLANK
    try:
        if library is SHIPPED and parent == ROOT:
            return _shipped(ROOT)  # read once
        file = f"{parent}{SUFFIX}"
        return _read(read_shipped(library[parent], file), file, parent, library, chain)
    except ScenarioErrors as faults:
        notes.errors.extend(faults.errors)
        return BLANK


def _people(tree: Node, notes: Notes, parent: Scenario) -> tuple[People, Fixtures | None]:
    """The people; None when they have errors, so that references to them are not checked."""
    bank, fixtures = parent.bank, parent.fixtures
    if "bank" in tree.rows:
        try:
            bank, fixtures = read_bank(tree.rows["bank"].value, notes, parent.bank)
        except AlreadyReported:
            return parent.bank, None
    notes.fixtures = None if notes.errors else fixtures
    return bank, fixtures


def _add_titles(rows: tuple[Any, ...], name: str, called: str) -> tuple[Any, ...]:
    """Gives each rule a title, for explain and the journal."""
    return tuple(row if row.title else replace(row, title=f"{name}, {called} {at}") for at, row in enumerate(rows, 1))


def schema() -> dict[str, Any]:
    """Renders JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of the bank sandbox",
        "type": ["object", "null"],
        "$defs": {"step": step_schema()},
        **{key: value for key, value in TOP.schema().items() if key != "type"},
    }
