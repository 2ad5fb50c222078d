"""The setting `life` (choice 13): where it is on, and that it is part of everything that a world can do."""

from dataclasses import replace
from decimal import Decimal

import pytest
from flask import Flask

import sandbox
from sandbox import testing
from sandbox.app import make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.commands.serve import make_server_beginning
from sandbox.contract.decisions import Decisions
from sandbox.machine import machine_time
from sandbox.scenarios.model import make_beginning
from sandbox.scenarios.reading import load, read_content, read_scenario
from sandbox.storage import checkpoint
from sandbox.storage.bank_copy import copy_bank
from sandbox.storage.codec import decode, encode
from sandbox.storage.state_hash import hash_state
from sandbox.testing.start import Start, make_world_options
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.conftest import MORNING
from tests.reader import Reader, refs
from tests.tpp import ISCT, Tpp, payment, refused


@pytest.fixture
def worlds() -> WorldRegistry:
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0, life="on"), machine_time)


def balance(tpp: Tpp, iban: str, currency: str = "EUR") -> Decimal:
    account = next(row for row in tpp.listed("accounts") if row["iban"] == iban)
    return next(Decimal(row["balance"]) for row in account["balances"] if row["currency"] == currency)


def set_clock(tpp: Tpp, at: str) -> None:
    reply = tpp.control("POST", "/clock", set=at)
    assert reply.status_code == 200, reply.text


# Where it is on


def test_a_served_bank_lives_and_a_scenario_file_does_not_unless_it_says_so() -> None:
    assert make_server_beginning("default", None, None, True, False).settings.life == "on"
    assert make_server_beginning("a_payment_goes_its_ordinary_way", None, None, True, False).settings.life == "off"
    server = make_first_beginning(life="on")
    assert make_beginning(read_scenario("scenario: Silent", "silent.yaml"), server).settings.life == "off"
    assert make_beginning(read_scenario("settings: {life: on}", "loud.yaml"), server).settings.life == "on"
    assert make_beginning(load("default"), server).settings.life == "on"
    assert make_beginning(load("default"), make_first_beginning()).settings.life == "off"
    assert make_beginning(read_content({"extends": "default"}, "scenario"), server).settings.life == "off"


def test_what_a_scenario_says_of_life_is_inherited_by_those_that_extend_it() -> None:
    library = {
        "default": "extends: null\nbank: default",
        "lively": "settings: {life: on}",
        "heir": "extends: lively",
        "quiet": "extends: lively\nsettings: {life: off}",
    }
    told = {name: read_scenario(library[name], name, library).life for name in library}
    assert told == {"default": None, "lively": "on", "heir": "on", "quiet": "off"}


def test_the_tests_of_others_begin_without_life_unless_they_ask_for_it() -> None:
    assert testing.start.beginning_of(Start()).settings.life == "off"
    assert testing.start.beginning_of(Start(settings={"life": "on"})).settings.life == "on"
    assert make_world_options(Start())["life"] == "off"
    assert "life" not in make_world_options(Start(settings={"life": "on"}))
    with sandbox.running() as bank:
        bank.clock.advance("400d")
        assert bank.timeline == []


def test_a_world_is_made_with_life_or_without_and_with_nothing_else(tpp: Tpp, app: Flask) -> None:
    assert Tpp(app, "as-served").control("GET", "/settings").get_json()["settings"]["life"] == "on"
    assert tpp.control("PUT", "/worlds/still", life="off").status_code == 201
    assert Tpp(app, "still").control("GET", "/timeline").json == {"timeline": []}
    assert tpp.control("PUT", "/worlds/story", scenario={}, life="on").status_code == 201
    assert Tpp(app, "story").control("GET", "/timeline").json != {"timeline": []}
    for wrong in ("maybe", True, None, 1):
        assert refused(tpp.control("PUT", "/worlds/wrong", life=wrong), 400, "SBX-0400-000001", "life")


def test_settings_that_were_stored_before_there_was_life_have_none() -> None:
    stored = encode(make_first_beginning(seed=7, life="on").settings)
    del stored["v"]["life"]
    assert decode(stored).life == "off"
    assert Decisions().life == "off"


# What it is part of


