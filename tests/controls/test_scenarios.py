"""Scenarios of a running server: listed, loaded, refused; and that they repeat to the byte (choice 10, 13)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.scenarios.reading import SHIPPED
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.stories import follow, told
from tests.tpp import ISCT, SCT, Tpp, payment, refused

YAML = """\
scenario: Closed
seed: 5
clock: {at: 2027-06-01T12:00, frozen: true}
settings: {unsigned_after: 10m}
rules:
  - when: {creditor_name: "Closed*"}
    refuse: UNAVAILABLE
"""


def put_text(tpp: Tpp, text: str, media: str = "application/yaml") -> Any:
    return tpp.http.put(f"{tpp.prefix}/_sandbox/scenario", data=text.encode(), content_type=media)


def test_the_shipped_scenarios_are_listed_with_title_and_text(tpp: Tpp) -> None:
    rows = tpp.listed("scenarios")
    assert [row["name"] for row in rows] == list(SHIPPED)
    assert all(row["title"] and set(row) == {"name", "title", "about"} for row in rows)


@pytest.mark.parametrize("media", ("application/yaml", "text/yaml; charset=utf-8", "application/x-yaml"))
def test_a_world_begins_again_with_a_file(tpp: Tpp, media: str) -> None:
    tpp.initiated()
    reply = put_text(tpp, YAML, media)
    assert reply.status_code == 200, reply.text
    assert (reply.json["seed"], reply.json["clock"]["now"]) == (5, "2027-06-01T12:00:00+02:00")
    assert tpp.listed("payments") == [] and tpp.listed("requests") == []
    assert refused(tpp.initiate(body=payment(creditor_name="Closed Ltd")), 503, "SBX-0503")
    paid = tpp.initiated()
    tpp.advance("10m")
    assert told(tpp, paid) == ("CANC", "TIME_OUT")
    tpp.control("POST", "/reset")
    assert tpp.control("GET", "/clock").get_json()["now"] == "2027-06-01T12:00:00+02:00"
    assert refused(tpp.initiate(body=payment(creditor_name="Closed Ltd")), 503, "SBX-0503")


def test_a_world_begins_again_with_a_shipped_scenario_by_its_name(tpp: Tpp) -> None:
    follow(tpp, rules=[{"refuse": "UNAVAILABLE"}])
    assert tpp.control("PUT", "/scenario", name="default").status_code == 200
    assert tpp.control("GET", "/scenario").json == {"scenario": "default"}
    assert tpp.initiate().status_code == 201


def test_a_world_is_made_with_a_scenario_that_it_keeps(tpp: Tpp, app: Flask) -> None:
    assert tpp.control("PUT", "/worlds/mine", scenario="default").get_json()["scenario"] == "default"
    assert refused(tpp.control("PUT", "/worlds/mine", scenario="none"), 400, "SBX-0400-000001", "none")
    follow(Tpp(app, "mine"), rules=[{"refuse": "UNAVAILABLE"}])
    assert Tpp(app, "mine").initiate().status_code == 503
    assert tpp.initiate().status_code == 201


@pytest.mark.parametrize(
    "text, place, named",
    (
        ("rules:\n  - when: {amont: 5}\n    refuse: NOT_FOUND", "scenario.yaml:2:", "did you mean 'amount'"),
        ("colour: red", "scenario.yaml:1:1", "colour"),
        ("clock: {at: tomorrow}", "scenario.yaml:1:13", "a time is written"),
        ("rules: [", "scenario.yaml:", ""),
        ("a: 1\na: 2", "scenario.yaml:2:", "a"),
    ),
)
def test_a_wrong_file_is_refused_with_line_and_column_and_the_world_stays(
    tpp: Tpp, text: str, place: str, named: str
) -> None:
    paid = tpp.initiated()
    reply = put_text(tpp, text)
    assert refused(reply, 400, "SBX-0400-000001", place) and named in reply.json["error_description"]
    assert told(tpp, paid)[0] == "RCVD"


@pytest.mark.parametrize(
    "content, named",
    (
        ({"name": "none"}, "none"),
        ({"name": "../default"}, "name"),
        ({"name": 1}, "name"),
        ({}, "body"),
        ({"name": "default", "scenario": {}}, "body"),
        ({"scenario": {"rules": [{"refuse": "NOTHING"}]}}, "rules[0].refuse"),
        (
            {"scenario": {"steps": [{"pay": {}}, {"status": "rent"}]}},
            "scenario:steps[1]: nothing was captured as 'rent'",
        ),
        ({"scenario": []}, "scenario"),
        ({"file": "x"}, "file"),
    ),
)
def test_a_wrong_content_is_refused_by_its_path(tpp: Tpp, content: dict[str, Any], named: str) -> None:
    assert refused(tpp.control("PUT", "/scenario", **content), 400, "SBX-0400-000001", named)


def test_a_body_that_is_no_text_is_refused(tpp: Tpp) -> None:
    reply = tpp.http.put("/_sandbox/scenario", data=b"\xff\xfe\x00", content_type="application/yaml")
    assert refused(reply, 400, "SBX-0400-000001", "UTF-8")


# The same scenario and seed: the same bytes

STORY: dict[str, Any] = {
    "seed": 11,
    "rules": [
        {"when": {"creditor_name": "Closed*"}, "then": [{"on": "ACSP", "after": "2h", "move": "RJCT"}]},
        {"when": {"kind": "payment", "product": ISCT}, "psu": {"approves": True, "customer": "alice", "after": "2s"}},
    ],
    "faults": [
        {"when": {"operation": "payment_status", "chance": 0.3}, "answer": {"status": 503}},
        {"when": {"operation": "payment_initiation", "nth": 3}, "change": "key_order"},
    ],
}


def played(tpp: Tpp) -> list[str]:
    """Every byte and header of the replies to a story."""
    follow(tpp, **STORY)
    heard: list[str] = []
    for number in range(24):
        request_id = str(UUID(int=number, version=4))
        product = ISCT if number % 3 else SCT
        reply = tpp.initiate(product, payment(creditor_name=f"Closed {number}"), request_id=request_id)
        heard.append(f"{reply.status} {reply.headers} {reply.text}")
        if product == SCT and reply.status_code == 201:
            answer = tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")
            heard.append(answer.text)
        tpp.advance("17m")
        reply = tpp.status(
            reply.get_json()["payment_id"],
            product,
            request_id=str(UUID(int=99 - number, version=4)) if number % 5 else None,
        )
        heard.append(f"{reply.status} {reply.headers} {reply.text}")
    for name in ("journal", "callbacks", "payments", "accounts", "timeline", "faults", "requests"):
        heard.append(tpp.control("GET", f"/{name}").text)
    return heard


def print_of(app: Flask, world: str) -> str:
    """World names stand in addresses, so they are taken out; all are as long."""
    return sha256("\n".join(played(Tpp(app, world))).replace(f"/worlds/{world}", "").encode()).hexdigest()


ELSEWHERE = """
from tests.controls.test_scenarios import of_a_new_bank
print(of_a_new_bank())
"""


def of_a_new_bank() -> str:
    worlds = WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)
    return print_of(assemble(worlds), "c")


def test_the_same_scenario_and_seed_give_the_same_bytes_twice_and_in_another_process(app: Flask) -> None:
    first = print_of(app, "a")
    assert print_of(app, "a") == first  # the same world begins again
    assert print_of(app, "b") == first
    told = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == first


def test_another_seed_gives_other_bytes(app: Flask) -> None:
    replies = []
    for seed in (1, 2):
        tpp = Tpp(app, f"seed-{seed}")
        follow(tpp, seed=seed)
        replies.append(tpp.initiated())
    assert replies[0] != replies[1]


def test_fifty_scenarios_in_parallel_worlds_do_not_touch_each_other(app: Flask) -> None:
    """One of the worlds begins again and again in their midst."""

    def lead(number: int) -> tuple[str, list[Any]]:
        tpp = Tpp(app, f"w{number}")
        amount = f"{number + 1}.00"
        follow(tpp, rules=[{"when": {"amount": amount}, "then": [{"on": "PDNG", "move": "RJCT", "reason": "AC04"}]}])
        if number == 25:
            for _ in range(20):
                tpp.initiate()
                tpp.control("POST", "/reset")
        found: list[Any] = []
        for paid in (amount, "99.00"):
            reply = tpp.initiate(body=payment(instructed_amount__amount=paid))
            tpp.signed(reply, "alice")
            tpp.advance("2m")
            found.append(told(tpp, reply.get_json()["payment_id"]))
        return tpp.control("GET", "/clock").get_json()["now"], found + [len(tpp.listed("payments"))]

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lead, range(50)))
    assert outcomes == [("2027-03-01T09:04:00+01:00", [("RJCT", "AC04"), ("ACSC", None), 2])] * 50
