"""State is a pure function of fixtures, scenario, seed and log; and a refused call leaves no trace."""

import os
import pickle
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from hypothesis import given, settings
from werkzeug.test import TestResponse

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions, with_changes
from sandbox.machine import machine_time
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.bank.conftest import Lives
from tests.bank.lives import LIVES, Life, Step
from tests.conftest import MORNING
from tests.psu.psu import Psu
from tests.tpp import CALLBACK, ISCT, SCT, VERIFIER, XB, Tpp, payment, refused, version

ROOT = Path(__file__).parents[2]
REQUEST_ID = "7d3c5e0a-3a4e-4f7b-9d7e-0a1b2c3d4e5f"
FULL_LIFE: list[Step] = [
    ("initiate", SCT, "alice", "12.50", None),
    ("initiate", ISCT, "bakkerij", "240.00", None),
    ("initiate", XB, None, "12.50", None),
    ("initiate", SCT, "poor", "240.00", "2027-03-02"),
    ("initiate", SCT, "notaris", "240.00", None),
    ("approve", 0, None),
    ("approve", 1, None),
    ("approve", 2, "bram"),
    ("approve", 3, None),
    ("approve", 4, None),
    ("pass", 30, 0),
    ("sign", 4, "griet"),
    ("pass", 86_400, 0),
    ("move", 3, "RJCT"),
]


# Replay


@settings(max_examples=40, deadline=None)
@given(steps=LIVES)
def test_a_log_played_again_gives_the_same_bank(new_life: Lives, steps: list[Step]) -> None:
    life = new_life()
    life.lead(steps)
    world = life.world
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)


def test_a_full_life_is_full(new_life: Lives) -> None:
    life = new_life()
    life.lead(FULL_LIFE)
    assert {row["status"] for row in life.tpp.listed("payments")} == {"ACSC", "RJCT"}
    assert any(life.world.bank.ledger.list_added_lines().values())


def test_a_further_refusal_by_control_and_on_the_page_is_replayed(new_life: Lives, crowd_app: Flask) -> None:
    life = new_life()
    life.lead([("initiate", SCT, "notaris", "240.00", None)] * 2 + [("approve", 0, None), ("approve", 1, None)])
    life.refuse_further(0, "griet")
    root = f"/worlds/{life.world.name}/psu/channel"
    psu = Psu(crowd_app)
    psu.open(root)
    psu.send(f"{root}/login", login="griet")
    psu.open(f"{root}/payments/{life.ids[1]}")
    page = psu.send(f"{root}/payments/{life.ids[1]}/refuse")
    assert page.status_code == 200, page.text
    assert {row["status"] for row in life.tpp.listed("payments")} == {"CANC"}
    world = life.world
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)


def test_a_log_without_its_last_act_gives_another_bank(new_life: Lives) -> None:
    life = new_life()
    life.lead(FULL_LIFE)
    whole, now = life.world.log, life.world.bank.clock.now
    assert hash_state(replay(life.world.beginning, list(whole)[:-1], now)) != hash_state(life.world.bank)


CHILD = """
import pickle, sys
from sandbox.app import make_first_beginning
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.snapshot import replay
seed, at, until, acts = pickle.load(open(sys.argv[1], "rb"))
print(hash_state(replay(make_first_beginning(seed, at, 0), acts, until)))
"""


def test_a_fresh_interpreter_with_other_hashes_makes_the_same_bank(new_life: Lives, tmp_path: Path) -> None:
    life = new_life()
    life.lead(FULL_LIFE)
    world = life.world
    file = tmp_path / "log"
    file.write_bytes(pickle.dumps((world.beginning.seed, world.beginning.at, world.bank.clock.now, list(world.log))))
    environment = os.environ | {"PYTHONHASHSEED": "31337", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(file)], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == hash_state(world.bank)


# A refused call leaves no trace


def untouched(world: World, call: Callable[[], TestResponse]) -> TestResponse:
    """The reply of a call that was refused and changed nothing."""
    before = (hash_state(world.bank), len(world.log), world.bank.mint.asked, len(world.bank.journal))
    reply = call()
    assert reply.status_code >= 400, reply.text
    after = (hash_state(world.bank), len(world.log), world.bank.mint.asked, len(world.bank.journal))
    assert after == before
    return reply


