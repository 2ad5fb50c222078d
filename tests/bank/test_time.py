"""How time passes (choice 10): in order, each thing at its own instant, however the way is divided."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.app import assemble, make_first_beginning
from sandbox.bank import behaviours, timeline
from sandbox.bank.clock import Agenda, Clock, Promise
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank
from sandbox.banking.durations import LAST_MOMENT, read_instant
from sandbox.contract.errors import Refusal
from sandbox.contract.moves import Trigger
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.clock import Pace
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World
from tests.bank.conftest import Lives
from tests.bank.lives import LIVES, Step, spans
from tests.conftest import MORNING
from tests.tpp import SCT, Tpp

START = read_instant(MORNING)
MINUTE = timedelta(minutes=1)


# Advancing by a and then by b equals advancing by a + b


@settings(max_examples=60, deadline=None)
@given(steps=LIVES, before=spans, after=spans)
def test_time_may_be_divided_anywhere(new_life: Lives, steps: list[Step], before: int, after: int) -> None:
    whole, parts = new_life(), new_life()
    whole.lead([*steps, ("pass", before, after)])
    parts.lead([*steps, ("pass", before, after)], halved=True)
    assert hash_state(whole.world.bank) == hash_state(parts.world.bank)


@settings(max_examples=15, deadline=None)
@given(steps=LIVES)
def test_a_thousand_small_steps_make_the_same_bank_as_a_leap(new_life: Lives, steps: list[Step]) -> None:
    leap, small = new_life(), new_life()
    for life in (leap, small):
        life.lead(steps)
    start = leap.world.bank.clock.now
    timeline.advance(leap.world.bank, start + timedelta(hours=50))
    for step in range(1, 1001):
        timeline.advance(small.world.bank, start + step * timedelta(minutes=3))
    assert hash_state(leap.world.bank) == hash_state(small.world.bank)


def test_the_hash_does_tell_two_instants_apart(new_life: Lives) -> None:
    one, other = new_life(), new_life()
    assert hash_state(one.world.bank) == hash_state(other.world.bank)
    other.let_pass([1])
    assert hash_state(one.world.bank) != hash_state(other.world.bank)


# In order, each at its own instant


@settings(max_examples=30, deadline=None)
@given(steps=LIVES)
def test_what_happens_is_written_in_the_order_of_time(new_life: Lives, steps: list[Step]) -> None:
    life = new_life()
    life.lead([*steps, ("pass", 0, 10 * 86_400)])
    journal = life.world.bank.journal
    assert [fact.seq for fact in journal] == list(range(1, len(journal) + 1))
    assert all(earlier.at <= later.at for earlier, later in pairwise(journal))
    assert journal == sorted(fact for row in life.world.bank.payments.values() for fact in row.history)


def test_each_thing_happens_at_its_own_instant_within_one_leap(new_life: Lives) -> None:
    life = new_life()
    life.lead([("initiate", SCT, None, "12.50", None), ("pass", 600, 0), ("initiate", SCT, None, "12.50", None)])
    life.let_pass([7 * 86_400])
    told = [(fact.at - START, fact.subject, fact.trigger) for fact in life.world.bank.journal]
    first, second = life.ids
    assert told == [
        (timedelta(), first, Trigger.RECEIVED),
        (timedelta(seconds=1), first, Trigger.CHECKED),
        (10 * MINUTE, second, Trigger.RECEIVED),
        (10 * MINUTE + timedelta(seconds=1), second, Trigger.CHECKED),
        (60 * MINUTE, first, Trigger.UNSIGNED_TOO_LONG),
        (70 * MINUTE, second, Trigger.UNSIGNED_TOO_LONG),
    ]


def test_what_is_due_at_one_instant_happens_in_order_of_promise(new_life: Lives) -> None:
    life = new_life()
    life.lead([("initiate", SCT, None, "12.50", None)] * 20)
    life.let_pass([3600])
    for trigger in (Trigger.CHECKED, Trigger.UNSIGNED_TOO_LONG):
        assert [fact.subject for fact in life.world.bank.journal if fact.trigger is trigger] == life.ids


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 5))
def test_an_agenda_gives_what_is_due_and_no_more(minutes: list[int], until: int) -> None:
    agenda = Agenda()
    for number, minute in enumerate(minutes):
        agenda.add(START + minute * MINUTE, str(number), Trigger.CHECKED)
    due = [(promise.at, int(promise.subject_id)) for promise in drained(agenda, START + until * MINUTE)]
    assert due == sorted((START + minute * MINUTE, n) for n, minute in enumerate(minutes) if minute <= until)
    left = sorted(minute for minute in minutes if minute > until)
    assert agenda.next_at == (START + left[0] * MINUTE if left else None)


def drained(agenda: Agenda, until: datetime) -> list[Promise]:
    found = []
    while (promise := agenda.pop_due(until)) is not None:
        found.append(promise)
    return found


def test_what_is_due_is_already_due_at_that_very_instant(new_life: Lives) -> None:
    life = new_life()
    life.initiate(SCT, None, "12.50", None)
    for seconds, status in ((3599, "PATC"), (1, "CANC")):
        life.let_pass([seconds])
        assert life.tpp.status(life.ids[0]).get_json()["status"] == status


# Never back, and never without end


@given(st.lists(spans, min_size=1, max_size=8))
def test_a_clock_never_goes_back(seconds: list[int]) -> None:
    clock = Clock(START)
    for span in seconds:
        clock.set(clock.now + timedelta(seconds=span))
    with pytest.raises(AssertionError, match="never goes back"):
        clock.set(clock.now - timedelta(microseconds=1))
    assert clock.now == START + timedelta(seconds=sum(seconds))


def test_a_world_refuses_to_go_back_and_stays_where_it_was(worlds: WorldRegistry) -> None:
    world = worlds.get("default")
    with pytest.raises(Refusal):
        move_clock(world, lambda now: (now - MINUTE, 0.0))
    assert world.bank.clock.now == START
    assert world.clock.pace.frozen


def test_a_machine_whose_clock_steps_back_takes_no_time_from_the_bank() -> None:
    machine = [1_000_000.0]
    world = running(lambda: machine[0])
    machine[0] += 10
    assert world.ask(now_of) == START + timedelta(seconds=10)
    machine[0] -= 500
    assert world.ask(now_of) == START + timedelta(seconds=10)
    machine[0] += 600
    assert world.ask(now_of) == START + timedelta(seconds=610)


def running(machine_time: Callable[[], float]) -> World:
    return World.make_begun("w", make_first_beginning(seed=7, at=START, rate=1.0), machine_time)


def now_of(bank: Bank) -> datetime:
    return bank.clock.now


def test_an_agenda_without_end_is_an_assertion(
    worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch, new_life: Lives
) -> None:
    beginning = worlds.beginning
    short = replace(beginning, settings=replace(beginning.settings, due_events_max=50))
    bank = worlds.make("endless", short).bank
    life = new_life()
    life.initiate(SCT, None, "12.50", None)
    bank.payments |= life.world.bank.payments

    def again(bank: Bank, payment: Payment) -> None:
        bank.agenda.add(bank.clock.now, payment.id, Trigger.CHECKED)

    monkeypatch.setitem(behaviours.EFFECTS[Payment], Trigger.CHECKED, behaviours.Effect(due=again))
    bank.agenda.add(START, life.ids[0], Trigger.CHECKED)
    with pytest.raises(AssertionError, match="never empties"):
        timeline.advance(bank, START + MINUTE)


def test_as_many_events_as_the_bound_allows_do_pass(worlds: WorldRegistry) -> None:
    beginning = worlds.beginning
    worlds.make("few", replace(beginning, settings=replace(beginning.settings, due_events_max=21)))
    tpp = Tpp(assemble(worlds), "few")
    for _ in range(10):
        tpp.initiated()
    tpp.advance("2h")  # two events each, and one look at an empty agenda
    assert {row["status"] for row in tpp.listed("payments")} == {"CANC"}


@pytest.mark.parametrize("days", (0.01, 1, 100_000))
def test_a_clock_that_was_left_to_run_fast_stands_at_last(days: float) -> None:
    pace = Pace(START, 0.0, 1_000_000)
    now = pace.compute_time(days * 86_400.0)
    assert START < now <= LAST_MOMENT and (now == LAST_MOMENT) is (days >= 1)


def test_a_clock_that_was_set_beyond_the_last_day_stays_there() -> None:
    beyond = LAST_MOMENT + timedelta(days=1)
    assert Pace(beyond, 0.0, 2.0).compute_time(60.0) == beyond
