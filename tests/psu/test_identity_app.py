"""service 5.7: a customer signs in an identity app, whose page opens in place or on another device."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.bank.state import Bank
from sandbox.worlds.registry import WorldRegistry
from tests.payer import begin
from tests.psu.psu import (
    Psu,
    address_of,
    bare,
    consent_address,
    file_address,
    file_id,
    order_address,
    problem,
    row,
    title,
)
from tests.psu.test_consent import renewal as renewal
from tests.tpp import CALLBACK, Tpp, refused

COMPARE = re.compile(r'id="compare">([0-9]+)<')
LINK = re.compile(r'href="(/psu/identity-app/[^"]+)"')
CHOICE = re.compile(r'name="number" value="([0-9]+)"')
METHOD_REFUSED = "SBX-0403-000006"
CHANNEL = "/psu/channel/payments"
TITLES = {"fr": "Confirmez avec Zelvo", "nl": "Bevestig met Zelvo", "en": "Confirm with Zelvo"}


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def at_payment(tpp: Tpp, psu: Psu) -> str:
    address = address_of(tpp, debtor_account__iban=tpp.iban_of("alice"))
    psu.open(f"{address}?state=s")
    psu.log_in(address, "alice")
    return bare(address)


def at_order(tpp: Tpp, psu: Psu) -> str:
    address = order_address(tpp, debtor_account={"iban": tpp.iban_of("alice")})
    psu.open(f"{address}?state=s")
    psu.log_in(address, "alice")
    return bare(address)


def at_file(tpp: Tpp, psu: Psu) -> str:
    tpp.control("PATCH", "/customers/bakkerij", methods=["identity_app"])
    address = file_address(tpp, file_id(tpp, row(tpp.iban_of("bakkerij"), "2027-03-06", "Ann", "250.00", "A-1")))
    psu.open(f"{address}?state=s")
    psu.log_in(address, "bakkerij")
    return bare(address)


def at_consent(tpp: Tpp, psu: Psu) -> str:
    address = consent_address(tpp)
    psu.open(f"{address}?state=s")
    psu.log_in(address, "alice")
    psu.choose(address, tpp.iban_of("alice"))
    return address


FLOWS = {"payment": at_payment, "order": at_order, "file": at_file, "consent": at_consent}


def ask(psu: Psu, address: str) -> tuple[str, str]:
    """Asks for an approval in the identity app; returns its link and the number on the bank's page."""
    page = psu.send(f"{address}/method", method="identity_app").text
    return LINK.findall(page)[0], COMPARE.findall(page)[0]


def other_than(number: str, page: TestResponse) -> str:
    return next(str(choice) for choice in CHOICE.findall(page.text) if choice != number)


def choose(psu: Psu, link: str, number: str) -> TestResponse:
    """Chooses a number in the app; the answer is where that leads, which is followed within the bank."""
    psu.open(link)
    return psu.send(f"{link}/approve", number=number)


def by_control(tpp: Tpp, act: str, method: str = "identity_app", **body: str) -> Any:
    return tpp.http.post(f"/_sandbox/psu/{act}", json={"method": method, **body})


# In every flow, in place and on another device


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_the_right_number_signs_and_leads_by_the_banks_page_back_to_the_tpp(
    flow: Callable[[Tpp, Psu], str], tpp: Tpp, psu: Psu
) -> None:
    link, number = ask(psu, flow(tpp, psu))
    back = choose(psu, link, number).headers["Location"]
    assert back.startswith(CALLBACK) and "state=s" in back and "error" not in back


def test_a_renewal_is_confirmed_in_the_identity_app(renewal: tuple[dict[str, str], str], psu: Psu) -> None:
    address = renewal[1]
    psu.open(f"{address}?state=s")
    psu.log_in(address, "alice")
    assert choose(psu, *ask(psu, address)).headers["Location"] == f"{CALLBACK}?state=s"


