"""The generated past: every habit of every account, day by day up to the opening (choice 11)."""

from datetime import date
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from sandbox.bank.ledger import Books
from sandbox.banking.calendar import DAY, previous_banking_day
from sandbox.seed.chronicle import Chronicle, banking_days
from sandbox.seed.fixtures import Fixtures
from sandbox.seed.habits import HOURS
from sandbox.seed.homes import Home
from sandbox.seed.people import draw_people

PEOPLE_SEEDS = 2**20  # seeds that agree modulo this share people, past and future
_LOCK = Lock()  # two that ask at once get one past, made once


class Past(NamedTuple):
    """The books before the opening; the homes that they are about, and how many references each has used."""

    books: Books
    homes: dict[str, Home]
    references: dict[str, int]


def past_of(fixtures: Fixtures, seed: int, first_day: date, runs: int = 0) -> Books:
    """The entries before `first_day`, and those of its first runs."""
    return whole_past_of(fixtures, seed, first_day, runs).books


def whole_past_of(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    with _LOCK:
        return _past(fixtures, seed % PEOPLE_SEEDS, first_day, runs)


@lru_cache(maxsize=16)
def _past(fixtures: Fixtures, seed: int, first_day: date, runs: int) -> Past:
    people = draw_people(seed)
    homes, begins = {}, {}
    for iban, account in fixtures.accounts.items():
        profile = fixtures.profiles[iban]
        homes[iban] = Home(account, profile, fixtures.customers[account.owners[0]], people, seed)
        begins[iban] = previous_banking_day(first_day - relativedelta(months=profile.months))
    chronicle = Chronicle()
    if homes:
        for day in banking_days(min(begins.values()), first_day + DAY if runs else first_day):
            hours = HOURS if day.on < first_day else HOURS[:runs]
            for iban, home in homes.items():
                if day.on > begins[iban]:
                    home.live(chronicle, day, hours)
                elif day.on == begins[iban]:
                    home.open(chronicle, day)
    return Past(Books(chronicle.entries), homes, chronicle.references)
