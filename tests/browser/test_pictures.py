"""The pictures of the README and the documentation: there, light, and told to those who do not see them."""

import re
from pathlib import Path

import pytest

from tests.browser.pictures import BYTES_MAX, FOLDER

ROOT = Path(__file__).parents[2]
MARKDOWN = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)]+)\)")
HTML = re.compile(r'<img src="(?P<path>[^"]+)"[^>]* alt="(?P<alt>[^"]*)"')
PAGES = (ROOT / "README.md", *sorted((ROOT / FOLDER).glob("*.md")))
SHOWN = [
    (page.parent / match["path"], match["alt"])
    for page in PAGES
    for shape in (MARKDOWN, HTML)
    for match in shape.finditer(page.read_text())
]


@pytest.mark.parametrize("path, alt", SHOWN, ids=lambda part: part.name if isinstance(part, Path) else "")
def test_a_picture_is_there_and_says_what_it_shows(path: Path, alt: str) -> None:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) < BYTES_MAX
    assert len(alt) > 40


def test_all_that_are_drawn_are_shown() -> None:
    assert {path for path, _ in SHOWN} == set((ROOT / FOLDER).glob("*.png"))
