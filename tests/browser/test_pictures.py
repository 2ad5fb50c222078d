"""The pictures of the README and the documentation: there, light, and told to those who do not see them."""

import re
from pathlib import Path

import pytest
from flask import Flask

from tests.browser.pictures import BYTES_MAX, FOLDER, settled
from tests.tpp import Tpp

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
    assert content.startswith(b"<svg " if path.suffix == ".svg" else b"\x89PNG") and len(content) < BYTES_MAX
    assert len(alt) > 40


def test_the_moving_picture_shows_each_status_in_order_and_rests_for_who_wants_no_motion(app: Flask) -> None:
    drawn = settled(Tpp(app)).decode()
    assert re.findall(r'class="s"[^>]*>(\w+)<', drawn) == ["POST", "RCVD", "PATC", "PDNG", "ACSP", "ACSC"]
    assert "prefers-reduced-motion:reduce){.n{animation:none!important}}" in drawn and len(drawn) < 5_000
    assert "<script" not in drawn and "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_all_that_are_drawn_are_shown() -> None:
    assert {path for path, _ in SHOWN} == {*(ROOT / FOLDER).glob("*.png"), *(ROOT / FOLDER).glob("*.svg")}
