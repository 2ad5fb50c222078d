"""service 4.8, 2.6, 3.5 and choice 8: tokens for AIS and CAF, from the code to the refusals."""

from base64 import b64encode
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.reader import (
    AIS,
    CAF,
    Reader,
    approved,
    code_form,
    code_of,
    consent_address,
    consented,
    post_token,
    refresh_form,
)
from tests.tpp import Tpp, refused, version

BAD_FORM = "GEN-1202-100002"
ACCESS, REFRESH, SECURITY = "GEN-1203-100003", "GEN-1203-100004", "GEN-1203-100008"
CREDENTIALS, ENDED = "GEN-1203-100009", "B14800ZZ-3013-000000"
FIELDS = {"access_token", "refresh_token", "token_type", "expires_in", "scope"}


def caf_code(tpp: Tpp, customer: str = "bram") -> str:
    return consented(tpp, customer, CAF, tpp.iban_of(customer))


def exchanged(tpp: Tpp, code: str, number: int = 3, **changes: str | None) -> TestResponse:
    return post_token(tpp, code_form(code, **changes), number)


# What is given


def test_a_code_gives_tokens_for_ais_without_a_logical_id(tpp: Tpp) -> None:
    reply = exchanged(tpp, consented(tpp))
    assert reply.status_code == 200
    assert set(reply.json) == FIELDS | {"sca_token"}
    assert (reply.json["token_type"], reply.json["expires_in"], reply.json["scope"]) == ("Bearer", 3600, AIS)


def test_a_code_gives_tokens_for_caf_with_a_logical_id(tpp: Tpp) -> None:
    reply = exchanged(tpp, caf_code(tpp), 2)
    assert reply.status_code == 200
    assert set(reply.json) == FIELDS | {"sca_token", "logical_id"}
    assert reply.json["scope"] == CAF


def test_tokens_are_kept_by_nobody_on_the_way(tpp: Tpp) -> None:
    reply = exchanged(tpp, consented(tpp))
    assert (reply.headers["Cache-Control"], reply.headers["Pragma"]) == ("no-store", "no-cache")
    assert reply.content_type == "application/json;charset=utf-8"


def test_a_refresh_gives_a_new_pair_without_an_sca_token(tpp: Tpp) -> None:
    reader = Reader(tpp)
    reply = post_token(tpp, refresh_form(reader.refresh))
    assert set(reply.json) == FIELDS
    assert not {reply.json["access_token"], reply.json["refresh_token"]} & {reader.access, reader.refresh}


def test_the_logical_ids_stay_through_a_refresh(tpp: Tpp) -> None:
    ais, caf = Reader(tpp), Reader(tpp, "bram", CAF, tpp.iban_of("bram"))
    known = ais.ids
    ais.renew()
    assert ais.ids == known
    reply = post_token(tpp, refresh_form(caf.refresh), 2)
    assert set(reply.json) == FIELDS | {"logical_id"}
    assert reply.json["logical_id"] == caf.logical_id


# Versions


@pytest.mark.parametrize("scope, serves, other_version", [(AIS, 3, 2), (CAF, 2, 3)])
def test_a_version_that_does_not_serve_the_scope_is_not_acceptable(
    tpp: Tpp, scope: str, serves: int, other_version: int
) -> None:
    code = consented(tpp) if scope == AIS else caf_code(tpp, "alice")
    assert refused(exchanged(tpp, code, other_version), 406, "SBX-0406-000001", scope)
    given = exchanged(tpp, code, serves)  # the code was not used up
    assert given.status_code == 200
    form = refresh_form(given.json["refresh_token"])
    assert refused(post_token(tpp, form, other_version), 406, "SBX-0406-000001", scope)
    assert post_token(tpp, form, serves).status_code == 200


@pytest.mark.parametrize("accept", [version(1), version(4), "*/*", "application/json"])
def test_another_version_is_not_acceptable(tpp: Tpp, accept: str) -> None:
    reply = post_token(tpp, code_form(consented(tpp)), accept=accept)
    assert refused(reply, 406, "SBX-0406-000001")


# The code


def test_a_code_lives_ten_minutes_to_the_second(tpp: Tpp, other: Tpp) -> None:
    early, late = consented(tpp), consented(other)
    tpp.advance("599s")
    assert exchanged(tpp, early).status_code == 200
    tpp.advance("1s")
    assert refused(exchanged(other, late), 401, SECURITY, "'code'")