def test_a_jump_fork_replay_checkpoint_and_file_lead_to_the_same_bank(
    worlds: WorldRegistry, app: Flask, tpp: Tpp
) -> None:
    world = worlds.get("default")
    tpp.signed(tpp.initiate(body=payment(debtor_account={"iban": tpp.iban_of("alice")})))
    for span in ("1d", "3h", "40d"):
        tpp.advance(span)
    tpp.signed(tpp.initiate(ISCT, payment(ISCT, debtor_account={"iban": tpp.iban_of("bram")})))
    tpp.advance("20d")
    hashed = hash_state(world.bank)
    assert hash_state(replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)) == hashed
    assert hash_state(copy_bank(world.bank)) == hashed
    fresh = replay(replace(world.beginning, at=world.opening), [], world.opening)
    checkpoint.read_onto(fresh, b"".join(checkpoint.write(world.bank)))
    assert hash_state(fresh) == hashed
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "fork"}).status_code == 201
    content = tpp.http.get("/_sandbox/export").data
    assert tpp.http.post("/_sandbox/import?as=carried", data=content).status_code == 201
    others = [Tpp(app, name) for name in ("fork", "carried")]
    for one in (tpp, *others):
        one.advance("60d")
    assert len({hash_state(worlds.get(name).bank) for name in ("default", "fork", "carried")}) == 1


def test_a_fork_of_an_earlier_time_lives_on_as_its_origin_did(worlds: WorldRegistry, app: Flask, tpp: Tpp) -> None:
    tpp.advance("30d")
    tpp.initiated()
    told = tpp.control("POST", "/worlds/default/fork", **{"as": "then", "at": "2027-03-10T12:00:00+01:00"})
    assert told.status_code == 201, told.text
    iban = tpp.iban_of("alice")
    before = [
        line
        for line in worlds.get("default").bank.ledger.list_lines(iban, "EUR")
        if line.on.day <= 10 or line.on.month != 3
    ]
    assert list(worlds.get("then").bank.ledger.list_lines(iban, "EUR"))[: len(before)] == before
    Tpp(app, "then").advance("60d")
    tpp.advance("60d")
    ours, theirs = (worlds.get(name).bank.ledger.list_lines(iban, "EUR") for name in ("default", "then"))
    assert theirs == ours[: len(theirs)]


