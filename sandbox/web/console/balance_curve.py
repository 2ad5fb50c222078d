"""The curve of a balance over bank time."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from math import ceil, floor, log10
from typing import Any

from sandbox.bank.ledger import AccountLine
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.web.console.formats import amount

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 760, 220, 84, 12, 12, 28
POINTS_MAX = 400
RANGES = {"30d": 30, "90d": 90, "1y": 365, "all": None}

Point = tuple[date, Decimal]


def curve_of(bank: Bank, iban: str, currency: str, days: int | None) -> dict[str, Any]:
    lines = bank.ledger.lines(iban, currency)
    today = bank.clock.today
    first = lines[0].on if lines else today
    begin = first if days is None else max(first, today - timedelta(days=days))
    end = max(today, lines[-1].on) if lines else today
    points = thinned(balances(lines, bank.ledger.balance(iban, currency).number, min(begin, end), end))
    return drawn(points, currency)


def balances(lines: Sequence[AccountLine], now: Decimal, begin: date, end: date) -> list[Point]:
    """The balance at the end of each day on which it changed, from the begin to the end."""
    at = bisect_right(lines, begin, key=lambda line: line.on)
    balance = now - sum((line.posting.amount.number for line in lines[at:]), Decimal())
    found = [(begin, balance)]
    for line in lines[at:]:
        balance += line.posting.amount.number
        if found[-1][0] == line.on:
            found[-1] = (line.on, balance)
        else:
            found.append((line.on, balance))
    if found[-1][0] != end:
        found.append((end, balance))
    return found


def thinned(points: list[Point]) -> list[Point]:
    """No more than the eye can tell apart; the last one stays."""
    every = ceil(len(points) / POINTS_MAX)
    return points if every <= 1 else [*points[:-1:every], points[-1]]


def drawn(points: list[Point], currency: str) -> dict[str, Any]:
    begin, end = points[0][0], points[-1][0]
    least, most = min(level for _, level in points), max(level for _, level in points)
    ticks = levels(float(least), float(most))
    low, high = ticks[0], ticks[-1]
    days = max(1, (end - begin).days)

    def across(day: date) -> float:
        return round(LEFT + (day - begin).days / days * (WIDE - LEFT - RIGHT), 1)

    def up(level: float) -> float:
        return round(TOP + (high - level) / (high - low) * (HIGH - TOP - BOTTOM), 1)

    steps = [f"M{across(begin):g} {up(float(points[0][1])):g}"]
    steps += [f"H{across(day):g}V{up(float(level)):g}" for day, level in points[1:]]
    if begin == end:
        steps.append(f"H{WIDE - RIGHT}")
    line = "".join(steps)
    ground = up(max(low, min(0.0, high)))
    says = (
        f"From {begin} to {end}: begins at {amount(Money(points[0][1], currency))}, "
        f"lowest {amount(Money(least, currency))}, highest {amount(Money(most, currency))}, "
        f"ends at {amount(Money(points[-1][1], currency))}."
    )
    return {
        "line": line,
        "area": f"{line}V{ground:g}H{LEFT}Z",
        "zero": up(0.0) if low < 0 < high else None,
        "levels": [(up(tick), f"{tick:,.10g}") for tick in ticks],
        "days": [(across(day), f"{day:%d %b %y}" if days > 200 else f"{day:%d %b}") for day in dates(begin, end)],
        "says": says,
        "width": WIDE,
        "height": HIGH,
    }


def levels(least: float, most: float) -> list[float]:
    """Round numbers from below the least to above the most."""
    span = max(most - least, abs(most) * 0.1, 10.0)
    rough = span / 4
    size = 10.0 ** floor(log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    low, high = floor(least / step), ceil(most / step)
    return [step * at for at in range(low, max(high, low + 1) + 1)]


def dates(begin: date, end: date) -> list[date]:
    """Up to six days, spread evenly."""
    days = (end - begin).days
    count = min(5, days)
    return [begin + timedelta(days=days * at // count) for at in range(count + 1)] if count else [begin]
