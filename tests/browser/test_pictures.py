"""The pictures of the README: there, light, and told to those who do not see them."""

import re
from pathlib import Path

import pytest

from tests.browser.pictures import BYTES_MAX, FOLDER

ROOT = Path(__file__).parents[2]
MARKDOWN = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)]+)\)")
HTML = re.compile(r'<img src="(?P<path>[^"]+)"[^>]* alt="(?P<alt>[^"]*)"')
SHOWN = [match for shape in (MARKDOWN, HTML) for match in shape.finditer((ROOT / "README.md").read_text())]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown["path"])
def test_a_picture_of_the_readme_is_there_and_says_what_it_shows(shown: re.Match[str]) -> None:
    content = (ROOT / shown["path"]).read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) < BYTES_MAX
    assert len(shown["alt"]) > 40


def test_the_readme_shows_all_that_are_drawn() -> None:
    assert {match["path"] for match in SHOWN} == {f"docs/{path.name}" for path in (ROOT / FOLDER).glob("*.png")}