def test_on_another_device_the_app_says_that_the_banks_page_continues(app: Flask, tpp: Tpp, psu: Psu) -> None:
    address, phone = at_payment(tpp, psu), Psu(app)
    link, number = ask(psu, address)
    assert 'role="img"' in psu.page.text and '<meta http-equiv="refresh" content="3">' in psu.page.text
    shown = phone.open(link).text
    assert len(CHOICE.findall(shown)) == 3 and number in CHOICE.findall(shown) and "Jan Peeters" in shown
    assert 'id="compare"' not in shown
    assert "Vous avez confirmé" in choose(phone, link, number).text
    assert psu.open(f"{address}/code").headers["Location"].startswith(CALLBACK)
    assert phone.open(link).status_code == 404


@pytest.mark.parametrize("language", TITLES)
def test_the_pages_speak_the_language_that_was_chosen(language: str, tpp: Tpp, psu: Psu) -> None:
    tpp.control("PATCH", "/settings", screens_in_english="on")
    address = at_payment(tpp, psu)
    page = psu.send(f"{address}/method?lang={language}", method="identity_app")
    assert title(page) == TITLES[language]
    link = LINK.findall(page.text)[0]
    assert f'<html lang="{language}">' in psu.open(link).text and " – Zelvo</title>" in psu.page.text


# Refused, too late, and a wrong number


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_who_refuses_in_the_identity_app_is_led_back_with_the_error(
    flow: Callable[[Tpp, Psu], str], tpp: Tpp, psu: Psu
) -> None:
    link, _ = ask(psu, flow(tpp, psu))
    psu.open(link)
    assert "error=access_denied" in psu.send(f"{link}/refuse").headers["Location"]


def test_a_wrong_number_signs_nothing_and_its_request_is_over(tpp: Tpp, psu: Psu) -> None:
    address = at_payment(tpp, psu)
    link, number = ask(psu, address)
    page = choose(psu, link, other_than(number, psu.open(link)))
    assert problem(page) == "Le nombre choisi dans Zelvo n’est pas le bon ; rien n’a été signé. Il vous reste 2 essais."
    assert psu.open(link).status_code == 404 and tpp.listed("payments")[0]["status"] == "PATC"
    psu.open(f"{address}/code")
    assert "code=" in choose(psu, *ask(psu, address)).headers["Location"]


@pytest.mark.parametrize("number", [None, "", "007", "x" * 500])
def test_what_is_no_number_of_the_page_counts_as_a_wrong_one(number: str | None, tpp: Tpp, psu: Psu) -> None:
    link, _ = ask(psu, at_payment(tpp, psu))
    psu.open(link)
    page = psu.send(f"{link}/approve", **({} if number is None else {"number": number}))
    assert "Il vous reste 2 essais." in problem(page)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_the_third_wrong_number_refuses(flow: Callable[[Tpp, Psu], str], tpp: Tpp, psu: Psu) -> None:
    address = flow(tpp, psu)
    for left in (2, 1, 0):
        link, number = ask(psu, address)
        page = choose(psu, link, other_than(number, psu.open(link)))
        assert left == 0 or f"{left} essai" in problem(page)
    assert "error=access_denied" in page.headers["Location"] and "wrong+code+3+times" in page.headers["Location"]


def test_codes_of_the_reader_and_numbers_of_the_app_share_their_tries(tpp: Tpp, psu: Psu, bank: Bank) -> None:
    address = at_payment(tpp, psu)
    code = next(session.code for session in bank.sessions.values()) or ""
    psu.open(f"{address}/code")
    psu.type(address, f"{(int(code) + 1) % 1_000_000:06}")
    link, number = ask(psu, address)
    assert "1 essai." in problem(choose(psu, link, other_than(number, psu.open(link))))


def test_after_its_time_the_identity_app_confirms_nothing_and_the_page_offers_another_try(tpp: Tpp, psu: Psu) -> None:
    address = at_payment(tpp, psu)
    link, number = ask(psu, address)
    psu.open(link)
    tpp.advance("3m")
    assert psu.send(f"{link}/approve", number=number).status_code == 410
    page = psu.open(f"{address}/code").text
    assert "Le temps est écoulé" in page and "refresh" not in page and 'role="alert"' not in page
    assert ask(psu, address)[0] != link


