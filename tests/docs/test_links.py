"""Every link of the documentation leads somewhere: served, written as files, and in the repository."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.server_address import URL
from sandbox.web.docs import site
from tests.docs.test_pages import Found
from tests.tpp import Tpp

ROOT = Path(__file__).parents[2]
HERE = "http://localhost"
IN_MARKDOWN = re.compile(r"\]\(([^)\s]+)\)")
Page = Callable[[str], Found | bytes | None]  # the page at an address, other content, or nothing


def dead_links(first: Iterable[str], read: Page, is_ours: Callable[[str], bool]) -> list[str]:
    """Follows every link from the first pages on; gives those that lead nowhere, and the anchors that are missing."""
    pages: dict[str, Found | bytes | None] = {}
    links, waiting = set[tuple[str, str, str]](), list(first)
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        page = pages[address] = read(address)
        if not isinstance(page, Found):
            continue
        for link in page.links:
            target, anchor = urldefrag(urljoin(address, link))
            if is_ours(target):
                links.add((address, target, anchor))
                waiting.append(target)
    return [
        f"{page}: {target}#{anchor}"
        for page, target, anchor in sorted(links)
        if pages[target] is None or (anchor and anchor not in getattr(pages[target], "ids", ()))
    ]


def served(tpp: Tpp, address: str) -> Found | bytes | None:
    parts = urlsplit(address)
    reply = tpp.http.get(f"{parts.path}?{parts.query}", headers={"Accept": "text/html, */*"})
    if reply.status_code != 200:
        return None
    is_page = reply.mimetype == "text/html" and "/_sandbox/docs" in parts.path
    return Found(reply.text) if is_page else reply.data


def written(address: str) -> Found | bytes | None:
    file = Path(unquote(urlsplit(address).path))
    if not file.is_file():
        return None
    return Found(file.read_text()) if file.suffix == ".html" else file.read_bytes()


@pytest.mark.parametrize("world", ["", "/worlds/b"])
def test_every_link_of_the_served_pages_leads_somewhere(tpp: Tpp, world: str) -> None:
    first = [
        f"{HERE}{world}/_sandbox/docs{page}"
        for page in ("", "/reference", "/try", *(f"/{slug}" for slug in site.SLUGS))
    ]
    assert dead_links(first, lambda address: served(tpp, address), lambda link: link.startswith(f"{HERE}/")) == []


def test_every_link_of_the_written_pages_leads_somewhere(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["docs", "--output", str(tmp_path)]).exit_code == 0
    first = [page.as_uri() for page in tmp_path.glob("*.html")]
    assert len(first) == len(site.SLUGS) + 3
    assert dead_links(first, written, lambda link: link.startswith("file:")) == []


def test_every_link_of_the_texts_leads_to_a_file_of_the_repository() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*/*.md")]
    texts.append(ROOT / "sandbox/extensions/shop/README.md")
    made = {f"{slug}.md" for slug in site.SLUGS}  # of the tables
    for text in texts:
        for link in IN_MARKDOWN.findall(re.sub(r"```.*?```|`[^`]*`", "", text.read_text(), flags=re.DOTALL)):
            if not link.startswith(("http:", "https:", "#")):
                path = link.partition("#")[0]
                assert (text.parent / path).exists() or path in made, f"{text.name}: {link}"


def test_a_link_that_leads_nowhere_and_a_missing_anchor_are_found() -> None:
    pages: dict[str, Found | bytes | None] = {
        "http://x/1": Found('<a href="2">a</a> <a href="3">b</a> <a href="#no">c</a> <a href="2#yes">d</a>'),
        "http://x/2": Found('<p id="yes"><a href="1#yes">e</a></p>'),
    }
    assert dead_links(["http://x/1"], pages.get, lambda link: True) == [
        "http://x/1: http://x/1#no",
        "http://x/1: http://x/3#",
        "http://x/2: http://x/1#yes",
    ]


def test_a_file_of_the_repository_is_no_link_in_the_documentation() -> None:
    text = site.draw_page("servers", "", ".html", URL, "")
    assert f'<span title="{site.IN_REPOSITORY}">SECURITY.md</span>' in text
