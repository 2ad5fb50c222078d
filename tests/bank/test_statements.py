"""Pages of an account's lines in the bank itself, held against the plain list that they are cut from."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.state import Bank
from sandbox.bank.statements import Query, asks_for_old, book_by_hand, find_oldest_day, read_page
from sandbox.banking.durations import read_instant
from sandbox.banking.iban import make_belgian
from sandbox.banking.money import Money
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.people import load_fixtures, open_bank
from tests.conftest import MORNING

FIXTURES = load_fixtures()
ALICE = make_belgian("539", 1000017)
TODAY = date(2027, 3, 1)


def a_bank() -> Bank:
    return open_bank(FIXTURES, 7, read_instant(MORNING), Decisions())


def booked(bank: Bank, on: date, times: int = 1) -> None:
    for _ in range(times):
        book_by_hand(bank, ALICE, Money.read("1.00", "EUR"), on, None, None, "", False)


def walked(bank: Bank, query: Query, oldest: date | None = None) -> list[tuple[date, int]]:
    """The places of every line of a walk, page by page."""
    places, asked = [], query
    while True:
        found = read_page(bank, asked, oldest)
        places += [(line.on, line.number) for line in found.lines]
        if found.following is None:
            return places
        assert len(found.lines) == asked.page_size
        asked = found.following


def whole(bank: Bank, date_from: date | None = None, date_to: date | None = None) -> list[tuple[date, int]]:
    lines = reversed(bank.ledger.list_lines(ALICE, "EUR"))
    low, high = date_from or date.min, date_to or date.max
    return [(line.on, line.number) for line in lines if low <= line.on < high]


days = st.one_of(st.none(), st.integers(-30, 400).map(lambda back: TODAY - timedelta(days=back)))


@given(date_from=days, date_to=days, oldest=days, size=st.integers(1, 50))
def test_a_walk_is_the_list_cut_into_pages(
    date_from: date | None, date_to: date | None, oldest: date | None, size: int
) -> None:
    bank = a_bank()
    since = max(filter(None, (date_from, oldest)), default=None)
    assert walked(bank, Query(ALICE, "EUR", date_from, date_to, size), oldest) == whole(bank, since, date_to)


@given(backs=st.lists(st.integers(0, 120), max_size=12), size=st.integers(1, 50))
def test_a_walk_does_not_see_what_was_booked_since_it_began(backs: list[int], size: int) -> None:
    bank = a_bank()
    query = Query(ALICE, "EUR", TODAY - timedelta(days=90), None, size)
    before = whole(bank, query.date_from)
    found, asked = read_page(bank, query, None), query
    places = [(line.on, line.number) for line in found.lines]
    for back in backs:
        booked(bank, TODAY - timedelta(days=back))
        if found.following is not None:
            asked = found.following
            found = read_page(bank, asked, None)
            places += [(line.on, line.number) for line in found.lines]
    if found.following is not None:
        places += walked(bank, found.following)
    assert places == before


def test_lines_of_one_entry_on_one_account_have_places_of_their_own() -> None:
    """A page may end between them."""
    bank = a_bank()
    three = tuple(Posting(ALICE, Money.read(f"{number}.00", "EUR")) for number in (1, 2, 3))
    bank.ledger.post(LedgerEntry("many", TODAY, TODAY, (*three, Posting(OUTSIDE, Money.read("-6.00", "EUR")))))
    places = walked(bank, Query(ALICE, "EUR", TODAY, None, 1))
    assert len(set(places)) == len(places) >= 3
    assert [
        line.posting.amount.number for line in read_page(bank, Query(ALICE, "EUR", TODAY, None, 3), None).lines
    ] == [
        3,
        2,
        1,
    ]


def test_lines_stand_newest_first() -> None:
    bank = a_bank()
    booked(bank, TODAY - timedelta(days=3), 4)
    places = walked(bank, Query(ALICE, "EUR", None, None, 7))
    assert all(newer > older for newer, older in pairwise(places))


def test_the_oldest_day_without_proof_lies_90_days_back() -> None:
    assert find_oldest_day(a_bank()) == date(2026, 12, 1)


@pytest.mark.parametrize(
    "date_from, date_to, old",
    [
        (None, None, False),
        (date(2026, 12, 1), None, False),
        (date(2026, 11, 30), None, True),
        (None, date(2026, 12, 2), False),
        (None, date(2026, 12, 1), True),
        (date(2026, 12, 1), date(2026, 12, 1), False),
    ],
)
def test_what_reaches_behind_that_day(date_from: date | None, date_to: date | None, old: bool) -> None:
    assert asks_for_old(a_bank(), Query(ALICE, "EUR", date_from, date_to, 50)) is old


@pytest.mark.parametrize(
    "iban, currency, on, error",
    [
        (make_belgian("539", 9), "EUR", TODAY, Error.NOT_FOUND),
        (ALICE, "USD", TODAY, Error.CONTROL_INVALID),
        (ALICE, "EUR", TODAY + timedelta(days=1), Error.CONTROL_INVALID),
    ],
)
def test_what_cannot_be_booked_by_hand_leaves_no_trace(iban: str, currency: str, on: date, error: Error) -> None:
    bank = a_bank()
    before = whole(bank), bank.ledger.sum_by_currency(), bank.mint.asked
    with pytest.raises(Refusal) as caught:
        book_by_hand(bank, iban, Money.read("1.00", currency), on, None, None, "", False)
    assert caught.value.error is error
    assert (whole(bank), bank.ledger.sum_by_currency(), bank.mint.asked) == before


def test_what_is_booked_by_hand_keeps_the_books_at_zero() -> None:
    bank = a_bank()
    booked(bank, TODAY - timedelta(days=40), 3)
    assert set(bank.ledger.sum_by_currency().values()) == {0}
