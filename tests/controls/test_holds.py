"""A call is held at a barrier until it is released, while all others go on (choice 13)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.worlds import holds as holds_module
from tests.tpp import Tpp, refused, version


def hold(tpp: Tpp, at: str, **more: Any) -> TestResponse:
    return tpp.http.post(f"{tpp.prefix}/_sandbox/holds", json={"at": at} | more)


def listed(tpp: Tpp, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tpp.http.get(f"{tpp.prefix}/_sandbox/{name}").get_json()[name]
    return found


def holds_of(tpp: Tpp) -> list[dict[str, Any]]:
    return listed(tpp, "holds")


@contextmanager
def aside(app: Flask, call: Callable[[Tpp], TestResponse], at: str = "it") -> Iterator[list[TestResponse]]:
    """The call goes on beside the block, which begins when it is held at the barrier."""
    replies: list[TestResponse] = []
    thread = threading.Thread(target=lambda: replies.append(call(Tpp(app))), daemon=True)
    thread.start()
    held = Tpp(app).http.get(f"/_sandbox/holds/{at}?within=10s").get_json()
    assert held["state"] == "held", held
    yield replies
    Tpp(app).http.delete(f"/_sandbox/holds/{at}")
    thread.join(10)
    assert replies


def status_of(payment_id: str) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: tpp.call("GET", f"/payments/sepa-credit-transfers/{payment_id}/status", accept=version(3))


def test_a_call_that_is_held_before_its_act_did_nothing_yet(app: Flask, tpp: Tpp) -> None:
    hold(tpp, "before_act", when={"operation": "payment_initiation"}, **{"as": "it"})
    with aside(app, lambda other: other.initiate()) as replies:
        assert not replies
        assert listed(tpp, "payments") == listed(tpp, "requests") == []
    assert replies[0].status_code == 201
    assert len(listed(tpp, "payments")) == 1


@pytest.mark.parametrize(("at", "noted"), [("after_act", 0), ("before_reply", 1)])
def test_a_call_that_is_held_later_is_done_and_then_listed(app: Flask, tpp: Tpp, at: str, noted: int) -> None:
    hold(tpp, at, **{"as": "it"})
    with aside(app, lambda other: other.initiate()) as replies:
        assert not replies
        (paid,) = listed(tpp, "payments")
        assert len(listed(tpp, "requests")) == noted
        assert status_of(paid["payment_id"])(tpp).status_code == 200  # nobody else waits
    assert replies[0].get_json()["payment_id"] == paid["payment_id"]


def test_the_list_names_the_call(app: Flask, tpp: Tpp) -> None:
    made = hold(tpp, "after_act", when={"operation": "payment_initiation", "nth": 1}, **{"as": "it"})
    assert (made.status_code, made.get_json()["state"]) == (201, "waiting")
    with aside(app, lambda other: other.initiate()):
        (row,) = holds_of(tpp)
    assert (row["name"], row["at"], row["state"]) == ("it", "after_act", "held")
    assert row["when"] == {"operation": "payment_initiation", "nth": 1}
    assert (row["call"]["operation"], row["call"]["client_id"]) == ("payment_initiation", "demo-tpp")
    assert holds_of(tpp) == []


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_only_the_call_that_fits_is_held(app: Flask, tpp: Tpp, nth: int) -> None:
    hold(tpp, "before_act", when={"operation": "payment_initiation", "client": "demo-tpp", "nth": nth}, **{"as": "it"})
    Tpp(app, client_id="other-tpp").initiate()
    tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4))
    for _ in range(nth - 1):
        assert tpp.initiate().status_code == 201
    with aside(app, lambda other: other.initiate()):
        assert tpp.initiate().status_code == 201


def test_a_refused_call_is_held_before_its_reply(app: Flask, tpp: Tpp) -> None:
    hold(tpp, "before_reply", **{"as": "it"})
    with aside(app, lambda other: other.initiate(accept=None)) as replies:
        pass
    assert refused(replies[0], 406, "SBX-0406-000001")


ENDS: dict[str, Callable[[Tpp], object]] = {
    "reset": lambda tpp: tpp.control("POST", "/reset"),
    "another scenario": lambda tpp: tpp.control("PUT", "/scenario", name="default"),
    "all released": lambda tpp: tpp.http.delete("/_sandbox/holds"),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_is_held_is_let_go_at(app: Flask, tpp: Tpp, end: str) -> None:
    hold(tpp, "before_act", **{"as": "it"})
    with aside(app, lambda other: other.initiate()):
        ENDS[end](tpp)
    assert holds_of(tpp) == []


def test_a_dropped_world_holds_nobody(app: Flask, tpp: Tpp) -> None:
    tpp.http.put("/_sandbox/worlds/w", json={})
    there = Tpp(app, "w")
    hold(there, "before_act", **{"as": "it"})
    replies: list[TestResponse] = []
    thread = threading.Thread(target=lambda: replies.append(Tpp(app, "w").initiate()), daemon=True)
    thread.start()
    there.http.get("/worlds/w/_sandbox/holds/it?within=10s")
    tpp.http.delete("/_sandbox/worlds/w")
    thread.join(10)
    assert replies


def test_a_call_goes_on_by_itself_in_the_end(app: Flask, tpp: Tpp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds_module, "HELD_SECONDS_MAX", 0.01)
    hold(tpp, "after_act")
    assert tpp.initiate().status_code == 201
    (row,) = holds_of(tpp)
    assert (row["name"], row["state"]) == ("hold-1", "expired")
    assert tpp.initiate().status_code == 201


DONE = {"before_act": 0, "after_act": 0, "before_reply": 1}  # payments, where the call could not be held there


@pytest.mark.parametrize("at", DONE)
def test_a_call_that_may_not_be_held_is_refused_with_503(tpp: Tpp, at: str) -> None:
    hold(tpp, at, when={"operation": "payment_initiation"}, **{"as": "it"})
    environ = cast("dict[str, Any]", tpp.http.environ_base)
    environ["sandbox.reserve"] = lambda world: nullcontext(False)
    reply = tpp.initiate()
    del environ["sandbox.reserve"]
    assert refused(reply, 503, "SBX-0503-000001") and reply.headers["Retry-After"] == "5"
    assert reply.headers["Response-ID"]
    (row,) = holds_of(tpp)
    assert row["state"] == "passed"
    assert len(listed(tpp, "payments")) == DONE[at]
    assert [call["status"] for call in listed(tpp, "requests")] == [503]
    assert tpp.initiate().status_code == 201  # the barrier was for that call


def test_nobody_waits_for_a_barrier_beyond_the_bound(tpp: Tpp) -> None:
    hold(tpp, "after_act", **{"as": "it"})
    environ = {"sandbox.reserve": lambda world: nullcontext(False)}
    assert refused(tpp.http.get("/_sandbox/holds/it?within=10s", environ_overrides=environ), 503, "SBX-0503-000001")
    assert tpp.http.get("/_sandbox/holds/it", environ_overrides=environ).status_code == 200


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"at": "before_acts"}, "did you mean 'before_act'?"),
    ({}, "at"),
    ({"at": "after_act", "when": {"operation": "tokens"}}, "did you mean 'token'?"),
    ({"at": "after_act", "when": {"client": "demo-ttp"}}, "did you mean 'demo-tpp'?"),
    ({"at": "after_act", "when": {"nth": 0}}, "from 1"),
    ({"at": "after_act", "when": {"chance": 1}}, "chance"),
    ({"at": "after_act", "as": "a b"}, "wrong form"),
    ({"at": "after_act", "name": "x"}, "known are"),
]


@pytest.mark.parametrize(("body", "why"), WRONG)
def test_a_wrong_barrier_is_refused_by_name(tpp: Tpp, body: dict[str, Any], why: str) -> None:
    reply = tpp.http.post("/_sandbox/holds", json=body)
    assert reply.status_code == 400
    assert why in reply.get_json()["error_description"]


def test_a_barrier_has_one_name_and_there_are_so_many(tpp: Tpp) -> None:
    hold(tpp, "after_act", when={"nth": 99}, **{"as": "it"})
    assert refused(hold(tpp, "after_act", **{"as": "it"}), 409, "SBX-0409-000008")
    for _ in range(49):
        assert hold(tpp, "after_act", when={"nth": 99}).status_code == 201
    assert refused(hold(tpp, "after_act"), 400, "SBX-0400-000001", "hold")
    unknown = tpp.http.delete("/_sandbox/holds/ti")
    assert unknown.status_code == 404
    assert refused(tpp.http.get("/_sandbox/holds/it?within=31s"), 400, "SBX-0400-000001", "within")


def test_the_same_order_gives_the_same_result_each_time(app: Flask, tpp: Tpp) -> None:
    """A status that is asked before the hour is over, and judged after it."""
    outcomes = set()
    for _ in range(25):
        hold(tpp, "before_act", when={"operation": "payment_status"}, **{"as": "it"})
        made = tpp.initiate().get_json()
        with aside(app, status_of(made["payment_id"])) as replies:
            tpp.control("POST", "/clock", advance="61m")
        outcomes.add((made["status"], replies[0].get_json()["status"]))
    assert outcomes == {("RCVD", "CANC")}
