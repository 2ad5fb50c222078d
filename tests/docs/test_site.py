"""The documentation: every page served and written, searched, linked, and guarded by a form (choice 10)."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox.app import assemble
from sandbox.cli import main
from sandbox.commands.docs import write_commands_page
from sandbox.contract.errors import Error
from sandbox.server_address import URL
from sandbox.web.controls.lock import Lock
from sandbox.web.docs import reference_tables, site
from sandbox.web.docs.site import render_html
from sandbox.worlds.registry import WorldRegistry
from tests.docs.test_pages import CHOICES, Found
from tests.tpp import Tpp

KEY = "open sesame, please"
PAGE_BYTES_MAX = 150_000


@pytest.mark.parametrize("slug", site.SLUGS)
def test_every_page_is_served_whole(tpp: Tpp, slug: str) -> None:
    reply = tpp.http.get(f"/worlds/b/_sandbox/docs/{slug}")
    assert reply.status_code == 200 and reply.text.count("<h1") == 1
    found = Found(reply.text)
    assert len(set(found.ids)) == len(found.ids)
    assert URL not in reply.text  # it shows the server's own


def test_every_text_is_in_the_tree_and_no_page_is_unknown(tpp: Tpp) -> None:
    texts = {file.stem for file in (Path(__file__).parents[2] / "docs").glob("*.md")}
    assert texts | {"commands"} | set(reference_tables.PAGES) | set(site.SOURCES) == set(site.SLUGS)
    assert tpp.http.get("/_sandbox/docs/nowhere").status_code == 404
    assert tpp.http.get("/_sandbox/docs/__init__").status_code == 404


def test_the_first_page_offers_tasks_a_search_three_steps_and_the_reference(tpp: Tpp) -> None:
    text = tpp.http.get("/worlds/b/_sandbox/docs").text
    assert "<h1>What do you want to do?</h1>" in text and text.count('type="search"') == 1
    assert [row.slug for row in site.DOCUMENTS if row.task and f'/{row.slug}"><b>{row.task}</b>' not in text] == []
    assert text.partition('class="steps"')[2].partition("</ol>")[0].count("<li>") == 3
    assert 'href="http://localhost/worlds/b/_sandbox/docs/reference"' in text


def test_each_page_leads_to_the_one_before_and_the_one_after() -> None:
    pages = [site.draw_page(slug, "", ".html", URL, "") for slug in site.SLUGS]
    for text, before, after in zip(pages, ("", *site.SLUGS), (*site.SLUGS[1:], ""), strict=False):
        assert re.findall(r'rel="prev" href="([^"]*)\.html"', text) == [before] * bool(before)
        assert re.findall(r'rel="next" href="([^"]*)\.html"', text) == [after] * bool(after)


def test_a_heading_is_a_link_to_itself_and_the_title_is_none() -> None:
    made = render_html("# A\n\n## The `b` & c\n\n## [d](e.md)\n", str)
    assert '<h2 id="the-b--c"><a class="anchor" href="#the-b--c">The <code>b</code> &amp; c</a></h2>' in made
    assert "<h1" in made and made.count('class="anchor"') == 1


@pytest.mark.parametrize("path", ["/", "/recipes/", "/try/?controls", "/reference/"])
def test_a_slash_at_the_end_leads_to_the_page(tpp: Tpp, path: str) -> None:
    reply = tpp.http.get(f"/worlds/b/_sandbox/docs{path}")
    expected = f"http://localhost/worlds/b/_sandbox/docs{path.replace('/?', '?').rstrip('/')}"
    assert (reply.status_code, reply.headers["Location"]) == (303, expected)


@pytest.mark.parametrize("path", ["/recipe", "/a/b", "/<b>", "/recipes/x"])
def test_a_browser_that_finds_no_page_gets_a_search(tpp: Tpp, path: str) -> None:
    reply = tpp.http.get(f"/_sandbox/docs{path}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert reply.status_code == 404 and 'type="search"' in reply.text and "/<b>" not in reply.text
    assert ("Test a situation</a>?" in reply.text) == path.startswith("/recipe")
    assert tpp.http.get(f"/_sandbox/docs{path}").get_json()["error"] == "NOT_FOUND"


def test_the_generated_pages_hold_every_row(tpp: Tpp) -> None:
    errors = site.read_text("errors")
    assert all(f"`{error.value.code}`" in errors for error in Error)
    page = write_commands_page(main)
    assert all(f"## bank-sandbox {word}\n" in page for word in ("pay", "clock advance", "serve", "scenario run"))


def test_the_search_knows_every_page_and_every_choice(tpp: Tpp) -> None:
    script = tpp.http.get("/_sandbox/docs/static/search-index.js").text
    rows = json.loads(script.removeprefix("window.SEARCH_INDEX = ").rstrip(";\n"))
    assert [slug for slug, anchor, _, _ in rows if not anchor] == list(site.SLUGS)
    assert [slug for slug, _, _, text in rows if "61m" in text and "TIME_OUT" in text]
    choices = {f"{slug}#{anchor}": (title, text) for slug, anchor, title, text in rows if anchor}
    assert list(choices) == [f"reference#choice-{number}" for number in CHOICES]
    title, text = choices["reference#choice-3"]
    assert title == "Choice 3: Versions" and "names versions for some operations" in text and "<" not in text


def test_html_in_a_text_stays_text_and_blocks_of_several_languages_are_tabs() -> None:
    made = render_html("# A\n\n<script>x</script>\n\n```sh\na\n```\n\n```python\n<b>\n```\n\ntext\n", str)
    assert "<script>" not in made and "&lt;b&gt;" in made and made.count("<label") == 2 and made.count(" checked>") == 1


def test_the_site_is_written_as_files_that_need_no_server(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["docs", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {file.stem for file in tmp_path.glob("*.html")} == {"index", "404", "reference", *site.SLUGS}


def test_no_page_weighs_more_than_150_kb_with_its_styles_and_scripts(tpp: Tpp) -> None:
    """Without pictures, which have a bound of their own, and Swagger UI."""
    shared = len(tpp.http.get("/_sandbox/docs/static/site.js").data)
    pages = {name: len(tpp.http.get(f"/_sandbox/docs/{name}").data) for name in (*site.SLUGS, "reference")}
    assert {name: size for name, size in pages.items() if size + shared > PAGE_BYTES_MAX} == {}


@pytest.mark.parametrize("path", ["/docs", "/docs/reference", "/docs/try", "/docs/recipes"])
def test_a_browser_is_asked_for_the_key_by_a_form_and_led_back(worlds: WorldRegistry, path: str) -> None:
    http = assemble(worlds, lock=Lock(KEY)).test_client()
    assert http.get(f"/_sandbox{path}").status_code == 401
    asked = http.get(f"/_sandbox{path}?a=1", headers={"Accept": "text/html"}, follow_redirects=True)
    assert asked.status_code == 401 and 'type="password"' in asked.text
    fields = {name: unescape(value) for name, value in re.findall(r'name="(proof|back)" value="([^"]*)"', asked.text)}
    done = http.post("/_sandbox/console/key", data=fields | {"key": KEY}, follow_redirects=True)
    assert done.status_code == 200 and done.request.path == f"/_sandbox{path}"
    assert http.post("/_sandbox/console/key", data=fields | {"key": "x"}).status_code == 401


def test_the_try_page_needs_no_secure_context(tpp: Tpp) -> None:
    script = tpp.http.get("/_sandbox/docs/static/try.js").text
    assert "randomUUID(" not in script and "getRandomValues" in script