def test_a_reused_code_is_refused_and_kills_the_pair_that_it_gave(tpp: Tpp) -> None:
    code = consented(tpp)
    given = exchanged(tpp, code).json
    assert refused(exchanged(tpp, code), 401, SECURITY, "'code'")
    dead = tpp.call("GET", "/accounts", accept=version(2), authorization=f"Bearer {given['access_token']}")
    assert refused(dead, 401, ACCESS)
    assert refused(post_token(tpp, refresh_form(given["refresh_token"])), 401, REFRESH)


def test_a_reused_code_kills_the_refreshed_pair_too(tpp: Tpp) -> None:
    code = consented(tpp)
    refreshed = post_token(tpp, refresh_form(exchanged(tpp, code).json["refresh_token"])).json
    assert refused(exchanged(tpp, code), 401, SECURITY)
    assert refused(post_token(tpp, refresh_form(refreshed["refresh_token"])), 401, REFRESH)


def test_a_reused_code_leaves_the_pair_of_a_later_consent(tpp: Tpp) -> None:
    code = consented(tpp)
    exchanged(tpp, code)
    later = Reader(tpp)
    assert refused(exchanged(tpp, code), 401, SECURITY)
    assert later.listed().status_code == 200


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"code": "nothing"}, "'code'"),
        ({"redirect_uri": "http://127.0.0.1:9000/elsewhere"}, "'redirect_uri'"),
        ({"code_verifier": "x" * 43}, "'code_verifier'"),
        ({"code_verifier": "short"}, "'code_verifier'"),
    ],
)
def test_a_wrong_proof_is_refused_and_uses_nothing_up(tpp: Tpp, changes: dict[str, str], named: str) -> None:
    code = consented(tpp)
    assert refused(post_token(tpp, code_form(code) | changes), 401, SECURITY, named)
    assert exchanged(tpp, code).status_code == 200


def test_the_code_of_another_client_is_unknown(tpp: Tpp, other: Tpp) -> None:
    code = consented(tpp)
    assert refused(exchanged(other, code), 401, SECURITY, "'code'")
    assert exchanged(tpp, code).status_code == 200


def test_a_renewed_authentication_brings_no_code(tpp: Tpp) -> None:
    reader = Reader(tpp)
    asked = reader.transactions(query={"date_from": "2026-01-01", "psu_involved": "true"})
    callback = approved(tpp, f"{asked.json['_links']['sca_redirect']['href']}?state=s-1")
    assert callback == "http://127.0.0.1:9000/callback?state=s-1"


# The form


@pytest.mark.parametrize("name", ["grant_type", "code", "redirect_uri", "code_verifier"])
@pytest.mark.parametrize("empty", [None, ""])
def test_a_field_of_the_code_cannot_be_left_out(tpp: Tpp, name: str, empty: str | None) -> None:
    form = code_form(consented(tpp))
    form.pop(name)
    if empty is not None:
        form[name] = empty
    assert refused(post_token(tpp, form), 400, "GEN-1201-100002", f"'{name}'")


def test_a_refresh_needs_its_token(tpp: Tpp) -> None:
    assert refused(post_token(tpp, {"grant_type": "refresh_token"}), 400, "GEN-1201-100002", "'refresh_token'")


@pytest.mark.parametrize("grant", ["password", "client_credentials", "AUTHORIZATION_CODE", "authorization_code "])
def test_another_grant_type_is_refused(tpp: Tpp, grant: str) -> None:
    form = code_form(consented(tpp), grant_type=grant)
    assert refused(post_token(tpp, form), 400, BAD_FORM, "'grant_type'")


@pytest.mark.parametrize("name, value", [("refresh_token", "x"), ("scope", "AIS")])
def test_fields_of_the_refresh_do_not_go_with_a_code(tpp: Tpp, name: str, value: str) -> None:
    code = consented(tpp)
    assert refused(exchanged(tpp, code, **{name: value}), 400, BAD_FORM, f"'{name}'")
    assert exchanged(tpp, code).status_code == 200


@pytest.mark.parametrize("name", ["code", "redirect_uri", "code_verifier"])
def test_fields_of_the_code_do_not_go_with_a_refresh(tpp: Tpp, name: str) -> None:
    reader = Reader(tpp)
    assert refused(post_token(tpp, refresh_form(reader.refresh, **{name: "x"})), 400, BAD_FORM, f"'{name}'")
    reader.renew()


@pytest.mark.parametrize("name", ["grant_type", "code", "redirect_uri", "code_verifier"])
def test_a_field_given_twice_is_refused(tpp: Tpp, name: str) -> None:
    form = code_form(consented(tpp))
    twice = [*form.items(), (name, form[name])]
    assert refused(post_token(tpp, twice), 400, BAD_FORM, f"'{name}'")


