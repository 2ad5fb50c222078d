"""The generated past (choice 11): weekday-true, balanced, never below zero, the same for the same seed."""

import hashlib
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from threading import Barrier

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import numdb

from sandbox.bank.ledger import EXCHANGE, OUTSIDE, Books, LedgerEntry
from sandbox.banking.calendar import find_next_banking_day, is_banking_day
from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.contract.decisions import Decisions
from sandbox.people import find_past_books, load_fixtures, open_bank
from sandbox.people import life as past_module
from sandbox.people.counterparties import BANK_CODES, ROLES
from sandbox.people.fixtures import Fixtures
from sandbox.people.habits import EXCHANGE as CHANGED
from sandbox.people.habits import LIVES, NOBODY, SELF, WORDS
from tests.people.living import fixtures_of

FIRST_DAY = date(2027, 3, 1)
SEED = 11
PRINT = """
from datetime import date
from sandbox.people import load_fixtures, find_past_books
print(find_past_books(load_fixtures(), {seed}, date(2027, 3, 1)).lines)
"""

any_past = st.builds(
    lambda seed, day: (find_past_books(load_fixtures(), seed, day), day),
    st.integers(0, 2**64),
    st.dates(date(2020, 1, 1), date(2040, 12, 31)),
)


@pytest.fixture(scope="module")
def past() -> Books:
    return find_past_books(load_fixtures(), SEED, FIRST_DAY)


def named(name: str) -> str:
    return load_fixtures().names[name]


def entries_of(books: Books) -> list[LedgerEntry]:
    found = {id(line.entry): line for lines in books.lines.values() for line in lines}
    return [line.entry for line in sorted(found.values(), key=lambda line: line.number)]


def is_last_banking_day_of_month(day: date) -> bool:
    after = day + timedelta(days=1)
    while not is_banking_day(after):
        after += timedelta(days=1)
    return is_banking_day(day) and after.month != day.month


def is_the_25th_or_next(day: date) -> bool:
    return day == find_next_banking_day(day.replace(day=25))


@settings(max_examples=20, deadline=None)
@given(any_past)
def test_the_past_is_sound_whatever_the_seed_and_the_first_day(drawn: tuple[Books, date]) -> None:
    books, first_day = drawn
    for entry in entries_of(books):
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for posting in entry.postings:
            sums[posting.amount.currency] += posting.amount.number
        assert not any(sums.values())
        assert entry.on < first_day
        assert is_banking_day(entry.on)
        assert entry.value_on <= entry.on
        if entry.communication.startswith(("Salaire ", "Loon ")):
            of_poor = any(posting.account == named("poor-current") for posting in entry.postings)
            assert is_the_25th_or_next(entry.on) if of_poor else is_last_banking_day_of_month(entry.on)
    for lines in books.lines.values():
        balance = Decimal()
        for _, of_day in groupby(lines, key=lambda line: line.on):
            balance += sum(line.posting.amount.number for line in of_day)
            assert balance >= 0
    assert books.balances[named("poor-current"), "EUR"] == Decimal("12.50")
    alice = books.lines[named("alice-current"), "EUR"]
    assert len(alice) > 400
    assert alice[0].on + relativedelta(months=10) < alice[-1].on


def test_the_books_of_each_currency_sum_to_zero(past: Books) -> None:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for (_, currency), number in past.balances.items():
        sums[currency] += number
    assert set(sums) == {"EUR", "USD", "GBP"}
    assert not any(sums.values())


def test_balances_follow_from_postings_alone(past: Books) -> None:
    for compartment, lines in past.lines.items():
        assert compartment[0] not in (OUTSIDE, EXCHANGE)
        assert past.balances[compartment] == sum(line.posting.amount.number for line in lines)