HEADERS: list[dict[str, str | None]] = [
    {"accept": None},
    {"accept": "*/*"},
    {"accept": version(9)},
    {"accept_language": None},
    {"accept_language": "xx"},
    {"content_type": "text/plain"},
    {"request_id": None},
    {"request_id": "1"},
    {"client_id": None},
    {"client_id": "nobody"},
    {"client_id": "idle-tpp"},
    {"redirect_uri": None},
    {"redirect_uri": "http://evil.example/"},
    {"code_challenge": None},
    {"code_challenge": "short"},
    {"code_challenge_method": None},
    {"code_challenge_method": "S512"},
    {"authorization": "Bearer nothing"},
    {"authorization": "Basic eDp5"},
]


@pytest.mark.parametrize("changes", HEADERS, ids=str)
@pytest.mark.parametrize("product", [SCT, ISCT, XB])
def test_a_call_refused_for_a_header_leaves_no_trace(
    tpp: Tpp, worlds: WorldRegistry, product: str, changes: dict[str, Any]
) -> None:
    untouched(worlds.get("default"), lambda: tpp.initiate(product, **changes))


BODIES: list[tuple[str, dict[str, Any], int]] = [
    (SCT, {"creditor_name": None}, 400),
    (SCT, {"creditor_name": "x" * 71}, 400),
    (SCT, {"endtoend_identification": None}, 400),
    (SCT, {"unheard_of": 1}, 400),
    (SCT, {"charge_bearer": "SHAR"}, 400),
    (SCT, {"debtor_account": {}}, 400),
    (SCT, {"instructed_amount__amount": "0"}, 400),
    (SCT, {"instructed_amount__amount": 12.5}, 400),
    (SCT, {"instructed_amount__currency": "USD"}, 400),
    (SCT, {"creditor_account__iban": "BE00000000000000"}, 400),
    (SCT, {"requested_execution_date": "2027-02-28"}, 400),
    (SCT, {"requested_execution_date": "2028-03-01"}, 400),
    (SCT, {"remittance_information_structured": "123456789012"}, 400),
    (XB, {"charge_bearer": None}, 400),
    (XB, {"instructed_amount__currency": "EUR"}, 400),
    (XB, {"instructed_amount__currency": "XXX"}, 400),
]
BUSINESS: list[tuple[str, str, dict[str, Any], int]] = [
    (SCT, "poor", {"instructed_amount__amount": "999999.00"}, 403),
    (ISCT, "poor", {"instructed_amount__amount": "999999.00"}, 403),
    (SCT, "blocked", {}, 403),
    (SCT, "limited", {"instructed_amount__amount": "250.01"}, 403),
    (SCT, "limited", {"creditor_account__iban": "FR7630006000011234567890189"}, 403),
    (XB, "limited", {}, 403),
    (SCT, "alice", {"instruction_priority": "HIGH"}, 403),
    (XB, "alice", {"debtor_account__currency": "USD"}, 400),
]


@pytest.mark.parametrize("product, changes, status", BODIES, ids=str)
def test_a_call_refused_for_its_body_leaves_no_trace(
    tpp: Tpp, worlds: WorldRegistry, product: str, changes: dict[str, Any], status: int
) -> None:
    reply = untouched(worlds.get("default"), lambda: tpp.initiate(product, payment(product, **changes)))
    assert reply.status_code == status, reply.text


@pytest.mark.parametrize("product, customer, changes, status", BUSINESS, ids=str)
def test_a_call_refused_for_the_bank_s_own_rules_leaves_no_trace(
    tpp: Tpp, worlds: WorldRegistry, product: str, customer: str, changes: dict[str, Any], status: int
) -> None:
    body = payment(product, debtor_account__iban=tpp.iban_of(customer), **changes)
    reply = untouched(worlds.get("default"), lambda: tpp.initiate(product, body))
    assert reply.status_code == status, reply.text