def test_the_timeline_lists_the_next_occurrence_of_each_habit_among_what_is_promised(tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    told = tpp.listed("timeline")
    assert [row["at"] for row in told] == sorted(row["at"] for row in told)
    assert [row["trigger"] for row in told if row["subject"] == payment_id] == ["checked", "unsigned_too_long"]
    habits = [row["subject"] for row in told if row["trigger"] == "habit"]
    assert f"{tpp.iban_of('poor')}/salary" in habits and len(set(habits)) > 30
    assert tpp.control("GET", "/clock").get_json()["due_next"] == told[0]["at"]
    salary = next(row["at"] for row in told if row["subject"].endswith(f"{tpp.iban_of('poor')}/salary"))
    assert salary == "2027-03-25T05:00:00+01:00"


def test_the_console_names_the_account_and_the_habit_that_comes(tpp: Tpp) -> None:
    shown = tpp.http.get("/_sandbox/console/coming?background=1").text
    assert f"{tpp.iban_of('alice')}/purchase" in shown
    assert "a consent address" not in shown
    assert "/purchase" not in tpp.http.get("/_sandbox/console/coming").text
    tpp.control("PATCH", "/settings", life="off")
    assert "/purchase" not in tpp.http.get("/_sandbox/console/coming?background=1").text


def test_await_passes_over_what_others_do(tpp: Tpp) -> None:
    iban = tpp.iban_of("bakkerij")
    reply = tpp.initiate(body=payment(debtor_account={"iban": iban}, requested_execution_date="2027-06-15"))
    tpp.signed(reply)
    told = tpp.control("POST", "/await", payment_id=reply.get_json()["payment_id"], status="ACSC").get_json()
    assert told["at"].startswith("2027-06-15T06:00:55")
    reader = Reader(tpp, "bakkerij")
    lines = reader.full(reader.ids[iban], date_from="2027-03-02")
    assert len(lines) > 50


def test_switched_off_it_stops_and_switched_on_it_goes_on_from_there(worlds: WorldRegistry, tpp: Tpp) -> None:
    bank = worlds.get("default").bank
    tpp.advance("10d")
    lived = bank.ledger.posted
    assert lived
    assert tpp.control("PATCH", "/settings", life="off").status_code == 200
    assert bank.reserved == {}
    tpp.advance("30d")
    assert (bank.ledger.posted, bank.next_at) == (lived, None)
    assert tpp.control("PATCH", "/settings", life="on").status_code == 200
    tpp.advance("10d")
    dates = {
        line.on for line in bank.ledger.list_lines(tpp.iban_of("alice"), "EUR") if line.number > bank.ledger.past.count
    }
    assert bank.ledger.posted > lived
    assert not [on for on in dates if "2027-03-12" <= on.isoformat() <= "2027-04-09"]
    beginning = replace(worlds.get("default").beginning, at=worlds.get("default").opening)
    assert hash_state(replay(beginning, worlds.get("default").log, bank.clock.now)) == hash_state(bank)


# Money


def test_a_payment_in_recycling_meets_the_salary_on_its_morning(tpp: Tpp) -> None:
    set_clock(tpp, "2027-03-22T09:00:00+01:00")
    iban = tpp.iban_of("poor")
    body = payment(
        debtor_account={"iban": iban}, instructed_amount__amount="700.00", requested_execution_date="2027-03-23"
    )
    reply = tpp.initiate(body=body)
    tpp.signed(reply)
    set_clock(tpp, "2027-03-24T23:00:00+01:00")
    assert tpp.status(reply.get_json()["payment_id"]).get_json()["status"] == "PDNG"
    told = tpp.control("POST", "/await", payment_id=reply.get_json()["payment_id"], status="ACSP").get_json()
    assert told["at"] == "2027-03-25T06:00:00+01:00"
    assert balance(tpp, iban) == Decimal("12.50") + 1180 - 700
    set_clock(tpp, "2027-03-25T08:00:00+01:00")
    assert balance(tpp, iban) == Decimal("12.50")


def test_a_poor_customer_is_poor_until_the_salary_comes_and_again_once_it_is_spent(tpp: Tpp) -> None:
    asked = payment(debtor_account={"iban": tpp.iban_of("poor")}, instructed_amount__amount="100.00")
    for at in ("2027-03-25T04:59:59+01:00", "2027-03-25T07:00:00+01:00", "2027-04-20T12:00:00+02:00"):
        set_clock(tpp, at)
        assert refused(tpp.initiate(body=asked), 403, "SBX-0403-000001")
    set_clock(tpp, "2027-04-26T05:30:00+02:00")  # the 25th is a Sunday
    assert tpp.initiate(body=asked).status_code == 201


def test_habits_spend_nothing_that_a_payment_has_reserved(tpp: Tpp) -> None:
    iban = tpp.iban_of("alice")
    whole = f"{balance(tpp, iban) - 1:.2f}"
    body = payment(
        debtor_account={"iban": iban}, instructed_amount__amount=whole, requested_execution_date="2027-03-16"
    )
    reply = tpp.initiate(body=body)
    tpp.signed(reply)
    set_clock(tpp, "2027-03-16T05:59:59+01:00")
    assert balance(tpp, iban) >= Decimal(whole)
    told = tpp.control("POST", "/await", payment_id=reply.get_json()["payment_id"], status="ACSC").get_json()
    assert told["at"].startswith("2027-03-16T06:00:55")


def test_life_gives_payments_the_same_ids(app: Flask, tpp: Tpp) -> None:
    tpp.control("PUT", "/worlds/lively", life="on", seed=5)
    tpp.control("PUT", "/worlds/still", life="off", seed=5)
    told = []
    for one in (Tpp(app, "lively"), Tpp(app, "still")):
        one.advance("40d")
        told.append([one.initiated() for _ in range(3)])
    assert told[0] == told[1]


# As an AIS client meets it


def test_a_client_that_syncs_every_night_for_a_year_loses_and_doubles_nothing(worlds: WorldRegistry, tpp: Tpp) -> None:
    """It reads the last days again each night and keeps what is new; consent and authentication are renewed in time."""
    iban, known = tpp.iban_of("alice"), {}
    since = "2027-03-02"
    for night in range(365):
        tpp.advance("1d")
        if night % 85 == 0:
            reader = Reader(tpp, "alice")
            logical_id = reader.ids[iban]
        else:
            reader.renew()
        today = worlds.get("default").bank.clock.today.isoformat()
        for page in reader.walk(logical_id, date_from=since, pagesize=50):
            known.update({row["transaction_ref"]: row for row in page})
        since = today
    bank = worlds.get("default").bank
    lines = [line for line in bank.ledger.list_lines(iban, "EUR") if line.on.isoformat() >= "2027-03-02"]
    assert sorted(known) == sorted(refs([{"transaction_ref": line.entry.reference} for line in lines]))
    assert len(known) > 400
    begin = balance_before(bank, iban, "2027-03-02")
    total = begin + sum(Decimal(str(row["amount"])) for row in known.values())
    assert total == bank.ledger.read_number((iban, "EUR"))


def balance_before(bank: object, iban: str, day: str) -> Decimal:
    lines = bank.ledger.list_lines(iban, "EUR")  # type: ignore[attr-defined]
    return sum((line.posting.amount.number for line in lines if line.on.isoformat() < day), Decimal())


def test_pages_stay_as_they_were_while_life_goes_on(worlds: WorldRegistry, tpp: Tpp) -> None:
    set_clock(tpp, "2027-03-04T04:55:00+01:00")
    reader = Reader(tpp, "alice")
    whole = refs([row for page in reader.walk() for row in page])
    posted = worlds.get("default").bank.ledger.posted
    moved = refs([row for page in reader.walk(between=lambda: tpp.advance("8m")) for row in page])
    assert worlds.get("default").bank.ledger.posted > posted
    assert moved == whole
    assert refs([row for page in reader.walk() for row in page]) != whole
