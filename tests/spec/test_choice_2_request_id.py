"""service 4 and choice 2: the Request-ID comes back as Response-ID, and is used once."""

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions, with_changes
from sandbox.machine import machine_time
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.tpp import CHALLENGE, ISCT, SCT, Tpp, payment, refused

VERSION_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
INVALID = "GEN-1202-100001"
AGAIN = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"


def where_reuse_is(word: str) -> Tpp:
    beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    return Tpp(
        assemble(
            WorldRegistry(
                replace(beginning, settings=with_changes(Decisions(), {"request_id_reuse": word})), machine_time
            )
        )
    )


# Response-ID

CALLS: dict[str, tuple[int, dict[str, Any]]] = {
    "an initiation": (201, {"method": "POST", "path": f"/payments/{SCT}", "json": payment()}),
    "a bad body": (400, {"method": "POST", "path": f"/payments/{SCT}", "json": {}}),
    "an unknown client": (
        401,
        {"method": "POST", "path": f"/payments/{SCT}", "json": payment(), "client_id": "nobody"},
    ),
    "an idle client": (
        403,
        {"method": "POST", "path": f"/payments/{SCT}", "json": payment(), "client_id": "idle-tpp"},
    ),
    "an unknown payment": (404, {"method": "GET", "path": f"/payments/{SCT}/nothing/status"}),
    "an unknown product": (404, {"method": "POST", "path": "/payments/seashells", "json": payment()}),
    "an unknown path": (404, {"method": "GET", "path": "/nothing/here"}),
    "the bare address": (404, {"method": "GET", "path": "/"}),
    "a path that only begins like the pages": (404, {"method": "GET", "path": "/psuedonym"}),
    "a path that only begins like the controls": (404, {"method": "GET", "path": "/_sandboxes"}),
    "a world that cannot be": (404, {"method": "GET", "path": "/worlds/.no/payments"}),
    "another method": (405, {"method": "PATCH", "path": f"/payments/{SCT}", "json": payment()}),
    "no version": (406, {"method": "POST", "path": f"/payments/{SCT}", "json": payment(), "accept": None}),
    "no language": (406, {"method": "POST", "path": f"/payments/{SCT}", "json": payment(), "accept_language": "xx"}),
    "another type": (415, {"method": "POST", "path": f"/payments/{SCT}", "data": b"a", "content_type": "text/csv"}),
}


@pytest.mark.parametrize("status, call", CALLS.values(), ids=CALLS)
def test_every_response_carries_the_request_id(tpp: Tpp, status: int, call: dict[str, Any]) -> None:
    reply = tpp.call(**call, request_id=AGAIN)
    assert (reply.status_code, reply.headers.getlist("Response-ID")) == (status, [AGAIN])


@pytest.mark.parametrize("given", (None, "", "7", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
@pytest.mark.parametrize("status, call", CALLS.values(), ids=CALLS)
def test_a_missing_or_malformed_request_id_is_answered_with_a_fresh_one(
    tpp: Tpp, status: int, call: dict[str, Any], given: str | None
) -> None:
    one, two = (tpp.call(**call, request_id=given).headers["Response-ID"] for _ in range(2))
    assert VERSION_4.fullmatch(one) and VERSION_4.fullmatch(two)
    assert len({one, two, given}) == 3


# Used before


def test_the_identical_call_gets_the_first_reply_again(tpp: Tpp) -> None:
    first = tpp.initiate(request_id=AGAIN)
    tpp.advance("2s")
    second = tpp.initiate(request_id=AGAIN)
    assert (second.status_code, second.json, second.headers["Location"]) == (201, first.json, first.headers["Location"])
    assert len(tpp.listed("payments")) == 1


def test_the_identical_call_is_answered_long_after(tpp: Tpp) -> None:
    first = tpp.initiate(request_id=AGAIN)
    tpp.advance("3d")
    assert tpp.initiate(request_id=AGAIN).json == first.json


@pytest.mark.parametrize(
    "changes",
    (
        {"body": payment(creditor_name="Another")},
        {"body": {}},
        {"product": ISCT},
        {"redirect_uri": "http://127.0.0.1:9001/"},
        {"code_challenge": CHALLENGE[::-1]},
        {"accept_language": "nl"},
    ),
    ids=lambda changes: next(iter(changes)),
)
def test_a_different_call_under_the_same_id_is_refused(tpp: Tpp, changes: dict[str, Any]) -> None:
    tpp.initiate(request_id=AGAIN)
    assert refused(tpp.initiate(**changes, request_id=AGAIN), 400, INVALID, "'Request-ID'")
    assert len(tpp.listed("payments")) == 1


def test_a_status_under_the_id_of_an_initiation_is_refused(tpp: Tpp) -> None:
    payment_id = tpp.initiate(request_id=AGAIN).get_json()["payment_id"]
    assert refused(tpp.status(payment_id, request_id=AGAIN), 400, INVALID, "'Request-ID'")


def test_a_used_id_is_heard_before_the_redirect_uri(tpp: Tpp) -> None:
    tpp.initiate(request_id=AGAIN)
    reply = tpp.initiate(request_id=AGAIN, redirect_uri="http://evil.example/")
    assert refused(reply, 400, INVALID, "'Request-ID'")


def test_another_client_may_use_the_same_id(tpp: Tpp, other: Tpp) -> None:
    assert tpp.initiate(request_id=AGAIN).status_code == 201
    assert other.initiate(request_id=AGAIN).status_code == 201


def test_another_world_knows_nothing_of_the_id(tpp: Tpp) -> None:
    elsewhere = Tpp(tpp.http.application, world="elsewhere")
    assert tpp.initiate(request_id=AGAIN).status_code == 201
    assert elsewhere.initiate(request_id=AGAIN, body=payment(creditor_name="Another")).status_code == 201


def test_a_refused_initiation_leaves_its_id_free(tpp: Tpp) -> None:
    assert tpp.initiate(body={}, request_id=AGAIN).status_code == 400
    assert tpp.initiate(request_id=AGAIN).status_code == 201


def test_reads_may_share_an_id(tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    assert [tpp.status(payment_id, request_id=AGAIN).status_code for _ in range(2)] == [200, 200]


def test_the_setting_refuse_refuses_the_identical_call_too() -> None:
    strict = where_reuse_is("refuse")
    assert strict.initiate(request_id=AGAIN).status_code == 201
    assert refused(strict.initiate(request_id=AGAIN), 400, INVALID, "'Request-ID'")
    assert strict.initiate(request_id=str(uuid4())).status_code == 201


def test_the_setting_allow_makes_a_second_payment() -> None:
    lax = where_reuse_is("allow")
    first, second = (lax.initiate(request_id=AGAIN).get_json()["payment_id"] for _ in range(2))
    assert first != second
    assert lax.status(first, request_id=AGAIN).status_code == 200
