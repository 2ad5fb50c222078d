"""The callback page of each world: what came back, what is checked, and the call that follows (choice 10)."""

import re
from functools import partial
from html import unescape
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.app import assemble
from sandbox.machine import machine_time
from sandbox.player.runs import play_within
from sandbox.web.api.addresses import Hosts
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry
from tests.console.visitor import Visitor
from tests.tpp import Tpp

LINK = re.compile(r'<a class="button" href="([^"]+)"')
FORM = re.compile(r'<form class="act[^"]*" method="post" action="([^"]*/console/call/(\w+))">(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'name="(\w+)" value="([^"]*)"')


class Guest(Visitor):
    """Somebody who presses the buttons that the page shows."""

    def begin(self, step: str, root: str = "", **fields: str) -> TestResponse:
        self.open(f"{root}/_sandbox/console/new")
        self.page = self.http.post(f"{root}/_sandbox/console/call/{step}", data={"proof": self.proof, **fields})
        return self.page

    def press_call(self, step: str, **typed: str) -> TestResponse:
        """Sends the form of a next step as it stands on the page."""
        (address, inner) = next((a, inner) for a, name, inner in FORM.findall(self.page.text) if name == step)
        fields = {name: unescape(value) for name, value in FIELD.findall(inner)}
        self.page = self.http.post(address, data=fields | typed)
        return self.page

    @property
    def way_on(self) -> str:
        found = LINK.search(self.page.text)
        assert found is not None, self.page.text
        return unescape(found[1])


@pytest.fixture
def guest(app: Flask) -> Guest:
    return Guest(app)


def approved(tpp: Tpp, address: str) -> str:
    """The callback's address, after the customer signed at the one that the page links to."""
    reply = tpp.control("POST", "/psu/approve", address=f"http://localhost{address}", customer="alice")
    return str(reply.get_json()["redirect"])


@pytest.mark.parametrize("root", ["", "/worlds/side"])
def test_a_payment_is_made_signed_and_read_by_buttons_alone(guest: Guest, tpp: Tpp, root: str) -> None:
    made = guest.begin("pay", root, creditor_name="Anna Claes", amount="7.00")
    assert 'class="badge t-good">201' in made.text
    tpp.prefix = root
    redirect = urlsplit(approved(tpp, guest.way_on))
    assert redirect.path == f"{root}/_sandbox/callback"
    back = guest.open(f"{redirect.path}?{redirect.query}")
    assert "The state is the one that the console gave" in back.text
    tokens = guest.press_call("token")
    assert "access_token" in tokens.text and "Read the details" in tokens.text
    assert "Anna Claes" in guest.press_call("details").text


def test_a_consent_leads_to_transactions(guest: Guest, tpp: Tpp) -> None:
    guest.begin("consent")
    redirect = urlsplit(approved(tpp, guest.way_on))
    guest.open(f"{redirect.path}?{redirect.query}")
    assert "They open the accounts" in guest.page.text
    guest.press_call("token")
    guest.press_call("accounts")
    assert "transaction_ref" in guest.press_call("transactions").text


@pytest.mark.parametrize("step", ["pay", "consent"])
@pytest.mark.parametrize("language", ["fr", "nl"])
def test_the_signing_page_of_the_consoles_calls_speaks_the_browsers_language(
    guest: Guest, step: str, language: str
) -> None:
    browser = {"Accept-Language": f"{language}-BE"}
    guest.open("/_sandbox/console/new")
    guest.page = guest.http.post(f"/_sandbox/console/call/{step}", data={"proof": guest.proof}, headers=browser)
    assert f'<html lang="{language}">' in guest.http.get(guest.way_on, headers=browser).text


def test_it_is_good_manners_that_the_console_shows(guest: Guest, tpp: Tpp) -> None:
    for step in ("pay", "consent"):
        guest.begin(step)
        redirect = urlsplit(approved(tpp, guest.way_on))
        guest.open(f"{redirect.path}?{redirect.query}")
        guest.press_call("token")
    found = tpp.control("GET", "/referee").get_json()["findings"]
    assert [one for one in found if one["severity"] == "error"] == []


