"""SECURITY.md: every promise names the tests that hold it, and these are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEST = re.compile(r"`([a-z0-9_/]+/test_[a-z0-9_]+\.py|test_[a-z0-9_]+\.py)`")


def promises(text: str) -> list[list[str]]:
    """The cells of each row, without the heads of the tables."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip() not in ("promise", "---")]


def missing_tests(text: str) -> list[str]:
    """Promises without a test, with a test that does not exist, or with more or fewer than three cells."""
    found = []
    for row in promises(text):
        tests = TEST.findall(row[-1])
        if len(row) != 3 or not tests or not all((ROOT / "tests" / test).is_file() for test in tests):
            found.append(row[0])
    return found


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert len(promises(text)) >= 15
    assert missing_tests(text) == []


@pytest.mark.parametrize(
    "row",
    (
        "| a promise | kept somehow | by hand |",
        "| a promise | kept somehow | `pki/test_nothing_of_this_name.py` |",
        "| a promise | `pki/test_lock.py` |",
    ),
)
def test_a_promise_without_a_test_is_noticed(row: str) -> None:
    head = "| promise | how | tests |\n|---|---|---|\n"
    assert missing_tests(f"{head}| kept | so | `pki/test_lock.py` |\n{row}\n") == ["a promise"]
