"""The links to the other languages lead to the same page, with the same query (service 4.0, 5.3)."""

import re
from html import unescape

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.payer import approve, begin
from tests.psu.psu import Psu, address_of, consent_address, title
from tests.tpp import Tpp

LINK = re.compile(r'<a href="([^"]*)" lang="nl" hreflang="nl"')
CHANNEL = "/psu/channel/payments"


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app, "fr")


def dutch(page: TestResponse) -> str:
    """Where the link to Dutch leads, as a browser reads it on that page."""
    found = LINK.search(page.text)
    assert found, page.text
    link = unescape(found[1])
    return f"{page.request.path}{link}" if link.startswith("?") else link


def in_dutch(psu: Psu) -> TestResponse:
    page = psu.open(dutch(psu.page))
    assert page.status_code == 200 and page.headers["Content-Language"] == "nl"
    return page


@pytest.mark.parametrize("kind", ["sign", "consent"])
def test_the_state_stays_on_the_address_and_comes_back_on_the_callback(kind: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp) if kind == "sign" else consent_address(tpp)
    link = dutch(psu.open(f"{address}?response_type=code&state=a%26b%20c%C3%A9"))
    assert link == f"{address}?response_type=code&state=a%26b%20c%C3%A9&lang=nl"
    assert title(in_dutch(psu)) == "Meld u aan"
    assert psu.refuse(address).headers["Location"].endswith("&state=a%26b+c%C3%A9")


def test_a_browser_without_cookies_yet_brings_the_state_too(app: Flask, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    link = dutch(psu.open(f"{address}?state=s-1"))
    other = Psu(app)
    other.open(link)
    assert other.refuse(address).headers["Location"].endswith("&state=s-1")


@pytest.mark.parametrize("query", ["?lang=fr&state=s", "?state=s&lang=fr", "?lang=fr&state=s&lang=fr"])
def test_the_language_that_was_chosen_before_is_replaced(query: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    assert dutch(psu.open(address + query)) == f"{address}?state=s&lang=nl"


def test_what_a_caller_writes_into_the_query_stays_text(tpp: Tpp, psu: Psu) -> None:
    page = psu.open(f'{address_of(tpp)}?state=s&x="><script>alert(1)</script>')
    assert "alert(" not in page.text and "x=%22%3E%3Cscript%3E" in page.text
    assert title(in_dutch(psu)) == "Meld u aan"


def test_the_news_and_the_pages_of_the_lists_stay(tpp: Tpp, psu: Psu) -> None:
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="alice")
    psu.open("/psu/channel?payments=2&news=undone")
    assert dutch(psu.page) == "/psu/channel?payments=2&news=undone&lang=nl"
    assert 'role="status"' in in_dutch(psu).text


def test_after_a_form_that_was_refused_the_link_leads_to_the_page_of_the_form(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(f"{address}?state=s")
    assert psu.send(f"{address}/login").status_code == 422
    assert dutch(psu.page) == f"{address}/login?lang=nl"
    assert title(in_dutch(psu)) == "Meld u aan"


@pytest.mark.parametrize("form", ["method", "biometrics", "refuse"])
def test_after_a_refused_form_of_the_channel_the_link_leads_to_a_page_that_is_there(
    form: str, tpp: Tpp, psu: Psu
) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address, "notaris")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="griet")
    psu.open(f"{CHANNEL}/{begun.id}")
    if form == "method":
        tpp.control("PATCH", "/settings", sca_methods="card_reader")
    if form == "refuse":
        tpp.control("POST", "/psu/refuse", payment_id=begun.id, customer="griet")
    page = psu.send(f"{CHANNEL}/{begun.id}/{form}", method="app")
    assert page.status_code == 422, page.text
    in_dutch(psu)


def test_after_a_refused_cancellation_the_link_leads_to_the_list(tpp: Tpp, psu: Psu) -> None:
    begun = begin(tpp)
    approve(tpp, begun.address, "alice")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="alice")
    page = psu.send(f"{CHANNEL}/{begun.id}/cancel")
    assert page.status_code == 422, page.text
    assert dutch(page) == "/psu/channel?lang=nl"
    in_dutch(psu)