def test_a_form_without_the_apps_proof_and_an_unknown_answer_sign_nothing(tpp: Tpp, psu: Psu) -> None:
    link, number = ask(psu, at_payment(tpp, psu))
    psu.open(link)
    assert psu.send(f"{link}/approve", proof="0" * 48, number=number).status_code == 403
    psu.open(link)
    assert psu.send(f"{link}/perhaps", number=number).status_code == 404
    assert tpp.listed("payments")[0]["status"] == "PATC"


def test_an_approval_waits_in_its_own_app_only(tpp: Tpp, psu: Psu) -> None:
    address = at_payment(tpp, psu)
    link, _ = ask(psu, address)
    assert psu.open(link.replace("/identity-app/", "/app/")).status_code == 404
    psu.open(f"{address}/code")
    page = psu.send(f"{address}/method", method="app").text
    (approval,) = re.findall(r'href="/psu/app/([^"]+)"', page)
    assert psu.open(f"/psu/identity-app/{approval}").status_code == 404


# Further signatures


@pytest.fixture
def half_signed(tpp: Tpp) -> str:
    """A payment of the office that waits for griet."""
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    assert by_control(tpp, "approve", address=begun.address, customer="notaris").status_code == 200
    return begun.id


@pytest.fixture
def griet(app: Flask, half_signed: str) -> Psu:
    psu = Psu(app, "nl")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="griet")
    psu.open(f"{CHANNEL}/{half_signed}")
    return psu


def test_a_further_signature_is_given_in_the_identity_app(tpp: Tpp, half_signed: str, griet: Psu) -> None:
    link, number = ask(griet, f"{CHANNEL}/{half_signed}")
    assert choose(griet, link, number).headers["Location"] == "/psu/channel?news=signed"
    assert tpp.listed("payments")[0]["status"] == "PDNG"


def test_a_further_signer_refuses_in_the_identity_app(tpp: Tpp, half_signed: str, griet: Psu) -> None:
    link, _ = ask(griet, f"{CHANNEL}/{half_signed}")
    griet.open(link)
    griet.send(f"{link}/refuse")
    assert tpp.listed("payments")[0]["status"] == "CANC"


def test_the_third_wrong_number_ends_the_session_in_the_channel_and_the_payment_waits(
    tpp: Tpp, half_signed: str, griet: Psu
) -> None:
    for left in (2, 1, 0):
        link, number = ask(griet, f"{CHANNEL}/{half_signed}")
        page = choose(griet, link, other_than(number, griet.open(link)))
        assert left == 0 or f"nog {left} poging" in problem(page)
    assert page.headers["Location"] == "/psu/channel" and title(griet.open("/psu/channel")) == "Meld u aan"
    assert tpp.listed("payments")[0]["status"] == "PATC"


# By control


def test_a_control_refuses_the_identity_app_where_it_is_not_activated_and_at_night(tpp: Tpp) -> None:
    def reply_of(customer: str) -> Any:
        begun = begin(tpp, debtor_account__iban=tpp.iban_of(customer))
        return by_control(tpp, "approve", address=begun.address)

    assert refused(reply_of("bakkerij"), 403, METHOD_REFUSED, "did not activate")
    tpp.control("PATCH", "/customers/bakkerij", methods=["identity_app"])
    tpp.control("POST", "/clock", set="2027-03-01T23:00:00+01:00")
    assert refused(reply_of("bakkerij"), 403, METHOD_REFUSED, "from 23:00 to 06:00")
    tpp.control("POST", "/clock", set="2027-03-02T06:00:00+01:00")
    assert reply_of("bakkerij").status_code == 200


def test_a_control_names_the_nearest_method(tpp: Tpp) -> None:
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("alice"))
    reply = by_control(tpp, "approve", address=begun.address, method="identity-app")
    assert refused(reply, 400, "SBX-0400", "did you mean 'identity_app'?")


def test_a_control_signs_further_in_the_identity_app(tpp: Tpp, half_signed: str) -> None:
    reply = by_control(tpp, "sign", payment_id=half_signed, customer="griet")
    assert reply.get_json()["status"] == "PDNG"
