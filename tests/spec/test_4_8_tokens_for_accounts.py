"""service 3.5, 4.8, choice 2 and 8: tokens of payments, what they open, and every way in which they are refused."""

from typing import Any

import pytest
from flask import Flask

from tests.payer import (
    a_code,
    approve,
    bearer,
    begin,
    callback,
    code_form,
    post_form,
    refresh_form,
    refreshed,
    tokens,
)
from tests.tpp import CALLBACK, CHALLENGE, SCT, VERIFIER, Tpp, payment, refused, version

PLAIN = "a-plain-challenge.of_32~characters"
CODE = "GEN-1203-100008"
TOKEN = "GEN-1203-100003"
REFRESH = "GEN-1203-100004"
BAD = "GEN-1202-100002"


def opens(tpp: Tpp, access_token: str) -> bool:
    """Whether an initiation is taken with that token."""
    reply = tpp.initiate(authorization=f"Bearer {access_token}")
    return reply.status_code == 201 or not refused(reply, 401, TOKEN, "Authorization")


# The exchange


@pytest.mark.parametrize("number", (2, 3))
def test_a_code_is_exchanged_for_a_pair(tpp: Tpp, number: int) -> None:
    reply = post_form(tpp, code_form(a_code(tpp)), accept=version(number))
    assert reply.status_code == 200
    found = reply.get_json()
    assert set(found) == {"access_token", "refresh_token", "token_type", "expires_in", "scope", "sca_token"}
    assert (found["token_type"], found["expires_in"], found["scope"]) == ("Bearer", 3600, "PIS")
    assert len({found[name] for name in ("access_token", "refresh_token", "sca_token")}) == 3
    assert opens(tpp, found["access_token"])


def test_nobody_on_the_way_keeps_the_reply(tpp: Tpp) -> None:
    first = post_form(tpp, code_form(a_code(tpp)))
    for headers in (first.headers, post_form(tpp, refresh_form(first.get_json()["refresh_token"])).headers):
        assert (headers["Cache-Control"], headers["Pragma"]) == ("no-store", "no-cache")
        assert headers["Content-Type"] == "application/json;charset=utf-8"


@pytest.mark.parametrize(
    "method, challenge, verifier",
    [("S256", CHALLENGE, VERIFIER), ("plain", PLAIN, PLAIN), ("plain", "x" * 128, "x" * 128)],
)
def test_the_proof_of_key_holds(tpp: Tpp, method: str, challenge: str, verifier: str) -> None:
    code = a_code(tpp, code_challenge_method=method, code_challenge=challenge)
    assert post_form(tpp, code_form(code, code_verifier=verifier)).status_code == 200


@pytest.mark.parametrize(
    "method, challenge, verifier",
    [
        ("S256", CHALLENGE, CHALLENGE),  # as if it were plain
        ("S256", CHALLENGE, "x" * 43),
        ("S256", CHALLENGE, VERIFIER[:-1]),
        ("S256", CHALLENGE, VERIFIER + "é"),
        ("plain", PLAIN, PLAIN.upper()),
        ("plain", PLAIN, PLAIN + "x"),
        ("plain", CHALLENGE, VERIFIER),  # as if it were S256
    ],
)
def test_a_proof_that_does_not_hold_is_refused_and_the_code_lives_on(
    tpp: Tpp, method: str, challenge: str, verifier: str
) -> None:
    code = a_code(tpp, code_challenge_method=method, code_challenge=challenge)
    assert refused(post_form(tpp, code_form(code, code_verifier=verifier)), 401, CODE, "code_verifier")
    right = VERIFIER if method == "S256" else challenge
    assert post_form(tpp, code_form(code, code_verifier=right)).status_code == 200


@pytest.mark.parametrize("uri", (CALLBACK + "/", "http://127.0.0.1:9001/callback", CALLBACK + "?a=1", "x"))
def test_the_callback_must_be_that_of_the_initiation(tpp: Tpp, uri: str) -> None:
    code = a_code(tpp)
    assert refused(post_form(tpp, code_form(code, redirect_uri=uri)), 401, CODE, "redirect_uri")
    assert post_form(tpp, code_form(code)).status_code == 200


