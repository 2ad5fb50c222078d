"""Await, timeline, fork and rewind (choice 10)."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from sandbox.bank import timeline
from sandbox.storage.bank_copy import copy_bank
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests import contracts
from tests.conftest import MORNING
from tests.reader import Reader
from tests.spec import files
from tests.stories import explained, faulty, follow, journal_of, ruled, signed_by_alice, told
from tests.tpp import SCT, Tpp, refused

NEVER = "SBX-0409-000004"
HALF_PAST = "2027-03-01T09:30:00+01:00"


def awaits(tpp: Tpp, payment_id: str, status: str, within: str | None = None) -> Any:
    more = {} if within is None else {"within": within}
    return tpp.control("POST", "/await", payment_id=payment_id, status=status, **more)


def now(tpp: Tpp) -> str:
    return str(tpp.control("GET", "/clock").get_json()["now"])


def unmoved(tpp: Tpp, reply: Any, *named: str) -> bool:
    assert all(refused(reply, 409, NEVER, name) for name in named)
    return now(tpp) == MORNING


# Await


def test_bank_time_goes_on_to_the_instant_at_which_it_holds_and_no_further(tpp: Tpp) -> None:
    paid = signed_by_alice(tpp)
    reply = awaits(tpp, paid, "ACSC", "1h")
    at = "2027-03-01T09:01:00+01:00"
    assert reply.json == {"payment_id": paid, "status": "ACSC", "at": at, "waited": 60}
    assert (now(tpp), told(tpp, paid)) == (at, ("ACSC", None))


def test_a_status_that_is_passed_in_the_same_instant_counts(tpp: Tpp) -> None:
    ruled(
        tpp,
        when={"kind": "payment"},
        then=[{"on": "PDNG", "after": "1m", "move": "ACSP"}, {"on": "ACSP", "move": "RJCT", "reason": "AC04"}],
    )
    paid = signed_by_alice(tpp)
    assert awaits(tpp, paid, "ACSP").json["waited"] == 60
    assert told(tpp, paid) == ("RJCT", "AC04")


def test_what_holds_already_takes_no_time(tpp: Tpp) -> None:
    assert awaits(tpp, tpp.initiated(), "RCVD").json["waited"] == 0
    assert now(tpp) == MORNING


def test_the_time_out_is_awaited_with_all_that_falls_due_on_the_way(tpp: Tpp) -> None:
    first = tpp.initiated()
    tpp.advance("10m")
    second = tpp.initiated()
    assert awaits(tpp, second, "CANC").json["waited"] == 3600
    assert told(tpp, first) == told(tpp, second) == ("CANC", "TIME_OUT")


def test_within_is_a_bound_that_may_just_be_reached(tpp: Tpp) -> None:
    waiting = tpp.initiated()
    assert unmoved(
        tpp, awaits(tpp, waiting, "CANC", "59m"), "within 59m it does not become CANC: it is PATC then", "signature"
    )
    assert awaits(tpp, waiting, "CANC", "3600s").status_code == 200


@pytest.mark.parametrize(
    "status, named",
    (
        ("PDNG", "signature"),
        ("ACSC", "instead it becomes PATC at 2027-03-01T09:00:01+01:00, CANC (TIME_OUT) at 2027-03-01T10:00:00+01:00"),
        ("ACWP", "nothing leads on from there to ACWP"),
    ),
)
def test_what_never_comes_is_told_with_the_reason_and_nothing_moves(
    tpp: Tpp, worlds: WorldRegistry, status: str, named: str
) -> None:
    waiting = tpp.initiated()
    before = hash_state(worlds.get("default").bank)
    within = "30m" if status == "PDNG" else None
    assert unmoved(tpp, awaits(tpp, waiting, status, within), named)
    assert hash_state(worlds.get("default").bank) == before


def test_what_is_over_never_changes(tpp: Tpp) -> None:
    waiting = tpp.initiated()
    tpp.advance("1h")
    assert refused(awaits(tpp, waiting, "PATC"), 409, NEVER, "it is CANC, and nothing leads on from there to PATC")


def test_contracts_and_files_are_awaited_as_well(tpp: Tpp) -> None:
    body = contracts.contract(debtor_account={"iban": contracts.ALICE}, end_date="2027-06-30")
    contract = contracts.signed(tpp, body)
    file = files.sent(tpp, files.pain())
    assert awaits(tpp, file, "PATC").json["waited"] == 120
    reply = awaits(tpp, contract, "CANC").json
    assert reply["at"] == "2027-06-01T06:00:00+02:00"
    assert len(journal_of(tpp, contract)) == 3 + 3 + 1


@pytest.mark.parametrize(
    "body, status, named",
    (
        ({"payment_id": "x", "status": "ACSC"}, 404, "payment_id"),
        ({"status": "ACSC"}, 400, "payment_id"),
        ({"payment_id": "x"}, 400, "status"),
        ({"payment_id": "x", "status": "PNDG"}, 400, "status"),
        ({"payment_id": "x", "status": "ACSC", "within": "x"}, 400, "within"),
        ({"payment_id": "x", "status": "ACSC", "for": "1d"}, 400, "for"),
    ),
)
def test_a_wrong_wait_is_refused(tpp: Tpp, body: dict[str, str], status: int, named: str) -> None:
    reply = tpp.control("POST", "/await", **body)
    assert reply.status_code == status and named in reply.get_json()["error_description"]


def test_even_the_longest_span_is_waited_for(tpp: Tpp) -> None:
    assert refused(awaits(tpp, tpp.initiated(), "PDNG", "9000w"), 409, NEVER)


# Timeline


def coming(tpp: Tpp) -> list[tuple[str, str]]:
    rows = tpp.listed("timeline")
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    return [(row["at"][11:19], row["trigger"]) for row in rows]


def test_the_timeline_shows_what_still_matters_soonest_first(tpp: Tpp) -> None:
    assert coming(tpp) == []
    reply = tpp.initiate()
    assert coming(tpp) == [("09:00:01", "checked"), ("10:00:00", "unsigned_too_long")]
    tpp.signed(reply, "alice")
    assert coming(tpp) == [("09:00:05", "executed")]
    tpp.advance("5s")
    assert coming(tpp) == [("09:01:00", "settled")]
    tpp.advance("55s")
    assert coming(tpp) == []


def test_the_timeline_knows_what_a_rule_will_do_and_forgets_what_it_cannot_any_more(tpp: Tpp) -> None:
    ruled(
        tpp,
        when={"kind": "payment"},
        then=[{"on": "PATC", "after": "10m", "move": "CANC", "reason": "MS03"}],
        psu={"approves": True, "customer": "alice", "after": "1m"},
    )
    tpp.initiated()
    tpp.advance("1s")
    assert [name for _, name in coming(tpp)][:2] == ["psu_acts", "ruled"]
    tpp.advance("1m")
    assert coming(tpp) == [("09:01:05", "executed")]


def test_the_timeline_knows_when_a_customer_answers_a_consent(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "consent"}, psu={"approves": True, "customer": "alice", "after": "1m"})
    tpp.call("GET", "/consent-uris?scope=AIS", accept="application/vnd.service.api+json; version=4")
    assert coming(tpp) == [("09:01:00", "psu_acts")]
    tpp.advance("1m")
    assert coming(tpp) == []


# Fork and rewind


def fork(tpp: Tpp, name: str, as_name: str, at: str | None = None, **more: Any) -> Any:
    more |= {} if at is None else {"at": at}
    return tpp.control("POST", f"/worlds/{name}/fork", **{"as": as_name}, **more)


def test_a_fork_is_the_world_as_it_is_and_both_go_on_apart(tpp: Tpp, app: Flask, worlds: WorldRegistry) -> None:
    paid = signed_by_alice(tpp)
    assert fork(tpp, "default", "b").status_code == 201
    twin = Tpp(app, "b")
    assert hash_state(worlds.find("b").bank) == hash_state(worlds.find("default").bank)
    twin.advance("2m")
    assert (told(twin, paid), told(tpp, paid)) == (("ACSC", None), ("PDNG", None))
    tpp.control("POST", f"/payments/{paid}/move", status="RJCT", reason="AC04")
    twin.initiated()
    assert (told(twin, paid), told(tpp, paid)) == (("ACSC", None), ("RJCT", "AC04"))
    assert (len(twin.listed("payments")), len(tpp.listed("payments"))) == (2, 1)


def test_a_fork_shares_no_reference_with_the_original(tpp: Tpp, app: Flask) -> None:
    first = tpp.initiated()
    fork(tpp, "default", "b")
    Tpp(app, "b").initiated()  # the same reference again
    reply = tpp.call("GET", f"/payments/{SCT}/INVOICE-2027-001/status?paymentIdType=EXTERNAL")
    assert (reply.status_code, reply.get_json()["payment_id"]) == (200, first)
    assert (
        Tpp(app, "b").call("GET", f"/payments/{SCT}/INVOICE-2027-001/status?paymentIdType=EXTERNAL").status_code == 409
    )


def test_the_same_calls_give_the_same_replies_in_both(tpp: Tpp, app: Flask) -> None:
    tpp.initiated()
    fork(tpp, "default", "b")
    request_id = "00000000-0000-4000-8000-000000000001"
    assert tpp.initiated(creditor_name="A") == Tpp(app, "b").initiated(creditor_name="A")
    assert tpp.status("x", request_id=request_id).json == Tpp(app, "b").status("x", request_id=request_id).json


def test_a_fork_knows_the_calls_before_it(tpp: Tpp, app: Flask) -> None:
    request_id = str(tpp.status("x").headers["Response-ID"])
    fork(tpp, "default", "b")
    twin = Tpp(app, "b")
    assert explained(twin, request_id)["error"] == "NOT_FOUND"
    twin.status("x", request_id=None)
    tpp.status("x", request_id=None)
    assert [row["seq"] for row in twin.listed("requests")] == [1, 2]
    assert twin.listed("requests")[1]["request_id"] == tpp.listed("requests")[1]["request_id"]


def began(tpp: Tpp) -> Reader:
    """A morning with a bit of everything, until half past nine."""
    reader = Reader(tpp)
    signed_by_alice(tpp)
    tpp.advance("20m")
    contracts.active(tpp, contracts.contract(debtor_account={"iban": contracts.ALICE}))
    files.validated(tpp, files.pain())
    tpp.control("PATCH", "/settings", unsigned_after="5m")
    tpp.control("POST", "/clock", set=HALF_PAST)
    return reader


def went_on(tpp: Tpp, reader: Reader) -> None:
    tpp.advance("20m")
    tpp.initiated(creditor_name="late")
    reader.renew()
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    tpp.advance("20m")


def lived(tpp: Tpp) -> None:
    went_on(tpp, began(tpp))


def test_a_fork_at_an_earlier_time_is_the_world_as_it_was_and_goes_its_own_way(
    tpp: Tpp, app: Flask, worlds: WorldRegistry
) -> None:
    reader = began(tpp)
    fork(tpp, "default", "live")
    went_on(tpp, reader)
    world = worlds.find("default")
    before = hash_state(world.bank)
    reply = fork(tpp, "default", "then", HALF_PAST)
    assert (reply.status_code, reply.json["clock"]["now"]) == (201, HALF_PAST)
    assert hash_state(world.bank) == before
    assert hash_state(worlds.find("then").bank) == hash_state(worlds.find("live").bank)
    twin = Tpp(app, "then")
    assert [row["at"] for row in twin.listed("journal")] == [
        row["at"] for row in tpp.listed("journal") if row["at"] <= HALF_PAST
    ]
    assert all(row["at"] <= HALF_PAST for row in twin.listed("requests")) and twin.listed("requests")
    assert twin.control("GET", "/settings").get_json()["settings"]["unsigned_after"] == "5m"
    assert [row["order"]["creditor_name"] for row in twin.listed("payments")] == ["Jan Peeters"]
    twin.initiated(creditor_name="another way")
    twin.advance("1d")
    assert hash_state(world.bank) == before


def test_playing_a_worlds_log_again_gives_the_same_bank(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(
        tpp,
        rules=[
            {"when": {"kind": "payment", "nth": 1}, "refuse": "UNAVAILABLE"},
            {"when": {"customer": "alice"}, "then": [{"on": "PDNG", "after": "1h", "move": "RJCT"}]},
            {"when": {"creditor_name": "late"}, "psu": {"approves": True, "customer": "alice", "after": "3s"}},
        ],
    )
    assert tpp.initiate().status_code == 503
    lived(tpp)
    world = worlds.find("default")
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)
    again.rulebook.met[0] = 7
    assert hash_state(again) != hash_state(world.bank)  # how often a rule was met is part of it


def test_a_rewind_is_a_fork_that_takes_the_worlds_own_name(tpp: Tpp) -> None:
    lived(tpp)
    assert fork(tpp, "default", "default", HALF_PAST, replace=True).status_code == 201
    assert now(tpp) == HALF_PAST
    assert [row["order"]["creditor_name"] for row in tpp.listed("payments")] == ["Jan Peeters"]
    tpp.control("POST", "/reset")
    assert (now(tpp), tpp.listed("payments")) == (MORNING, [])


def test_the_control_rewinds_a_world_and_leaves_the_others(tpp: Tpp, app: Flask, worlds: WorldRegistry) -> None:
    lived(tpp)
    fork(tpp, "default", "b")
    fork(tpp, "default", "then", HALF_PAST)
    later = now(tpp)
    reply = tpp.control("POST", "/worlds/default/rewind", at=HALF_PAST)
    found = reply.get_json()
    assert (reply.status_code, found["name"], found["clock"]["now"]) == (200, "default", HALF_PAST)
    assert hash_state(worlds.find("default").bank) == hash_state(worlds.find("then").bank)
    assert all(row["at"] <= HALF_PAST for row in tpp.listed("requests")) and tpp.listed("requests")
    assert (now(Tpp(app, "b")), now(tpp)) == (later, HALF_PAST)
    assert tpp.control("POST", "/worlds/default/rewind", at=later).status_code == 400  # that is to come again


@pytest.mark.parametrize(
    "name, body, status, why",
    (
        ("none", {"at": MORNING}, 404, "world"),
        ("default", {}, 400, "at"),
        ("default", {"at": "yesterday"}, 400, "at"),
        ("default", {"at": "2027-03-01T08:59:59+01:00"}, 400, "at"),  # before it began
        ("default", {"at": "2027-03-01T09:00:01+01:00"}, 400, "at"),  # not come yet
        ("default", {"at": MORNING, "as": "b"}, 400, "known are at"),
    ),
)
def test_a_wrong_rewind_is_refused_and_changes_nothing(
    tpp: Tpp, worlds: WorldRegistry, name: str, body: dict[str, str], status: int, why: str
) -> None:
    tpp.initiated()
    before = hash_state(worlds.find("default").bank)
    reply = tpp.control("POST", f"/worlds/{name}/rewind", **body)
    assert reply.status_code == status and why in reply.text
    assert hash_state(worlds.find("default").bank) == before
    assert [world.name for world in worlds.list_all()] == ["default"]


def test_a_fork_keeps_rules_faults_and_their_counts(tpp: Tpp, app: Flask) -> None:
    ruled(tpp, when={"kind": "payment", "nth": 2}, refuse="UNAVAILABLE")
    faulty(tpp, when={"operation": "payment_status", "nth": 2}, answer={"status": 503})
    tpp.initiated()
    tpp.status("x")
    fork(tpp, "default", "b")
    for world in (Tpp(app, "b"), tpp):
        assert world.initiate().status_code == 503
        assert [world.status("x").status_code for _ in range(2)] == [503, 404]
    Tpp(app, "b").control("DELETE", "/faults")
    assert len(tpp.listed("faults")) == 1


@pytest.mark.parametrize(
    "name, as_name, at, status",
    (
        ("none", "b", None, 404),
        ("default", "a b", None, 400),
        ("default", "", None, 400),
        ("default", "b", "2027-03-01T08:59:59+01:00", 400),  # before it began
        ("default", "b", "2027-03-01T09:00:01+01:00", 400),  # not come yet
        ("default", "b", "yesterday", 400),
        ("default", "default", None, 409),
    ),
)
def test_a_wrong_fork_is_refused(
    tpp: Tpp, worlds: WorldRegistry, name: str, as_name: str, at: str | None, status: int
) -> None:
    assert fork(tpp, name, as_name, at).status_code == status
    assert [world.name for world in worlds.list_all()] == ["default"]


def test_a_copy_of_a_bank_stays_as_it_was_whatever_its_bank_does(tpp: Tpp, worlds: WorldRegistry) -> None:
    reader = began(tpp)
    bank = worlds.find("default").bank
    twin = copy_bank(bank)
    before = hash_state(bank)
    went_on(tpp, reader)
    assert hash_state(twin) == before != hash_state(bank)


def test_what_happens_to_a_copy_of_a_bank_does_not_happen_to_the_bank(tpp: Tpp, worlds: WorldRegistry) -> None:
    lived(tpp)
    bank = worlds.find("default").bank
    before, first, second = hash_state(bank), copy_bank(bank), copy_bank(bank)
    for twin in (first, second):
        timeline.advance(twin, twin.clock.now + timedelta(days=40))
    assert hash_state(bank) == before != hash_state(first)
    assert hash_state(first) == hash_state(second)


def test_what_a_bank_owns_is_not_shared_with_its_twin(tpp: Tpp, worlds: WorldRegistry) -> None:
    """Lists, maps and records that change must be two; what is frozen may be one."""
    lived(tpp)
    bank = worlds.find("default").bank
    twin = copy_bank(bank)
    checked = 0
    for name, value in vars(bank).items():
        other = getattr(twin, name)
        if isinstance(value, dict | list):
            assert other is not value, name
            pairs = [(value[key], other[key]) for key in value] if isinstance(value, dict) else []
            for mine, theirs in pairs:
                frozen = getattr(getattr(mine, "__dataclass_params__", None), "frozen", True)
                if isinstance(mine, dict | list | set) or not frozen:
                    assert mine is not theirs, name
                    checked += 1
    assert checked > 5
