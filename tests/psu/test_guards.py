"""What keeps the pages safe: forms of our own only, everything escaped, nothing from outside."""

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.psu.psu import PROOF, Psu, address_of
from tests.tpp import CALLBACK, SCT, XB, Tpp

ALICE, BRAM = "BE16539100001774 EUR", "BE56539100003188 USD"
SCRIPT = "<script>alert('x\")</script>{{7*7}}"
RUNS = re.compile(r'<script(?! src="/psu/static/countdown.js" defer></script>)|<style|style=|\son[a-z]+=|javascript:')
# A link back to the TPP loads nothing.
OUTSIDE = re.compile(r'(?<!<a class="primary" )(?:src|href|action)="(?!/psu/|\?lang=|#main")')


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


@pytest.mark.parametrize("step", ["login", "account", "code", "refuse"])
@pytest.mark.parametrize("proof", ["", "0" * 48, "é"])
def test_a_form_without_the_proof_of_its_session_changes_nothing(step: str, proof: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(address, "alice")
    assert psu.send(f"{address}/{step}", proof=proof, login="bram").status_code == 403
    assert tpp.listed("payments")[0]["status"] == "PATC"


def test_the_proof_of_another_session_is_refused(app: Flask, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    own = PROOF.search(psu.page.text)
    foreign = Psu(app)
    foreign.open(address)
    assert own and foreign.send(f"{address}/refuse", proof=own[1]).status_code == 403
    assert psu.refuse(address).status_code == 303


def test_a_form_without_a_session_is_refused(app: Flask, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    own = PROOF.search(psu.page.text)
    assert own and app.test_client().post(f"{address}/refuse", data={"proof": own[1]}).status_code == 403


HOSTILE = (
    (SCT, {"creditor_name": SCRIPT}),
    (SCT, {"remittance_information_unstructured": SCRIPT}),
    (XB, {"creditor_address": {"street": SCRIPT, "city": SCRIPT, "country": "US", "postcode": SCRIPT}}),
)


@pytest.mark.parametrize("product, fields", HOSTILE)
def test_whatever_a_tpp_sends_stands_there_as_text(product: str, fields: dict[str, Any], tpp: Tpp, psu: Psu) -> None:
    abroad = {
        "creditor_account": {"bban": "123456789", "country": "US", "bank_national_id": "021000021"},
        "creditor_address": {"city": "Boston", "country": "US"},
    }
    address = address_of(tpp, product, **{**(abroad if product == XB else {}), **fields})
    seen = psu.log_in(f"{address}?state={SCRIPT}", "bram").text
    seen += psu.pick(address, BRAM if product == XB else BRAM.replace("USD", "EUR")).text
    psu.read_code(address)
    seen += psu.page.text
    assert "<script>" not in seen and "{{7*7}}" in seen
    assert "&lt;script&gt;" in seen and "&#39;x&#34;" in seen


def test_what_a_browser_sends_stands_there_as_text_too(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(f"{address}?lang={SCRIPT}&state={SCRIPT}")
    pages = [psu.page.text, psu.send(f"{address}/login", login=SCRIPT, lang=SCRIPT).text]
    pages += [psu.open(f"/psu/{SCRIPT}").text, psu.open(f"/psu/channel?news={SCRIPT}").text]
    assert not any("<script>" in page or "alert(" in page for page in pages)


def test_the_names_of_tpps_and_customers_are_escaped(worlds: WorldRegistry, tpp: Tpp, psu: Psu) -> None:
    bank = worlds.get("default").bank
    bank.clients["demo-tpp"] = replace(bank.clients["demo-tpp"], name=SCRIPT)
    bank.customers["alice"] = replace(bank.customers["alice"], name=SCRIPT)
    address = address_of(tpp)
    pages = [psu.open(address)]
    psu.log_in(address, "alice")
    pages += [psu.pick(address, ALICE)]
    tpp.advance("5m")
    pages += [psu.open(address), psu.open("/psu/channel"), psu.send("/psu/channel/login", login="alice")]
    assert all("<script>" not in page.text for page in pages)
    assert all("&lt;script&gt;" in page.text for page in pages)


def pages_of(tpp: Tpp, psu: Psu) -> list[tuple[str, dict[str, str]]]:
    """Every kind of page, with its headers."""
    address = address_of(tpp)
    seen = [psu.open(address), psu.log_in(address, "alice"), psu.pick(address, "x"), psu.pick(address, ALICE)]
    seen += [psu.open(f"{address}/code"), psu.type(address, "1"), psu.type(address, psu.read_code(address))]
    seen += [psu.open(address), psu.open("/psu/nowhere"), psu.open("/psu/channel")]
    seen += [psu.send("/psu/channel/login", login="griet"), psu.open(f"{address}/code")]
    return [(page.text, dict(page.headers)) for page in seen]


def test_every_page_carries_strict_headers(tpp: Tpp, psu: Psu) -> None:
    for text, headers in pages_of(tpp, psu):
        policy = headers["Content-Security-Policy"]
        assert policy.startswith(
            "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
            "connect-src 'self'; base-uri 'none'; "
        )
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Response-ID" not in headers
        assert not text or headers["Content-Type"] == "text/html;charset=utf-8"


def test_every_page_loads_nothing_from_outside_and_runs_nothing(tpp: Tpp, psu: Psu) -> None:
    for text, _ in pages_of(tpp, psu):
        assert not OUTSIDE.search(text)
        assert not RUNS.search(text)


TARGETS = (
    (CALLBACK, "'self' http://127.0.0.1:* http://localhost:*"),
    ("http://[::1]:9000/x", "'self' http:"),
    ("https://tpp.example/callback", "'self' https://tpp.example"),
)


@pytest.mark.parametrize("callback, forms", TARGETS)
def test_a_form_may_lead_to_the_bank_and_the_callback_only(callback: str, forms: str, tpp: Tpp, psu: Psu) -> None:
    page = psu.open(address_of(tpp, callback=callback))
    assert page.headers["Content-Security-Policy"].endswith(f"form-action {forms}")


def test_pages_without_a_callback_keep_their_forms_at_home(psu: Psu) -> None:
    assert psu.open("/psu/channel").headers["Content-Security-Policy"].endswith("form-action 'self'")


def test_the_cookie_is_for_these_pages_alone(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    cookie = psu.open(address).headers["Set-Cookie"]
    name = address.rpartition("/")[2][:16]
    assert cookie.startswith(f"psu-{name}=") and "Secure" not in cookie
    for flag in ("HttpOnly", "SameSite=Lax", "Path=/psu;", "Max-Age=3600"):
        assert flag in cookie
    secure = psu.http.get(address_of(tpp), base_url="https://localhost").headers["Set-Cookie"]
    assert "Secure" in secure


def test_the_cookie_goes_when_the_visit_is_over(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    assert "Max-Age=0" in psu.refuse(address).headers["Set-Cookie"]


def test_the_style_sheet_is_ours_and_nothing_else_is_served(psu: Psu) -> None:
    sheet = psu.open("/psu/static/bank.css")
    assert sheet.status_code == 200 and sheet.mimetype == "text/css"
    assert "url(" not in sheet.text and "@import" not in sheet.text
    for path in ("/psu/static/../app.py", "/psu/static/%2e%2e/app.py", "/psu/static/none.css"):
        assert psu.open(path).status_code == 404
