"""service 5.7: the customer signs by card reader, in the bank's app or by biometrics; a risk refuses some of them."""

import re
from typing import Any

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.worlds.registry import WorldRegistry
from tests.psu.psu import Psu, address_of, bare
from tests.spec.bodies import to_america
from tests.tpp import BELGIAN, XB, Tpp, payment, refused

REFUSED = "SBX-0403-000006"
COMPARE = re.compile(r'id="compare">([0-9]+)<')
APP = re.compile(r'href="(/psu/app/[^"]+)"')


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


def approve(tpp: Tpp, method: str, customer: str = "alice", **changes: Any) -> Any:
    iban = tpp.iban_of(customer)
    reply = tpp.initiate(body=payment(debtor_account__iban=iban, **changes))
    assert reply.status_code == 201, reply.text
    return psu_approve(tpp, address=reply.headers["Location"], customer=customer, method=method)


def psu_approve(tpp: Tpp, **body: str) -> Any:
    return tpp.http.post("/_sandbox/psu/approve", json=body)


def at_code(app: Flask, tpp: Tpp, customer: str = "alice", **changes: Any) -> tuple[Psu, str]:
    """A browser at the step where the customer signs."""
    address = address_of(tpp, debtor_account__iban=tpp.iban_of(customer), **changes)
    psu = Psu(app, "fr")
    psu.open(f"{address}?state=s")
    psu.log_in(address, customer)
    psu.open(f"{bare(address)}/code")
    return psu, bare(address)


# By control


def test_a_method_that_is_activated_signs(tpp: Tpp) -> None:
    assert approve(tpp, "card_reader").status_code == 200
    for method in ("app", "biometrics"):  # the beneficiary is known by now
        assert approve(tpp, method).status_code == 200


@pytest.mark.parametrize(
    "method, customer, changes, why",
    [
        ("biometrics", "alice", {}, "new"),
        ("biometrics", "alice", {"instructed_amount__amount": "500.01"}, "over 500 EUR"),
        ("app", "bakkerij", {"instructed_amount__amount": "5000.01"}, "over 5,000 EUR"),
        ("app", "poor", {}, "did not activate"),
        ("biometrics", "bakkerij", {}, "did not activate"),
    ],
)
def test_a_method_is_refused_by_risk_and_signs_nothing(
    tpp: Tpp, method: str, customer: str, changes: dict[str, Any], why: str
) -> None:
    assert refused(approve(tpp, method, customer, **changes), 403, REFUSED, why)
    assert tpp.listed("payments")[0]["status"] == "RCVD"


def test_at_night_the_card_reader_alone_signs(tpp: Tpp) -> None:
    tpp.control("POST", "/clock", set="2027-03-01T23:00:00+01:00")
    assert refused(approve(tpp, "app"), 403, REFUSED, "from 23:00 to 06:00")
    assert approve(tpp, "card_reader").status_code == 200
    tpp.control("POST", "/clock", set="2027-03-02T06:00:00+01:00")
    assert approve(tpp, "app").status_code == 200


def test_an_own_account_is_no_new_beneficiary(tpp: Tpp) -> None:
    savings = next(row["accounts"][1] for row in tpp.listed("customers") if row["customer"] == "alice")
    assert approve(tpp, "biometrics", creditor_account__iban=savings).status_code == 200


@pytest.mark.parametrize("setting, other", [("card_reader", "app"), ("app", "card_reader")])
def test_a_bank_with_one_method_has_no_other(tpp: Tpp, setting: str, other: str) -> None:
    tpp.control("PATCH", "/settings", sca_methods=setting)
    assert approve(tpp, setting, "poor", instructed_amount__amount="1.00").status_code == 200
    assert refused(approve(tpp, other), 403, REFUSED, "does not have it")


def test_a_consent_is_given_by_a_method_that_the_customer_has(tpp: Tpp) -> None:
    address = tpp.call("GET", "/consent-uris?scope=AIS", accept="application/vnd.service.api+json; version=4")
    given = {"address": address.get_json()[0]["consent_uri"], "customer": "bakkerij"}
    assert refused(psu_approve(tpp, **given, method="biometrics"), 403, REFUSED)
    assert psu_approve(tpp, **given, method="app").status_code == 200


def test_an_unknown_method_is_refused_with_the_nearest(tpp: Tpp) -> None:
    assert refused(approve(tpp, "biometric"), 400, "SBX-0400", "did you mean 'biometrics'?")


# What a setting says of a risk


def set_risks(tpp: Tpp, *lines: str, **settings: Any) -> Any:
    return tpp.control("PATCH", "/settings", method_risks=list(lines), **settings)


def test_a_risk_refuses_the_methods_that_a_setting_names_in_place_of_its_own(tpp: Tpp) -> None:
    assert set_risks(tpp, "beneficiary: none", "amount: card_reader", risky_amount=100).status_code == 200
    assert approve(tpp, "biometrics").status_code == 200
    dear = {"instructed_amount__amount": "100.01"}
    assert refused(approve(tpp, "card_reader", **dear), 403, REFUSED, "over 100 EUR")
    assert approve(tpp, "biometrics", **dear).status_code == 200
    assert refused(approve(tpp, "app", "bakkerij", instructed_amount__amount="5000.01"), 403, REFUSED, "over 5,000 EUR")


def test_the_first_signature_for_an_account_may_be_a_risk(tpp: Tpp) -> None:
    set_risks(tpp, "first_use: app")
    assert refused(approve(tpp, "app"), 403, REFUSED, "for the first time")
    assert approve(tpp, "card_reader").status_code == 200
    assert approve(tpp, "app").status_code == 200