def test_the_example_of_the_reference_goes_on_without_typing(guest: Guest, tpp: Tpp) -> None:
    """The challenge of RFC 7636 has a verifier that everyone knows."""
    tpp.initiate(redirect_uri="http://localhost/_sandbox/callback")
    inbox = guest.open("/_sandbox/console/inbox")
    assert inbox.status_code == 200 and "state=payments." in guest.way_on
    redirect = urlsplit(approved(tpp, guest.way_on))
    guest.open(f"{redirect.path}?{redirect.query}")
    assert "access_token" in guest.press_call("token").text


@pytest.mark.parametrize(
    "query, text",
    [
        ("", "Nothing. Initiate a payment"),
        ("?code=x", "This bank did not give this code"),
        ("?code=x", "No state came back"),
        ("?code=x&state=mine", "The console did not make this state"),
        ("?code=x&state=payments.a.b.c", "The console did not make this state"),
        ("?state=a&state=b", "The state came back twice"),
        ("?error=access_denied&state=a", "The customer did not agree"),
        ("?iss=%3Cb%3E", "ignored: iss"),
        ("?code=%3Cscript%3E", "&lt;script&gt;"),
    ],
)
def test_what_came_back_is_judged(guest: Guest, query: str, text: str) -> None:
    page = guest.open(f"/_sandbox/callback{query}")
    assert page.status_code == 200 and text in page.text and "<script>" not in page.text


def test_the_page_is_registered_for_the_demo_client_alone(worlds: WorldRegistry) -> None:
    tpp = Tpp(assemble(worlds, lock=Lock(hosts=Hosts(listed=frozenset({"bank.example"})))))
    here = "https://bank.example/_sandbox/callback"
    assert tpp.initiate(host="bank.example", redirect_uri=here).status_code == 201
    for other in (f"{here}/x", f"{here}?a=1", f"{here}#a", "https://evil.example/_sandbox/callback", "https://[/"):
        assert tpp.initiate(host="bank.example", redirect_uri=other).status_code == 400
    assert tpp.initiate(host="bank.example", redirect_uri=here, client_id="other-tpp").status_code == 400


def test_calls_need_the_proof_of_the_form(guest: Guest) -> None:
    guest.open("/_sandbox/console/new")
    refused = guest.http.post("/_sandbox/console/call/pay", data={"proof": "0" * 48})
    assert refused.status_code == 403
    guest.begin("pay", creditor_name="a\nb")
    assert 'class="badge t-wait">400' in guest.page.text
    assert guest.begin("token", code="x", redirect_uri="y").status_code == 200
    assert guest.begin("fly").status_code == 404
    assert guest.begin("details", kind="payments", id="x", access_token="a\nb").status_code == 400


def test_the_key_is_asked_for_first_and_leads_back(worlds: WorldRegistry) -> None:
    guest = Guest(assemble(worlds, lock=Lock("open sesame")))
    asked = guest.open("/_sandbox/callback?code=a&state=b")
    assert asked.status_code == 401 and 'type="password"' in asked.text
    (back,) = re.findall(r'name="back" value="([^"]*)"', asked.text)
    entered = guest.http.post(
        "/_sandbox/console/key", data={"proof": guest.proof, "key": "open sesame", "back": unescape(back)}
    )
    assert entered.headers["Location"] == "/_sandbox/callback?code=a&state=b"
    assert "What came back" in guest.open(entered.headers["Location"]).text


def test_a_well_known_value_is_made_by_its_button(guest: Guest) -> None:
    page = guest.open("/_sandbox/console/values")
    assert page.text.count("<code>Test AC04</code>") == 1 and "TEST-SLOW" in page.text
    assert "403" in guest.begin("pay", creditor_name="Test INVALID_TPP").text
    assert "201" in guest.begin("file", reference="TEST-SLOW").text
    assert "201" in guest.begin("order", creditor_name="Test PDNG").text


def test_a_scenario_is_played_step_by_step(
    guest: Guest, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "play", partial(play_within, worlds, machine_time))
    page = guest.open("/_sandbox/console/scenario")
    assert "/console/play/the_customer_refuses_to_sign" in page.text
    played = guest.http.post("/_sandbox/console/play/the_customer_refuses_to_sign", data={"proof": guest.proof})
    assert "steps held." in played.text and "✗" not in played.text
    world = re.findall(r'class="button" href="([^"]+)"', played.text)[-1]
    assert guest.open(world).status_code == 200
    assert guest.http.post("/_sandbox/console/play/nowhere", data={"proof": guest.proof}).status_code == 404
    assert guest.http.post("/_sandbox/console/play/default", data={"proof": "x"}).status_code == 403
