"""The console's page of settings: by topic, one Save, a reason at each refused value (choice 10, 13)."""

from html import unescape
from html.parser import HTMLParser

import pytest
from flask import Flask

from sandbox.contract.decision_rows import Topic
from sandbox.contract.decisions import SETTINGS
from tests.console.visitor import Visitor
from tests.tpp import Tpp

PAGE = "/_sandbox/console/settings"


class FormReader(HTMLParser):
    """The fields of the settings' form, as a browser would send them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._open = ""
        self.feed(page[page.index('class="settings"') :])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "input" and "name" in given:
            self.found[given["name"]] = given.get("value", "")
        elif tag in ("select", "textarea"):
            self._open = given["name"]
            self.found[self._open] = ""
        elif tag == "option":
            self._takes = "selected" in given

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open and (self.lasttag != "option" or self._takes):
            self.found[self._open] += data


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


def form_of(visitor: Visitor) -> dict[str, str]:
    found = FormReader(visitor.open(PAGE).text).found
    return {name: value for name, value in found.items() if name != "proof"}


def test_each_setting_stands_below_one_topic_with_a_sentence(visitor: Visitor) -> None:
    page = unescape(visitor.open(PAGE).text)
    for row in SETTINGS.values():
        assert page.count(f'id="s-{row.name}"') == 1
        assert row.about in page and row.about.endswith(".")
    assert all(f"{topic.value}</h2>" in page for topic in Topic)
    assert {row.topic for row in SETTINGS.values()} == set(Topic)


def test_one_save_changes_all_that_was_typed_and_nothing_else(visitor: Visitor, tpp: Tpp) -> None:
    form = form_of(visitor)
    tpp.control("PATCH", "/settings", wrong_codes_max=7)  # by another tester, after the page was read
    form |= {"page_size": "20", "settled_status": "ACSP", "referee_waives": "state-missing: none here\r\n"}
    page = visitor.press("settings", **form)
    assert page.status_code == 200 and "<b>Done.</b>" in page.text
    found = tpp.control("GET", "/settings").get_json()["settings"]
    assert (found["page_size"], found["settled_status"], found["wrong_codes_max"]) == (20, "ACSP", 7)
    assert found["referee_waives"] == ["state-missing: none here"]


def test_a_refused_value_is_shown_with_its_reason_and_nothing_is_saved(visitor: Visitor, tpp: Tpp) -> None:
    form = form_of(visitor) | {"page_size": "51", "unsigned_after": "soon", "code_life": "5m", "vendor": "<b>"}
    form["trusted_proxies"] = "nowhere"
    page = visitor.press("settings", **form)
    assert page.status_code == 400 and "Nothing was saved: 4 values are refused" in page.text
    again = FormReader(page.text).found
    assert (again["page_size"], again["unsigned_after"], again["code_life"]) == ("51", "soon", "5m")
    assert again["was:code_life"] == "10m"
    for name in ("page_size", "unsigned_after", "vendor", "trusted_proxies"):
        assert f'id="r-{name}"' in page.text
    assert 'id="r-code_life"' not in page.text and again["vendor"] == "<b>" and 'value="<b>"' not in page.text
    assert tpp.control("GET", "/settings").get_json()["settings"]["code_life"] == "10m"
    mended = {"page_size": "5", "unsigned_after": "5m", "vendor": "service", "trusted_proxies": "10.0.0.0/8"}
    assert visitor.press("settings", **(again | mended)).status_code == 200
    assert tpp.control("GET", "/settings").get_json()["settings"]["code_life"] == "5m"


def test_an_axis_whose_line_is_taken_out_returns_to_its_first_value(visitor: Visitor, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"final_status": "ACSP", "details_amount": "number"})
    form = form_of(visitor)
    assert "final_status: ACSP" in form["variants"]
    visitor.press("settings", **(form | {"variants": "details_amount: number"}))
    assert tpp.control("GET", "/settings").get_json()["settings"]["variants"] == {"details_amount": "number"}
    page = visitor.press("settings", **(form_of(visitor) | {"variants": "detail_amount: number"}))
    assert page.status_code == 400 and "did you mean" in page.text


def test_the_form_of_another_site_changes_nothing(visitor: Visitor, tpp: Tpp) -> None:
    form = form_of(visitor) | {"page_size": "20"}
    refused = visitor.http.post("/_sandbox/console/do/settings", data=form | {"proof": "0" * 64})
    assert refused.status_code == 403
    assert tpp.control("GET", "/settings").get_json()["settings"]["page_size"] == 50
