"""service 4.1: Authorization and PKCE of an initiation."""

from typing import Any

import pytest

from tests.spec.bodies import ALICE, BRAM
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

PRODUCTS = (SCT, ISCT, XB)
NO_PKCE: dict[str, Any] = {"code_challenge": None, "code_challenge_method": None}


@pytest.fixture
def alices(tpp: Tpp) -> str:
    """A token that speaks for alice."""
    return tpp.token_for("alice")


@pytest.mark.parametrize("product", PRODUCTS)
def test_with_a_token_no_pkce_header_is_needed(tpp: Tpp, alices: str, product: str) -> None:
    assert tpp.initiate(product, authorization=f"Bearer {alices}", **NO_PKCE).status_code == 201


def test_with_a_token_the_pkce_headers_are_ignored(tpp: Tpp, alices: str) -> None:
    bad: dict[str, Any] = {"code_challenge": "short", "code_challenge_method": "S512"}
    assert tpp.initiate(authorization=f"Bearer {alices}", **bad).status_code == 201


def test_with_a_token_the_callback_gets_no_code(tpp: Tpp, alices: str) -> None:
    address = tpp.initiate(authorization=f"Bearer {alices}", **NO_PKCE).headers["Location"]
    callback = tpp.control("POST", "/psu/approve", address=f"{address}?state=s1").get_json()["redirect"]
    assert "state=s1" in callback
    assert "code=" not in callback


def test_without_a_token_the_callback_gets_a_code(tpp: Tpp) -> None:
    address = tpp.initiate().headers["Location"]
    reply = tpp.control("POST", "/psu/approve", address=f"{address}?state=s1", customer="alice")
    assert "code=" in reply.get_json()["redirect"]
    assert "state=s1" in reply.get_json()["redirect"]


def test_a_token_of_another_client_is_refused(other: Tpp, alices: str) -> None:
    assert refused(other.initiate(authorization=f"Bearer {alices}"), 401, "GEN-1203-100003", "'Authorization'")


def test_a_token_is_refused_after_its_hour(tpp: Tpp, alices: str) -> None:
    tpp.advance("59m59s")
    assert tpp.initiate(authorization=f"Bearer {alices}").status_code == 201
    tpp.advance("1s")
    assert refused(tpp.initiate(authorization=f"Bearer {alices}"), 401, "GEN-1203-100003", "'Authorization'")


def test_a_token_speaks_for_its_own_customer_only(tpp: Tpp, alices: str) -> None:
    own, foreign = (payment(debtor_account={"iban": iban}) for iban in (ALICE, BRAM))
    assert tpp.initiate(body=own, authorization=f"Bearer {alices}").status_code == 201
    assert refused(tpp.initiate(body=foreign, authorization=f"Bearer {alices}"), 403, "B14800ZZ-3004-000000")
