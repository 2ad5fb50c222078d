"""Habits that a file gives its people: `habits` of a customer (choice 13)."""

from typing import Any, NamedTuple

from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.people.chronicle import minor
from sandbox.people.habits import CARD, DEBIT, HOURS, DayPattern, Habit
from sandbox.reader.scalars import CURRENCY, TEXT, exactly_one, fraction, number, one_of
from sandbox.reader.shapes import Each, Leaf, Notes, Table
from sandbox.reader.tree import Node, Wrong, quote

BY = {"transfer": "SEPA CREDIT TRANSFER", "direct_debit": DEBIT, "card": CARD}
DAYS = {"first": DayPattern.FIRST, "last": DayPattern.LAST}
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


def _own(rows: dict[str, Any]) -> OwnHabit:
    remark, currency = BY[rows.get("by", "transfer")], rows.get("currency", "EUR")
    exactly_one(rows, ("day", "a_week"))
    low, high = _amounts(rows, remark, currency)
    habit = Habit(
        rows["what"],
        OWN,
        low,
        high,
        DAYS.get(rows["day"], rows["day"]) if "day" in rows else None,
        rows.get("a_week", 0),
        rows.get("every", 1),
        remark,
        currency=currency,
        fixed=True,
        hold=minor(read_amount(rows["hold"], currency, "hold")) if "hold" in rows else 0,
        party=(rows["name"], rows.get("iban")),
        text=rows.get("communication", ""),
    )
    if (fault := fault_of(habit)) is not None:
        raise Wrong(fault[1], key=fault[0])
    return OwnHabit(rows.get("account"), habit)


def _amounts(rows: dict[str, Any], remark: str, currency: str) -> tuple[int, int]:
    """One amount, or two that it lies between."""
    key = exactly_one(rows, ("amount", "between"))
    texts = rows["between"] if key == "between" else (rows["amount"],) * 2
    if len(texts) != 2:
        raise Wrong("two amounts are expected", key=key)
    low, high = sorted(minor(read_amount(text, currency, key)) for text in texts)
    if low <= 0 <= high:
        raise Wrong("0 moves nothing", key=key)
    if remark != BY["transfer"] and high > 0:
        raise Wrong("what comes in is a transfer", key="by")
    return low, high


def read_amount(text: str, currency: str, key: str | None = None, signed: bool = True) -> Money:
    try:
        amount = Money.read(text, currency)
    except ValueError:
        raise Wrong(f"{quote(text)} is no amount of {currency}", key=key) from None
    if amount.number < 0 and not signed:
        raise Wrong("below zero", key=key)
    return amount


def _day(node: Node, notes: Notes) -> Any:
    shape = one_of(DAYS, "day of the month") if isinstance(node.value, str) else number(1, DAY_MAX)
    return shape.read(node, notes)


HABIT = Table(
    {
        "what": TEXT,
        "account": TEXT,
        "amount": TEXT,
        "between": Each(TEXT),
        "currency": CURRENCY,
        "day": Leaf(_day, {"anyOf": [{"enum": [*DAYS]}, number(1, DAY_MAX).schema()]}),
        "a_week": fraction(0, A_WEEK_MAX, open_below=True),
        "every": number(1, 12),
        "by": one_of(BY, "way to pay"),
        "hold": TEXT,
        "name": TEXT,
        "iban": TEXT,
        "communication": TEXT,
    },
    _own,
    required=("what", "name"),
    called="a habit",
)
OWN_HABITS = Each(HABIT, most=HABITS_MAX)


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
