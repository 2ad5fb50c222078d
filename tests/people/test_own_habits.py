"""Habits that a file gives its people (choice 13): what they do, and what is refused by its place."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from sandbox.bank import timeline
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions
from sandbox.people import open_bank
from sandbox.people.fixtures import Fixtures, find_habit_fault
from sandbox.scenarios import ScenarioErrors, read_scenario
from sandbox.storage.codec import decode, encode
from tests.people.living import MONDAY, fixtures_of

SALARY = {"what": "salary", "amount": "1850.00", "day": "last", "name": "Werkgever", "communication": "Loon"}
RENT = {"what": "rent", "amount": "-600.00", "day": 1, "name": "Verhuurder", "iban": "BE68539007547034"}
TAX = {
    "what": "tax",
    "amount": "-90.00",
    "day": 20,
    "every": 3,
    "name": "Fiscus",
    "communication": "+++090/9337/55493+++",
}
SHOP = {"what": "shop", "between": ["-3.00", "-20.00"], "a_week": 3, "by": "card", "name": "Winkel"}
BASE: dict[str, Any] = {
    "customers": {"ann": {"name": "Ann", "kind": "private", "language": "nl", "habits": [SALARY, RENT, TAX, SHOP]}},
    "accounts": {
        "saved": {"number": 1, "type": "savings-account", "owners": ["ann"], "opening": {"EUR": "10.00"}},
        "one": {"number": 2, "owners": ["ann"], "opening": {"EUR": "900.00"}, "months": 3},
        "two": {
            "number": 3,
            "owners": ["ann"],
            "opening": {"EUR": "900.00", "USD": "1.00"},
            "currencies": ["EUR", "USD"],
        },
        "bob": {"number": 4, "owners": ["bob"], "opening": {"EUR": "5.00"}},
    },
    "clients": {},
}
BASE["customers"]["bob"] = {"name": "Bob", "kind": "private", "language": "fr"}


def people(**change: Any) -> Fixtures:
    """The people, with some fields of the first habit changed; None takes one away."""
    content = deepcopy(BASE)
    habit = content["customers"]["ann"]["habits"][0]
    for key, value in change.items():
        if value is None:
            habit.pop(key, None)
        else:
            habit[key] = value
    return fixtures_of(content, f"people {change}")


def lived(fixtures: Fixtures, name: str, until: str = "2027-07-01T12:00:00+02:00") -> list[tuple[str, str, str]]:
    """Day, amount and words of every line of an account, opening aside."""
    bank = open_bank(fixtures, 7, read_instant(MONDAY), Decisions(life="on"))
    timeline.advance(bank, read_instant(until))
    lines = bank.ledger.list_lines(fixtures.names[name], "EUR")[1:]
    return [(line.on.isoformat(), line.posting.amount.text(), line.entry.communication) for line in lines]


def test_habits_of_a_file_write_the_past_and_go_on_after_it() -> None:
    lines = lived(people(), "one")
    assert [on for on, amount, _ in lines if amount == "1850.00"] == [
        "2026-12-31", "2027-01-29", "2027-02-26", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30",
    ]  # fmt: skip
    assert [on for on, amount, _ in lines if amount == "-600.00"] == [
        "2027-01-04", "2027-02-01", "2027-03-01", "2027-04-01", "2027-05-03", "2027-06-01", "2027-07-01",
    ]  # fmt: skip
    assert [(on, told) for on, amount, told in lines if amount == "-90.00"] == [
        ("2027-01-20", "+++090/9337/55493+++"), ("2027-04-20", "+++090/9337/55493+++"),
    ]  # fmt: skip
    cards = [float(amount) for _, amount, told in lines if amount.startswith("-") and float(amount) > -21]
    assert len(cards) > 50 and min(cards) < -15 and max(cards) > -6


def test_a_habit_goes_to_the_account_that_it_names_and_else_to_the_first_current_one() -> None:
    fixtures = people(account="two")
    assert [amount for _, amount, _ in lived(fixtures, "two")][:1] == ["1850.00"]
    assert not [amount for _, amount, _ in lived(fixtures, "one") if amount == "1850.00"]
    assert lived(fixtures, "saved") == lived(fixtures, "bob") == []
    in_dollars = people(account="two", currency="USD")
    assert not lived(in_dollars, "two")


def test_the_people_of_the_readme_live_as_it_says() -> None:
    readme = (Path(__file__).parents[2] / "docs" / "first-scenario.md").read_text()
    text = next(block for block in readme.split("```yaml\n") if block.startswith("scenario: Nora")).partition("```")[0]
    scenario = read_scenario(text, "nora.yaml")
    bank = open_bank(scenario.fixtures, 7, read_instant(MONDAY), scenario.settings, scenario.rules)
    timeline.advance(bank, read_instant("2027-05-01T12:00:00+02:00"))
    lines = bank.ledger.list_lines(scenario.fixtures.names["nora-current"], "EUR")
    gym = [
        (line.on.isoformat(), line.entry.remark) for line in lines if "Fit" in (line.posting.counterparty_name or "")
    ]
    assert gym[-3:] == [("2027-03-10", "DIRECT DEBIT"), ("2027-04-12", "DIRECT DEBIT"), ("2027-04-19", "REFUND MD06")]
    assert {"2026-09-30", "2027-04-30"} <= {line.on.isoformat() for line in lines if line.entry.communication == "Loon"}


def test_habits_travel_with_their_people() -> None:
    fixtures = people()
    again = decode(encode(fixtures))
    assert again.profiles == fixtures.profiles
    assert all(find_habit_fault(habit) is None for profile in again.profiles.values() for habit in profile.habits)


@pytest.mark.parametrize(
    "change, fault",
    [
        ({"what": None}, "[0]: 'what' is missing"),
        ({"what": "rent"}, "[1].what: another habit is called rent"),
        ({"name": None}, "[0]: 'name' is missing"),
        ({"name": "x" * 71}, "[0].name: 1 to 70 characters"),
        ({"name": "a\nb"}, "[0].name: it has control characters"),
        ({"amount": None}, "[0]: one of amount or between is missing"),
        ({"amount": 5}, "[0].amount: a text is expected"),
        ({"amount": "1.234"}, "[0].amount: '1.234' is no amount of EUR"),
        ({"amount": "0.00"}, "[0].amount: 0 moves nothing"),
        ({"amount": None, "between": ["1.00"]}, "[0].between: two amounts are expected"),
        ({"amount": None, "between": ["-1.00", "1.00"]}, "[0].between: 0 moves nothing"),
        ({"between": ["1.00", "2.00"]}, "[0].between: only one of amount and between can hold"),
        ({"day": None}, "[0]: one of day or a_week is missing"),
        ({"a_week": 2}, "[0].a_week: only one of day and a_week can hold"),
        ({"day": 29}, "[0].day: a number from 1 to 28 is expected"),
        ({"day": "monday"}, "[0].day: 'monday' is no day of the month (known: first or last)"),
        ({"day": True}, "[0].day: a whole number is expected"),
        ({"day": None, "a_week": 0}, "[0].a_week: a number above 0 and up to 20 is expected"),
        ({"day": None, "a_week": 21}, "[0].a_week: a number above 0 and up to 20 is expected"),
        ({"every": 5}, "[0].every: one of 1, 2, 3, 4, 6, 12 months"),
        ({"by": "post"}, "[0].by: 'post' is no way to pay (known: transfer, direct_debit or card)"),
        ({"by": "card"}, "[0].by: what comes in is a transfer"),
        ({"hold": "5.00"}, "[0].hold: only cards are held, by 0 or more"),
        ({"by": "card", "amount": "-9.00", "hold": "10.00"}, "[0].hold: only what has no day of its own is held"),
        (
            {"by": "card", "amount": "-9.00", "hold": "5.00", "day": None, "a_week": 1},
            "[0].hold: less than what is booked",
        ),
        ({"iban": "BE68539007547035"}, "[0].iban: no valid IBAN"),
        ({"communication": "+++090/9337/55494+++"}, "[0].communication: 1 to 140 characters, or +++ with check digits"),
        ({"communication": "x" * 141}, "[0].communication: 1 to 140 characters, or +++ with check digits"),
        ({"currency": "ZZZ"}, "[0].currency: 'ZZZ' is no currency"),
        ({"currency": "USD"}, "[0].currency: the account has no such compartment"),
        ({"account": "bob"}, "[0].account: bob is none of ann's"),
        ({"account": "nobody"}, "[0].account: nobody is none of ann's"),
        ({"colour": "red"}, "[0].colour: an unknown key 'colour'"),
    ],
)
def test_a_habit_that_cannot_be_is_refused_by_its_place(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as refused:
        people(**change)
    assert str(refused.value).startswith(f"fixtures:customers.ann.habits{fault}")


def test_an_account_of_this_bank_is_no_other_side_of_a_habit() -> None:
    with pytest.raises(ValueError, match=r"habits\[0\]\.iban: it is an account of this bank"):
        people(iban=people().names["bob"])


def test_a_scenario_tells_the_line_of_a_wrong_habit() -> None:
    text = """\
bank:
  customers:
    ann:
      name: Ann
      kind: private
      language: nl
      habits:
        - {what: rent, amount: "-600.00", day: 1, name: Verhuurder}
        - {what: gym, amount: "-39.00", day: 40, name: Fit}
  accounts:
    one: {number: 3000001, owners: [ann], opening: {EUR: "5.00"}}
"""
    with pytest.raises(ScenarioErrors) as wrong:
        read_scenario(text, "ann.yaml")
    (error,) = wrong.value.errors
    assert (error.line, error.text) == (9, "a number from 1 to 28 is expected")


def test_a_file_of_a_stranger_brings_no_habit_that_never_ends() -> None:
    (habit,) = people().profiles[people().names["one"]].habits[:1]
    for change in (
        {"a_week": 0.0, "due": None},
        {"due": 31},
        {"every": 0},
        {"hour": 99},
        {"sweep": True},
        {"low": 5, "high": 1},
    ):
        assert find_habit_fault(habit._replace(**change)) is not None
