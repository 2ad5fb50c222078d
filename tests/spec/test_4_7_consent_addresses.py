"""service 4.7, 2.5 and choice 8: where a PSU may consent, in which language, for what, and for how long."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask

from tests.reader import (
    AIS,
    CAF,
    Reader,
    approve,
    approved,
    code_form,
    code_of,
    consent_address,
    consent_uris,
    consented,
    post_token,
)
from tests.tpp import CALLBACK, FRENCH, Tpp, refused, version

ADDRESS = re.compile(r"http://localhost/psu/consent/[A-Za-z0-9_-]{43}")
MISSING, INVALID = "GEN-1201-100002", "GEN-1202-100002"


# The list


def test_the_list_is_an_array_of_language_and_address(tpp: Tpp) -> None:
    reply = consent_uris(tpp)
    assert reply.status_code == 200
    assert reply.content_type == "application/json;charset=utf-8"
    (entry,) = reply.get_json()
    assert set(entry) == {"language", "consent_uri"}
    assert entry["language"] == "fr"
    assert ADDRESS.fullmatch(entry["consent_uri"])


@pytest.mark.parametrize(
    "asked, given",
    [
        ("fr", ["fr"]),
        ("nl", ["nl"]),
        ("fr-BE", ["fr"]),
        ("nl;q=0.4, fr;q=0.9", ["fr"]),
        ("en, nl;q=0.5", ["nl"]),
        ("de, fr;q=0.1", ["fr"]),
        ("en", ["fr", "nl"]),
        ("de-DE", ["fr", "nl"]),
        ("*", ["fr", "nl"]),
    ],
)
def test_one_address_is_given_when_the_language_fits_else_both(tpp: Tpp, asked: str, given: list[str]) -> None:
    rows = consent_uris(tpp, accept_language=asked).get_json()
    assert [row["language"] for row in rows] == given
    assert len({row["consent_uri"] for row in rows}) == len(given)


def test_either_of_both_addresses_takes_the_consent(tpp: Tpp) -> None:
    french, dutch = (row["consent_uri"] for row in consent_uris(tpp, accept_language="en").get_json())
    for address in (dutch, french):
        code = code_of(approved(tpp, address, "alice"))
        assert post_token(tpp, code_form(code)).status_code == 200


def test_addresses_bear_the_prefix_of_their_world(app: Flask, tpp: Tpp) -> None:
    elsewhere = Tpp(app, "elsewhere")
    address = consent_address(elsewhere)
    assert address.startswith("http://localhost/worlds/elsewhere/psu/consent/")
    assert approve(tpp, address, "alice").status_code == 404
    assert code_of(approved(elsewhere, address, "alice"))


def test_every_call_gives_another_address(tpp: Tpp) -> None:
    assert len({consent_address(tpp) for _ in range(5)}) == 5


# What is asked: scope, account, version


@pytest.mark.parametrize(
    "query, number, code, named",
    [
        ("", 4, MISSING, "scope"),
        ("", 3, MISSING, "scope"),
        ("scope=", 4, INVALID, "scope"),
        ("scope=CAF", 4, INVALID, "scope"),
        ("scope=PIS", 4, INVALID, "scope"),
        ("scope=ais", 4, INVALID, "scope"),
        ("scope=AIS", 3, INVALID, "scope"),
        ("scope=PIS", 3, INVALID, "scope"),
        ("scope=AIS&iban={alice}", 4, INVALID, "iban"),
        ("scope=AIS&iban=", 4, INVALID, "iban"),
        ("scope=CAF", 3, MISSING, "iban"),
        ("scope=CAF&iban=", 3, INVALID, "iban"),
        ("scope=CAF&iban=BE00000000000000", 3, INVALID, "iban"),
        ("scope=AIS&scope=AIS", 4, INVALID, "scope"),
        ("scope=AIS&colour=red", 4, INVALID, "colour"),
        ("scope=AIS&Scope=AIS", 4, INVALID, "Scope"),
    ],
)
def test_a_wrong_scope_or_account_is_refused(tpp: Tpp, query: str, number: int, code: str, named: str) -> None:
    reply = consent_uris(tpp, query.format(alice=tpp.iban_of("alice")), number)
    assert refused(reply, 400, code, f"'{named}'")


@pytest.mark.parametrize("accept", [version(1), version(2), version(5), "*/*", "application/json", None])
def test_another_version_is_not_acceptable(tpp: Tpp, accept: str | None) -> None:
    assert refused(consent_uris(tpp, accept=accept), 406, "SBX-0406-000001")


def test_caf_names_an_account_of_this_bank(tpp: Tpp) -> None:
    assert consent_address(tpp, CAF, tpp.iban_of("bram"))
    reply = consent_uris(tpp, f"scope=CAF&iban={FRENCH}", 3)
    assert refused(reply, 403, "B14800ZZ-3002-000000", "'iban'")


def test_caf_needs_an_account_in_the_electronic_channels(tpp: Tpp) -> None:
    book = next(row["accounts"][1] for row in tpp.listed("customers") if row["customer"] == "griet")
    for iban in (book, tpp.iban_of("blocked")):
        reply = consent_uris(tpp, f"scope=CAF&iban={iban}", 3)
        assert refused(reply, 403, "B14800ZZ-3007-000000", "'iban'")


# Headers


@pytest.mark.parametrize("name", ["redirect_uri", "code_challenge", "code_challenge_method", "client_id", "request_id"])
def test_a_required_header_cannot_be_left_out(tpp: Tpp, name: str) -> None:
    assert refused(consent_uris(tpp, "scope=AIS", 4, **{name: None}), 400, "GEN-1201-100001")


def test_without_a_language_there_is_no_address(tpp: Tpp) -> None:
    assert refused(consent_uris(tpp, accept_language=None), 406, "SBX-0406-000002")


@pytest.mark.parametrize(
    "name, value",
    [
        ("redirect_uri", "https://thief.example/"),
        ("code_challenge", "short"),
        ("code_challenge", "a" * 44),
        ("code_challenge_method", "S512"),
    ],
)
def test_a_bad_header_is_refused(tpp: Tpp, name: str, value: str) -> None:
    assert refused(consent_uris(tpp, "scope=AIS", 4, **{name: value}), 400, "GEN-1202-100001")


def test_pkce_is_asked_for_also_when_a_token_is_given(tpp: Tpp) -> None:
    """Only at initiations a token stands for it."""
    token = f"Bearer {Reader(tpp).access}"
    assert refused(consent_uris(tpp, authorization=token, code_challenge=None), 400, "GEN-1201-100001")
    assert consent_uris(tpp, authorization=token).status_code == 200


def test_a_client_that_is_not_active_gets_no_address(tpp: Tpp) -> None:
    assert refused(consent_uris(tpp, client_id="idle-tpp"), 403, "B14663ZZ-2100-000000")


# Answering


def test_a_yes_brings_code_and_state_to_the_callback(tpp: Tpp) -> None:
    callback = approved(tpp, f"{consent_address(tpp)}?state=a%26b", "alice")
    assert callback.startswith(f"{CALLBACK}?")
    query = dict(parse_qsl(urlsplit(callback).query))
    assert set(query) == {"code", "state"}
    assert query["state"] == "a&b"


def test_the_callback_keeps_its_own_query(tpp: Tpp) -> None:
    address = consent_address(tpp, redirect_uri=f"{CALLBACK}?shop=7")
    assert approved(tpp, address, "alice").startswith(f"{CALLBACK}?shop=7&code=")


def test_a_no_brings_access_denied_and_the_state(tpp: Tpp) -> None:
    reply = tpp.control("POST", "/psu/refuse", address=f"{consent_address(tpp)}?state=s-1", customer="alice")
    query = dict(parse_qsl(urlsplit(reply.get_json()["redirect"]).query))
    assert (query["error"], query["state"]) == ("access_denied", "s-1")
    assert query["error_description"]
    assert "code" not in query


@pytest.mark.parametrize("first", ["approve", "refuse"])
@pytest.mark.parametrize("second", ["approve", "refuse"])
def test_an_address_is_answered_once(tpp: Tpp, first: str, second: str) -> None:
    address = consent_address(tpp)
    assert tpp.control("POST", f"/psu/{first}", address=address, customer="alice").status_code == 200
    again = tpp.control("POST", f"/psu/{second}", address=address, customer="alice")
    assert refused(again, 409, "SBX-0409-000003")


def test_an_address_lives_fifteen_minutes_to_the_second(tpp: Tpp) -> None:
    early, late = consent_address(tpp), consent_address(tpp)
    tpp.advance("899s")
    assert code_of(approved(tpp, early, "alice"))
    tpp.advance("1s")
    assert refused(approve(tpp, late, "alice"), 410, "SBX-0410-000001")
    assert refused(tpp.control("POST", "/psu/refuse", address=late), 410, "SBX-0410-000001")


def test_an_unknown_address_is_not_found(tpp: Tpp) -> None:
    assert refused(approve(tpp, f"http://localhost/psu/consent/{'x' * 43}", "alice"), 404, "SBX-0404-000001")


def test_the_customer_chooses_accounts(tpp: Tpp) -> None:
    current, savings = (row["iban"] for row in tpp.listed("accounts") if row["customer"] == "alice")
    assert set(Reader(tpp).ids) == {current, savings}
    assert set(Reader(tpp, accounts=[savings]).ids) == {savings}
    assert set(Reader(tpp, account=current).ids) == {current}
    assert set(Reader(tpp, accounts=[savings, current, savings]).ids) == {current, savings}


def test_only_own_accounts_in_the_channels_can_be_chosen(tpp: Tpp) -> None:
    own, book = next(row["accounts"] for row in tpp.listed("customers") if row["customer"] == "griet")
    address = consent_address(tpp)
    foreign = approve(tpp, address, "griet", accounts=[own, tpp.iban_of("alice")])
    assert refused(foreign, 403, "B14800ZZ-3004-000000")
    assert refused(approve(tpp, address, "griet", accounts=[book]), 403, "B14800ZZ-3007-000000")
    assert refused(approve(tpp, address, "griet", accounts=[FRENCH]), 403, "B14800ZZ-3002-000000")
    code = code_of(approved(tpp, address, "griet"))  # what was refused left no trace
    assert post_token(tpp, code_form(code)).status_code == 200
    assert set(Reader(tpp, "griet").ids) == {own}


def test_who_blocked_the_channel_consents_to_nothing(tpp: Tpp) -> None:
    assert refused(approve(tpp, consent_address(tpp), "blocked"), 403, "B14800ZZ-3007-000000")


def test_nobody_is_guessed_where_the_address_does_not_tell(tpp: Tpp) -> None:
    address = consent_address(tpp)
    assert refused(approve(tpp, address), 400, "SBX-0400-000001", "customer")
    assert code_of(approved(tpp, address, accounts=[tpp.iban_of("bram")]))


def test_caf_is_answered_by_the_owner_of_the_account_for_that_account(tpp: Tpp) -> None:
    iban = tpp.iban_of("bram")
    address = consent_address(tpp, CAF, iban)
    assert refused(approve(tpp, address, "alice"), 403, "B14800ZZ-3004-000000")
    assert refused(approve(tpp, address, "bram", accounts=[tpp.iban_of("alice")]), 403, "B14800ZZ-3004-000000")
    assert code_of(approved(tpp, address))  # left out: the owner, and the account


# A new consent


def test_a_new_consent_replaces_the_earlier_one(tpp: Tpp) -> None:
    old = Reader(tpp)
    known = old.ids
    code = consented(tpp)
    assert refused(old.listed(), 403, "B14800ZZ-3013-000000", "replaced")
    assert post_token(tpp, code_form(code)).status_code == 200
    assert refused(old.listed(), 401, "GEN-1203-100003", "replaced")
    new = Reader(tpp)
    assert set(new.ids) == set(known)
    assert not set(new.ids.values()) & set(known.values())
    for logical_id in known.values():
        assert refused(new.account(logical_id), 401, "GEN-1203-100010", "logical-id")


def test_the_code_of_a_replaced_consent_gives_nothing(tpp: Tpp) -> None:
    first, second = consented(tpp), consented(tpp)
    assert refused(post_token(tpp, code_form(first)), 403, "B14800ZZ-3013-000000")
    assert post_token(tpp, code_form(second)).status_code == 200


def test_a_consent_that_is_refused_replaces_nothing(tpp: Tpp) -> None:
    reader = Reader(tpp)
    tpp.control("POST", "/psu/refuse", address=consent_address(tpp), customer="alice")
    assert reader.listed().status_code == 200


def test_consents_of_others_stand(tpp: Tpp, other: Tpp) -> None:
    """Another client, another PSU, another scope, and for CAF another account."""
    current, savings = (row["iban"] for row in tpp.listed("accounts") if row["customer"] == "alice")
    readers = [
        Reader(tpp),
        Reader(other),
        Reader(tpp, "bram"),
        Reader(tpp, "alice", CAF, current),
        Reader(tpp, "alice", CAF, savings),
    ]
    for reader in readers:
        assert reader.account().status_code == 200
    assert len({reader.first for reader in readers}) == len(readers)
    assert [reader.scope for reader in readers].count(AIS) == 3
