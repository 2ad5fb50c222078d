"""Double entry: postings sum to zero after anything, and nobody writes in the shared past."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.bank.ledger import EXCHANGE, OUTSIDE, Books, Ledger, LedgerEntry, Posting
from sandbox.banking.money import Money
from sandbox.worlds.registry import WorldRegistry
from tests.bank.conftest import Lives
from tests.bank.lives import LIVES, UNFORCED, Step
from tests.tpp import ISCT, Tpp

DAY = date(2027, 3, 1)
ACCOUNTS = ("BE68539007547034", "BE41539007547035", OUTSIDE, EXCHANGE)


def euros(cents: int, currency: str = "EUR") -> Money:
    return Money(Decimal(cents).scaleb(-2), currency)


def entry(source: str, target: str, cents: int, currency: str = "EUR", back: int = 0) -> LedgerEntry:
    on = DAY - timedelta(days=back)
    amount = euros(cents, currency)
    return LedgerEntry("R", on, on, (Posting(source, -amount), Posting(target, amount)))


def exchanged(account: str, cents: int, bought: int, back: int) -> LedgerEntry:
    """Euros for dollars: each currency is balanced by the exchange desk."""
    on = DAY - timedelta(days=back)
    sides = (
        Posting(account, euros(-cents)),
        Posting(EXCHANGE, euros(cents)),
        Posting(EXCHANGE, euros(-bought, "USD")),
        Posting(account, euros(bought, "USD")),
    )
    return LedgerEntry("X", on, on, sides)


plain = st.builds(
    entry,
    st.sampled_from(ACCOUNTS),
    st.sampled_from(ACCOUNTS),
    st.integers(-(10**9), 10**9),
    st.sampled_from(("EUR", "USD", "GBP")),
    st.integers(0, 40),
)
trades = st.builds(
    exchanged, st.sampled_from(ACCOUNTS), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 40)
)
ENTRIES = st.lists(st.one_of(plain, trades), max_size=30)


def of(entries: list[LedgerEntry]) -> Callable[[], Books]:
    books = Books(entries)
    return lambda: books


@given(past=ENTRIES, posted=ENTRIES)
def test_postings_sum_to_zero_after_any_sequence(past: list[LedgerEntry], posted: list[LedgerEntry]) -> None:
    ledger = Ledger(of(past))
    for one in posted:
        ledger.post(one)
        assert not any(ledger.sum_by_currency().values())


@given(past=ENTRIES, posted=ENTRIES)
def test_a_balance_is_the_sum_of_its_lines_which_stay_in_order(
    past: list[LedgerEntry], posted: list[LedgerEntry]
) -> None:
    ledger = Ledger(of(past))
    for one in posted:
        ledger.post(one)
    for account in ACCOUNTS[:2]:
        for currency in ("EUR", "USD", "GBP"):
            lines = ledger.list_lines(account, currency)
            places = [(line.on, line.number) for line in lines]
            assert places == sorted(places)
            assert ledger.read_balance(account, currency).number == sum(line.posting.amount.number for line in lines)


def test_a_back_dated_line_stands_where_its_date_says() -> None:
    ledger = Ledger(of([entry(OUTSIDE, ACCOUNTS[0], 100, back=back) for back in (9, 5, 1)]))
    for back in (0, 5, 20):
        ledger.post(entry(OUTSIDE, ACCOUNTS[0], 1, back=back))
    lines = ledger.list_lines(ACCOUNTS[0], "EUR")
    assert [((DAY - line.on).days, line.posting.amount.number) for line in lines] == [
        (20, Decimal("0.01")),
        (9, 1),
        (5, 1),
        (5, Decimal("0.01")),  # of the same day: after what stood there
        (1, 1),
        (0, Decimal("0.01")),
    ]


@pytest.mark.parametrize(
    "postings",
    [
        (Posting(ACCOUNTS[0], euros(1)),),
        (Posting(ACCOUNTS[0], euros(-100)), Posting(ACCOUNTS[1], euros(99))),
        (Posting(ACCOUNTS[0], euros(-100)), Posting(ACCOUNTS[0], euros(100, "USD"))),
    ],
)
def test_an_unbalanced_entry_stops_the_program_and_books_nothing(postings: tuple[Posting, ...]) -> None:
    ledger = Ledger(of([entry(OUTSIDE, ACCOUNTS[0], 100)]))
    with pytest.raises(AssertionError, match="unbalanced"):
        ledger.post(LedgerEntry("R", DAY, DAY, postings))
    assert ledger.read_balance(ACCOUNTS[0], "EUR") == euros(100)
    assert not ledger.list_added_lines()


@given(first=ENTRIES, mine=ENTRIES, theirs=ENTRIES)
def test_a_copy_goes_its_own_way(first: list[LedgerEntry], mine: list[LedgerEntry], theirs: list[LedgerEntry]) -> None:
    past = of(first)
    one, twin, only_theirs = Ledger(past), Ledger(past), Ledger(past)
    for row in mine:
        one.post(row)
    copy = one.copy()
    held = ({place: tuple(lines) for place, lines in one.list_added_lines().items()}, one.sum_by_currency())
    for row in theirs:
        copy.post(row)
    assert ({place: tuple(lines) for place, lines in one.list_added_lines().items()}, one.sum_by_currency()) == held
    for row in (*mine, *theirs):
        twin.post(row)
    assert copy.list_added_lines() == twin.list_added_lines()
    assert only_theirs.list_added_lines() == {}


@given(past=ENTRIES, posted=ENTRIES)
def test_the_shared_past_is_never_changed(past: list[LedgerEntry], posted: list[LedgerEntry]) -> None:
    books = Books(past)
    lines, balances, count = dict(books.lines), dict(books.balances), books.count
    ledger, beside = Ledger(lambda: books), Ledger(lambda: books)
    for one in posted:
        ledger.post(one)
    assert (books.lines, books.balances, books.count) == (lines, balances, count)
    assert all(type(of) is tuple for of in books.lines.values())
    assert not beside.list_added_lines()


def test_until_it_books_a_bank_shows_the_past_s_own_lines() -> None:
    books = Books([entry(OUTSIDE, ACCOUNTS[0], 100)])
    ledger = Ledger(lambda: books)
    assert ledger.list_lines(ACCOUNTS[0], "EUR") is books.lines[ACCOUNTS[0], "EUR"]
    ledger.post(entry(OUTSIDE, ACCOUNTS[0], 1))
    assert len(books.lines[ACCOUNTS[0], "EUR"]) == 1
    assert len(ledger.list_lines(ACCOUNTS[0], "EUR")) == 2


@settings(max_examples=30, deadline=None)
@given(steps=LIVES)
def test_a_bank_s_postings_sum_to_zero_whatever_happened(new_life: Lives, steps: list[Step]) -> None:
    life = new_life()
    life.lead([*steps, ("pass", 0, 3 * 86_400)])
    assert not any(life.world.bank.ledger.sum_by_currency().values())


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(UNFORCED, max_size=14))
@example(steps=[("initiate", ISCT, "poor", "12.50", None), ("approve", 0, "poor")])
@example(steps=[("initiate", ISCT, None, "12.50", None), ("pass", 0, 5), ("approve", 0, "poor")])
def test_no_payment_takes_an_account_below_zero_with_its_fee(new_life: Lives, steps: list[Step]) -> None:
    """No shipped account has an overdraft; a move that a tester forces asks for no funds."""
    life = new_life()
    life.tpp.control("PATCH", "/settings", variants={"fees": "abroad"})
    life.lead([*steps, ("pass", 0, 5 * 86_400)])
    bank = life.world.bank
    held = [
        bank.ledger.read_number((account.iban, name))
        for account in bank.accounts.values()
        for name in account.currencies
    ]
    assert min(held) >= 0 and not any(bank.ledger.sum_by_currency().values())


def test_a_payment_in_one_world_moves_no_money_in_another(worlds: WorldRegistry, tpp: Tpp) -> None:
    iban = tpp.iban_of("alice")
    untouched = worlds.get("beside")
    before = untouched.bank.ledger.read_balance(iban, "EUR")
    reply = tpp.initiated(debtor_account__iban=iban)
    for status in ("PATC", "PDNG", "ACSP", "ACSC"):
        assert tpp.control("POST", f"/payments/{reply}/move", status=status).status_code == 200
    assert worlds.get("default").bank.ledger.read_balance(iban, "EUR") == before - euros(1250)
    assert untouched.bank.ledger.read_balance(iban, "EUR") == before
