"""The people of a bank: fixtures, their generated past, and the habits that continue as bank time passes."""

from datetime import datetime

from sandbox.bank.habits import Habits
from sandbox.bank.rules import ScenarioRule
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.decisions import Decisions
from sandbox.people.fixtures import Fixtures, load_fixtures
from sandbox.people.life import PEOPLE_SEEDS, count_runs_before, find_past_books, future_of

__all__ = ["Fixtures", "load_fixtures", "open_bank", "find_past_books"]


def open_bank(
    fixtures: Fixtures,
    seed: int,
    opening: datetime,
    settings: Decisions,
    rules: tuple[ScenarioRule, ...] = (),
    secret: str = "",
) -> Bank:
    """Makes a bank at the moment of its opening. The bank's past is generated on first use. Banks with equal pasts
    share one object.

    If the setting `life` is on, the past includes the habits of the opening day whose hour has come, and habits
    continue after the opening. Otherwise the past ends before the opening day, and habits do not continue.
    """
    first_day, on = find_brussels_date(opening), settings.life == "on"
    runs = count_runs_before(opening) if on else 0
    return Bank(
        opening,
        seed,
        settings,
        dict(fixtures.customers),
        dict(fixtures.accounts),
        dict(fixtures.clients),
        lambda: find_past_books(fixtures, seed, first_day, runs),
        Habits(future_of(fixtures, seed % PEOPLE_SEEDS, first_day, runs), opening if on else None),
        rules,
        secret,
    )
