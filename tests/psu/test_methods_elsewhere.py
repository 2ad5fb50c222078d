"""service 5.7: consents and further signatures take the methods that payments take, on pages and by control."""

import re
from typing import Any

import pytest
from flask import Flask

from sandbox.bank.state import Bank
from sandbox.worlds.registry import WorldRegistry
from tests.payer import approve, begin, cosign, refuse_further
from tests.psu.psu import Psu, address_of, consent_address, problem, title
from tests.psu.test_methods import APP, COMPARE, REFUSED
from tests.tpp import BELGIAN, Tpp, refused

CHANNEL = "/psu/channel/payments"


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


@pytest.fixture
def half_signed(tpp: Tpp) -> str:
    """A payment of the office that waits for griet."""
    begun = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, begun.address, "notaris")
    return begun.id


@pytest.fixture
def griet(app: Flask) -> Psu:
    psu = Psu(app, "nl")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="griet")
    return psu


def at_code(app: Flask, tpp: Tpp, customer: str = "alice") -> tuple[Psu, str]:
    """A browser at the last step of a consent."""
    address, psu = consent_address(tpp), Psu(app, "fr")
    psu.open(f"{address}?state=s")
    psu.send(f"{address}/login", login=customer)
    psu.choose(address, tpp.iban_of(customer))
    psu.open(f"{address}/code")
    return psu, address


def status_of(tpp: Tpp) -> Any:
    return tpp.listed("payments")[0]["status"]


# Consents


def test_the_app_approves_a_consent_and_the_page_leads_back(app: Flask, tpp: Tpp, bank: Bank) -> None:
    psu, address = at_code(app, tpp)
    page = psu.send(f"{address}/method", method="app").text
    phone, approval = Psu(app, "fr"), APP.findall(page)[0]
    shown = phone.open(approval).text
    assert COMPARE.findall(shown) == COMPARE.findall(page)
    assert "BE16 5391 0000 1774" in shown and "Refuser l’autorisation" in shown and "Montant" not in shown
    assert "Vous avez approuvé" in phone.send(f"{approval}/approve").text
    assert "code=" in (back := psu.open(f"{address}/code").headers["Location"]) and "state=s" in back
    assert [consent.customer for consent in bank.consents.values()] == ["alice"]


def test_who_refuses_a_consent_in_the_app_gives_none(app: Flask, tpp: Tpp, bank: Bank) -> None:
    psu, address = at_code(app, tpp)
    approval = APP.findall(psu.send(f"{address}/method", method="app").text)[0]
    phone = Psu(app, "fr")
    phone.open(approval)
    phone.send(f"{approval}/refuse")
    assert "error=access_denied" in psu.open(f"{address}/code").headers["Location"] and not bank.consents


def test_biometrics_give_a_consent_and_at_night_they_do_not(app: Flask, tpp: Tpp, bank: Bank) -> None:
    psu, address = at_code(app, tpp)
    psu.send(f"{address}/method", method="biometrics")
    assert "code=" in psu.send(f"{address}/biometrics").headers["Location"]
    tpp.control("POST", "/clock", set="2027-03-01T23:00:00+01:00")
    psu, address = at_code(app, tpp)
    assert psu.send(f"{address}/biometrics").status_code == 422 and "carte" in psu.page.text
    assert len(bank.consents) == 1


def test_a_consent_is_not_approved_before_accounts_are_chosen(app: Flask, tpp: Tpp) -> None:
    address, psu = consent_address(tpp), Psu(app, "fr")
    psu.open(address)
    psu.send(f"{address}/login", login="alice")
    assert psu.send(f"{address}/method", method="app").status_code == 422
    assert psu.send(f"{address}/biometrics").status_code == 422


def test_where_the_bank_has_the_app_alone_no_code_gives_a_consent(app: Flask, tpp: Tpp, bank: Bank) -> None:
    tpp.control("PATCH", "/settings", sca_methods="app")
    psu, address = at_code(app, tpp)
    assert 'name="code"' not in psu.page.text
    (session,) = bank.sessions.values()
    assert psu.type(address, session.code or "").status_code == 422 and not bank.consents


# Further signatures


