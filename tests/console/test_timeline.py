"""The console's timeline: a world's life as one picture, bounded however much it holds (choice 10)."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from flask import Flask

from sandbox.web.console import timeline as timeline_picture
from sandbox.web.console.timeline import SHORTEST, Window, list_ticks
from tests.console.visitor import Visitor
from tests.tpp import SCT, Tpp, payment

PAGE = "/_sandbox/console/timeline"
NINE = datetime(2027, 3, 1, 8, tzinfo=UTC)


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


def shown(visitor: Visitor, query: str = "") -> str:
    page = visitor.open(PAGE + query)
    assert page.status_code == 200
    return unescape(page.text)


def test_calls_customers_changes_and_moves_of_the_clock_are_in_the_picture_and_in_the_table(
    visitor: Visitor, tpp: Tpp
) -> None:
    tpp.signed(tpp.initiate(SCT, payment(creditor_name="Pictured")), "alice")
    tpp.advance("2h")
    page = shown(visitor)
    assert "the clock was moved from 2027-03-01 09:00:00 to 2027-03-01 11:00:00" in page
    assert "ACSP to ACSC" in page and "POST /payments/sepa-credit-transfers: 201" in page
    table = page[page.index("The same as a table") :]
    assert {"call", "customer", "bank", "clock"} <= set(re.findall(r"<td[^>]*>(call|customer|bank|clock)</td>", table))
    assert "Pictured" in page and "<title>ACSC from 2027-03-01 09:0" in page


def test_the_picture_is_as_wide_as_its_place_and_shows_whole_names(visitor: Visitor, tpp: Tpp) -> None:
    name = "Société anonyme des établissements réunis"
    tpp.signed(tpp.initiate(SCT, payment(creditor_name=name)), "alice")
    tpp.advance("2h")
    page = shown(visitor)
    assert f"12.50 EUR {name}</a>" in page.replace("\N{NO-BREAK SPACE}", " ")
    picture = page[page.index('class="axis"') : page.index('class="legend')]
    places = [float(x) for x in re.findall(r' x1?="([\d.]+)%"', picture)]
    assert len(places) > 10 and len(places) == len(re.findall(r" x1?=", picture))
    assert all(0 <= place <= 100 for place in places)


def test_a_stretch_shows_what_lies_in_it_and_nothing_else(visitor: Visitor, tpp: Tpp) -> None:
    tpp.initiated(creditor_name="Early")
    tpp.advance("2h")
    tpp.initiated(creditor_name="Late")
    page = shown(visitor, "?from=2027-03-01T10:30&until=2027-03-01T12:00")
    assert "Late" in page and "EUR Early" not in page and "1 calls, 1 changes of status" in page
    zoomed = re.findall(r'href="/_sandbox(/console/timeline\?[^"]+)" data-way="Zoom in"', page)
    assert zoomed and "from=2027-03-01T09%3A52%3A30" in zoomed[0]


@pytest.mark.parametrize(
    "query",
    [
        "?from=x&until=y",
        "?from=2027-03-01T10:30",
        "?from=2027-03-02&until=2027-03-01",
        "?from=0001-01-01T00:00Z&until=9999-12-31T23:59Z",
        "?from=9999-12-31T23:59Z&until=9999-12-31T23:59Z",
        "?from=<script>&until=" + "9" * 500,
    ],
)
def test_an_odd_stretch_shows_the_whole(query: str, visitor: Visitor, tpp: Tpp) -> None:
    tpp.initiated()
    assert "1 calls, 1 changes of status" in shown(visitor, query)


def test_many_events_are_counted_in_columns_that_lead_into_their_stretch(
    visitor: Visitor, tpp: Tpp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_picture, "DOTS_MAX", 5)
    monkeypatch.setattr(timeline_picture, "BARS_MAX", 2)
    for _ in range(6):
        tpp.initiated()
        tpp.advance("10m")
    page = shown(visitor)
    assert "4 more in this stretch" in page and "more events are left out" in page
    columns = re.findall(r'<a href="(/_sandbox/console/timeline[^"]+)" aria-label="Zoom to 1 events', page)
    assert len(columns) >= 6
    assert "1 calls" in unescape(visitor.open(columns[0]).text)
    monkeypatch.setattr(timeline_picture, "FACTS_MAX", 3)
    assert "Zoom to" in shown(visitor) and "more events are left out" in shown(visitor)


@pytest.mark.parametrize(
    "length", [timedelta(seconds=1), timedelta(hours=5), timedelta(days=40), timedelta(days=90_000)]
)
def test_the_axis_has_a_few_round_times(length: timedelta) -> None:
    found = list(list_ticks(Window(NINE, NINE + length)))
    assert 1 <= len(found) <= timeline_picture.TICKS_MAX + 1
    assert all(NINE <= at <= NINE + length for at, _ in found)


def test_no_zoom_is_shorter_than_a_second() -> None:
    window = Window(NINE, NINE + timedelta(seconds=1)).cut_part(0.25, 0.75)
    assert window.length == SHORTEST
