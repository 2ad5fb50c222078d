"""A form that was refused, with what was typed in it."""

from typing import Any

import pytest
from lxml import html
from werkzeug.datastructures import MultiDict

from sandbox.web.html.filled import fill_form

FIELDS = """
<input type="hidden" name="proof" value="new"><input type="hidden" name="id" value="1">
<input name="name" value="as it was"><input type="password" name="key"><input name="left_out" value="stays">
<textarea name="text">as it was</textarea>
<select name="word"><option value="">none</option><option selected value="b&amp;c">b</option><option>d</option></select>
<input type="checkbox" name="box" value="1" checked><input type="checkbox" name="boxes" value="x">
<input type="radio" name="one" value="1" checked><input type="radio" name="one" value="2">
<button name="way" value="up">Go</button>
"""
TOP = '<p>é &lt; <svg viewBox="0 0 1 1"/></p>'
PAGE = f'{TOP}<details class="a"><summary>More</summary><form action="/do/it%20now">{FIELDS}</form></details>'
TYPED = {
    "proof": "old", "id": "1", "name": '"é<&', "key": "secret", "text": "a\n</textarea>\u2028", "word": "d",
    "boxes": "x", "one": "2", "way": "down",
}  # fmt: skip


def filled(page: str = PAGE, address: str = "/do/it now", **changes: str) -> str:
    return fill_form(page, address, MultiDict(TYPED | changes))


def document_of(page: str) -> Any:
    return html.fromstring(page)


def test_every_field_has_what_was_typed() -> None:
    (form,) = document_of(filled()).forms
    found = dict(form.fields)
    assert (found["name"], found["text"], found["word"], found["one"]) == ('"é<&', "a\n</textarea>\u2028", "d", "2")
    assert [one.checked for one in form.xpath(".//input[@type='checkbox']")] == [False, True]


def test_what_is_hidden_secret_or_was_not_sent_stays() -> None:
    found = dict(document_of(filled()).forms[0].fields)
    assert (found["proof"], found["id"], found["left_out"], found["key"]) == ("new", "1", "stays", None)
    assert '<button name="way" value="up">' in filled()


def test_the_form_is_unfolded_and_the_rest_of_the_page_stays() -> None:
    page = filled()
    assert '<details class="a" open="">' in page and page.startswith(TOP)


@pytest.mark.parametrize("changes", [{"address": "/do/it"}, {"id": "2"}, {"address": ""}])
def test_a_form_that_leads_elsewhere_or_is_about_something_else_stays(changes: dict[str, str]) -> None:
    assert filled(**changes) == PAGE


def test_a_form_with_two_buttons_is_found_by_either() -> None:
    page = '<form action="/yes"><input name="name"><button formaction="/no">No</button></form>'
    assert 'value="typed"' in filled(page, "/no", name="typed") and 'value="typed"' in filled(
        page, "/yes", name="typed"
    )


@pytest.mark.parametrize("page", ["", "<form", "<form action='/do/it now'><input name=name", "</form></details>\x0b"])
def test_a_page_that_is_cut_off_stays(page: str) -> None:
    assert filled(page) == page