def test_a_consent_may_be_a_risk(tpp: Tpp) -> None:
    set_risks(tpp, "consent: app")
    address = tpp.call("GET", "/consent-uris?scope=AIS", accept="application/vnd.service.api+json; version=4")
    given = {"address": address.get_json()[0]["consent_uri"], "customer": "alice"}
    assert refused(psu_approve(tpp, **given, method="app"), 403, REFUSED, "for a consent")
    assert psu_approve(tpp, **given, method="biometrics").status_code == 200


def test_a_country_outside_sepa_refuses_biometrics(tpp: Tpp) -> None:
    set_risks(tpp, "beneficiary: none")
    body = to_america(debtor_account={"iban": tpp.iban_of("alice")})
    address = tpp.initiate(XB, body).headers["Location"]
    assert refused(psu_approve(tpp, address=address, method="biometrics"), 403, REFUSED, "outside SEPA")
    assert psu_approve(tpp, address=address, method="app").status_code == 200


@pytest.mark.parametrize(
    "line, hint",
    [("nights: app", "'night'"), ("night: biometric", "'biometrics'"), ("night: none app", "none"), ("night", "form")],
)
def test_an_unknown_risk_or_method_is_refused_with_the_nearest(tpp: Tpp, line: str, hint: str) -> None:
    reply = set_risks(tpp, line)
    assert reply.status_code == 400 and hint in reply.get_json()["error_description"]


def test_the_page_names_the_limit_that_refuses_a_method(app: Flask, tpp: Tpp) -> None:
    set_risks(tpp, "beneficiary: none", risky_amount=1000)
    psu, address = at_code(app, tpp, instructed_amount__amount="1000.01")
    assert "Au-dessus de 1\u202f000 €" in psu.open(f"{address}/code").text
    assert "Boven € 1.000" in psu.open(f"{address}/code?lang=nl").text


# On the pages


def test_the_page_waits_while_the_app_approves_and_then_leads_back(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    page = psu.send(f"{address}/method", method="app").text
    assert '<meta http-equiv="refresh" content="3">' in page and "<b>3:00</b>" in page
    tpp.advance("60s")
    assert "<b>2:00</b>" in psu.open(f"{address}/code").text
    phone, approval = Psu(app, "fr"), APP.findall(page)[0]
    shown = phone.open(approval).text
    assert COMPARE.findall(shown) == COMPARE.findall(page) and "Jan Peeters" in shown
    assert "Vous avez approuvé" in phone.send(f"{approval}/approve").text
    back = psu.open(f"{address}/code")
    assert back.status_code == 303 and "code=" in back.headers["Location"] and "state=s" in back.headers["Location"]
    assert phone.open(approval).status_code == 404
    assert tpp.listed("payments")[0]["status"] == "PDNG"


def test_who_refuses_in_the_app_cancels(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    psu.send(f"{address}/method", method="app")
    phone, approval = Psu(app, "nl"), APP.findall(psu.open(f"{address}/code").text)[0]
    phone.open(approval)
    phone.send(f"{approval}/refuse")
    assert "error=access_denied" in psu.open(f"{address}/code").headers["Location"]
    assert tpp.listed("payments")[0]["reason"] == "PSU_REFUSED"


def test_after_its_time_the_app_approves_nothing_and_the_page_offers_another_try(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    psu.send(f"{address}/method", method="app")
    approval = APP.findall(psu.open(f"{address}/code").text)[0]
    phone = Psu(app, "fr")
    phone.open(approval)
    tpp.advance("3m")
    assert phone.send(f"{approval}/approve").status_code == 410
    page = psu.open(f"{address}/code").text
    assert "Le temps est écoulé" in page and "refresh" not in page
    assert APP.findall(psu.send(f"{address}/method", method="app").text)[0] != approval
    assert phone.open(approval).status_code == 404


def test_an_answer_without_the_apps_proof_is_not_ours(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    psu.send(f"{address}/method", method="app")
    approval = APP.findall(psu.open(f"{address}/code").text)[0]
    for proof in ("", "0" * 48):
        assert app.test_client().post(f"{approval}/approve", data={"proof": proof}).status_code == 403
    assert tpp.listed("payments")[0]["status"] == "PATC"


def test_a_refused_method_is_named_with_its_sentence(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    sentence = "Le bénéficiaire est nouveau"
    assert sentence in psu.page.text and 'value="app"' in psu.page.text
    page = psu.send(f"{address}/method", method="biometrics")
    assert page.status_code == 422 and sentence in page.text
    assert psu.send(f"{address}/biometrics").status_code == 422
    assert tpp.listed("payments")[0]["status"] == "PATC"


def test_biometrics_sign_on_the_page(app: Flask, tpp: Tpp) -> None:
    approve(tpp, "card_reader")
    psu, address = at_code(app, tpp, creditor_account__iban=BELGIAN)
    psu.send(f"{address}/method", method="biometrics")
    assert "Poser le doigt" in psu.open(f"{address}/code").text
    back = psu.send(f"{address}/biometrics")
    assert back.status_code == 303 and "code=" in back.headers["Location"]


def test_a_customer_without_other_methods_sees_the_card_reader_alone(app: Flask, tpp: Tpp) -> None:
    psu, _ = at_code(app, tpp, "poor", instructed_amount__amount="1.00")
    assert "Choisir un autre moyen" not in psu.page.text


def test_where_the_bank_has_the_app_alone_its_page_comes_first(app: Flask, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", sca_methods="app")
    psu, address = at_code(app, tpp, "poor", instructed_amount__amount="1.00")
    assert 'value="app"' in psu.page.text and 'name="code"' not in psu.page.text
    assert APP.findall(psu.send(f"{address}/method", method="app").text)