def test_the_app_gives_a_further_signature_and_the_page_leads_to_the_list(
    app: Flask, tpp: Tpp, half_signed: str, griet: Psu
) -> None:
    page = griet.open(f"{CHANNEL}/{half_signed}")
    assert 'value="app"' in page.text and 'id="shown"' in page.text and "biometrics" not in page.text
    page = griet.send(f"{CHANNEL}/{half_signed}/method", method="app")
    assert '<meta http-equiv="refresh"' in page.text and 'id="shown"' not in page.text
    phone, approval = Psu(app, "nl"), APP.findall(page.text)[0]
    assert COMPARE.findall(phone.open(approval).text) == COMPARE.findall(page.text)
    phone.send(f"{approval}/approve")
    assert "U hebt ondertekend." in griet.open(griet.open(f"{CHANNEL}/{half_signed}").headers["Location"]).text
    assert status_of(tpp) == "PDNG" and phone.open(approval).status_code == 404


def test_a_further_signer_refuses_in_the_app(app: Flask, tpp: Tpp, half_signed: str, griet: Psu) -> None:
    griet.open(f"{CHANNEL}/{half_signed}")
    phone = Psu(app, "nl")
    approval = APP.findall(griet.send(f"{CHANNEL}/{half_signed}/method", method="app").text)[0]
    phone.open(approval)
    phone.send(f"{approval}/refuse")
    assert "news=refused" in griet.open(f"{CHANNEL}/{half_signed}").headers["Location"]
    assert status_of(tpp) == "CANC"


def test_what_was_sent_to_the_app_is_about_one_payment(app: Flask, tpp: Tpp, half_signed: str, griet: Psu) -> None:
    other = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    approve(tpp, other.address, "notaris")
    griet.open(f"{CHANNEL}/{half_signed}")
    approval = APP.findall(griet.send(f"{CHANNEL}/{half_signed}/method", method="app").text)[0]
    assert not APP.findall(griet.open(f"{CHANNEL}/{other.id}").text)
    newer = APP.findall(griet.send(f"{CHANNEL}/{other.id}/method", method="app").text)[0]
    assert Psu(app).open(approval).status_code == 404 and Psu(app).open(newer).status_code == 200


@pytest.mark.parametrize("method", ("biometrics", "app"))
def test_a_method_that_the_signer_lacks_signs_nothing(tpp: Tpp, half_signed: str, griet: Psu, method: str) -> None:
    tpp.control("PATCH", "/customers/griet", methods=[])
    griet.open(f"{CHANNEL}/{half_signed}")
    assert griet.send(f"{CHANNEL}/{half_signed}/method", method=method).status_code == 422
    assert griet.send(f"{CHANNEL}/{half_signed}/biometrics").status_code == 422
    assert status_of(tpp) == "PATC"


def test_biometrics_give_a_further_signature_to_a_known_beneficiary(tpp: Tpp, half_signed: str, griet: Psu) -> None:
    tpp.control("PATCH", "/customers/griet", methods=["app", "biometrics"])
    griet.open(f"{CHANNEL}/{half_signed}")
    assert griet.send(f"{CHANNEL}/{half_signed}/biometrics").status_code == 422
    assert cosign(tpp, half_signed, "griet").status_code == 200
    other = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"), creditor_account__iban=BELGIAN)
    approve(tpp, other.address, "notaris")
    griet.open(f"{CHANNEL}/{other.id}")
    griet.send(f"{CHANNEL}/{other.id}/method", method="biometrics")
    assert "U hebt ondertekend." in griet.send(f"{CHANNEL}/{other.id}/biometrics").text
    assert status_of(tpp) == "PDNG"


def test_where_the_bank_has_the_app_alone_no_code_signs_further(
    tpp: Tpp, half_signed: str, griet: Psu, bank: Bank
) -> None:
    tpp.control("PATCH", "/settings", sca_methods="app")
    assert 'name="code"' not in griet.open(f"{CHANNEL}/{half_signed}").text
    code = next(session.code for session in bank.sessions.values() if session.customer == "griet")
    assert griet.send(f"{CHANNEL}/{half_signed}", code=code or "").status_code == 422
    assert status_of(tpp) == "PATC"


def test_the_control_takes_a_method_for_a_further_signature(tpp: Tpp, half_signed: str) -> None:
    def sign(method: str) -> Any:
        body = {"payment_id": half_signed, "customer": "griet", "method": method}
        return tpp.http.post("/_sandbox/psu/sign", json=body)

    assert refused(sign("biometrics"), 403, REFUSED, "did not activate")
    assert refused(sign("apps"), 400, "SBX-0400", "did you mean 'app'?")
    assert sign("app").get_json()["status"] == "PDNG"


