"""What was read before is what would be read now."""

import hashlib

import pytest

from sandbox.people.fixtures import Fixtures, load_fixtures, read_fixtures
from sandbox.reader.shapes import Notes
from sandbox.reader.tree import ScenarioErrors, read_shipped, read_yaml
from sandbox.scenarios.reading import load, read_scenario
from tests.people.trees import TARGET, texts, write_trees


def test_the_trees_are_those_of_the_texts() -> None:
    assert TARGET.read_bytes() == write_trees(), "a shipped text has changed: `make trees`"


def described(fixtures: Fixtures) -> str:
    return repr([getattr(fixtures, name) for name in Fixtures.__dataclass_fields__])


def test_people_and_scenario_are_the_same_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = texts()["fixtures/default.yaml"]
    tree = read_yaml(text, "default.yaml")
    people = read_fixtures(tree, hashlib.sha256(text.encode()).hexdigest(), Notes("default.yaml"))
    assert described(load_fixtures()) == described(people)
    found = load("default")
    monkeypatch.setattr("sandbox.reader.tree._load_trees", dict)
    again = read_scenario(texts()["default.yaml"], "default")
    assert repr(found) == repr(again) and described(found.fixtures) == described(again.fixtures)


def test_a_text_that_was_changed_is_read_as_it_is() -> None:
    text = texts()["default.yaml"]
    assert read_shipped(text, "x").to_python() == read_yaml(text, "x").to_python()
    changed = read_shipped(text.replace("Test AC01", "Test AC99"), "x")
    assert changed.to_python() != read_yaml(text, "x").to_python()
    for wrong in (f"{text}]", "scenario: \ud800"):
        with pytest.raises(ScenarioErrors, match="^x:"):
            read_shipped(wrong, "x")
