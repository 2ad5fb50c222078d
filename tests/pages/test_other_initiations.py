"""Standing orders and files come to the same address, in words of their own (service 2.2, 2.3, 4.6)."""

from typing import Any

import pytest
from flask import Flask

from tests.pages.psu import HOST, Psu, problem, title
from tests.tpp import BELGIAN, SCT, Tpp, version

ALICE, OFFICE = "BE16539100001774 EUR", "BE06539100006222 EUR"
CSV = (
    "debtor_iban,requested_execution_date,creditor_name,creditor_iban,creditor_bic,amount,currency,"
    "endtoend_identification,remittance_structured,remittance_unstructured\n"
    f"BE63539100004808,2027-03-02,<b>Jan</b>,{BELGIAN},,1200.50,EUR,A-1,,\n"
    f"BE63539100004808,2027-03-02,Piet,{BELGIAN},,34.30,EUR,A-2,,\n"
)


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def standing_order(tpp: Tpp, language: str = "fr", **changes: Any) -> str:
    body = {
        "creditor_account": {"iban": BELGIAN},
        "creditor_name": "Jan Peeters",
        "endtoend_identification": "RENT-1",
        "instructed_amount": {"amount": "650.00", "currency": "EUR"},
        "start_date": "2027-03-08",
        "frequency": "MONTHLY",
        **changes,
    }
    reply = tpp.call("POST", f"/periodic-payments/{SCT}", json=body, accept=version(2), accept_language=language)
    assert reply.status_code == 201, reply.text
    return reply.headers["Location"].removeprefix(HOST)


def file_address(tpp: Tpp, language: str = "nl") -> str:
    reply = tpp.call(
        "POST", "/bulk-payments/csv", data=CSV, accept=version(2), accept_language=language, content_type="text/csv"
    )
    assert reply.status_code == 201, reply.text
    tpp.advance("120s")
    path = f"/bulk-payments/csv/{reply.json['payment_file_id']}/status"
    found = tpp.call("GET", path, accept=version(2), accept_language=language).json
    return str(found["_links"]["sca_redirect"]["href"]).removeprefix(HOST)


def test_a_standing_order_is_read_and_signed(tpp: Tpp, psu: Psu) -> None:
    address = standing_order(tpp)
    psu.log_in(f"{address}?state=s", "alice")
    page = psu.pick(address, ALICE)
    assert title(page) == "Vérifiez l’ordre permanent"
    for text in ("650,00\xa0€", "Chaque mois", "lundi 8 mars 2027", "RENT-1", "Refuser l’ordre permanent"):
        assert text in page.text
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert "code=" in callback and callback.endswith("state=s")


def test_a_standing_order_cannot_leave_an_account_of_two_signatures(tpp: Tpp, psu: Psu) -> None:
    address = standing_order(tpp, "nl")
    psu.log_in(address, "notaris")
    why = "Een doorlopende opdracht kan niet vanaf een rekening die twee handtekeningen vraagt."
    assert problem(psu.pick(address, OFFICE)) == why


def test_a_file_is_read_and_signed(tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp)
    page = psu.log_in(address, "bakkerij")
    assert title(page) == "Controleer het bestand met overschrijvingen"
    for text in ("€\xa01.234,80", "BE63 5391 0000 4808", "dinsdag 2 maart 2027", "Stap 2 van 3"):
        assert text in page.text
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert "code=" not in callback and "error" not in callback


def test_a_file_of_somebody_else_is_not_for_this_customer_to_sign(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(file_address(tpp, "fr"), "alice")
    assert problem(page) == "Vous n’êtes pas autorisé à signer pour ce compte."
    assert "Refuser le fichier" in page.text