def test_fields_that_oauth_does_not_know_are_ignored(tpp: Tpp) -> None:
    form = [*code_form(consented(tpp)).items(), ("client_id", "demo-tpp"), ("colour", "red"), ("colour", "blue")]
    assert post_token(tpp, form).status_code == 200


def test_the_scope_of_a_refresh_may_be_named(tpp: Tpp) -> None:
    reader = Reader(tpp)
    reply = post_token(tpp, refresh_form(reader.refresh, scope=AIS))
    assert reply.json["scope"] == AIS


@pytest.mark.parametrize("scope", ["CAF", "PIS", "AIS PIS", "ais", ""])
def test_a_wider_scope_is_refused_at_the_refresh(tpp: Tpp, scope: str) -> None:
    reader = Reader(tpp)
    assert refused(post_token(tpp, refresh_form(reader.refresh, scope=scope)), 400, BAD_FORM, "'scope'")
    reader.renew()


def test_a_body_of_json_is_no_form(tpp: Tpp) -> None:
    reply = post_token(tpp, code_form(consented(tpp)), content_type="application/json")
    assert refused(reply, 415, "SBX-0415-000001")


def test_a_chunked_body_is_refused(tpp: Tpp) -> None:
    reply = post_token(tpp, code_form(consented(tpp)), transfer_encoding="chunked")
    assert refused(reply, 400, "GEN-1202-100001", "Transfer-Encoding")


# The client


def basic(text: str) -> str:
    return f"Basic {b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    "header",
    [
        basic("demo-tpp:wrong"),
        basic("nobody:demo-secret"),
        basic("other-tpp:demo-secret"),
        basic("demo-tpp"),
        basic(":"),
        "Basic ?",
        "Bearer demo-secret",
        None,
    ],
)
def test_wrong_credentials_are_refused_and_told_what_is_wanted(tpp: Tpp, header: str | None) -> None:
    code = consented(tpp)
    reply = post_token(tpp, code_form(code), authorization=header)
    assert refused(reply, 401, CREDENTIALS)
    assert reply.headers["WWW-Authenticate"].startswith("Basic")
    assert exchanged(tpp, code).status_code == 200


def test_a_client_that_is_not_active_gets_no_tokens(tpp: Tpp) -> None:
    reply = post_token(tpp, code_form(consented(tpp)), credentials=("idle-tpp", "idle-secret"))
    assert refused(reply, 403, "B14663ZZ-2100-000000")


def test_another_client_cannot_refresh(tpp: Tpp, other: Tpp) -> None:
    reader = Reader(tpp)
    assert refused(post_token(other, refresh_form(reader.refresh)), 401, REFRESH)
    reader.renew()


def test_another_client_cannot_use_the_access_token(tpp: Tpp) -> None:
    reply = Reader(tpp).listed(client_id="other-tpp")
    assert refused(reply, 401, ACCESS)
    assert reply.headers["WWW-Authenticate"] == "Bearer"


# Lives


@pytest.mark.parametrize("scope", [AIS, CAF])
def test_an_access_token_lives_one_hour_to_the_second(tpp: Tpp, scope: str) -> None:
    reader = Reader(tpp, "alice", scope, tpp.iban_of("alice") if scope == CAF else None)
    aim = reader.first
    tpp.advance("3599s")
    assert reader.account(aim).status_code == 200
    tpp.advance("1s")
    reply = reader.account(aim)
    assert refused(reply, 401, ACCESS, "expired")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    reader.renew()
    assert reader.account(aim).status_code == 200


def test_a_refresh_counts_the_hour_anew_and_ends_the_old_pair(tpp: Tpp) -> None:
    reader = Reader(tpp)
    old_access, old_refresh = reader.access, reader.refresh
    tpp.advance("30m")
    reader.renew()
    assert refused(reader.listed(authorization=f"Bearer {old_access}"), 401, ACCESS)
    assert refused(post_token(tpp, refresh_form(old_refresh)), 401, REFRESH)
    tpp.advance("3599s")
    assert reader.listed().status_code == 200


def test_a_replaced_refresh_token_leaves_the_new_pair_alone(tpp: Tpp) -> None:
    reader = Reader(tpp)
    old = reader.refresh
    reader.renew()
    assert refused(post_token(tpp, refresh_form(old)), 401, REFRESH, "replaced")
    assert reader.listed().status_code == 200


def test_an_unknown_refresh_token_is_refused(tpp: Tpp) -> None:
    for token in ("nothing", Reader(tpp).access):
        assert refused(post_token(tpp, refresh_form(token)), 401, REFRESH)


