"""The page that explains, and Swagger UI beside it: whole, and with nothing from outside."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sandbox.contract.decisions import SETTINGS
from sandbox.contract.errors import Error
from sandbox.contract.operations import OPERATIONS
from sandbox.scenarios.faults import WHEN
from sandbox.web.docs.reference_tables import list_control_rows
from tests.tpp import Tpp

CHOICES = range(1, 15)


class Found(HTMLParser):
    """Ids, and what is linked to or loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.scripts += [given] if tag == "script" else []
        assert "style" not in given and not any(name.startswith("on") for name in given)


@pytest.fixture
def page(tpp: Tpp) -> str:
    reply = tpp.http.get("/_sandbox/docs/reference")
    assert reply.status_code == 200 and reply.content_type == "text/html;charset=utf-8"
    assert "'unsafe" not in reply.headers["Content-Security-Policy"]
    return str(reply.text)


def test_each_choice_is_explained_under_its_number(page: str) -> None:
    found = Found(page)
    assert [name for name in found.ids if re.fullmatch(r"choice-[0-9]+", name)] == [f"choice-{at}" for at in CHOICES]
    for number in CHOICES:
        text = page.split(f'id="choice-{number}"')[1].split("</section>")[0]
        assert len(re.sub(r"<[^>]*>", "", text)) > 200, number


def test_each_link_inside_the_page_leads_somewhere(page: str) -> None:
    found = Found(page)
    assert len(set(found.ids)) == len(found.ids)
    assert [link for link in found.links if link.startswith("#") and link[1:] not in found.ids] == []
    named = set(re.findall(r"choice ([0-9]+)", page))
    assert named == {str(number) for number in CHOICES}


def test_the_tables_and_the_controls_are_in_the_page(page: str) -> None:
    for error in Error:
        assert error.value.code in page
    for row in OPERATIONS:
        assert f"<td>{row.name}<td>" in page
    for field in SETTINGS.values():
        assert f"<td>{field.name}<td>" in page
    for control in list_control_rows():
        assert f"<td>{control.path.replace('<', '&lt;').replace('>', '&gt;')}<td>" in page


@pytest.mark.parametrize(
    "path", ["/_sandbox/docs", "/_sandbox/docs/reference", "/_sandbox/docs/try", "/worlds/b/_sandbox/docs/try"]
)
def test_all_that_a_page_loads_is_here(tpp: Tpp, path: str) -> None:
    reply = tpp.http.get(path)
    assert reply.status_code == 200
    found = Found(reply.text)
    assert all(script.get("src") for script in found.scripts)
    for link in found.links:
        assert link.startswith(("http://localhost", "#", "static/", "?", "data:")), link
        if "static/" in link:
            name = link.rpartition("/")[2]
            kept = tpp.http.get(f"{path.partition('/docs')[0]}/docs/static/{name}")
            assert kept.status_code == 200 and len(kept.data) > 200, link
    assert "script-src 'self'; " in reply.headers["Content-Security-Policy"]


def test_no_other_file_is_given(tpp: Tpp) -> None:
    assert tpp.http.get("/_sandbox/docs/static/app.py").status_code == 404


def test_a_page_of_a_world_links_to_that_world(tpp: Tpp) -> None:
    text = tpp.http.get("/worlds/b/_sandbox/docs/reference").text
    assert "http://localhost/worlds/b/_sandbox/openapi.json" in text
    assert 'href="http://localhost/_sandbox' not in text


@pytest.mark.parametrize("name", [*WHEN.fields, "times"])
def test_the_documentation_lists_every_key_that_says_when_a_fault_happens(name: str) -> None:
    recipes = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()
    paragraph = recipes.partition("**a bad Monday.**")[2].partition("\n\n")[0]
    (row,) = (row for row in list_control_rows() if (row.method, row.path) == ("POST", "/faults"))
    assert f"`{name}" in paragraph and f"`{name}`" in row.words
