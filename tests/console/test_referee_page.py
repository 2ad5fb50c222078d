"""The referee on the console: each finding with the exchange behind it, and what was never met (choice 10)."""

import re
from html import unescape

import pytest
from flask import Flask

from sandbox.extensions.referee.report import SHOWN
from tests.console.visitor import Visitor
from tests.tpp import SCT, Tpp

PAGE = "/_sandbox/console/referee"
NO_ID = {"request_id": "no-uuid"}


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


def seen(visitor: Visitor, page: str = PAGE) -> str:
    return unescape(visitor.open(page).text)


def test_a_finding_leads_to_the_call_behind_it(tpp: Tpp, visitor: Visitor) -> None:
    tpp.status("x")
    tpp.status("x", **NO_ID)
    text = seen(visitor)
    finding = text[text.index('<article class="panel finding f-error">') : text.index("</article>")]
    for words in (
        "Request-ID is missing, or no version 4 UUID",
        "it is not a version 4 UUID",
        "Send a random UUID (version 4) with every call.",
        "request-id-wrong</span>, service 4.0",
        f"/payments/{SCT}/x/status",
        '<span class="badge t-wait">400</span> <b>GET</b>',
        "2027-03-01 09:00:00",
    ):
        assert words in finding
    led = re.search(r'href="(/_sandbox/console/calls/\d+)"', finding)
    assert led is not None and led[1].endswith("/2")
    call = seen(visitor, led[1])
    assert "What the referee says" in call and "it is not a version 4 UUID" in call and "no-uuid" in call
    assert "What the referee says" not in seen(visitor, "/_sandbox/console/calls/1")


def test_the_menu_counts_them_and_the_page_is_fresh(tpp: Tpp, visitor: Visitor) -> None:
    assert re.search(r'id="number-referee" data-live></span>', seen(visitor, "/_sandbox/"))
    before = visitor.open("/_sandbox/console/live").get_json()["mark"]
    tpp.status("x", **NO_ID)
    assert visitor.open("/_sandbox/console/live").get_json()["mark"] != before
    assert re.search(r'id="number-referee" data-live>1<', seen(visitor, "/_sandbox/"))
    assert "<b>1</b> error<" in seen(visitor)


def test_the_gravest_come_first_and_many_of_one_rule_are_folded(tpp: Tpp, visitor: Visitor) -> None:
    for number in range(SHOWN + 2):
        tpp.initiated(endtoend_identification=f"INVOICE-{number}")
    tpp.initiate(code_challenge_method="plain")
    text = seen(visitor)
    assert re.findall(r'<article class="panel finding f-(\w+)">', text) == ["error", "warning"]
    assert text.count('class="badge t-good"') == SHOWN + 1 and "and 2 more: " in text
    whole = seen(visitor, f"{PAGE}?rule=pkce-challenge-reused")
    assert whole.count('class="badge t-good"') == SHOWN + 2 and 'f-warning">' not in whole.partition("<article")[2]
    assert "Referee" in seen(visitor, f"{PAGE}?rule=<no>")


def test_a_finding_is_waved_off_with_its_reason_and_counts_again(tpp: Tpp, visitor: Visitor) -> None:
    tpp.status("x", **NO_ID)
    visitor.open(PAGE)
    waived = visitor.press(
        "waive", waives="", rule="request-id-wrong", reason="<b>an old app</b>", back="/console/referee"
    )
    assert "Accepted" in waived.text and "&lt;b&gt;an old app&lt;/b&gt;" in waived.text
    assert re.search(r'id="number-referee" data-live></span>', waived.text) and "<b>0</b> errors" in waived.text
    assert tpp.control("GET", "/referee").get_json()["waved_off"] == 1
    waives = "request-id-wrong: <b>an old app</b>"
    again = visitor.press("unwaive", waives=waives, rule="request-id-wrong", back="/console/referee")
    assert "<b>1</b> error<" in again.text
    assert tpp.control("GET", "/settings").get_json()["settings"]["referee_waives"] == []


def test_an_address_that_a_tester_opens_from_the_console_is_no_fault_of_the_client(
    tpp: Tpp, visitor: Visitor, app: Flask
) -> None:
    tpp.initiated()
    (opened,) = re.findall(r'<a class="button" href="([^"]+)"', visitor.open("/_sandbox/console/inbox").text)
    assert app.test_client().get(unescape(opened)).status_code == 200
    assert tpp.control("GET", "/referee").get_json()["findings"] == []
    app.test_client().get(opened.partition("?")[0])
    assert [row["rule"] for row in tpp.control("GET", "/referee").get_json()["findings"]] == ["state-missing"]


def test_the_coverage_says_how_much_and_what_next(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiated()
    told = tpp.control("GET", "/coverage").get_json()
    text = seen(visitor)
    assert f"<b>{told['percent']}\u00a0%</b>" in text
    assert text.count('<tr><th scope="row">') == len(told["table"]) == 6
    wanted = re.findall(r'<li><span class="quiet">(.*?)</span> <span class="mono">(.*?)</span>', text)
    assert [" ".join(pair) for pair in wanted] == told["most_useful_not_met"] and len(wanted) == 10
    assert "401 SCA_REQUIRED B14800ZZ-0PLC-REDRCT" in text


def test_a_referee_that_is_off_says_so_and_is_switched_on(tpp: Tpp, visitor: Visitor) -> None:
    tpp.control("PATCH", "/settings", referee="off")
    tpp.status("x", **NO_ID)
    assert "The referee is off" in seen(visitor) and "no fault" not in seen(visitor).lower()
    visitor.press("settings", referee="on", back="/console/referee")
    assert "The referee is off" not in visitor.page.text


@pytest.mark.parametrize("path", ["/referee", "/coverage", "/referee?format=html"])
def test_each_has_its_equal_line_or_page(path: str, tpp: Tpp, visitor: Visitor) -> None:
    text = seen(visitor)
    assert f"/_sandbox{path}" in text
    page = tpp.http.get(f"/_sandbox{path}")
    assert page.status_code == 200 and ("<!doctype html>" in page.text) is ("html" in path)
