"""Banks full of standing orders, and a calendar that owes nothing to the sandbox's own."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from holidays import financial_holidays

from sandbox.app import make_first_beginning
from sandbox.bank import psu_actions, standing_orders, timeline
from sandbox.bank.initiations import RequestKey
from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Debtor, Origin, StandingOrder, StandingOrderRequest
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency
from sandbox.people import open_bank
from tests.contracts import ALICE, SAVINGS
from tests.tpp import BELGIAN, CALLBACK

BRUSSELS = ZoneInfo("Europe/Brussels")
DAY = timedelta(days=1)
CLOSED = frozenset(financial_holidays("XECB", years=range(2025, 2042)))
PERIODS = {"MONTHLY": 1, "TWO_MONTHLY": 2, "QUARTERLY": 3, "HALF_YEARLY": 6, "YEARLY": 12}  # in months


def is_open(day: date) -> bool:
    return day.weekday() < 5 and day not in CLOSED


def walked(day: date, step: timedelta) -> date:
    while not is_open(day):
        day += step
    return day


def banking_day(planned: date, *, variable: bool) -> date:
    """service 2.2 rule 4, by walking from day to day."""
    step = -DAY if variable else DAY
    found = walked(planned, step)
    return found if found.year == planned.year else walked(planned, -step)


def planned_days(first: date, frequency: str) -> Iterator[date]:
    """The days that a contract names, one after the other and without end."""
    for number in count():
        if frequency == "WEEKLY":
            yield first + timedelta(days=7 * number)
            continue
        months = first.year * 12 + first.month - 1 + number * PERIODS[frequency]
        year, month = months // 12, months % 12 + 1
        last = (date(year + month // 12, month % 12 + 1, 1) - DAY).day
        yield date(year, month, min(first.day, last))


def euros(text: str) -> Money:
    return Money(Decimal(text), "EUR")


def bank_at(instant: str, funds: str = "1000000.00") -> Bank:
    """A bank in which alice is rich."""
    begun = make_first_beginning(seed=7)
    bank = open_bank(begun.fixtures, 7, datetime.fromisoformat(instant).astimezone(ZoneInfo("UTC")), begun.settings)
    give(bank, funds)
    return bank


def give(bank: Bank, amount: str) -> None:
    """Money for alice from the world outside."""
    sides = Posting(ALICE, euros(amount)), Posting(OUTSIDE, -euros(amount))
    bank.ledger.post(LedgerEntry("gift", bank.clock.today, bank.clock.today, sides))


def add(bank: Bank, first: date, frequency: str, **changes: Any) -> StandingOrder:
    """An order that alice signed; VARIABLE ones leave her some money."""
    number = len(bank.standing_orders)
    variable = bool(changes.get("variable"))
    given: dict[str, Any] = {"maximal": euros("1.00")} if variable else {"amount": euros("1.00")}
    contract = StandingOrderRequest(
        creditor_iban=SAVINGS if variable else BELGIAN,
        creditor_name="Jan Peeters",
        endtoend_identification=f"REGULAR-{number}",
        frequency=Frequency(frequency),
        start_date=first,
        debtor=Debtor(ALICE),
        **given | changes,
    )
    asked = RequestKey("demo-tpp", str(number), str(number).encode())
    initiated = standing_orders.initiate(bank, contract, Origin("demo-tpp", CALLBACK), asked)
    psu_actions.approve(bank, initiated.sca_token, None, None, (), None)
    return bank.standing_orders[initiated.payment_id]


def pass_until(bank: Bank, day: date) -> None:
    timeline.advance(bank, datetime(day.year, day.month, day.day, 12, tzinfo=BRUSSELS).astimezone(ZoneInfo("UTC")))


def run_days(order: StandingOrder) -> list[date]:
    return [run.at.astimezone(BRUSSELS).date() for run in order.runs]


def expected_days(order: StandingOrder, until: date) -> list[date]:
    """What the independent calendar says that must have been executed by the evening of a day."""
    contract = order.order
    found: list[date] = []
    for planned in planned_days(contract.first, contract.frequency.value):
        if planned > until + 7 * DAY:
            return found
        on = banking_day(planned, variable=contract.variable)
        if on <= until:
            found.append(on)
    raise AssertionError("days never end")
