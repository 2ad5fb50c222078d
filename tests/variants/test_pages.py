"""What the axes change on the bank's pages, as a PSU's browser sees them."""

from typing import Any

import pytest
from flask import Flask

from tests.psu.psu import Psu, address_of, consent_address, problem
from tests.spec.bodies import ALICE, LIMITED, POOR
from tests.tpp import Tpp

DEAR: dict[str, Any] = {"instructed_amount": {"amount": "900.00", "currency": "EUR"}}


def varied(tpp: Tpp, **values: str) -> None:
    assert tpp.control("PATCH", "/settings", variants=values).status_code == 200


def only_payment(tpp: Tpp) -> tuple[str, str | None]:
    (row,) = tpp.listed("payments")
    return row["status"], row["reason"]


def test_a_refusal_without_a_callback_ends_on_the_banks_page(app: Flask, tpp: Tpp) -> None:
    varied(tpp, refusal_callback="none")
    psu = Psu(app)
    for address in (address_of(tpp), consent_address(tpp)):
        psu.log_in(address, "alice")
        page = psu.refuse(address)
        assert page.status_code == 200 and "Location" not in page.headers
        assert "error=" not in page.text and "<h1>" in page.text
    assert only_payment(tpp) == ("CANC", "PSU_REFUSED")


@pytest.mark.parametrize("decided, sent_back", [("choose_again", None), ("callback", "error="), ("RJCT", "code=")])
def test_a_picked_account_without_funds(app: Flask, tpp: Tpp, decided: str, sent_back: str | None) -> None:
    varied(tpp, funds_missing_after_pick=decided)
    psu, address = Psu(app), address_of(tpp, **DEAR)
    psu.log_in(address, "poor")
    page = psu.pick(address, f"{POOR} EUR")
    if sent_back is None:
        assert page.status_code == 422 and problem(page)
        return
    assert page.status_code == 200
    reply = psu.type(address, psu.read_code(address))
    assert reply.status_code == 303 and sent_back in reply.headers["Location"]
    assert only_payment(tpp) == ({"callback": "CANC", "RJCT": "RJCT"}[decided], "AM04")


def test_a_limit_may_be_told_by_the_callback_alone(app: Flask, tpp: Tpp) -> None:
    varied(tpp, profile_refusal="callback")
    psu, address = Psu(app), address_of(tpp, debtor_account={"iban": LIMITED}, **DEAR)
    assert psu.log_in(address, "limited").status_code == 200
    reply = psu.type(address, psu.read_code(address))
    assert reply.status_code == 303 and "error=access_denied" in reply.headers["Location"]
    assert only_payment(tpp) == ("CANC", "AG01")


@pytest.mark.parametrize("decided, status, times", [("never", 200, 0), ("twice", 200, 2), ("late", 303, 0)])
def test_a_browser_comes_to_the_callback_as_the_axis_says(
    app: Flask, tpp: Tpp, decided: str, status: int, times: int
) -> None:
    varied(tpp, callback_arrival=decided)
    psu, address = Psu(app), address_of(tpp, debtor_account={"iban": ALICE})
    psu.log_in(address, "alice")
    page = psu.type(address, psu.read_code(address))
    assert (page.status_code, page.text.count("callback?code=")) == (status, times)
