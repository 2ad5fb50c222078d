"""The console asks before something is lost (choice 10)."""

import re
from html import unescape

import pytest
from flask import Flask

from sandbox.web.console.actions import ACTIONS
from sandbox.web.controls.rows import CONTROLS
from sandbox.worlds.registry import WorldRegistry
from tests.console.visitor import Visitor
from tests.tpp import Tpp, version

YAML = "scenario: Mine\nclock: {at: 2027-03-01T09:00, frozen: true}\n"
DESTROY: dict[str, tuple[str, dict[str, str]]] = {
    "reset": ("World default begins again as it was first loaded.", {}),
    "load": ("World default begins again with the scenario.", {"name": "too_many_requests"}),
    "load own": ("World default begins again with the scenario.", {"yaml": YAML}),
    "drop faults": ("All fault rules of world default and their counts are lost.", {}),
    "withdraw": (
        "The consent of alice to demo-tpp ends.",
        {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"},
    ),
    "drop": ("World other is dropped.", {"name": "other"}),
    "rewind": ("World default goes back to 2027-03-01T09:00.", {"name": "default", "at": "2027-03-01T09:00"}),
    "make": ("If there is a world other, it is replaced.", {"name": "other", "replace": "1"}),
    "fork": ("If there is a world other, it is replaced.", {"name": "default", "as": "other", "replace": "1"}),
}
ENDS = {
    "refuse": "The customer refuses for good: nobody can sign it, or consent at this address, any more.",
    "release all": "Every call that is held goes on at once, and no barrier waits for a call any more.",
}
NO = re.compile(r'href="([^"]+)">No, go back<')


@pytest.fixture
def visitor(app: Flask, tpp: Tpp) -> Visitor:
    tpp.control("PUT", "/worlds/other")
    tpp.control("POST", "/clock", advance="1h")
    tpp.initiate()
    tpp.control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 503})
    consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    tpp.control("POST", "/psu/approve", address=consent, customer="alice")
    return Visitor(app)


def state_of(worlds: WorldRegistry, tpp: Tpp) -> tuple[object, ...]:
    face = tpp.http.get("/_sandbox/worlds").get_json()["worlds"]
    consents = [(consent.scope, consent.ended) for consent in worlds.get("default").bank.consents.values()]
    return (
        face,
        tpp.listed("payments"),
        tpp.listed("faults"),
        consents,
        [worlds.get("other").beginning, id(worlds.get("other"))],
    )


def test_every_button_that_destroys_asks() -> None:
    asking = {name for name, action in ACTIONS.items() if action.row.loses or action.button.asks}
    assert asking == set(DESTROY) | set(ENDS)
    assert {row.name for row in CONTROLS if row.method == "DELETE" and "/worlds" in row.path and not row.loses} == set()


@pytest.mark.parametrize("action", DESTROY)
def test_nothing_is_lost_before_the_answer(action: str, visitor: Visitor, worlds: WorldRegistry, tpp: Tpp) -> None:
    loss, fields = DESTROY[action]
    before = state_of(worlds, tpp)
    visitor.open("/_sandbox/console/worlds")
    page = visitor.post(action, back="/console/worlds", **fields)
    assert page.status_code == 200 and f"<p>{loss}" in unescape(page.text)
    assert state_of(worlds, tpp) == before


@pytest.mark.parametrize("action", DESTROY)
def test_a_yes_does_it(action: str, visitor: Visitor, worlds: WorldRegistry, tpp: Tpp) -> None:
    before = state_of(worlds, tpp)
    visitor.open("/_sandbox/console/worlds")
    assert "<b>Done.</b>" in visitor.press(action, back="/console/worlds", **DESTROY[action][1]).text
    assert state_of(worlds, tpp) != before


def test_a_no_leads_back_to_the_form_as_it_was_typed(visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/scenario")
    found = NO.search(visitor.post("load own", back="/console/scenario", yaml=YAML).text)
    assert found and "scenario: Mine" in visitor.open(unescape(found[1])).text


@pytest.mark.parametrize("action, fields", [("make", {"name": "new"}), ("fork", {"name": "default", "as": "new"})])
def test_what_destroys_nothing_is_not_asked_about(action: str, fields: dict[str, str], visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/worlds")
    assert visitor.post(action, back="/console/worlds", **fields).status_code == 303


@pytest.mark.parametrize("action", ENDS)
def test_what_ends_for_good_is_asked_about_too(action: str, visitor: Visitor, tpp: Tpp) -> None:
    tpp.control("POST", "/holds", at="after_act", when={"operation": "token"})
    address = tpp.initiate().headers["Location"]
    visitor.open("/_sandbox/")
    page = visitor.post(action, address=address, customer="alice")
    assert page.status_code == 200 and f"<p>{ENDS[action]}</p>" in page.text
    assert [one["status"] for one in tpp.listed("payments")] == ["RCVD", "RCVD"] and tpp.listed("holds")


def test_a_move_of_the_clock_is_undone_by_a_rewind(visitor: Visitor, tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    visitor.open("/_sandbox/")
    page = visitor.press("advance", advance="61m")
    assert tpp.control("GET", f"/payments/{payment_id}").get_json()["status"] == "CANC"
    (at,) = re.findall(r'name="at" value="([^"]+)">\s*<button type="submit" class="small">Undo', page.text)
    visitor.press("rewind", name="default", at=at)
    assert tpp.control("GET", f"/payments/{payment_id}").get_json()["status"] == "RCVD"


def test_nothing_offers_to_undo_what_a_rewind_cannot(visitor: Visitor, tpp: Tpp) -> None:
    """A rewind keeps the acts of its own moment, and this clock is frozen. A fault is no act of the bank."""
    visitor.open("/_sandbox/")
    address = tpp.initiate().headers["Location"]
    assert ">Undo<" not in visitor.press("approve", address=address, customer="alice").text
    assert ">Undo<" not in visitor.press("fault", status="503", operation="token").text
    tpp.control("POST", "/clock", mode="running")
    address = tpp.initiate().headers["Location"]
    assert ">Undo<" in visitor.press("approve", address=address, customer="alice").text


def test_the_page_that_asks_sends_the_same_form_again(visitor: Visitor, tpp: Tpp) -> None:
    visitor.open("/_sandbox/console/worlds")
    page = visitor.post("drop", name="other").text
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]+)">', page))
    assert fields.items() >= {"proof": visitor.proof, "name": "other", "sure": "yes"}.items()