@pytest.mark.parametrize(
    "name, currency, least, most",
    [
        ("alice-current", "EUR", 1500, 6500),
        ("alice-savings", "EUR", 10000, 20000),
        ("bram-current", "EUR", 1500, 8000),
        ("bram-current", "USD", 300, 5000),
        ("bram-current", "GBP", 50, 3000),
        ("bakkerij-current", "EUR", 10000, 60000),
        ("notaris-current", "EUR", 50000, 150000),
        ("limited-current", "EUR", 1500, 7000),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_balances_are_plausible(name: str, currency: str, least: int, most: int, seed: int) -> None:
    assert least < find_past_books(load_fixtures(), seed, FIRST_DAY).balances[named(name), currency] < most


def test_one_account_reaches_back_ten_years(past: Books) -> None:
    lines = past.lines[named("bakkerij-current"), "EUR"]
    assert lines[0].on <= FIRST_DAY - relativedelta(years=10)
    assert 2500 <= len(lines) <= 4000


def test_every_account_has_a_past(past: Books) -> None:
    fixtures = load_fixtures()
    compartments = {(row.iban, currency) for row in fixtures.accounts.values() for currency in row.currencies}
    assert set(past.lines) == compartments


def test_structured_communications_are_valid_and_others_are_text(past: Books) -> None:
    entries = entries_of(past)
    assert sum(entry.structured for entry in entries) > 100
    for entry in entries:
        if entry.structured:
            assert read_structured(entry.communication) == entry.communication
        else:
            assert read_structured(entry.communication) is None
            assert is_free_text(entry.communication)


def test_references_are_unique(past: Books) -> None:
    entries = entries_of(past)
    assert len({entry.reference for entry in entries}) == len(entries)


def test_every_posting_is_counted(past: Books) -> None:
    assert sum(len(entry.postings) for entry in entries_of(past)) == past.count


def test_counterparties_have_valid_ibans_at_banks_that_do_not_exist(past: Books) -> None:
    allocated = numdb.get("be/banks")
    ours = set(load_fixtures().accounts)
    others = {
        posting.counterparty_account
        for entry in entries_of(past)
        for posting in entry.postings
        if posting.counterparty_account not in ours and posting.counterparty_account is not None
    }
    assert others
    assert all(is_iban(iban) and iban[4:7] in BANK_CODES for iban in others)
    for code in (*BANK_CODES, "539"):
        assert not allocated.info(code)[0][1]


def test_savings_move_between_the_customers_own_accounts(past: Books) -> None:
    current, savings = named("alice-current"), named("alice-savings")
    moved = [line for line in past.lines[savings, "EUR"] if line.posting.counterparty_account == current]
    assert len(moved) >= 3
    for line in moved:
        assert {posting.account for posting in line.entry.postings} == {current, savings}


def test_foreign_money_is_bought_at_the_exchange_desk(past: Books) -> None:
    bought = [entry for entry in entries_of(past) if any(posting.account == EXCHANGE for posting in entry.postings)]
    assert {posting.amount.currency for entry in bought for posting in entry.postings} == {
        "EUR",
        "USD",
        "GBP",
    }


def test_cards_are_used_on_closed_days_and_booked_after(past: Books) -> None:
    cards = [entry for entry in entries_of(past) if entry.remark == "CARD PAYMENT"]
    assert any(not is_banking_day(entry.value_on) for entry in cards)
    assert all(entry.value_on < entry.on for entry in cards)


def test_the_same_asked_again_is_the_same_object() -> None:
    first = find_past_books(load_fixtures(), SEED, FIRST_DAY)
    assert find_past_books(load_fixtures(), SEED, FIRST_DAY) is first
    assert find_past_books(load_fixtures(), SEED + 2**20, FIRST_DAY) is first


def test_two_threads_that_ask_at_once_share_one_past() -> None:
    past_module._generate_past.cache_clear()
    barrier = Barrier(4)

    def ask(_: int) -> Books:
        barrier.wait()
        return find_past_books(load_fixtures(), 99, FIRST_DAY)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert all(books is found[0] for books in found)
    assert past_module._generate_past.cache_info().misses == 1


def test_another_seed_gives_another_past(past: Books) -> None:
    assert find_past_books(load_fixtures(), SEED + 1, FIRST_DAY).lines != past.lines


def test_the_same_seed_gives_the_same_bytes_in_another_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT.format(seed=SEED)],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    past_module._generate_past.cache_clear()
    here = f"{find_past_books(load_fixtures(), SEED, FIRST_DAY).lines}\n"
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(here.encode()).digest()


def test_an_account_more_changes_no_other_past(past: Books) -> None:
    fixtures = load_fixtures()
    fewer = read_fixtures_of_one("alice-savings")
    iban = fixtures.names["alice-savings"]
    alone = find_past_books(fewer, SEED, FIRST_DAY).lines[iban, "EUR"]
    interest = [line.entry for line in past.lines[iban, "EUR"] if line.entry.remark == "INTEREST"]
    assert [line.entry for line in alone if line.entry.remark == "INTEREST"] == interest
    assert interest


def read_fixtures_of_one(name: str) -> Fixtures:
    """A bank with one account of the default one, and the same life."""
    fixtures = load_fixtures()
    iban = fixtures.names[name]
    content = {
        "customers": {"alice": {"name": "Alice Delvigne", "kind": "private", "language": "fr"}},
        "accounts": {
            name: {
                "number": int(iban[7:14]),
                "owners": ["alice"],
                "life": "saver",
                "months": 14,
                "opening": {"EUR": "9200.00"},
                "income": "140.00",
            }
        },
        "clients": {},
    }
    return fixtures_of(content, "one")


def test_a_bank_without_accounts_has_an_empty_past() -> None:
    nobody = fixtures_of({"customers": {}, "accounts": {}, "clients": {}}, "nobody")
    assert find_past_books(nobody, SEED, FIRST_DAY).count == 0


def test_every_habit_has_its_words_and_its_people() -> None:
    for life in LIVES.values():
        for habit in life:
            assert habit.structured or habit.word in WORDS
            assert habit.role in ROLES or habit.role in (SELF, NOBODY, CHANGED)
            assert (habit.due is None) != (habit.a_week == 0)


def test_a_bank_opens_with_registers_of_its_own_and_the_shared_past() -> None:
    fixtures = load_fixtures()
    opening = datetime(2027, 2, 28, 23, 30, tzinfo=UTC)  # already 1 March in Brussels
    one, two = (open_bank(fixtures, SEED, opening, Decisions()) for _ in range(2))
    assert one.clients == fixtures.clients
    assert one.clients is not two.clients
    assert one.ledger.past is two.ledger.past is find_past_books(fixtures, SEED, FIRST_DAY)
    assert not any(one.ledger.sum_by_currency().values())


def test_a_bank_that_nobody_looks_into_makes_no_past() -> None:
    before = past_module._generate_past.cache_info()
    open_bank(load_fixtures(), 123_456, datetime(2027, 3, 1, 8, tzinfo=UTC), Decisions())
    assert past_module._generate_past.cache_info() == before
