"""A real browser signs, refuses and picks another account, in both languages (service 1, choice 5).

Where Chromium is missing these are reported as not run; with BROWSER_REQUIRED=1 that is a failure.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from werkzeug.serving import make_server

from tests.tpp import SCT, Tpp, payment

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 860}
FORM_REFUSED = "the server responded with a status of 422"  # a form with a fault, which is no fault of the page
LANGUAGES = {
    "fr": ("Identifiez-vous", "Vérifiez le virement", "1\u202f234,80\xa0€", "Les fonds disponibles sur ce compte"),
    "nl": ("Meld u aan", "Controleer de overschrijving", "€\xa01.234,80", "Op deze rekening staat niet genoeg"),
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        assert os.environ.get("BROWSER_REQUIRED") != "1", "a browser is required, and there is no chromium"
        pytest.skip("not run: there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


class Back(BaseHTTPRequestHandler):
    """The TPP's callback: a page that says nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>back</title>')

    def log_message(self, format: str, *args: Any) -> None:
        """A test does not talk."""


@pytest.fixture
def callback() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Back) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/back?own=1"
        server.shutdown()


@pytest.fixture
def bank(app: Flask) -> Iterator[str]:
    """The same bank, on a port."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@dataclass
class Visit:
    """A page of the browser, what it asked for, and what it complained of."""

    page: Page
    bank: str
    callback: str
    tpp: Tpp
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(10_000)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def address(self, language: str, **changes: Any) -> str:
        body = payment(SCT, **changes)
        reply = self.tpp.initiate(SCT, body, accept_language=language, redirect_uri=self.callback)
        return f"{self.bank}{urlsplit(reply.headers['Location']).path}?state=s-1"

    def heading(self) -> str:
        return self.page.locator("h1").inner_text()

    def choose(self, name: str, place: int = 0) -> None:
        self.page.locator(f"input[name={name}]").nth(place).check()
        self.page.locator("button.go").click()

    def log_in(self, customer: str) -> None:
        self.page.locator(f"input[value={customer}]").check()
        self.page.locator("button.go").click()

    def sign(self) -> dict[str, list[str]]:
        """From the review to the callback; the answer is its query."""
        self.page.locator("a.go").click()
        self.page.fill("#code", self.page.locator("#shown").inner_text())
        self.page.locator("button.go").click()
        return self.query()

    def query(self) -> dict[str, list[str]]:
        self.page.wait_for_url(f"{self.callback}*")
        return parse_qs(urlsplit(self.page.url).query)

    def demand_quiet(self) -> None:
        """Nothing was asked of anyone else, and the browser had nothing to complain of."""
        homes = (f"{self.bank}/psu/", self.callback, "data:")
        assert [url for url in self.asked if not url.startswith(homes)] == []
        assert [text for text in self.complaints if FORM_REFUSED not in text] == []

    def demand_fits(self) -> None:
        """Nothing stands outside the screen."""
        self.page.wait_for_load_state()
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def context(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport=request.param)
    yield made
    made.close()


@pytest.fixture
def visit(context: BrowserContext, bank: str, callback: str, tpp: Tpp) -> Visit:
    return Visit(context.new_page(), bank, callback, tpp)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_signs(language: str, visit: Visit) -> None:
    login, review, amount, _ = LANGUAGES[language]
    long_name = "Société anonyme des établissements réunis " + "W" * 28
    visit.page.goto(visit.address(language, instructed_amount__amount="1234.80", creditor_name=long_name))
    assert visit.heading() == login
    assert visit.page.locator("html").get_attribute("lang") == language
    visit.demand_fits()
    visit.log_in("alice")
    visit.demand_fits()
    visit.choose("account")
    assert visit.heading() == review and amount in visit.page.locator("main").inner_text()
    visit.demand_fits()
    query = visit.sign()
    assert set(query) == {"own", "code", "state"} and query["state"] == ["s-1"]
    assert visit.tpp.listed("payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_refuses(language: str, visit: Visit) -> None:
    visit.page.goto(visit.address(language))
    visit.page.locator("button.refuse").click()
    query = visit.query()
    assert query["error"] == ["access_denied"] and query["state"] == ["s-1"] and query["own"] == ["1"]
    assert visit.tpp.listed("payments")[0]["reason"] == "PSU_REFUSED"
    visit.demand_quiet()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_picks_another_account_when_funds_are_missing(language: str, visit: Visit) -> None:
    visit.page.goto(visit.address(language, instructed_amount__amount="8000.00"))
    visit.log_in("alice")
    visit.choose("account")
    assert LANGUAGES[language][3] in visit.page.get_by_role("alert").inner_text()
    visit.choose("account", 1)
    assert "code" in visit.sign()
    visit.demand_quiet()


def test_three_wrong_codes_refuse(visit: Visit) -> None:
    visit.page.goto(visit.address("fr"))
    visit.log_in("alice")
    visit.choose("account")
    visit.page.locator("a.go").click()
    shown = int(visit.page.locator("#shown").inner_text().replace(" ", ""))
    for _ in range(3):
        visit.page.fill("#code", f"{(shown + 1) % 1_000_000:06}")
        visit.page.locator("button.go").click()
    assert visit.query()["error"] == ["access_denied"]
    visit.demand_quiet()


def test_the_language_is_changed_on_the_page(visit: Visit) -> None:
    visit.page.goto(visit.address("fr"))
    visit.page.get_by_role("link", name="Nederlands").click()
    assert visit.heading() == "Meld u aan"
    visit.log_in("alice")
    assert visit.heading() == "Kies de te debiteren rekening"
    visit.choose("account")
    assert visit.sign()["state"] == ["s-1"]
    visit.demand_quiet()


def test_a_keyboard_is_enough(visit: Visit) -> None:
    keyboard = visit.page.keyboard
    visit.page.goto(visit.address("fr"))
    keyboard.press("Tab")
    assert visit.page.locator(":focus").inner_text() == "Aller au contenu"
    keyboard.press("Enter")
    for keys in (("Tab", "Space", "Enter"), ("Tab", "Space", "Enter")):  # the customer, then the account
        title = visit.heading()
        tab_to_main(visit)
        for key in keys:
            keyboard.press(key)
        visit.page.wait_for_function("title => document.querySelector('h1').innerText !== title", arg=title)
    tab_to_main(visit)
    for key in ("Tab", "Enter"):  # on to the card reader
        keyboard.press(key)
    code = visit.page.locator("#shown").inner_text()
    tab_to_main(visit)
    keyboard.press("Tab")
    keyboard.type(code)
    keyboard.press("Enter")
    assert "code" in visit.query()
    visit.demand_quiet()


def tab_to_main(visit: Visit) -> None:
    """By the link at the top of the page; what is on the way is skipped."""
    visit.page.wait_for_load_state()
    if visit.page.locator(":focus").count() == 0:
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Enter")


def test_a_second_signature_is_given_in_the_channel(visit: Visit) -> None:
    visit.page.goto(visit.address("nl"))
    visit.log_in("notaris")
    visit.choose("account")
    assert "code" in visit.sign()
    assert visit.tpp.listed("payments")[0]["status"] == "PATC"
    visit.page.goto(f"{visit.bank}/psu/channel?lang=nl")
    visit.log_in("griet")
    visit.page.locator("a.go").click()
    visit.demand_fits()
    visit.page.fill("#code", visit.page.locator("#shown").inner_text())
    visit.page.locator("button.go").click()
    assert visit.page.get_by_role("status").inner_text() == "U hebt ondertekend. De verrichting wordt uitgevoerd."
    assert visit.tpp.listed("payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


def test_the_pages_work_without_javascript(chromium: Browser, bank: str, callback: str, tpp: Tpp) -> None:
    context = chromium.new_context(java_script_enabled=False)
    visit = Visit(context.new_page(), bank, callback, tpp)
    visit.page.goto(visit.address("fr"))
    visit.log_in("alice")
    visit.choose("account")
    assert "code" in visit.sign()
    visit.demand_quiet()
    context.close()