def test_each_scope_and_each_psu_has_a_pair_of_its_own(tpp: Tpp) -> None:
    alice, bram = Reader(tpp), Reader(tpp, "bram")
    caf = Reader(tpp, "alice", CAF, tpp.iban_of("alice"))
    tpp.token_for("alice")
    for reader in (alice, bram, caf):
        reader.renew()
        assert reader.account().status_code == 200


def test_a_consent_lives_180_days_to_the_second(tpp: Tpp) -> None:
    reader = Reader(tpp)
    aim = reader.first
    days = 180 * 86_400
    tpp.advance(f"{days - 1}s")
    reader.renew()
    assert reader.account(aim).status_code == 200
    tpp.advance("1s")
    assert refused(reader.account(aim), 403, ENDED)
    assert refused(reader.listed(), 403, ENDED)
    assert refused(reader.transactions(aim), 403, ENDED)
    assert refused(post_token(tpp, refresh_form(reader.refresh)), 403, ENDED)
    assert Reader(tpp).listed().status_code == 200


def test_after_a_withdrawal_nothing_is_read_or_refreshed(tpp: Tpp) -> None:
    reader, code = Reader(tpp), consented(tpp, "bram")
    aim = reader.first
    for customer in ("alice", "bram"):
        assert tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer=customer, scope=AIS).json == {
            "withdrawn": 1
        }
    for reply in (reader.listed(), reader.account(aim), reader.transactions(aim)):
        assert refused(reply, 403, ENDED, "withdrawn")
    assert refused(post_token(tpp, refresh_form(reader.refresh)), 403, ENDED)
    assert refused(exchanged(tpp, code), 403, ENDED)


# Races


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Everyone begins at one moment; the answers in no order."""
    start, answers = Barrier(count), []

    def run(number: int) -> None:
        start.wait()
        answers.append(work(number))

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == count, "one of them failed"
    return answers


def test_of_many_refreshes_with_one_token_one_wins(app: Flask, tpp: Tpp) -> None:
    reader = Reader(tpp)
    replies = together(16, lambda number: post_token(Tpp(app), refresh_form(reader.refresh)))
    assert sorted(reply.status_code for reply in replies) == [200] + [401] * 15
    reader.take(next(reply.json for reply in replies if reply.status_code == 200))
    assert reader.listed().status_code == 200


def test_of_many_exchanges_of_one_code_one_gives_a_pair_and_the_next_kills_it(app: Flask, tpp: Tpp) -> None:
    code = consented(tpp)
    replies = together(16, lambda number: exchanged(Tpp(app), code))
    assert sorted(reply.status_code for reply in replies) == [200] + [401] * 15
    given = next(reply.json for reply in replies if reply.status_code == 200)
    assert refused(post_token(tpp, refresh_form(given["refresh_token"])), 401, REFRESH)


def test_readers_beside_a_refresh_hear_the_old_token_or_the_new(app: Flask, tpp: Tpp) -> None:
    """Never anything but an answer or a refused token, and afterwards the new pair alone."""
    reader = Reader(tpp)
    old = reader.access

    def work(number: int) -> TestResponse:
        if number == 0:
            reader.renew()
        return Tpp(app).call("GET", "/accounts", accept=version(2), authorization=f"Bearer {old}")

    assert {reply.status_code for reply in together(12, work)} <= {200, 401}
    assert refused(reader.listed(authorization=f"Bearer {old}"), 401, ACCESS)
    assert reader.listed().status_code == 200


def test_two_clients_and_two_psus_at_once_cross_nothing(app: Flask) -> None:
    pairs = [(client, customer) for client in ("demo-tpp", "other-tpp") for customer in ("alice", "bram")]

    def work(number: int) -> tuple[str, str, frozenset[tuple[str, str]]]:
        client, customer = pairs[number]
        reader = Reader(Tpp(app, client_id=client), customer)
        for _ in range(5):
            reader.renew()
            assert reader.page()["transactions"]
        return client, customer, frozenset(reader.ids.items())

    found = together(4, work)
    names = {row["customer"]: set(row["accounts"]) for row in Tpp(app).listed("customers")}
    for _, customer, ids in found:
        assert {iban for iban, _ in ids} == names[customer]
    every = [logical_id for _, _, ids in found for _, logical_id in ids]
    assert len(set(every)) == len(every)


def test_a_token_of_an_address_in_a_world_holds_in_that_world_alone(app: Flask, tpp: Tpp) -> None:
    elsewhere = Tpp(app, "elsewhere")
    reader = Reader(elsewhere)
    assert refused(
        tpp.call("GET", "/accounts", accept=version(2), authorization=f"Bearer {reader.access}"), 401, ACCESS
    )
    code = code_of(approved(elsewhere, consent_address(elsewhere), "bram"))
    assert refused(exchanged(tpp, code), 401, SECURITY)
