"""Habits that a file gives its people: `habits` of a customer (choice 13)."""

from typing import Any, NamedTuple

from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money, is_currency
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.seed.chronicle import minor
from sandbox.seed.habits import CARD, DEBIT, HOURS, Habit, When
from sandbox.seed.shape import Row

BY = {"transfer": "SEPA CREDIT TRANSFER", "direct_debit": DEBIT, "card": CARD}
DAYS = {"first": When.FIRST, "last": When.LAST}
DAY_MAX = 28  # every month has it; `last` is the last banking day
EVERY = (1, 2, 3, 4, 6, 12)  # months
A_WEEK_MAX = 20
HABITS_MAX = 50
NAME_MAX = 70
OWN = "own"  # the role of a counterparty that the file names


class OwnHabit(NamedTuple):
    """A habit, and the account that it is about; None: the customer's first current account."""

    account: str | None
    habit: Habit


def read_habits(row: Row) -> tuple[OwnHabit, ...]:
    """Reads the habits of a customer; raises ValueError with the place."""
    rows = row.rows("habits")
    if len(rows) > HABITS_MAX:
        raise row.fault("habits", f"over {HABITS_MAX}")
    found = tuple(_own(one) for one in rows)
    for number, own in enumerate(found):
        if own.habit.word in [before.habit.word for before in found[:number]]:
            raise rows[number].fault("what", f"another habit is called {own.habit.word}")
    return found


def _own(row: Row) -> OwnHabit:
    remark = BY[row.one_of("by", BY, "transfer")]
    currency = row.text("currency", "EUR")
    low, high = _amounts(row, currency, remark)
    due, a_week = _when(row)
    habit = Habit(
        row.text("what"),
        OWN,
        low,
        high,
        due,
        a_week,
        row.number("every", 1, 12, 1),
        remark,
        currency=currency,
        fixed=True,
        hold=_cents(row, "hold", currency) if row.has("hold") else 0,
        party=(row.text("name"), row.text("iban") if row.has("iban") else None),
        text=row.text("communication", ""),
    )
    account = row.text("account") if row.has("account") else None
    row.finish()
    fault = fault_of(habit)
    if fault is not None:
        raise row.fault(*fault)
    return OwnHabit(account, habit)


def _amounts(row: Row, currency: str, remark: str) -> tuple[int, int]:
    """One amount, or two that it lies between."""
    if not is_currency(currency):
        raise row.fault("currency", "no currency")
    if row.has("between"):
        given = row.texts("between")
        if len(given) != 2:
            raise row.fault("between", "two amounts are expected")
        low, high = sorted(_minor(row, "between", text, currency) for text in given)
    else:
        low = high = _cents(row, "amount", currency)
    if low <= 0 <= high:
        raise row.fault("between" if low != high else "amount", "0 moves nothing")
    if remark != BY["transfer"] and high > 0:
        raise row.fault("by", "what comes in is a transfer")
    return low, high


def _when(row: Row) -> tuple[When | int | None, float]:
    """A day of the month, or how often a week."""
    if row.has("day") == row.has("a_week"):
        raise row.fault("day", "one of day and a_week is expected")
    if row.has("a_week"):
        return None, row.fraction("a_week", A_WEEK_MAX)
    if row.holds_text("day"):
        return DAYS[row.one_of("day", DAYS, "first")], 0
    return row.number("day", 1, DAY_MAX), 0


def _cents(row: Row, key: str, currency: str) -> int:
    return _minor(row, key, row.text(key), currency)


def _minor(row: Row, key: str, text: str, currency: str) -> int:
    try:
        return minor(Money.read(text, currency))
    except ValueError:
        raise row.fault(key, f"{text} is no amount of {currency}") from None


def fault_of(habit: Habit) -> tuple[str, str] | None:
    """The wrong field of a habit and the reason, or None."""
    name, iban = habit.party or ("", None)
    checks: tuple[tuple[Any, str, str], ...] = (
        (habit.party is not None and 0 < len(name) <= NAME_MAX, "name", f"1 to {NAME_MAX} characters"),
        (name.isprintable(), "name", "it has control characters"),
        (iban is None or is_iban(iban), "iban", "no valid IBAN"),
        (habit.every in EVERY, "every", f"one of {', '.join(map(str, EVERY))} months"),
        (habit.hour in HOURS, "hour", "no hour at which habits are booked"),
        ((habit.due is None) == (habit.a_week > 0), "day", "one of day and a_week is expected"),
        (not isinstance(habit.due, int) or 1 <= habit.due <= DAY_MAX, "day", f"1 to {DAY_MAX}"),
        (0 <= habit.a_week <= A_WEEK_MAX, "a_week", f"above 0, and {A_WEEK_MAX} at most"),
        (habit.low <= habit.high and (habit.low > 0 or habit.high < 0), "amount", "0 moves nothing"),
        (habit.fixed and not (habit.sweep or habit.each or habit.steady), "what", "no habit of a file"),
        (habit.role == OWN and habit.unit == 1 and not habit.structured, "what", "no habit of a file"),
        (habit.hold >= 0 and (not habit.hold or habit.remark == CARD), "hold", "only cards are held, by 0 or more"),
        (not habit.hold or habit.a_week > 0, "hold", "only what has no day of its own is held"),
        (habit.hold == 0 or habit.hold >= -habit.low, "hold", "less than what is booked"),
        (habit.remark in BY.values(), "by", f"one of {', '.join(BY)}"),
        (_is_communication(habit.text), "communication", "1 to 140 characters, or +++ with check digits"),
        (0 < len(habit.word) <= NAME_MAX and habit.word.isprintable(), "what", f"1 to {NAME_MAX} characters"),
    )
    return next(((field, why) for holds, field, why in checks if not holds), None)


def _is_communication(text: str | None) -> bool:
    if not text:
        return text == ""
    return read_structured(text) is not None if text.startswith("+++") else is_free_text(text)
