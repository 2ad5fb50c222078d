"""Every control of choice 10 that stands so far, held and refused."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from freezegun import freeze_time

from sandbox.banking.durations import read_instant
from sandbox.banking.iban import BANK_BIC, is_iban
from sandbox.contract.decisions import Decisions
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.tpp import ISCT, SCT, Tpp, payment, refused

CONTROL_ERROR = "SBX-0400-000001"


def clock(tpp: Tpp) -> dict[str, Any]:
    found: dict[str, Any] = tpp.control("GET", "/clock").get_json()
    return found


def refused_clock(tpp: Tpp, named: str = "", **body: Any) -> bool:
    before = clock(tpp)
    held = refused(tpp.control("POST", "/clock", **body), 400, CONTROL_ERROR, named)
    assert clock(tpp) == before
    return held


# Health and the body of an error


def test_health_is_ready(tpp: Tpp) -> None:
    reply = tpp.control("GET", "/health")
    assert (reply.status_code, reply.json) == (200, {"status": "ready"})


@pytest.mark.parametrize(
    "method, path, body, status",
    [
        ("POST", "/clock", {"advance": "x"}, 400),
        ("GET", "/worlds/none", {}, 404),
        ("GET", "/none", {}, 404),
        ("DELETE", "/health", {}, 405),
    ],
)
def test_an_error_of_a_control_has_the_three_field_body(
    tpp: Tpp, method: str, path: str, body: dict[str, Any], status: int
) -> None:
    reply = tpp.control(method, path, **body)
    assert reply.status_code == status
    assert set(reply.get_json()) == {"error", "error_code", "error_description"}


def test_controls_need_no_bank_headers_and_stay_out_of_the_log_of_requests(tpp: Tpp) -> None:
    for name in ("customers", "clients", "accounts", "payments", "journal", "requests"):
        assert tpp.listed(name) is not None
    assert tpp.listed("requests") == []


# The clock


def test_the_clock_shows_its_now_mode_rate_and_what_is_due(tpp: Tpp) -> None:
    assert clock(tpp) == {"now": MORNING, "mode": "frozen", "rate": 0, "due_next": None}
    tpp.initiated()
    assert clock(tpp)["due_next"] == "2027-03-01T09:00:01+01:00"
    tpp.advance("1s")
    assert clock(tpp)["due_next"] == "2027-03-01T10:00:00+01:00"


@pytest.mark.parametrize(
    "span, now",
    [
        ("0s", MORNING),
        ("90s", "2027-03-01T09:01:30+01:00"),
        ("61m", "2027-03-01T10:01:00+01:00"),
        ("2d", "2027-03-03T09:00:00+01:00"),
        ("4w", "2027-03-29T10:00:00+02:00"),  # 28 times 24 hours, over the beginning of summer time
        ("PT61M", "2027-03-01T10:01:00+01:00"),
    ],
)
def test_the_clock_advances(tpp: Tpp, span: str, now: str) -> None:
    reply = tpp.control("POST", "/clock", advance=span)
    assert (reply.status_code, reply.get_json()["now"]) == (200, now)
    assert clock(tpp) == reply.json


@pytest.mark.parametrize("span", ["", "1", "-1s", "1y", "1 h", "P1M", "999999999w", 60, None, [], True, "200000d"])
def test_a_bad_span_is_refused(tpp: Tpp, span: Any) -> None:
    assert refused_clock(tpp, "advance", advance=span)


def test_the_clock_does_not_leave_the_calendar(tpp: Tpp) -> None:
    tpp.control("POST", "/clock", set="2199-12-30T00:00:00Z")
    tpp.advance("1d")
    assert refused_clock(tpp, "advance", advance="1d")
    assert refused_clock(tpp, "set", set="2200-01-01T00:00:00Z")
    tpp.control("POST", "/clock", set="2199-12-31T23:59:59Z")
    assert clock(tpp)["now"] == "2200-01-01T00:59:59+01:00"


def test_the_clock_is_set_and_all_falls_due_on_the_way(tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    reply = tpp.control("POST", "/clock", set="2028-01-02T06:00:00+01:00")
    assert reply.get_json()["now"] == "2028-01-02T06:00:00+01:00"
    assert [row["at"] for row in tpp.listed("journal")] == [
        MORNING,
        "2027-03-01T09:00:01+01:00",
        "2027-03-01T10:00:00+01:00",
    ]
    assert tpp.status(payment_id).json == {"payment_id": payment_id, "status": "CANC", "reason": "TIME_OUT"}


def test_setting_the_clock_to_its_now_is_no_going_back(tpp: Tpp) -> None:
    assert tpp.control("POST", "/clock", set=MORNING).status_code == 200


@pytest.mark.parametrize("instant", ["2027-03-01T08:59:59+01:00", "2027-03-01T09:00:00+02:00", "2000-01-01T00:00:00Z"])
def test_going_back_is_refused(tpp: Tpp, instant: str) -> None:
    assert refused_clock(tpp, "set", set=instant)


@pytest.mark.parametrize("instant", ["", "soon", "2027-13-01", 1, None, "9999-12-31T23:59:59-14:00"])
def test_a_bad_instant_is_refused(tpp: Tpp, instant: Any) -> None:
    assert refused_clock(tpp, "set", set=instant)


@pytest.mark.parametrize(
    "body, named",
    [
        ({}, "body"),
        ({"advance": "1s", "set": MORNING}, "body"),
        ({"advance": "1s", "mode": "frozen"}, "body"),
        ({"rate": 2}, "body"),
        ({"faster": True}, "faster"),
        ({"advance": "1s", "rate": 2}, "rate"),
        ({"mode": "frozen", "rate": 2}, "rate"),
        ({"mode": "stopped"}, "mode"),
        ({"mode": None}, "mode"),
        ({"mode": "running", "rate": 0}, "rate"),
        ({"mode": "running", "rate": -1}, "rate"),
        ({"mode": "running", "rate": "2"}, "rate"),
        ({"mode": "running", "rate": True}, "rate"),
        ({"mode": "running", "rate": 1_000_001}, "rate"),
    ],
)
def test_a_bad_body_for_the_clock_is_refused(tpp: Tpp, body: dict[str, Any], named: str) -> None:
    assert refused_clock(tpp, named, **body)


@pytest.mark.parametrize("text", [b"[]", b"1", b"null", b"{", b"\xff", b'"advance"'])
def test_a_body_that_is_no_object_is_refused(tpp: Tpp, text: bytes) -> None:
    assert refused(tpp.http.post("/_sandbox/clock", data=text), 400, CONTROL_ERROR, "body")


def test_a_running_clock_goes_on_at_its_rate_and_can_be_frozen(tpp: Tpp) -> None:
    with freeze_time("2031-01-01") as machine:
        reply = tpp.control("POST", "/clock", mode="running", rate=60)
        assert reply.json == {"now": MORNING, "mode": "running", "rate": 60, "due_next": None}
        machine.tick(60)
        assert clock(tpp)["now"] == "2027-03-01T10:00:00+01:00"
        tpp.advance("1h")
        assert clock(tpp)["mode"] == "running"
        assert tpp.control("POST", "/clock", mode="frozen").get_json()["now"] == "2027-03-01T11:00:00+01:00"
        machine.tick(60)
        assert clock(tpp) == {"now": "2027-03-01T11:00:00+01:00", "mode": "frozen", "rate": 0, "due_next": None}


def test_a_call_that_is_refused_at_once_has_the_time_of_the_running_clock(tpp: Tpp) -> None:
    with freeze_time("2026-05-05 12:00:00") as frozen:
        tpp.control("POST", "/clock", mode="running", rate=60)
        tpp.initiate()
        frozen.tick(timedelta(seconds=10))
        tpp.initiate(accept="text/plain")
        tpp.call("GET", "/nowhere")
        first, refused_one, unknown = tpp.listed("requests")
    assert (first["at"], first["status"]) == (MORNING, 201)
    later = "2027-03-01T09:10:00+01:00"
    assert [(row["at"], row["status"]) for row in (refused_one, unknown)] == [(later, 406), (later, 404)]


def test_running_without_a_rate_is_as_fast_as_the_machine(tpp: Tpp) -> None:
    assert tpp.control("POST", "/clock", mode="running").get_json()["rate"] == 1


# Reset


def test_a_reset_brings_the_world_back_as_it_was_loaded(tpp: Tpp, worlds: WorldRegistry) -> None:
    before = hash_state(worlds.get("default").bank)
    first = tpp.initiated()
    tpp.advance("2d")
    reply = tpp.control("POST", "/reset")
    assert (reply.status_code, reply.get_json()["clock"]["now"]) == (200, MORNING)
    assert hash_state(worlds.get("default").bank) == before
    assert tpp.listed("payments") == tpp.listed("journal") == tpp.listed("requests") == []
    assert tpp.initiated() == first  # the same seed draws the same again


def test_a_reset_takes_no_body_and_touches_no_other_world(tpp: Tpp, app: Flask) -> None:
    beside = Tpp(app, "beside")
    beside.initiated()
    payment_id = tpp.initiated()
    assert refused(tpp.control("POST", "/reset", seed=1), 400, CONTROL_ERROR, "seed")
    assert tpp.status(payment_id).status_code == 200
    tpp.control("POST", "/reset")
    assert len(beside.listed("payments")) == 1


# Worlds


def test_a_world_is_made_shown_listed_and_dropped(tpp: Tpp) -> None:
    made = tpp.control("PUT", "/worlds/mine")
    assert made.status_code == 201
    assert set(made.get_json()) == {"name", "scenario", "seed", "clock", "away"}
    assert (made.get_json()["name"], made.get_json()["scenario"], made.get_json()["clock"]["now"]) == (
        "mine",
        "default",
        MORNING,
    )
    assert tpp.control("GET", "/worlds/mine").json == made.json
    assert [row["name"] for row in tpp.listed("worlds")] == ["default", "mine"]
    gone = tpp.control("DELETE", "/worlds/mine")
    assert (gone.status_code, gone.data) == (204, b"")
    assert [row["name"] for row in tpp.listed("worlds")] == ["default"]
    for method in ("GET", "DELETE"):
        assert refused(tpp.control(method, "/worlds/mine"), 404, "SBX-0404", "world")


def test_a_world_may_have_a_seed_and_a_clock_of_its_own(tpp: Tpp) -> None:
    made = tpp.control("PUT", "/worlds/mine", seed=5, clock={"at": "2030-06-01T12:00", "rate": 10})
    assert made.get_json()["seed"] == 5
    assert made.get_json()["clock"]["mode"] == "running"
    assert made.get_json()["clock"]["rate"] == 10
    assert made.get_json()["clock"]["now"].startswith("2030-06-01T12:00:0")
    made = tpp.control(
        "PUT", "/worlds/mine", clock={"at": "2030-06-01T12:00", "frozen": True}, scenario="default", replace=True
    )
    assert made.get_json()["clock"] == {
        "now": "2030-06-01T12:00:00+02:00",
        "mode": "frozen",
        "rate": 0,
        "due_next": None,
    }
    made = tpp.control("PUT", "/worlds/mine", clock={"frozen": False}, replace=True)
    assert made.get_json()["clock"]["mode"] == "running"


def test_a_world_made_again_begins_anew(tpp: Tpp, app: Flask) -> None:
    first = Tpp(app, "mine").initiated()
    assert tpp.control("PUT", "/worlds/mine", replace=True).status_code == 201
    assert Tpp(app, "mine").listed("payments") == []
    assert Tpp(app, "mine").initiated() == first


@pytest.mark.parametrize(
    "body, named",
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**53}, "seed"),
        ({"seed": "1"}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"seed": None}, "seed"),
        ({"scenario": "none"}, "scenario"),
        ({"scenario": 7}, "scenario"),
        ({"scenario": {"settings": {"page_sise": 7}}}, "page_sise"),
        ({"clock": "now"}, "clock"),
        ({"clock": {"rate": 1, "frozen": False}}, "clock"),
        ({"clock": {"now": MORNING}}, "clock"),
        ({"clock": {"frosen": True}}, "did you mean 'frozen'?"),
        ({"clock": {"at": "soon"}}, "at"),
        ({"clock": {"at": None}}, "at"),
        ({"clock": {"rate": 0}}, "rate"),
        ({"clock": {"frozen": 1}}, "frozen"),
        ({"people": []}, "people"),
    ],
)
def test_a_bad_world_is_refused_and_not_made(tpp: Tpp, body: dict[str, Any], named: str) -> None:
    assert refused(tpp.control("PUT", "/worlds/mine", **body), 400, CONTROL_ERROR, named)
    assert [row["name"] for row in tpp.listed("worlds")] == ["default"]


@pytest.mark.parametrize("name", [".a", "-a", "a b", "é", "x" * 65, "a%0A", "a%00", "%2e%2e"])
def test_a_bad_name_makes_no_world(tpp: Tpp, name: str) -> None:
    assert refused(tpp.control("PUT", f"/worlds/{name}"), 400, CONTROL_ERROR, "name")
    for path in (f"/worlds/{name}/payments/{SCT}/x/status", f"/worlds/{name}/_sandbox/clock"):
        assert refused(tpp.call("GET", path), 404, "SBX-0404")
    assert [row["name"] for row in tpp.listed("worlds")] == ["default"]


def test_a_world_that_is_called_before_it_is_made_is_made_as_the_server_was_started(tpp: Tpp, app: Flask) -> None:
    other = Tpp(app, "on-demand")
    assert clock(other) == clock(tpp)
    assert [row["name"] for row in tpp.listed("worlds")] == ["default", "on-demand"]


def test_looking_for_a_world_or_an_unknown_path_below_it_makes_none(tpp: Tpp) -> None:
    tpp.control("GET", "/worlds/mine")
    tpp.call("GET", "/worlds/mine/no/such/path")
    assert [row["name"] for row in tpp.listed("worlds")] == ["default"]


def test_declared_worlds_must_be_made_first(app: Flask) -> None:
    tpp, mine = Tpp(app), Tpp(app, "mine")
    assert tpp.control("PATCH", "/settings", worlds="declared").status_code == 200
    assert refused(mine.initiate(), 404, "SBX-0404", "world")
    assert refused(mine.control("GET", "/clock"), 404, "SBX-0404", "world")
    assert tpp.control("PUT", "/worlds/mine").status_code == 201
    assert mine.initiate().status_code == 201
    assert tpp.initiate().status_code == 201  # the bare address is always there


def test_each_world_has_its_own_clock(tpp: Tpp, app: Flask) -> None:
    Tpp(app, "ahead").advance("1d")
    assert clock(tpp)["now"] == MORNING
    assert clock(Tpp(app, "ahead"))["now"] == "2027-03-02T09:00:00+01:00"


# What a world holds


def test_customers_are_listed_with_their_accounts(tpp: Tpp) -> None:
    rows = {row["customer"]: row for row in tpp.listed("customers")}
    assert {"alice", "bram", "bakkerij", "notaris", "griet", "blocked", "poor", "limited"} <= set(rows)
    assert all(set(row) == {"customer", "name", "language", "kind", "accounts"} for row in rows.values())
    assert (rows["alice"]["language"], rows["alice"]["kind"], len(rows["alice"]["accounts"])) == ("fr", "private", 2)
    assert rows["bakkerij"]["kind"] == "business"
    assert all(is_iban(iban) for row in rows.values() for iban in row["accounts"])


def test_clients_are_listed_without_their_secrets(tpp: Tpp) -> None:
    reply = tpp.control("GET", "/clients")
    assert "secret" not in reply.text
    rows = {row["client_id"]: row for row in reply.get_json()["clients"]}
    assert set(rows) == {"demo-tpp", "other-tpp", "idle-tpp"}
    assert set(rows["demo-tpp"]) == {"client_id", "name", "roles", "active", "redirect_uris"}
    assert (rows["demo-tpp"]["active"], rows["idle-tpp"]["active"]) == (True, False)
    assert rows["demo-tpp"]["roles"] == ["PIS", "AIS"]


def test_accounts_are_listed_with_balances_that_follow_the_payments(tpp: Tpp) -> None:
    rows = {row["iban"]: row for row in tpp.listed("accounts")}
    alice = rows[tpp.iban_of("alice")]
    assert set(alice) == {"iban", "bic", "type", "customer", "balances", "signatures_required"}
    assert {row["bic"] for row in rows.values()} == {BANK_BIC}
    assert tpp.control("GET", f"/accounts/{alice['iban']}").get_json()["bic"] == BANK_BIC
    assert [row["currency"] for row in rows[tpp.iban_of("bram")]["balances"]] == ["EUR", "USD", "GBP"]
    assert rows[tpp.iban_of("notaris")]["signatures_required"] == 2
    assert all(isinstance(one["balance"], int | float) for row in rows.values() for one in row["balances"])

    payment_id = tpp.initiated(ISCT, debtor_account__iban=alice["iban"])
    for status in ("PATC", "ACSP"):
        tpp.control("POST", f"/payments/{payment_id}/move", status=status)
    after = {row["iban"]: row for row in tpp.listed("accounts")}[alice["iban"]]
    assert after["balances"][0]["balance"] == pytest.approx(alice["balances"][0]["balance"] - 12.5)


def test_payments_are_listed_with_their_history_and_order(tpp: Tpp) -> None:
    iban = tpp.iban_of("alice")
    body = payment(debtor_account__iban=iban, remittance_information_unstructured="Thank you")
    payment_id = tpp.initiate(body=body).get_json()["payment_id"]
    tpp.advance("1h")
    (row,) = tpp.listed("payments")
    assert (row["payment_id"], row["product"], row["status"]) == (payment_id, SCT, "CANC")
    assert (row["reason"], row["client_id"], row["customer"]) == ("TIME_OUT", "demo-tpp", None)
    assert row["history"] == [
        {"at": MORNING, "status": "RCVD", "reason": None},
        {"at": "2027-03-01T09:00:01+01:00", "status": "PATC", "reason": None},
        {"at": "2027-03-01T10:00:00+01:00", "status": "CANC", "reason": "TIME_OUT"},
    ]
    assert row["order"] == body | {"debtor_account": {"iban": iban, "currency": "EUR"}}
    assert tpp.control("GET", f"/payments/{payment_id}").json == row
    assert refused(tpp.control("GET", "/payments/none"), 404, "SBX-0404", "payment")


def test_the_journal_tells_what_changed_and_since_when(tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    tpp.advance("1h")
    rows = tpp.listed("journal")
    assert [(row["seq"], row["trigger"], row["from"], row["to"], row["reason"]) for row in rows] == [
        (1, "received", None, "RCVD", None),
        (2, "checked", "RCVD", "PATC", None),
        (3, "unsigned_too_long", "PATC", "CANC", "TIME_OUT"),
    ]
    assert {row["subject"] for row in rows} == {payment_id}
    for since, left in ((0, 3), (1, 2), (3, 0), (99, 0), (10**17, 0)):
        assert tpp.control("GET", f"/journal?since={since}").get_json()["journal"] == rows[3 - left :]


def test_requests_tell_what_was_asked_and_since_when(tpp: Tpp) -> None:
    first, second = str(uuid4()), str(uuid4())
    payment_id = tpp.initiate(request_id=first).get_json()["payment_id"]
    tpp.status(payment_id, request_id=second, client_id="nobody")
    odd = tpp.call("GET", "/no/such/path", request_id=None)
    rows = tpp.listed("requests")
    assert [(row["seq"], row["request_id"], row["operation"], row["status"]) for row in rows] == [
        (1, first, "payment_initiation", 201),
        (2, second, "payment_status", 401),
        (3, odd.headers["Response-ID"], None, 404),
    ]
    assert [(row["method"], row["path"], row["client_id"], row["at"]) for row in rows[:2]] == [
        ("POST", f"/payments/{SCT}", "demo-tpp", MORNING),
        ("GET", f"/payments/{SCT}/{payment_id}/status", "nobody", MORNING),
    ]
    for since, left in ((0, 3), (2, 1), (3, 0), (99, 0)):
        assert tpp.control("GET", f"/requests?since={since}").get_json()["requests"] == rows[3 - left :]


@pytest.mark.parametrize("name", ["journal", "requests"])
@pytest.mark.parametrize("since", ["", "-1", "1.5", "x", "%D9%A1", "9" * 19, "1%20", "1e3"])
def test_a_bad_since_is_refused(tpp: Tpp, name: str, since: str) -> None:
    assert refused(tpp.control("GET", f"/{name}?since={since}"), 400, CONTROL_ERROR, "since")


def test_only_the_newest_requests_are_kept_but_their_numbers_go_on(tpp: Tpp, worlds: WorldRegistry, app: Flask) -> None:
    worlds.make("small", replace(worlds.beginning, settings=Decisions(requests_kept=3)))
    small = Tpp(app, "small")
    for _ in range(5):
        small.status("x")
    assert [row["seq"] for row in small.listed("requests")] == [3, 4, 5]


READS = ("/health", "/clock", "/worlds", "/customers", "/clients", "/accounts", "/payments", "/journal", "/requests")


@pytest.mark.parametrize("path", READS)
def test_a_read_never_moves_a_frozen_bank(tpp: Tpp, worlds: WorldRegistry, path: str) -> None:
    tpp.initiated()
    world = worlds.get("default")
    before = (hash_state(world.bank), len(world.log), world.calls.made)
    with freeze_time("2031-01-01") as machine:
        for _ in range(3):
            assert tpp.control("GET", path).status_code == 200
            machine.tick(timedelta(days=30))
    assert (hash_state(world.bank), len(world.log), world.calls.made) == before


@pytest.mark.parametrize("path", [path for path in READS if path not in ("/health", "/worlds")])
def test_a_read_brings_a_running_bank_up_to_date_and_no_further(tpp: Tpp, worlds: WorldRegistry, path: str) -> None:
    with freeze_time("2031-01-01") as machine:
        tpp.control("POST", "/clock", mode="running")
        tpp.initiated()
        machine.tick(30)
        tpp.control("GET", path)
        if path == "/requests":
            tpp.control("GET", "/clock")  # a log of calls has no need of the bank's time
        assert worlds.get("default").bank.clock.now == read_instant(MORNING) + timedelta(seconds=30)


def test_a_control_that_is_called_by_another_method_says_which(tpp: Tpp) -> None:
    reply = tpp.control("PATCH", "/clock")
    assert refused(reply, 405, "SBX-0405", "PATCH")
    assert {"GET", "POST"} <= set(reply.headers["Allow"].split(", "))


def test_a_world_without_a_fixed_beginning_begins_at_the_machine_s_time(
    tpp: Tpp, worlds: WorldRegistry, app: Flask
) -> None:
    with freeze_time("2031-05-05T12:00:00") as machine:
        worlds.make("now", replace(worlds.beginning, at=None, rate=1.0))
        now = Tpp(app, "now")
        machine.tick(100)
        assert datetime.fromisoformat(clock(now)["now"]) == datetime(2031, 5, 5, 12, 1, 40, tzinfo=UTC)
        now.control("POST", "/clock", advance="5d")
        reply = now.control("POST", "/reset")
        assert datetime.fromisoformat(reply.get_json()["clock"]["now"]) == datetime(2031, 5, 5, 12, 1, 40, tzinfo=UTC)


def test_a_world_may_be_made_of_a_scenarios_content(tpp: Tpp) -> None:
    made = tpp.control("PUT", "/worlds/mine", scenario={"seed": 5, "settings": {"page_size": 7}})
    assert (made.status_code, made.get_json()["seed"]) == (201, 5)
