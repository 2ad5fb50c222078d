"""service 1, 4.6 rule 3, 6.1, choice 5: signing at the address, further signatures in the channel, the callback."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from flask import Flask

from sandbox.contract.decisions import Decisions
from sandbox.worlds.registry import WorldRegistry
from tests.payer import approve, bearer, begin, callback, code_form, cosign, post_form, refuse, signed, status, tokens
from tests.spec.bodies import ALICE
from tests.tpp import CALLBACK, ISCT, SCT, XB, Tpp, refused

OWN_QUERY = "http://127.0.0.1:9000/back?shop=7&lang=fr"


# The address


@pytest.mark.parametrize("verb", (approve, refuse), ids=("approve", "refuse"))
@pytest.mark.parametrize("waits, holds", [("4m59s", True), ("4m59.999s", True), ("5m", False), ("59m", False)])
def test_an_address_lives_five_minutes(tpp: Tpp, verb: Any, waits: str, holds: bool) -> None:
    begun = begin(tpp, debtor_account__iban=ALICE)
    tpp.advance(waits)
    reply = verb(tpp, begun.address)
    assert reply.status_code == 200 if holds else refused(reply, 410, "SBX-0410-000001")
    assert holds or status(tpp, begun) == "PATC"


def test_an_address_that_is_over_says_so_rather_than_that_it_is_outdated(tpp: Tpp) -> None:
    begun = signed(tpp)
    tpp.advance("6m")
    for verb in (approve, refuse):
        assert refused(verb(tpp, begun.address), 409, "SBX-0409-000003", "ACSC")


def test_the_life_of_an_address_is_a_setting(worlds: WorldRegistry, app: Flask) -> None:
    settings = Decisions(sca_address_life=timedelta(minutes=1))
    worlds.make("short", replace(worlds.beginning, settings=settings))
    tpp = Tpp(app, "short")
    begun = begin(tpp, debtor_account__iban=ALICE)
    tpp.advance("60s")
    assert refused(approve(tpp, begun.address), 410, "SBX-0410-000001")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
def test_a_payment_is_signed_once(tpp: Tpp, product: str) -> None:
    begun = signed(tpp, product)
    before = status(tpp, begun)
    assert refused(approve(tpp, begun.address, "alice"), 409, "SBX-0409-000003", before)
    assert status(tpp, begun) == before


@pytest.mark.parametrize("address", ("http://127.0.0.1:8080/psu/sign/none", "none", "/", "http://[", "x" * 5000))
def test_an_address_that_never_was_is_refused(tpp: Tpp, address: str) -> None:
    for verb in (approve, refuse):
        assert verb(tpp, address).status_code in (400, 404)


def test_an_address_of_another_world_is_not_found(tpp: Tpp, app: Flask) -> None:
    assert refused(approve(Tpp(app, "beside"), begin(tpp).address, "alice"), 404, "SBX-0404")


# The callback


def test_the_callback_has_a_code_alone_where_the_tpp_gave_no_state(tpp: Tpp) -> None:
    reply = approve(tpp, begin(tpp).address, "alice")
    assert set(callback(reply)) == {"code"}
    assert reply.get_json()["redirect"].startswith(f"{CALLBACK}?code=")


@pytest.mark.parametrize("state", ("s-1", "", "a b&c=d", "é/ü?#%", "x" * 500))
@pytest.mark.parametrize("mark", ("?state=", "?colour=red&state="))
def test_the_state_comes_back_as_it_was(tpp: Tpp, state: str, mark: str) -> None:
    found = callback(approve(tpp, begin(tpp).address + mark + quote(state, safe=""), "alice"))
    assert found["state"] == state and set(found) == {"code", "state"}


def test_its_own_query_is_kept(tpp: Tpp) -> None:
    begun = begin(tpp, headers={"redirect_uri": OWN_QUERY})
    reply = approve(tpp, f"{begun.address}?state=s", "alice")
    assert reply.get_json()["redirect"].startswith(f"{OWN_QUERY}&code=")
    found = callback(reply)
    assert (found["shop"], found["lang"], found["state"]) == ("7", "fr", "s")
    assert post_form(tpp, code_form(found["code"], redirect_uri=OWN_QUERY)).status_code == 200


def test_no_code_comes_where_a_token_was_used(tpp: Tpp) -> None:
    begun = begin(tpp, headers={"authorization": bearer(tokens(tpp)), "redirect_uri": OWN_QUERY})
    assert callback(approve(tpp, f"{begun.address}?state=s")) == {"shop": "7", "lang": "fr", "state": "s"}


@pytest.mark.parametrize("with_token", (False, True))
def test_after_a_refusal_it_says_access_denied(tpp: Tpp, with_token: bool) -> None:
    token = {"authorization": bearer(tokens(tpp))} if with_token else {}
    begun = begin(tpp, headers={"redirect_uri": OWN_QUERY, **token})
    found = callback(refuse(tpp, f"{begun.address}?state=s"))
    assert found.pop("error_description")
    assert found == {"shop": "7", "lang": "fr", "error": "access_denied", "state": "s"}


def test_after_a_refusal_without_state_there_is_none(tpp: Tpp) -> None:
    assert set(callback(refuse(tpp, begin(tpp).address))) == {"error", "error_description"}


def test_the_callback_leads_where_the_initiation_said(tpp: Tpp) -> None:
    begun = begin(tpp, headers={"redirect_uri": "https://tpp.example/callback"})
    parts = urlsplit(approve(tpp, begun.address, "alice").get_json()["redirect"])
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "tpp.example", "/callback")


# Two signatures


@pytest.fixture
def office(tpp: Tpp) -> str:
    """The account that needs two signatures."""
    return tpp.iban_of("notaris")


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("first, second", [("notaris", "griet"), ("griet", "notaris")])
def test_until_the_last_signature_the_status_stays_PATC(
    tpp: Tpp, office: str, product: str, first: str, second: str
) -> None:
    begun = begin(tpp, product, debtor_account__iban=office)
    assert "code" in callback(approve(tpp, begun.address, first))
    assert status(tpp, begun) == "PATC"
    tpp.advance("10m")
    assert status(tpp, begun) == "PATC"
    signed_at_last = "ACSP" if product == ISCT else "PDNG"
    reply = cosign(tpp, begun.id, second)
    assert (reply.status_code, reply.json) == (200, {"payment_id": begun.id, "status": signed_at_last})
    assert refused(cosign(tpp, begun.id, second), 409, "SBX-0409-000003", signed_at_last)


def test_the_same_signer_twice_is_refused(tpp: Tpp, office: str) -> None:
    begun = begin(tpp, debtor_account__iban=office)
    approve(tpp, begun.address, "notaris")
    assert refused(cosign(tpp, begun.id, "notaris"), 403, "B14800ZZ-3004-000000")
    assert status(tpp, begun) == "PATC"
    assert cosign(tpp, begun.id, "griet").status_code == 200


def test_someone_without_a_signature_on_the_account_is_refused(tpp: Tpp, office: str) -> None:
    begun = begin(tpp, debtor_account__iban=office)
    assert refused(approve(tpp, begun.address, "alice"), 403, "B14800ZZ-3004-000000")
    approve(tpp, begun.address)
    assert refused(cosign(tpp, begun.id, "alice"), 403, "B14800ZZ-3004-000000")
    assert refused(cosign(tpp, begun.id, "nobody"), 400, "SBX-0400-000001", "customer")
    assert status(tpp, begun) == "PATC"


def test_the_first_signature_is_given_at_the_address_and_the_second_is_not(tpp: Tpp, office: str) -> None:
    begun = begin(tpp, debtor_account__iban=office)
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409-000003", "RCVD")
    tpp.advance("1s")
    assert refused(cosign(tpp, begun.id, "griet"), 409, "SBX-0409-000003", "PATC")
    approve(tpp, begun.address, "notaris")
    for verb in (approve, refuse):
        assert refused(verb(tpp, begun.address), 409, "SBX-0409-000003", "PATC")
    assert cosign(tpp, begun.id, "griet").status_code == 200


def test_a_payment_of_one_signature_takes_no_further_one(tpp: Tpp) -> None:
    assert refused(cosign(tpp, signed(tpp).id, "alice"), 409, "SBX-0409-000003")
    assert refused(cosign(tpp, "none", "alice"), 404, "SBX-0404-000001")


def test_the_account_that_the_psu_picks_tells_how_many_sign(tpp: Tpp, office: str) -> None:
    begun = begin(tpp)
    approve(tpp, begun.address, "notaris", account=office)
    assert status(tpp, begun) == "PATC"
    assert cosign(tpp, begun.id, "griet").get_json()["status"] == "PDNG"


def test_an_address_that_died_takes_no_first_signature_but_the_channel_takes_the_second(tpp: Tpp, office: str) -> None:
    signed_once, unsigned = (begin(tpp, debtor_account__iban=office) for _ in range(2))
    approve(tpp, signed_once.address)
    tpp.advance("5m")
    assert refused(approve(tpp, unsigned.address), 410, "SBX-0410-000001")
    assert cosign(tpp, signed_once.id, "griet").status_code == 200
