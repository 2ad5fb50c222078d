"""What one caller sends, and what the server does with the record of a call, never reaches another caller's reply."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from sandbox.app import assemble
from sandbox.extensions.referee import listening, stream
from sandbox.extensions.referee.table import TABLE
from sandbox.web.api import app as api_app
from sandbox.web.api import call_records
from sandbox.web.api.app import App
from sandbox.web.api.app import route as route_bank
from sandbox.worlds.call_history import CallHistory
from sandbox.worlds.counts import Tally
from sandbox.worlds.registry import MemoryBound, WorldRegistry
from tests.logs import Logs
from tests.tpp import Tpp, payment, refused
from tests.worlds.tenancy import Server

ENDS_OF_THE_CALENDAR = (
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "1999-12-31T23:59:59Z",
    "2200-01-01T00:00:00Z",
)


def stranger(tpp: Tpp, date: str = ENDS_OF_THE_CALENDAR[0]) -> str:
    """The Request-ID of a call without any secret, which is refused for its Date."""
    request_id = str(uuid4())
    reply = tpp.initiate(body={}, date=date, request_id=request_id)
    assert refused(reply, 401, "GEN-1203-100008", "Date"), reply.text
    return request_id


def ids_of(tpp: Tpp) -> list[str]:
    return [row["request_id"] for row in tpp.listed("requests")]


@pytest.mark.parametrize("date", ENDS_OF_THE_CALENDAR)
def test_a_date_that_no_clock_shows_is_refused_and_every_other_call_goes_on(tpp: Tpp, date: str) -> None:
    first = tpp.initiate()
    request_id = stranger(tpp, date)
    assert tpp.control("POST", "/psu/approve", address=first.headers["Location"], customer="alice").status_code == 200
    assert len(ids_of(tpp)) == 2
    explained = tpp.control("GET", f"/explain/{request_id}").get_json()
    assert "between the years 2000 and 2200" in explained["rule"]


@pytest.mark.parametrize("date", ["2000-01-01T00:00:00Z", "2199-12-31T23:59:59Z"])
def test_a_date_within_the_calendar_is_refused_for_its_distance_alone(tpp: Tpp, date: str) -> None:
    reply = tpp.initiate(body={}, date=date)
    assert refused(reply, 401, "GEN-1203-100008", "Date") and "more than" in reply.get_json()["error_description"]


def fails(*given: Any, **named: Any) -> Any:
    raise OverflowError("date value out of range")


class FailingTally(Tally):
    count = fails


def break_a_rule(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stream, "TABLE", tuple(replace(row, check=fails) for row in TABLE))


def break_what_is_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stream, "TABLE", tuple(replace(row, find_open=fails) for row in TABLE))


CONSUMERS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "making the record": lambda patch: patch.setattr(api_app, "record_call", fails),
    "the explanation": lambda patch: patch.setattr(call_records, "explain_call", fails),
    "an instant": lambda patch: patch.setattr(call_records, "write_deciding_values", fails),
    "the contents": lambda patch: patch.setattr(call_records, "make_content", fails),
    "the history": lambda patch: patch.setattr(MemoryBound, "count_growth", fails),
    "the counts": lambda patch: patch.setattr("sandbox.app.find_tally", FailingTally),
    "all observers": lambda patch: patch.setattr(call_records.Observers, "deliver", fails),
    "the referee": lambda patch: patch.setattr(listening, "load", lambda name: fails),
    "the referee's reading": lambda patch: patch.setattr(stream, "observe_call", fails),
    "the referee's judging": lambda patch: patch.setattr(stream.Referee, "_judge_call", fails),
    "the acts of customers": lambda patch: patch.setattr(stream, "list_acts", fails),
    "the returns of customers": lambda patch: patch.setattr(stream, "find_acts_of_scenario", fails),
    "a rule": break_a_rule,
    "a rule about what is open": break_what_is_open,
    "packing": lambda patch: patch.setattr(stream.Referee, "pack", fails),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_no_failure_of_what_observes_calls_reaches_a_reply(
    consumer: str, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch, logs: Logs
) -> None:
    monkeypatch.setattr(worlds, "tally", None)
    CONSUMERS[consumer](monkeypatch)
    tpp = Tpp(assemble(worlds))
    tpp.control("PUT", "/scenario", name="default")
    given = str(uuid4())
    reply = tpp.initiate(body=payment(instructed_amount__amount="0"), request_id=given)
    assert (reply.status_code, reply.headers["Response-ID"]) == (400, given)
    for _ in range(20):  # more than wait at once
        assert tpp.status(tpp.initiated()).status_code == 200
    signed = tpp.initiate()
    assert tpp.signed(signed, "alice")
    tpp.advance("2h")
    for view in ("/requests", "/referee", "/coverage", "/metrics", "/clock", "/journal"):
        assert tpp.control("GET", view).status_code == 200, view
    assert tpp.control("POST", "/requests/count").status_code == 200
    no_path = tpp.call("GET", "/nowhere")
    assert no_path.status_code == 404 and no_path.headers["Response-ID"]
    silent = ("packing", "the returns of customers", "a rule about what is open")
    assert consumer in silent or "OverflowError" in logs.text


def test_no_failure_of_the_line_per_call_reaches_a_reply(worlds: WorldRegistry, logs: Logs) -> None:
    app = App()
    route_bank(app, worlds, fails, None, (listening.REFEREE,))
    reply = Tpp(app).initiate()
    assert reply.status_code == 201
    assert reply.headers["Response-ID"] in logs.text
    assert worlds.get("default").calls.find(reply.headers["Response-ID"])


STEPS = ("explain_call", "make_content", "observe_call")


@pytest.mark.parametrize("step", STEPS)
def test_a_record_that_fails_is_logged_and_kept_as_far_as_it_can_be_and_all_others_whole(
    step: str, tpp: Tpp, monkeypatch: pytest.MonkeyPatch, logs: Logs
) -> None:
    module = stream if step == "observe_call" else call_records
    does, poison = getattr(module, step), str(uuid4())

    def fails_for_one(*given: Any) -> Any:
        if any(poison in repr(part) for part in given[1:]):
            raise OverflowError("date value out of range")
        return does(*given)

    monkeypatch.setattr(module, step, fails_for_one)
    tpp.control("POST", "/reset")
    sent = []
    for request_id in (str(uuid4()), poison, str(uuid4())):
        sent.append(request_id)
        assert tpp.initiate(request_id=request_id, body=payment(creditor_name=None)).status_code == 400
    rows = tpp.listed("requests")
    assert [row["request_id"] for row in rows] == sent
    assert poison in logs.text and sent[0] not in logs.text and sent[2] not in logs.text
    spoiled = rows.pop(1)
    assert {(row["error"], row["operation"]) for row in rows} == {("MISSING_INPUT", "payment_initiation")}
    assert (spoiled["status"], spoiled["operation"], spoiled["client_id"]) == (400, "payment_initiation", "demo-tpp")
    assert (spoiled["error"] is None) is (step == "explain_call")


def test_calls_wait_on_while_their_world_cannot_be_reloaded(tpp: Tpp, worlds: WorldRegistry) -> None:
    tpp.initiated()
    world = worlds.get("default")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(world), "bank", property(fails))
        with pytest.raises(OverflowError):
            world.calls.deliver()
    assert len(ids_of(tpp)) == 1


# Several worlds of one server


@pytest.fixture
def server(tmp_path: Any) -> Any:
    made = Server(tmp_path / "bank.state")
    yield made
    made.store.close()


def test_an_idle_world_is_unloaded_whatever_its_calls_lead_to(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = server.tpp("quiet")
    payment_id = quiet.initiated()
    with monkeypatch.context() as patch:
        patch.setattr(call_records, "explain_call", fails)
        patch.setattr(stream.Referee, "pack", fails)
        stranger(quiet)
        server.silence()
    assert server.is_unloaded("quiet")
    assert quiet.status(payment_id).status_code == 200
    assert len(ids_of(quiet)) == 3


def test_an_orderly_end_keeps_the_calls_of_every_world_but_one_that_fails(
    server: Server, monkeypatch: pytest.MonkeyPatch, logs: Logs
) -> None:
    names = ("a", "b", "c")
    for name in names:
        server.tpp(name).initiated()
    failing = server.worlds.find("b")
    write = CallHistory._write_portion

    def write_or_fail(history: CallHistory, *given: Any) -> None:
        if history is failing.calls:
            fails()
        write(history, *given)

    monkeypatch.setattr(CallHistory, "_write_portion", write_or_fail)
    server.store.close()
    monkeypatch.undo()
    again = Server(server.state, machine=server.machine)
    assert [len(ids_of(again.tpp(name))) for name in names] == [1, 0, 1]
    assert "the calls of the world b could not be stored" in logs.text
    again.store.close()


def test_a_world_that_cannot_be_read_costs_no_figure(worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox.storage.format import StateFileError

    app = assemble(worlds)
    Tpp(app, "damaged").initiated()
    world = worlds.get("damaged")

    def damaged(*given: Any) -> Any:
        raise StateFileError("damaged")

    monkeypatch.setattr(world.calls, "deliver", damaged)
    monkeypatch.setattr(world, "look", damaged)
    reply = Tpp(app).control("GET", "/metrics")
    assert reply.status_code == 200 and "bank_sandbox_worlds" in reply.text