def test_a_method_that_was_not_chosen_is_asked_for_again(app: Flask, tpp: Tpp, half_signed: str, griet: Psu) -> None:
    griet.open(f"{CHANNEL}/{half_signed}")
    for page in (
        griet.send(f"{CHANNEL}/{half_signed}/method"),
        griet.send(f"{CHANNEL}/{half_signed}/method", method=""),
    ):
        assert (page.status_code, problem(page)) == (422, "Kies hoe u ondertekent.")
    psu, address = at_code(app, tpp)
    page = psu.send(f"{address}/method")
    assert (page.status_code, problem(page)) == (422, "Choisissez comment vous signez.")
    assert status_of(tpp) == "PATC"


def test_a_payment_without_a_chosen_method_is_asked_for_it_again(app: Flask, tpp: Tpp) -> None:
    psu, address = Psu(app, "fr"), address_of(tpp)
    psu.log_in(address, "alice")
    psu.pick(address, f"{tpp.iban_of('alice')} EUR")
    assert problem(psu.send(f"{address}/method")) == "Choisissez comment vous signez."


def test_an_unknown_method_and_a_form_of_somebody_else_are_refused(tpp: Tpp, half_signed: str, griet: Psu) -> None:
    griet.open(f"{CHANNEL}/{half_signed}")
    assert griet.send(f"{CHANNEL}/{half_signed}/method", method="stamp").status_code == 404
    griet.open(f"{CHANNEL}/{half_signed}")
    for step in ("method", "biometrics"):
        assert griet.send(f"{CHANNEL}/{half_signed}/{step}", proof="0" * 48, method="app").status_code == 403
    assert status_of(tpp) == "PATC"


def test_a_page_that_waits_for_the_app_leads_on_when_the_signer_refuses_elsewhere(
    tpp: Tpp, half_signed: str, griet: Psu
) -> None:
    griet.open(f"{CHANNEL}/{half_signed}")
    griet.send(f"{CHANNEL}/{half_signed}/method", method="app")
    assert griet.open(f"{CHANNEL}/{half_signed}").status_code == 200
    refuse_further(tpp, half_signed, "griet")
    assert "news=refused" in griet.open(f"{CHANNEL}/{half_signed}").headers["Location"]


def test_who_logs_in_after_another_finds_nothing_of_what_the_other_sent_to_the_app(app: Flask, tpp: Tpp) -> None:
    psu, address = at_code(app, tpp)
    approval = APP.findall(psu.send(f"{address}/method", method="app").text)[0]
    psu.send(f"{address}/login", login="poor")
    psu.choose(address, tpp.iban_of("poor"))
    page = psu.open(f"{address}/code").text
    assert 'id="shown"' in page and "compare" not in page
    assert Psu(app).open(approval).status_code == 404


# Customers who blocked their channel


def test_a_blocked_customer_does_not_log_in_to_the_channel(app: Flask) -> None:
    psu = Psu(app, "nl")
    psu.open("/psu/channel")
    page = psu.send("/psu/channel/login", login="blocked")
    assert page.status_code == 422 and "geblokkeerd" in page.text and title(page) == "Meld u aan"
    assert "Zichtrekening" not in psu.open("/psu/channel").text


def test_who_blocks_the_channel_while_there_sees_and_does_nothing_more(
    tpp: Tpp, half_signed: str, griet: Psu, bank: Bank
) -> None:
    page = griet.open(f"{CHANNEL}/{half_signed}").text
    tpp.control("PATCH", "/customers/griet", channel_blocked=True)
    for path in ("", "/method", "/biometrics", "/refuse", "/cancel"):
        reply = griet.send(f"{CHANNEL}/{half_signed}{path}", code="123456", method="app", proof=_proof(page))
        assert reply.status_code == 422 and "geblokkeerd" in reply.text, path
    assert griet.open(f"{CHANNEL}/{half_signed}").status_code == 403
    assert "Zichtrekening" not in griet.open("/psu/channel").text
    assert refused(cosign(tpp, half_signed, "griet"), 403, "B14800ZZ-3007-000000")
    assert status_of(tpp) == "PATC"
    tpp.control("PATCH", "/customers/griet", channel_blocked=False)
    assert half_signed in griet.open("/psu/channel").text


def _proof(page: str) -> str:
    found = re.search(r'name="proof" value="([0-9a-f]+)"', page)
    assert found
    return found[1]
