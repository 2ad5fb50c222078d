"""The PSU's own channel: further signatures (service 1)."""

import pytest
from flask import Flask

from tests.psu.psu import Psu, address_of, problem, shown, title, wrong
from tests.tpp import Tpp

OFFICE = "BE06539100006222 EUR"


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


@pytest.fixture
def waiting(app: Flask, tpp: Tpp) -> str:
    """The page of a payment that the office's first signer signed."""
    Psu(app).sign(address_of(tpp, instructed_amount__amount="750.00"), "notaris", OFFICE)
    return f"/psu/channel/payments/{tpp.listed('payments')[0]['payment_id']}"


def status_of(tpp: Tpp) -> str:
    return str(tpp.listed("payments")[0]["status"])


def enter(psu: Psu, customer: str, query: str = "") -> str:
    psu.open(f"/psu/channel{query}")
    return psu.send(f"/psu/channel/login{query}", login=customer).text


def test_the_first_signer_hears_that_more_signatures_follow(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(address, "notaris")
    assert "Ce compte requiert deux signatures." in psu.pick(address, OFFICE).text


@pytest.mark.parametrize("query, heading", [("?lang=fr", "Votre espace bancaire"), ("?lang=nl", "Uw bankomgeving")])
def test_the_second_signer_signs_in_the_channel(query: str, heading: str, waiting: str, tpp: Tpp, psu: Psu) -> None:
    assert status_of(tpp) == "PATC"
    assert waiting in enter(psu, "griet", query) and title(psu.page) == heading
    page = psu.open(waiting + query)
    assert "Jan Peeters" in page.text and "Notariskantoor Van Hoevelaer" in page.text
    page = psu.send(waiting + query, code=shown(page))
    assert title(page) == heading and 'role="status"' in page.text and waiting not in page.text
    assert status_of(tpp) == "PDNG"


NO = {
    "?lang=fr": ("Refuser le virement", "L’opération est annulée et rien n’est débité."),
    "?lang=nl": ("De overschrijving weigeren", "De verrichting is geannuleerd en er wordt niets gedebiteerd."),
}


@pytest.mark.parametrize("query", NO)
def test_the_second_signer_refuses_in_the_channel(query: str, waiting: str, tpp: Tpp, psu: Psu) -> None:
    button, news = NO[query]
    enter(psu, "griet", query)
    assert button in psu.open(waiting + query).text
    page = psu.send(f"{waiting}/refuse{query}")
    assert news in page.text and 'role="status"' in page.text and waiting not in page.text
    assert (status_of(tpp), tpp.listed("payments")[0]["reason"]) == ("CANC", "PSU_REFUSED")
    assert psu.open(waiting).status_code == 404


@pytest.mark.parametrize("customer", ["notaris", "alice"])
def test_nobody_else_refuses_it(customer: str, waiting: str, tpp: Tpp, psu: Psu) -> None:
    enter(psu, customer)
    assert psu.send(f"{waiting}/refuse").status_code == 404
    assert status_of(tpp) == "PATC"


def test_it_is_not_refused_before_logging_in(waiting: str, tpp: Tpp, psu: Psu) -> None:
    assert psu.http.post(f"{waiting}/refuse").status_code == 403
    psu.open("/psu/channel")
    assert psu.send(f"{waiting}/refuse").status_code == 404
    assert status_of(tpp) == "PATC"


def test_what_was_signed_meanwhile_is_not_refused(waiting: str, tpp: Tpp, psu: Psu) -> None:
    enter(psu, "griet", "?lang=fr")
    psu.open(f"{waiting}?lang=fr")
    tpp.control("POST", "/psu/sign", payment_id=waiting.rpartition("/")[2], customer="griet")
    assert problem(psu.send(f"{waiting}/refuse?lang=fr")) == "Cette opération n’attend plus de signature."
    assert status_of(tpp) == "PDNG"


@pytest.mark.parametrize("customer", ["notaris", "alice"])
def test_nobody_else_sees_it(customer: str, waiting: str, psu: Psu) -> None:
    assert "Vous n’avez rien à signer." in enter(psu, customer, "?lang=fr")
    assert psu.open(waiting).status_code == 404


@pytest.mark.parametrize(
    "language, told",
    [
        ("fr", "Vous n’avez rien à signer."),
        ("nl", "U hebt niets te ondertekenen."),
        ("en", "You have nothing to sign."),
    ],
)
def test_a_customer_with_nothing_to_sign_reads_so(language: str, told: str, psu: Psu, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", screens_in_english="on")
    assert told in enter(psu, "alice", f"?lang={language}")


def test_it_is_not_seen_before_logging_in(waiting: str, psu: Psu) -> None:
    assert psu.open(waiting).status_code == 403
    psu.open("/psu/channel")
    assert psu.open(waiting).status_code == 404


def test_a_wrong_code_leaves_it_waiting_and_the_third_ends_the_session(waiting: str, tpp: Tpp, psu: Psu) -> None:
    enter(psu, "griet", "?lang=fr")
    code = shown(psu.open(f"{waiting}?lang=fr"))
    assert problem(psu.send(f"{waiting}?lang=fr", code="12")).startswith("Introduisez les six chiffres")
    assert "2 essais" in problem(psu.send(f"{waiting}?lang=fr", code=wrong(code)))
    assert "un seul essai" in problem(psu.send(f"{waiting}?lang=fr", code=wrong(code)))
    page = psu.send(f"{waiting}?lang=fr", code=wrong(code))
    assert title(page) == "Identifiez-vous" and "Trois codes erronés" in problem(page)
    assert (psu.open(waiting).status_code, status_of(tpp)) == (404, "PATC")
    assert waiting in enter(psu, "griet")


def test_each_signature_has_a_code_of_its_own(app: Flask, waiting: str, tpp: Tpp, psu: Psu) -> None:
    Psu(app).sign(address_of(tpp), "notaris", OFFICE)
    enter(psu, "griet")
    first = shown(psu.open(waiting))
    psu.send(waiting, code=first)
    other = f"/psu/channel/payments/{tpp.listed('payments')[1]['payment_id']}"
    assert shown(psu.open(other)) != first


def test_what_was_signed_meanwhile_no_longer_waits(waiting: str, tpp: Tpp, psu: Psu) -> None:
    enter(psu, "griet", "?lang=fr")
    code = shown(psu.open(f"{waiting}?lang=fr"))
    tpp.control("POST", "/psu/sign", payment_id=waiting.rpartition("/")[2], customer="griet")
    assert problem(psu.send(f"{waiting}?lang=fr", code=code)) == "Cette opération n’attend plus de signature."


def test_after_logging_out_one_logs_in_again(psu: Psu) -> None:
    enter(psu, "griet", "?lang=fr")
    assert title(psu.send("/psu/channel/leave?lang=fr")) == "Identifiez-vous"


@pytest.mark.parametrize("customer", ["", "nobody"])
def test_a_customer_must_be_chosen_from_the_list(customer: str, psu: Psu) -> None:
    psu.open("/psu/channel")
    page = psu.send("/psu/channel/login", login=customer)
    assert page.status_code == 422 and problem(page)


def test_a_form_of_another_session_is_refused(app: Flask, waiting: str, psu: Psu) -> None:
    enter(psu, "griet")
    code = shown(psu.open(waiting))
    foreign = Psu(app)
    enter(foreign, "griet")
    foreign.open(waiting)
    for path in (waiting, f"{waiting}/refuse", "/psu/channel/login", "/psu/channel/leave"):
        assert psu.http.post(path, data={"code": code, "login": "griet"}).status_code == 403
        assert foreign.send(path, proof="0" * 48, code=code, login="griet").status_code == 403
        foreign.open(waiting)


def test_the_customer_whose_turn_it_is_is_chosen_already(waiting: str, tpp: Tpp, psu: Psu) -> None:
    assert 'value="griet" checked' in psu.open("/psu/channel").text
    tpp.control("POST", "/psu/sign", payment_id=waiting.rpartition("/")[2], customer="griet")
    assert " checked" not in psu.open("/psu/channel").text