def test_an_account_of_another_bank_leaves_no_trace(tpp: Tpp, worlds: WorldRegistry) -> None:
    body = payment(debtor_account={"iban": "BE68539007547034"})
    assert refused(untouched(worlds.get("default"), lambda: tpp.initiate(body=body)), 403, "B14800ZZ-3002")


def test_refused_signatures_and_moves_leave_no_trace(new_life: Lives) -> None:
    life = new_life()
    life.lead([("initiate", SCT, "poor", "999999.00", "2027-03-02"), ("initiate", SCT, None, "999999.00", None)])
    future, free = life.signs_at
    for path, body in (
        ("/psu/approve", {"address": free}),
        ("/psu/approve", {"address": free, "customer": "poor"}),
        ("/psu/approve", {"address": free, "customer": "nobody"}),
        ("/psu/approve", {"address": future, "customer": "alice"}),
        ("/psu/approve", {"address": "http://localhost/psu/sign/nothing"}),
        ("/psu/refuse", {"address": free, "customer": "nobody"}),
        ("/psu/sign", {"payment_id": life.ids[0], "customer": "poor"}),
        ("/psu/refuse", {"payment_id": life.ids[0], "customer": "poor"}),
        (f"/payments/{life.ids[0]}/move", {"status": "ACSC"}),
        (f"/payments/{life.ids[0]}/move", {"status": "GONE"}),
        ("/payments/none/move", {"status": "CANC"}),
    ):
        untouched(life.world, lambda path=path, body=body: life.tpp.control("POST", path, **body))  # type: ignore[misc]


def test_reading_leaves_no_trace_either(new_life: Lives) -> None:
    life = new_life()
    life.initiate(SCT, "alice", "12.50", None)
    before = (hash_state(life.world.bank), len(life.world.log))
    assert life.tpp.status(life.ids[0]).status_code == 200
    for name in ("customers", "clients", "accounts", "payments", "journal", "requests"):
        life.tpp.listed(name)
    assert (hash_state(life.world.bank), len(life.world.log)) == before


