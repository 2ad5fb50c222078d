"""Life under the clock (choice 13): habits go on as they went before the opening, balanced, and never below zero."""

import re
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from math import sqrt
from statistics import mean, pstdev

import pytest

from sandbox.bank import timeline
from sandbox.bank.ledger import AccountLine
from sandbox.bank.state import Bank
from sandbox.banking.calendar import (
    find_following_banking_day,
    find_next_banking_day,
    find_previous_banking_day,
    is_banking_day,
)
from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.contract.decisions import Decisions
from sandbox.people import load_fixtures
from sandbox.people.habits import LIVES
from tests.people.living import LIVING, QUIET, iban_of, instant, lines_of, lived_until, new_lines, opened, ten_years

OPENING = date(2027, 3, 1)
QUARTER = timedelta(days=90)
SEEDS = range(6)
COMPARTMENTS = [
    *((name, "EUR") for name in LIVING),
    ("bram-current", "USD"),
    ("bram-current", "GBP"),
]


# The seam


def kind_of(line: AccountLine) -> str:
    """What a line looks like: its sign and its words, without numbers, months and places."""
    words = re.sub(r"\d+", "0", line.entry.communication)
    sign = "+" if line.posting.amount.is_positive else "-"
    return f"{sign} {line.entry.remark}: {words.split(',')[0].split(' te ')[0].split(' à ')[0]}"


@lru_cache(maxsize=len(SEEDS))
def opened_in_may(seed: int) -> Bank:
    """Before the first run of a Wednesday, and 90 days on."""
    return lived_until("2027-08-09T12:00:00+02:00", at="2027-05-12T03:00:00+02:00", seed=seed)


def sides(name: str, currency: str, seed: int) -> tuple[list[AccountLine], list[AccountLine]]:
    """The lines of 90 days before and after an opening, the day itself after it."""
    opening = date(2027, 5, 12)
    lines = [line for line in lines_of(opened_in_may(seed), name, currency) if abs(line.on - opening) <= QUARTER]
    return [line for line in lines if line.on < opening], [line for line in lines if line.on >= opening]


@pytest.mark.parametrize("name, currency", COMPARTMENTS)
def test_the_quarters_before_and_after_the_opening_look_alike(name: str, currency: str) -> None:
    """How often each kind of line comes, and how much it is about, within what chance allows."""
    found: tuple[dict[str, list[float]], dict[str, list[float]]] = (defaultdict(list), defaultdict(list))
    for seed in SEEDS:
        for side, lines in enumerate(sides(name, currency, seed)):
            for line in lines:
                found[side][kind_of(line)].append(float(line.posting.amount.number))
    for kind in found[0] | found[1]:
        before, after = found[0][kind], found[1][kind]
        assert abs(len(before) - len(after)) <= 4 * sqrt(len(before) + len(after)) + 2, kind
        if len(before) > 10:
            spread = pstdev(before + after) * sqrt(1 / len(before) + 1 / len(after))
            assert abs(mean(before) - mean(after)) <= 4 * spread + 0.01, kind


def test_a_future_of_another_hand_would_be_noticed() -> None:
    """The statistics are sharp enough: with a third fewer purchases, or dearer ones, they would not agree."""
    before = [line for seed in SEEDS for line in sides("alice-current", "EUR", seed)[0]]
    purchases = [float(line.posting.amount.number) for line in before if "terminal" in line.entry.communication]
    fewer = len(purchases) * 2 / 3
    assert len(purchases) - fewer > 4 * sqrt(len(purchases) + fewer) + 2
    spread = pstdev(purchases) * sqrt(2 / len(purchases))
    assert 0.3 * abs(mean(purchases)) > 4 * spread + 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_habits_keep_their_counterparties_amounts_and_days_over_the_opening(seed: int) -> None:
    before, after = sides("alice-current", "EUR", seed)
    for word in ("Salaire", "Loyer", "Allocations", "Assurance"):
        told = [[line for line in side if line.entry.communication.startswith(word)] for side in (before, after)]
        assert [len(side) for side in told] in ([3, 3], [2, 3], [3, 2])
        faces = {(line.posting[1:], line.posting.amount.number) for side in told for line in side}
        assert len({face[0][1:] for face in faces}) == 1
        assert len({line.posting.amount.number for side in told for line in side}) == 1
    shops = [
        {line.posting.counterparty_name for line in side if "CARD" in line.entry.remark} for side in (before, after)
    ]
    assert len(shops[0] & shops[1]) >= 0.7 * len(shops[0] | shops[1])


