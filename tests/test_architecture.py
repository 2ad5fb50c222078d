"""ARCHITECTURE.md is the map: what it says of rooms, files and words is true of the code."""

import ast
import re
from pathlib import Path

import pytest

from tests.house import ROOMS, read_house, room

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
LOOSE_MAX = 6  # modules at the top beside __init__ and __main__
NOT_ON_THE_MAP = {"__init__", "__main__", "web"}


def rows_under(heading: str, text: str = TEXT) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    part = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def rooms_named(text: str = TEXT) -> list[str]:
    return [row[0].strip("`") for row in rows_under("The rooms", text)]


def test_the_map_names_every_room_and_no_other() -> None:
    there = {room(module) for module in read_house(ROOT / "sandbox")} - NOT_ON_THE_MAP
    assert set(rooms_named()) == there
    assert set(rooms_named(TEXT.replace("| `player` |", "| `attic` |"))) != there


def test_the_map_lists_rooms_in_the_direction_of_imports() -> None:
    rank = {name: number for number, row in enumerate(ROOMS) for name in row}
    ranks = [rank[name] for name in rooms_named()]
    assert ranks == sorted(ranks)


def files_named(text: str) -> set[str]:
    """Every file or folder of the product that a table of the map names."""
    return set(re.findall(r"`((?:contract|bank|people|worlds|storage|web|server)/[\w/.]*)`", text))


def test_every_file_that_the_map_names_is_there() -> None:
    named = files_named(TEXT)
    assert len(named) > 20
    missing = {name for name in named if not any((ROOT / "sandbox" / f"{name}{end}").exists() for end in ("", ".py"))}
    assert missing == set()


@pytest.mark.parametrize("heading, most", [("Where a new thing goes", 12), ("Glossary", 30)])
def test_the_tables_stay_short(heading: str, most: int) -> None:
    assert 0 < len(rows_under(heading)) <= most


MOST = {"product": 2, "field": 3, "status": 4, "control": 2, "language": 2, "referee": 1, "timing": 1, "axis": 2}


@pytest.mark.parametrize("word, most", MOST.items())
def test_a_new_thing_touches_few_files(word: str, most: int) -> None:
    (row,) = (row for row in rows_under("Where a new thing goes") if re.match(rf"an? (payment )?{word}", row[0]))
    assert int(row[2]) == most


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    words = [row[0] for row in rows_under("Glossary")]
    assert words == sorted(set(words))


def test_few_modules_lie_loose_at_the_top() -> None:
    loose = {path.stem for path in (ROOT / "sandbox").glob("*.py")} - {"__init__", "__main__"}
    assert len(loose) <= LOOSE_MAX


@pytest.mark.parametrize(
    "package", sorted((ROOT / "sandbox").rglob("__init__.py")), ids=lambda path: str(path.parent.name)
)
def test_every_room_says_what_belongs_there(package: Path) -> None:
    assert ast.get_docstring(ast.parse(package.read_text()))


def status_writers() -> set[str]:
    """Functions of the bank that assign an attribute called status."""
    found = set()
    for path in (ROOT / "sandbox" / "bank").glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                targets = node.targets if isinstance(node, ast.Assign) else []
                if any(isinstance(target, ast.Attribute) and target.attr == "status" for target in targets):
                    found.add(f"{path.stem}.{function.name}")
    return found


def test_one_function_writes_a_status() -> None:
    assert status_writers() == {"state.move"}


# Folders of tests that are no room: chapters of the service, axes, whole programs, and what the tests stand on.
ACROSS = {"spec", "variants", "simulation", "histories", "browser", "deploy", "bench", "examples", "tools"}
SUPPORT = {"data"}


def test_folders_of_tests_are_named_as_the_rooms() -> None:
    rooms = {name.rpartition(".")[2] for name in rooms_named()} | {"plugin"}  # of pytest_plugin
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - rooms == ACROSS | SUPPORT