def test_a_refusal_that_lasts_is_kept_in_the_log(new_life: Lives) -> None:
    """The second use of a code is refused and ends the pair that the first gave (choice 8)."""
    life = new_life()
    life.initiate(SCT, "alice", "12.50", None)
    redirect = life.tpp.control("POST", "/psu/approve", address=life.signs_at[0]).get_json()["redirect"]
    (code,) = parse_qs(urlsplit(redirect).query)["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    basic = "Basic " + b64encode(b"demo-tpp:demo-secret").decode()
    kinds = [life.tpp.call("POST", "/token", data=form, authorization=basic).status_code for _ in range(2)]
    assert kinds == [200, 401]
    world = life.world
    assert [act.verb for act in world.log][-2:] == ["tokens.exchange", "tokens.exchange"]
    assert not world.bank.pairs
    assert hash_state(replay(world.beginning, world.log, world.bank.clock.now)) == hash_state(world.bank)


# The identical call again (choice 2)


def reusing(worlds: WorldRegistry, app: Flask, choice: str) -> Tpp:
    beginning = worlds.beginning
    worlds.make(choice, replace(beginning, settings=with_changes(Decisions(), {"request_id_reuse": choice})))
    return Tpp(app, choice)


def test_the_identical_initiation_again_gets_the_first_reply_and_changes_nothing(
    worlds: WorldRegistry, app: Flask
) -> None:
    tpp = reusing(worlds, app, "replay")
    first = tpp.initiate(request_id=REQUEST_ID)
    assert first.status_code == 201
    world = worlds.get("replay")
    before = hash_state(world.bank)
    for _ in range(3):
        again = tpp.initiate(request_id=REQUEST_ID)
        assert (again.status_code, again.data, again.headers["Location"]) == (
            201,
            first.data,
            first.headers["Location"],
        )
        assert hash_state(world.bank) == before


def test_the_lost_reply_is_the_same_after_the_payment_moved_on(worlds: WorldRegistry, app: Flask) -> None:
    tpp = reusing(worlds, app, "replay")
    body = payment(debtor_account__iban=tpp.iban_of("alice"))
    first = tpp.initiate(body=body, request_id=REQUEST_ID)
    tpp.control("POST", "/psu/approve", address=first.headers["Location"])
    tpp.advance("2h")
    assert tpp.initiate(body=body, request_id=REQUEST_ID).data == first.data
    assert len(tpp.listed("payments")) == 1


@pytest.mark.parametrize("choice", ["replay", "refuse"])
def test_another_initiation_under_a_used_id_is_refused(worlds: WorldRegistry, app: Flask, choice: str) -> None:
    tpp = reusing(worlds, app, choice)
    tpp.initiate(request_id=REQUEST_ID)
    others: list[Callable[[], TestResponse]] = [
        lambda: tpp.initiate(body=payment(creditor_name="Someone Else"), request_id=REQUEST_ID),
        lambda: tpp.initiate(ISCT, request_id=REQUEST_ID),
        lambda: tpp.initiate(redirect_uri="http://127.0.0.1:9001/other", request_id=REQUEST_ID),
        lambda: tpp.status("x", request_id=REQUEST_ID),
    ]
    for other in others:
        assert refused(untouched(worlds.get(choice), other), 400, "GEN-1202-100001", "Request-ID")


def test_the_setting_refuse_refuses_the_identical_one_too(worlds: WorldRegistry, app: Flask) -> None:
    tpp = reusing(worlds, app, "refuse")
    assert tpp.initiate(request_id=REQUEST_ID).status_code == 201
    again = untouched(worlds.get("refuse"), lambda: tpp.initiate(request_id=REQUEST_ID))
    assert refused(again, 400, "GEN-1202-100001", "Request-ID")


def test_the_setting_allow_makes_another_payment(worlds: WorldRegistry, app: Flask) -> None:
    tpp = reusing(worlds, app, "allow")
    ids = {tpp.initiate(request_id=REQUEST_ID).get_json()["payment_id"] for _ in range(3)}
    assert ids == {row["payment_id"] for row in tpp.listed("payments")}
    assert len(ids) == 3


def test_an_id_belongs_to_its_client_and_a_refused_call_does_not_use_it_up(tpp: Tpp, other: Tpp) -> None:
    assert tpp.initiate(body={}, request_id=REQUEST_ID).status_code == 400
    assert tpp.initiate(request_id=REQUEST_ID).status_code == 201
    assert other.initiate(request_id=REQUEST_ID).status_code == 201
    assert len(tpp.listed("payments")) == 2


# Same seed, same bytes


def spoken(seed: int) -> list[tuple[int, bytes, str]]:
    """What a fresh server of a seed says to a fixed sequence of calls."""
    app = assemble(worlds := WorldRegistry(make_first_beginning(seed, read_instant(MORNING), 0), machine_time))
    life = Life(app, worlds, "default")
    life.lead(FULL_LIFE)
    lists = [life.tpp.control("GET", f"/{name}") for name in ("customers", "accounts", "payments", "journal")]
    missing = life.tpp.status("none", request_id=None)
    return [(row.status_code, row.data, row.headers.get("Response-ID", "")) for row in (*lists, missing)]


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert spoken(7) == spoken(7)


def test_another_seed_gives_others() -> None:
    one, other = spoken(7), spoken(8)
    assert one[0] == other[0]  # the people are those of the fixtures
    for mine, theirs in zip(one[1:], other[1:], strict=True):
        assert mine != theirs


def test_worlds_without_seeds_differ_but_share_people_and_past(worlds: WorldRegistry, app: Flask) -> None:
    one, other = worlds.get("one"), worlds.get("other")
    assert one.beginning.seed != other.beginning.seed
    assert Tpp(app, "one").initiated() != Tpp(app, "other").initiated()
    assert one.bank.ledger.past is other.bank.ledger.past
    assert one.bank.ledger.past is worlds.get("default").bank.ledger.past


def test_a_world_of_another_people_s_seed_has_another_past(worlds: WorldRegistry) -> None:
    stranger = worlds.make("stranger", replace(worlds.beginning, seed=8))
    assert stranger.bank.ledger.past is not worlds.get("default").bank.ledger.past