def test_references_go_on_where_the_past_stopped() -> None:
    bank = lived_until("2027-03-20T09:00:00+01:00")
    for name in LIVING:
        told = [
            line.entry.reference for line in lines_of(bank, name) if line.entry.reference[1:8] == iban_of(name)[7:14]
        ]
        assert len(set(told)) == len(told)
        assert all(re.fullmatch(r"P\d{13}", reference) for reference in told)
        assert told == sorted(told)


@pytest.mark.parametrize("at", ["2027-03-01T04:59:59+01:00", "2027-03-01T05:00:00+01:00", "2027-03-01T23:59:00+01:00"])
def test_a_morning_is_booked_once_on_whichever_side_of_it_the_bank_opens(at: str) -> None:
    bank = lived_until("2027-03-02T00:00:00+01:00", at=at)
    rent = [line for line in lines_of(bank, "alice-current") if "Loyer 03/2027" in line.entry.communication]
    assert len(rent) == 1


def test_a_bank_without_life_leaves_its_opening_day_to_the_caller() -> None:
    bank = opened(settings=Decisions())
    timeline.advance(bank, instant("2028-03-01T09:00:00+01:00"))
    assert bank.ledger.posted == 0
    assert lines_of(bank, "alice-current")[-1].on < OPENING
    assert bank.next_at is None


# Ten years


def test_lines_and_balances_agree_on_every_day_of_ten_years_for_every_customer() -> None:
    bank = ten_years()
    fixtures = load_fixtures()
    assert not any(bank.ledger.sum_by_currency().values())
    for iban, account in fixtures.accounts.items():
        for currency in account.currencies:
            lines = bank.ledger.list_lines(iban, currency)
            assert [line.number for line in lines] == sorted(line.number for line in lines)
            balance = Decimal()
            for on, of_day in groupby(lines, key=lambda line: line.on):
                balance += sum((line.posting.amount.number for line in of_day), Decimal())
                assert balance >= 0, (iban, on)
            assert balance == bank.ledger.read_number((iban, currency))


def test_every_entry_of_ten_years_balances_and_falls_on_a_banking_day() -> None:
    bank = ten_years()
    entries = {id(line.entry): line.entry for name in LIVING for line in new_lines(bank, name)}
    assert len(entries) > 10_000
    for entry in entries.values():
        assert not sum(
            (posting.amount.number for posting in entry.postings if posting.amount.currency == "EUR"), Decimal()
        )
        assert is_banking_day(entry.on) and entry.value_on <= entry.on
        by_card = entry.remark in ("CARD PAYMENT", "CASH WITHDRAWAL")
        assert not by_card or entry.on == find_following_banking_day(entry.value_on)
        told = entry.communication
        assert read_structured(told) == told if entry.structured else is_free_text(told)
        for posting in entry.postings:
            assert posting.counterparty_account is None or is_iban(posting.counterparty_account)


def days_of(name: str, word: str) -> list[date]:
    return [line.on for line in new_lines(ten_years(), name) if line.entry.communication.startswith(word)]


