"""What keeps the pages of consents, standing orders and files safe, as those of payments are."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.banking.durations import read_instant
from sandbox.bulkfiles.samples import fill_sample
from sandbox.worlds.registry import WorldRegistry
from tests.psu.psu import PROOF, Psu, consent_address, file_address, file_id, order_address, row
from tests.tpp import Tpp, version

ALICE, CURRENT = "BE16539100001774", "BE63539100004808"
SCRIPT = "<script>alert('x\")</script>{{7*7}}"
# A link back to the TPP loads nothing.
OUTSIDE = re.compile(r'(?<!<a class="primary" )(?:src|href|action)="(?!/psu/|\?lang=|#main")')
RUNS = re.compile(r'<script(?! src="/psu/static/countdown.js" defer></script>)|<style|style=|\son[a-z]+=|javascript:')


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def demand_escaped(*pages: TestResponse) -> None:
    for page in pages:
        assert "<script>" not in page.text
    assert any("&lt;script&gt;alert(&#39;x&#34;)&lt;/script&gt;{{7*7}}" in page.text for page in pages)


@pytest.mark.parametrize("field", ["creditor_name", "remittance_information_unstructured"])
def test_whatever_a_tpp_puts_in_a_standing_order_stands_there_as_text(field: str, tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, **{field: SCRIPT})
    pages = [psu.log_in(f"{address}?state={SCRIPT}", "alice"), psu.pick(address, f"{ALICE} EUR")]
    demand_escaped(*pages, psu.open(f"{address}/code"))


def test_whatever_a_tpp_puts_in_a_csv_file_stands_there_as_text(tpp: Tpp, psu: Psu) -> None:
    name = '"' + SCRIPT.replace('"', '""') + '"'
    address = file_address(tpp, file_id(tpp, row(CURRENT, "2027-03-02", name, "1.00", "A-1")))
    demand_escaped(psu.log_in(address, "bakkerij"), psu.open(f"{address}/code"))


@pytest.mark.parametrize(("value", "is_shown"), [("A-WAGES", True), ("Annelies Dewaele", False)])
def test_a_batch_of_pain_001_with_markup_is_refused_and_shown_as_text(
    value: str, is_shown: bool, tpp: Tpp, psu: Psu
) -> None:
    hostile = SCRIPT.replace("<", "&lt;").encode()
    content = fill_sample("three-bulks.pain.001.001.03.xml", read_instant("2027-03-01T09:00:00+01:00").date())
    content = content.replace(f">{value}<".encode(), b">" + hostile + b"<")
    sent = {"accept": version(2), "content_type": "application/xml"}
    found = tpp.call("POST", "/bulk-payments/pain.001", data=content, **sent).get_json()["payment_file_id"]
    tpp.advance("120s")
    reply = tpp.call("GET", f"/bulk-payments/pain.001/{found}/status", accept=version(2)).get_json()
    refused = [batch for batch in reply["bulks"] if batch["status"] == "RJCT"]
    assert len(refused) == 1 and "SEPA set" in str(refused)
    address = reply["_links"]["sca_redirect"]["href"].removeprefix("http://localhost")
    page = psu.log_in(address, "bakkerij")
    assert page.status_code == 200 and "<script>" not in page.text
    assert is_shown == ("alert(" in page.text)
    if is_shown:
        demand_escaped(page)


def test_the_names_of_tpps_and_customers_are_escaped(worlds: WorldRegistry, tpp: Tpp, psu: Psu) -> None:
    bank = worlds.get("default").bank
    bank.clients["demo-tpp"] = replace(bank.clients["demo-tpp"], name=SCRIPT)
    bank.customers["alice"] = replace(bank.customers["alice"], name=SCRIPT)
    address = consent_address(tpp)
    pages = [psu.open(f"{address}?lang={SCRIPT}&state={SCRIPT}"), psu.log_in(address, "alice")]
    pages += [psu.choose(address, SCRIPT), psu.choose(address, ALICE), psu.open(f"{address}/code")]
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert "<" not in callback
    pages += [psu.open(address), psu.open("/psu/channel"), psu.send("/psu/channel/login", login="alice")]
    pages += [psu.open(path) for path in re.findall(r'href="(/psu/channel/consents/[^"]+)', pages[-1].text)]
    for page in pages:
        demand_escaped(page)


def test_what_a_browser_sends_stands_there_as_text_too(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    pages = [psu.log_in(address, SCRIPT), psu.log_in(address, "alice"), psu.choose(address, SCRIPT)]
    pages += [psu.open(f"/psu/consent/{SCRIPT}"), psu.open(f"/psu/channel/consents/{SCRIPT}")]
    assert not any("<script>" in page.text or "alert(" in page.text for page in pages)


@pytest.mark.parametrize("step", ["login", "accounts", "code", "refuse"])
@pytest.mark.parametrize("proof", ["", "0" * 48, "é"])
def test_a_form_without_the_proof_of_its_session_changes_nothing(
    step: str, proof: str, worlds: WorldRegistry, tpp: Tpp, psu: Psu
) -> None:
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    psu.choose(address, ALICE)
    code = psu.read_code(address)
    reply = psu.send(f"{address}/{step}", proof=proof, login="bram", account=ALICE, code=code)
    assert reply.status_code == 403
    assert not worlds.get("default").bank.consents and psu.open(address).status_code == 200


def test_the_proof_of_another_session_is_refused(app: Flask, tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    own = PROOF.search(psu.open(address).text)
    foreign = Psu(app)
    foreign.open(address)
    assert own and foreign.send(f"{address}/refuse", proof=own[1]).status_code == 403
    assert app.test_client().post(f"{address}/refuse", data={"proof": own[1]}).status_code == 403
    assert psu.refuse(address).status_code == 303


def test_a_form_that_is_too_long_is_not_read(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    assert psu.choose(address, "a" * 50_000).status_code == 413


def pages_of(tpp: Tpp, psu: Psu) -> list[TestResponse]:
    """Every kind of page."""
    address, over = consent_address(tpp), consent_address(tpp)
    seen = [psu.open(address), psu.log_in(address, "alice"), psu.choose(address), psu.choose(address, ALICE)]
    seen += [psu.open(f"{address}/code"), psu.type(address, "1"), psu.type(address, psu.read_code(address))]
    seen += [psu.open(address), psu.open(f"{over}/code"), psu.open("/psu/consent/none")]
    seen += [psu.open("/psu/channel"), psu.send("/psu/channel/login", login="alice")]
    seen += [psu.open(path) for path in re.findall(r'href="(/psu/channel/consents/[^"]+)', seen[-1].text)]
    address = order_address(tpp)
    seen += [psu.log_in(address, "alice"), psu.pick(address, f"{ALICE} EUR")]
    address = file_address(tpp, file_id(tpp, row(CURRENT, "2027-03-02", "Ann", "1.00", "A-1")))
    seen += [psu.log_in(address, "bakkerij"), psu.refuse(address), psu.open(address)]
    return seen


def test_every_page_carries_strict_headers_loads_nothing_from_outside_and_runs_nothing(tpp: Tpp, psu: Psu) -> None:
    seen = pages_of(tpp, psu)
    assert len(seen) == 18
    for page in seen:
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith(
            "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
            "connect-src 'self'; base-uri 'none'; "
        )
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert page.headers["X-Frame-Options"] == "DENY" and page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Cache-Control"] == "no-store"
        assert not OUTSIDE.search(page.text) and not RUNS.search(page.text)


def test_a_consent_form_may_lead_to_the_bank_and_the_callback_only(tpp: Tpp, psu: Psu) -> None:
    page = psu.open(consent_address(tpp, redirect_uri="https://tpp.example/callback"))
    assert page.headers["Content-Security-Policy"].endswith("form-action 'self' https://tpp.example")


def test_the_cookie_of_a_consent_goes_when_the_visit_is_over(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    cookie = psu.open(address).headers["Set-Cookie"]
    for flag in ("HttpOnly", "SameSite=Lax", "Path=/psu;", "Max-Age=3600"):
        assert flag in cookie
    assert "Max-Age=0" in psu.refuse(address).headers["Set-Cookie"]