def test_a_code_that_is_unknown_or_of_another_client_is_refused(tpp: Tpp, other: Tpp, app: Flask) -> None:
    code = a_code(tpp)
    assert refused(post_form(tpp, code_form("none")), 401, CODE, "'code'")
    assert refused(post_form(other, code_form(code)), 401, CODE, "'code'")
    assert refused(post_form(Tpp(app, "beside"), code_form(code)), 401, CODE, "'code'")
    assert post_form(tpp, code_form(code)).status_code == 200


@pytest.mark.parametrize("waits, holds", [("9m59s", True), ("10m", False), ("11m", False)])
def test_a_code_lives_ten_minutes(tpp: Tpp, waits: str, holds: bool) -> None:
    code = a_code(tpp)
    tpp.advance(waits)
    reply = post_form(tpp, code_form(code))
    assert reply.status_code == 200 if holds else refused(reply, 401, CODE, "'code'")


def test_a_code_used_twice_is_refused_and_kills_the_pair_that_it_gave(tpp: Tpp) -> None:
    code = a_code(tpp)
    pair = post_form(tpp, code_form(code)).get_json()
    assert opens(tpp, pair["access_token"])
    assert refused(post_form(tpp, code_form(code)), 401, CODE, "'code'")
    assert not opens(tpp, pair["access_token"])
    assert refused(post_form(tpp, refresh_form(pair["refresh_token"])), 401, REFRESH, "refresh_token")


def test_it_kills_the_pair_also_after_that_was_refreshed(tpp: Tpp) -> None:
    code = a_code(tpp)
    pair = refreshed(tpp, post_form(tpp, code_form(code)).get_json())
    tpp.advance("30m")  # a dead code kills too
    assert refused(post_form(tpp, code_form(code)), 401, CODE)
    assert not opens(tpp, pair["access_token"])
    assert refused(post_form(tpp, refresh_form(pair["refresh_token"])), 401, REFRESH)


def test_it_kills_no_pair_of_a_later_code(tpp: Tpp) -> None:
    first, second = a_code(tpp), a_code(tpp)
    post_form(tpp, code_form(first))
    pair = post_form(tpp, code_form(second)).get_json()
    assert refused(post_form(tpp, code_form(first)), 401, CODE)
    assert opens(tpp, pair["access_token"])


# One pair per client, PSU and scope


def test_a_new_pair_replaces_the_old_one_of_the_same_client_and_psu(tpp: Tpp) -> None:
    old, new = tokens(tpp), tokens(tpp)
    assert not opens(tpp, old["access_token"])
    assert refused(post_form(tpp, refresh_form(old["refresh_token"])), 401, REFRESH)
    assert opens(tpp, new["access_token"])


def test_pairs_of_other_psus_clients_and_scopes_stand_beside_it(tpp: Tpp, other: Tpp) -> None:
    mine, bram, theirs = tokens(tpp), tokens(tpp, "bram"), tokens(other)
    (entry,) = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()
    consented = post_form(tpp, code_form(callback(approve(tpp, entry["consent_uri"], "alice"))["code"])).get_json()
    assert (consented["scope"], opens(tpp, mine["access_token"])) == ("AIS", True)
    assert opens(tpp, bram["access_token"]) and opens(other, theirs["access_token"])


def test_a_refresh_gives_another_pair_and_ends_the_first(tpp: Tpp) -> None:
    old = tokens(tpp)
    reply = post_form(tpp, refresh_form(old["refresh_token"]))
    new = reply.get_json()
    assert set(new) == {"access_token", "refresh_token", "token_type", "expires_in", "scope"}
    assert {old["access_token"], old["refresh_token"]}.isdisjoint({new["access_token"], new["refresh_token"]})
    assert opens(tpp, new["access_token"]) and not opens(tpp, old["access_token"])
    assert refused(post_form(tpp, refresh_form(old["refresh_token"])), 401, REFRESH, "refresh_token")
    assert opens(tpp, refreshed(tpp, new)["access_token"])


