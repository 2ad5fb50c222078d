"""What every step shows: who asks, the time left, the focus, a question before a refusal."""

import re
from dataclasses import replace

import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.psu.psu import Psu, address_of, consent_address, title
from tests.tpp import Tpp

ALICE, OFFICE = "BE16539100001774 EUR", "BE06539100006222 EUR"
LEFT = re.compile(r'data-left="(\d+)" data-rate="([0-9.]+)".*?<b>(\d+:\d\d)</b>')
FOCUSED = re.compile(r'<input[^>]* name="([a-z]+)"[^>]* autofocus')


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def test_each_step_names_the_tpp_and_the_time_that_is_left_at_its_address(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    for page in (
        psu.open(address),
        psu.log_in(address, "alice"),
        psu.pick(address, ALICE),
        psu.open(f"{address}/code"),
    ):
        assert "Demandé par Demo TPP" in page.text
        assert LEFT.findall(page.text) == [("300", "0", "5:00")]
    tpp.advance("61s")
    assert LEFT.findall(psu.open(address).text) == [("239", "0", "3:59")]
    assert LEFT.findall(psu.open(consent_address(tpp)).text) == [("900", "0", "15:00")]


def test_a_running_clock_tells_the_page_how_fast_it_runs(tpp: Tpp, psu: Psu) -> None:
    tpp.control("POST", "/clock", mode="running", rate=60)
    assert [rate for _, rate, _ in LEFT.findall(psu.open(address_of(tpp)).text)] == ["60"]


def test_the_first_field_has_the_focus_also_after_an_error(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    pages = [psu.open(address), psu.send(f"{address}/login"), psu.log_in(address, "alice"), psu.pick(address, "x")]
    psu.pick(address, ALICE)
    pages += [psu.open(f"{address}/code"), psu.type(address, "1")]
    named = ["login", "login", "account", "account", "code", "code"]
    assert [FOCUSED.findall(page.text) for page in pages] == [[name] for name in named]
    consent = consent_address(tpp)
    assert FOCUSED.findall(psu.log_in(consent, "alice").text) == ["account"]


def test_a_form_that_was_not_taken_keeps_what_was_typed(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(address, "alice")
    psu.pick(address, ALICE)
    psu.open(f"{address}/code")
    page = psu.type(address, '12 "<')
    assert page.status_code == 422 and 'value="12 &quot;&lt;"' in page.text
    consent, iban = consent_address(tpp), ALICE.split()[0]
    blocked = psu.log_in(consent, "blocked")
    assert blocked.status_code == 422 and re.search(r'value="blocked"[^>]* checked=""', blocked.text)
    psu.log_in(consent, "alice")
    assert psu.open(f"{consent}/accounts").text.count(" checked") == 0
    accounts = psu.choose(consent, iban, "nonsense")
    assert accounts.status_code == 422 and f'value="{iban}" autofocus checked=""' in accounts.text
    assert accounts.text.count(" checked") == 1


def test_what_is_read_before_a_further_signature_is_not_scrolled_away(tpp: Tpp, psu: Psu) -> None:
    psu.sign(address_of(tpp, language="nl"), "notaris", OFFICE)
    psu.open("/psu/channel")
    found = re.search(r'href="(/psu/channel/payments/[^"]+)"', psu.send("/psu/channel/login", login="griet").text)
    assert found
    page = psu.open(found[1])
    assert FOCUSED.findall(page.text) == [] and "Demo TPP" in page.text and "data-left" not in page.text
    assert FOCUSED.findall(psu.send(found[1], code="1").text) == ["code"]


def test_a_refusal_is_asked_about_before_its_form(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language="nl")
    text = psu.open(address).text
    question = text[text.index("<details") : text.index("</details>")]
    assert "Wilt u echt weigeren?" in question and f'action="{address}/refuse"' in question
    assert text.count(f"{address}/refuse") == 1
    page = psu.open(f"{address}/refuse")
    assert (page.status_code, title(page)) == (200, "Wilt u echt weigeren?")
    assert tpp.listed("payments")[0]["status"] == "PATC"
    assert psu.refuse(address).status_code == 303
    assert psu.open(f"{address}/refuse").status_code == 409


def test_each_end_leads_on(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language="nl", callback="http://localhost:9000/cb?a=1&b=2")
    assert ' class="primary" href="/psu/channel"' in psu.open("/psu/nowhere").text
    assert f' class="primary" href="{address}"' in psu.send(f"{address}/login", proof="wrong").text
    tpp.advance("5m")
    assert (
        ' class="primary" href="http://localhost:9000/cb?a=1&amp;b=2">Terug naar Demo TPP</a>' in psu.open(address).text
    )


def test_an_address_that_is_no_web_page_is_no_link(worlds: WorldRegistry, tpp: Tpp, psu: Psu) -> None:
    bank = worlds.get("default").bank
    bank.clients["demo-tpp"] = replace(bank.clients["demo-tpp"], redirect_uris=("javascript:alert(1)",))
    address = address_of(tpp, callback="javascript:alert(1)")
    tpp.advance("5m")
    assert "javascript" not in psu.open(address).text and ' class="primary" href="/psu/channel"' in psu.page.text
