"""docs/compatibility.md: what a release promised is still there, and every promise names tests that exist."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.released import lost, public_names
from tests.test_security import missing_tests, promises

ROOT = Path(__file__).parents[1]
RELEASED = json.loads((ROOT / "tests/data/released.json").read_text())
HOW = "docs/compatibility.md says how a name is withdrawn; tests/released.py how a release is noted"


@pytest.fixture(scope="module")
def names() -> Any:
    return json.loads(json.dumps(public_names()))


@pytest.mark.parametrize("section", RELEASED)
def test_what_a_release_promised_is_still_there(section: str, names: Any) -> None:
    assert list(lost(RELEASED[section], names[section], section)) == [], HOW


def test_every_section_is_noted(names: Any) -> None:
    assert set(RELEASED) == set(names)


@pytest.mark.parametrize(
    ("released", "now", "found"),
    [
        ({"a": 1}, {}, ["a is gone"]),
        ({"gives": ["status", "reason"]}, {"gives": ["status"]}, [" / gives: reason is gone"]),
        ({"gives": ["status!"]}, {"gives": ["status"]}, [" / gives: status! is gone"]),
        ({"gives": ["status"]}, {"gives": ["status!", "more"]}, []),
        ({"needs": ["amount"]}, {"needs": ["amount", "currency"]}, [" needs currency"]),
        ({"needs": ["amount"]}, {"needs": []}, []),
        ({"default": "off"}, {"default": "on"}, [" / default: off became on"]),
    ],
)
def test_what_is_lost_is_found(released: Any, now: Any, found: list[str]) -> None:
    assert list(lost(released, now)) == found


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "docs/compatibility.md").read_text()
    table = text.partition("## What stays within a major version")[2].partition("\n## ")[0]
    rows = table.replace("| what | promise | tests |", "| promise | how | tests |")
    assert len(promises(rows)) >= 13 and missing_tests(rows) == []