@pytest.mark.parametrize("number", (2, 3))
def test_a_refresh_may_name_the_scope_that_was_granted(tpp: Tpp, number: int) -> None:
    form = refresh_form(tokens(tpp)["refresh_token"], scope="PIS")
    assert post_form(tpp, form, accept=version(number)).get_json()["scope"] == "PIS"


@pytest.mark.parametrize("scope", ("AIS", "CAF", "PIS AIS", "pis", "x"))
def test_a_wider_scope_is_refused_and_the_pair_lives_on(tpp: Tpp, scope: str) -> None:
    pair = tokens(tpp)
    assert refused(post_form(tpp, refresh_form(pair["refresh_token"], scope=scope)), 400, BAD, "scope")
    assert opens(tpp, pair["access_token"])
    refreshed(tpp, pair)


def test_a_refresh_token_that_is_unknown_or_of_another_client_is_refused(tpp: Tpp, other: Tpp) -> None:
    pair = tokens(tpp)
    for caller, token in ((tpp, "none"), (other, pair["refresh_token"]), (tpp, pair["access_token"])):
        assert refused(post_form(caller, refresh_form(token)), 401, REFRESH, "refresh_token")
    refreshed(tpp, pair)


def test_a_refresh_token_outlives_the_access_token(tpp: Tpp) -> None:
    pair = tokens(tpp)
    tpp.advance("90d")
    assert not opens(tpp, pair["access_token"])
    assert opens(tpp, refreshed(tpp, pair)["access_token"])


# What a token opens, and for how long


@pytest.mark.parametrize("waits, holds", [("59m59s", True), ("59m59.999s", True), ("60m", False), ("61m", False)])
def test_an_access_token_lives_an_hour(tpp: Tpp, waits: str, holds: bool) -> None:
    pair = tokens(tpp)
    tpp.advance(waits)
    assert opens(tpp, pair["access_token"]) is holds
    again = refreshed(tpp, pair)
    tpp.advance(waits)
    assert opens(tpp, again["access_token"]) is holds


def test_a_token_that_is_refused_does_not_fall_back_to_the_proof_of_key(tpp: Tpp) -> None:
    reply = tpp.initiate(authorization="Bearer none")
    assert refused(reply, 401, TOKEN, "Authorization") and reply.headers["WWW-Authenticate"] == "Bearer"
    assert tpp.listed("payments") == []


def test_a_token_of_another_client_begins_nothing(tpp: Tpp, other: Tpp) -> None:
    assert not opens(other, tokens(tpp)["access_token"])


def test_with_a_token_the_proof_of_key_is_ignored_and_no_code_comes_back(tpp: Tpp) -> None:
    headers = {"authorization": bearer(tokens(tpp)), "code_challenge": "x", "code_challenge_method": None}
    begun = begin(tpp, headers=headers)
    assert callback(approve(tpp, f"{begun.address}?state=s")) == {"state": "s"}


def test_a_token_begins_no_payment_from_the_account_of_another(tpp: Tpp) -> None:
    body: dict[str, Any] = {"debtor_account": {"iban": tpp.iban_of("bram")}}
    reply = tpp.initiate(SCT, payment(**body), authorization=bearer(tokens(tpp)))
    assert refused(reply, 403, "B14800ZZ-3004-000000", "debtor_account.iban")


def test_nor_is_it_signed_from_the_account_of_another(tpp: Tpp) -> None:
    begun = begin(tpp, headers={"authorization": bearer(tokens(tpp))})
    assert refused(approve(tpp, begun.address, "bram"), 403, "B14800ZZ-3004-000000")
    assert approve(tpp, begun.address, "alice").status_code == 200


def test_before_a_first_signature_there_is_no_token_to_be_had(tpp: Tpp) -> None:
    begun = begin(tpp)
    for guess in (begun.id, begun.address.rpartition("/")[2]):
        assert refused(post_form(tpp, code_form(guess)), 401, CODE)