def test_dated_habits_keep_their_banking_days_through_weekends_and_holidays() -> None:
    months = [date(year, month, 1) for year in range(2027, 2037) for month in range(1, 13)]
    months = [month for month in months if month > OPENING][:100]
    last = [
        find_previous_banking_day((month + timedelta(days=31)).replace(day=1) - timedelta(days=1)) for month in months
    ]
    assert days_of("alice-current", "Salaire")[1:101] == last
    assert days_of("alice-current", "Loyer")[:100] == [find_next_banking_day(month) for month in months]
    allowance = [find_next_banking_day(month.replace(day=8)) for month in months]
    assert days_of("alice-current", "Allocations")[1:101] == allowance
    assert days_of("poor-current", "Salaire")[1:101] == [
        find_next_banking_day(month.replace(day=25)) for month in months
    ]


def test_what_is_due_by_the_quarter_or_the_year_comes_so() -> None:
    fees = days_of("alice-current", "Cotisation annuelle")
    assert fees == [find_next_banking_day(date(year, 1, 15)) for year in range(2028, 2038)]
    interest = days_of("alice-savings", "Intérêts")
    assert interest == [find_next_banking_day(date(year, 1, 1)) for year in range(2028, 2038)]
    vat = [line.on.month for line in new_lines(ten_years(), "bakkerij-current") if line.entry.structured]
    assert {4, 7, 10, 1} <= set(vat)


def test_card_payments_name_their_terminal_and_a_shop_keeps_its_own() -> None:
    lines = [line for line in new_lines(ten_years(), "alice-current") if "terminal" in line.entry.communication]
    assert len(lines) > 2_000
    told = {(line.posting.counterparty_name, line.entry.communication.split(",")[1]) for line in lines}
    assert len(told) == len({name for name, _ in told}) > 10


@pytest.mark.parametrize("name", QUIET)
def test_customers_who_stay_quiet_have_no_line_after_the_opening(name: str) -> None:
    assert new_lines(ten_years(), name) == []


# The same however the clock gets there


def books_of(bank: Bank) -> list[list[AccountLine]]:
    return [lines_of(bank, name, currency) for name, currency in COMPARTMENTS]


def test_small_steps_lead_to_the_same_books_as_one_jump() -> None:
    whole, parts = lived_until("2027-06-01T05:00:00+02:00"), opened()
    at = instant("2027-03-01T09:00:00+01:00")
    while at < instant("2027-06-01T05:00:00+02:00"):
        at = min(at + timedelta(hours=7), instant("2027-06-01T05:00:00+02:00"))
        timeline.advance(parts, at)
    assert books_of(parts) == books_of(whole)
    assert parts.habits.read_state() == whole.habits.read_state()


def test_seeds_that_share_people_share_their_future_and_others_do_not() -> None:
    one, same, other = (lived_until("2027-04-01T09:00:00+02:00", seed=seed) for seed in (7, 7 + 2**20, 8))
    assert books_of(one) == books_of(same)
    assert books_of(one) != books_of(other)


def test_life_draws_nothing_from_the_mint() -> None:
    bank = ten_years()
    assert bank.mint.asked == 0
    assert bank.journal == []


def test_a_bank_whose_clock_stands_makes_no_past_and_shares_what_it_looks_forward_to() -> None:
    one, two = opened(), opened()
    assert one.next_at is not None
    assert one.next_at == two.next_at == instant("2027-03-02T05:00:00+01:00").astimezone(one.next_at.tzinfo)
    assert one.habits._ahead is two.habits._ahead
    assert one.ledger._past is None


def test_only_the_next_occurrence_of_each_habit_is_promised() -> None:
    bank = opened()
    names = [promise.subject_id for promise in timeline.list_coming(bank)]
    profiles = load_fixtures().profiles
    habits = sum(len(LIVES[profile.life]) for profile in profiles.values() if profile.goes_on)
    assert len(names) == habits
    timeline.advance(bank, instant("2028-01-01T00:00:00+01:00"))
    assert len(list(timeline.list_coming(bank))) == habits
    ahead = [promise.at for promise in timeline.list_coming(bank)]
    assert ahead == sorted(ahead) and ahead[0] > bank.clock.now
