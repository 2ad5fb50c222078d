"""The habits of customers, as a scenario says them."""

from decimal import Decimal
from typing import Any

from sandbox.banking.money import Money, decimals
from sandbox.seed.fixtures import Fixtures
from sandbox.seed.habits import Habit
from sandbox.seed.own_habits import BY, DAYS

Words = dict[str, Any]


def habits_of(customer: str, fixtures: Fixtures) -> list[Words]:
    """Those of the accounts that the customer owns first."""
    names = {iban: name for name, iban in fixtures.names.items()}
    owned = (iban for iban, account in fixtures.accounts.items() if account.owners[0] == customer)
    return [_words(habit) | {"account": names[iban]} for iban in owned for habit in fixtures.profiles[iban].habits]


def _words(habit: Habit) -> Words:
    low, high = (_amount(minor, habit.currency) for minor in (habit.low, habit.high))
    name, iban = habit.party or ("", None)
    row: Words = {"what": habit.word, "name": name} | ({"iban": iban} if iban else {})
    row |= {"amount": low} if low == high else {"between": [low, high]}
    row |= {"a_week": habit.a_week} if habit.due is None else {"day": _day(habit)}
    row |= {"by": next(word for word, remark in BY.items() if remark == habit.remark), "currency": habit.currency}
    row |= {"every": habit.every} | ({"communication": habit.text} if habit.text else {})
    return row | ({"hold": _amount(habit.hold, habit.currency)} if habit.hold else {})


def _day(habit: Habit) -> Any:
    return next((word for word, day in DAYS.items() if day is habit.due), habit.due)


def _amount(minor: int, currency: str) -> str:
    return Money(Decimal(minor).scaleb(-decimals(currency)), currency).text()
