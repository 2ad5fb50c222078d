"""Computes the coordinates of two SVG pictures: the states of an initiation (service 3.1, 3.2), and the curve of a
balance."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from math import ceil, floor, log10
from typing import NamedTuple

from sandbox.bank.ledger import AccountLine
from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.contract.moves import MOVES, STATUS_STYLES, Move, Status, list_statuses
from sandbox.web.console.formats import amount, moment
from sandbox.web.console.visits import Facts

# The way through the states: the good statuses from left to right, and the two bad ends below them

ENDS = tuple(status for status, style in STATUS_STYLES.items() if style.tone in ("bad", "gone"))
STATE_WIDTH, STATE_HEIGHT, STATE_STEP = 104, 34, 168  # of a state, and from one to the next
STATE_LEFT, STATE_TOP, END_TOP = 12, 62, 172
Places = dict[Status, tuple[float, float]]


@lru_cache(maxsize=32)
def place_statuses(table: str) -> Places:
    statuses = list_statuses(table)
    straight = [status for status in statuses if status not in ENDS]
    places: Places = {status: (STATE_LEFT + STATE_STEP * at, STATE_TOP) for at, status in enumerate(straight)}
    last = len(straight) - 1
    for status, at in ((Status.CANC, min(1.0, last / 2)), (Status.RJCT, max(2.0, last - 1.0))):
        if status in statuses:
            places[status] = (STATE_LEFT + STATE_STEP * at, END_TOP)
    return places


def draw_states(table: str, history: Sequence[Fact]) -> Facts:
    """Returns the picture of all statuses in a table of moves, with the moves between them. The moves that the history
    contains are marked."""
    places = place_statuses(table)
    taken_moves = {(fact.source, fact.target) for fact in history}
    moves: dict[tuple[Status, Status], list[Move]] = {}
    for row in MOVES[table]:
        moves.setdefault((row.source, row.target), []).append(row)
    edges = [
        (_draw_line(places[pair[0]], places[pair[1]]), _describe(rows), pair in taken_moves)
        for pair, rows in moves.items()
    ]
    edges.sort(key=lambda edge: edge[2])  # the taken ones are drawn last, above the others
    says = ", then ".join(f"{fact.target} at {moment(fact.at)}" for fact in history[:20])
    return {
        "width": max(x for x, _ in places.values()) + STATE_WIDTH + STATE_LEFT,
        "height": END_TOP + STATE_HEIGHT + 34,
        "nodes": [_make_node(status, *place, history) for status, place in places.items()],
        "edges": edges,
        "says": says or "nothing happened yet",
    }


def _make_node(status: Status, x: float, y: float, history: Sequence[Fact]) -> Facts:
    """Returns the values of a status in the picture: its name and position, the time at which the initiation first
    reached it (None if never), how often it was reached, and whether it is the current one."""
    arrivals = [fact.at for fact in history if fact.target is status]
    began = any(fact.source is status for fact in history[:1])  # a bulk in a file begins before its first line
    return {
        "status": status.value,
        "x": x,
        "y": y,
        "middle": x + STATE_WIDTH / 2,
        "at": moment(arrivals[0]).split(" ") if arrivals else None,
        "times": len(arrivals),
        "been": bool(arrivals) or began,
        "current": bool(history) and history[-1].target is status,
    }


def _describe(rows: Sequence[Move]) -> str:
    return "; ".join(
        f"{row.trigger.value.replace('_', ' ')} ({row.clause}{', when ' + str(row.when.__doc__) if row.when else ''})"
        for row in rows
    )


def _draw_line(source: tuple[float, float], target: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = source, target
    half = STATE_HEIGHT / 2
    if source == target:  # a loop above
        left, right = x1 + STATE_WIDTH / 2 - 14, x1 + STATE_WIDTH / 2 + 14
        return f"M{left:g} {y1:g}C{left - 8:g} {y1 - 30:g} {right + 8:g} {y1 - 30:g} {right:g} {y1 - 4:g}"
    if y2 > y1:  # down to a bad end, leaving room for the times below a state
        start, drop = x1 + STATE_WIDTH - 16, y1 + STATE_HEIGHT
        end = x2 + STATE_WIDTH / 2 + max(-36.0, min(36.0, (x1 - x2) / STATE_STEP * 18))
        return f"M{start:g} {drop:g}C{start:g} {drop + 52:g} {end:g} {y2 - 48:g} {end:g} {y2 - 4:g}"
    if x2 - x1 > STATE_STEP:  # over what is skipped
        start, end = x1 + STATE_WIDTH / 2 + 24, x2 + STATE_WIDTH / 2 - 24
        return f"M{start:g} {y1:g}C{start + 30:g} {y1 - 52:g} {end - 30:g} {y1 - 52:g} {end:g} {y1 - 4:g}"
    return f"M{x1 + STATE_WIDTH:g} {y1 + half:g}L{x2 - 4:g} {y2 + half:g}"


class Dot(NamedTuple):
    """A status in the row of dots that a list shows for each initiation."""

    status: str
    x: int
    kind: str  # ahead, passed, here, bad


@lru_cache(maxsize=4096)
def make_dots(table: str, visited: tuple[Status, ...]) -> tuple[Dot, ...]:
    """Returns a dot for each status of a table of moves, from left to right: passed, current or still ahead. `visited`
    are the statuses of the initiation so far, and the last of them is the current one. A bad end such as RJCT has no
    dot, unless it is the current status. Then it is the last dot."""
    last = visited[-1]
    straight = [status for status in place_statuses(table) if status not in ENDS]
    dots = []
    for at, status in enumerate([*straight, last] if last in ENDS else straight):
        kind = "bad" if status in ENDS else "here" if status is last else "passed" if status in visited else "ahead"
        dots.append(Dot(status.value, 6 + 14 * at, kind))
    return tuple(dots)


# The curve of a balance: the balance at the end of each day on which it changed, over bank time

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 220, 84, 12, 12, 28
POINTS_MAX = 400
RANGES = {"30d": 30, "90d": 90, "1y": 365, "all": None}

Point = tuple[date, Decimal]


def draw_curve(bank: Bank, iban: str, currency: str, days: int | None) -> Facts:
    lines = bank.ledger.list_lines(iban, currency)
    today = bank.clock.today
    first, last = (lines[0].on, max(today, lines[-1].on)) if lines else (today, today)
    begin = first if days is None else max(first, today - timedelta(days=days))
    points = _compute_points(lines, bank.ledger.read_balance(iban, currency).number, min(begin, last), last)
    every = ceil(len(points) / POINTS_MAX)  # more points than the eye can tell apart are left out
    return _draw_curve(points if every <= 1 else [*points[:-1:every], points[-1]], currency)


def _compute_points(lines: Sequence[AccountLine], now: Decimal, begin: date, end: date) -> list[Point]:
    at = bisect_right(lines, begin, key=lambda line: line.on)
    balance = now - sum((line.posting.amount.number for line in lines[at:]), Decimal())
    balances = {begin: balance}
    for line in lines[at:]:
        balance += line.posting.amount.number
        balances[line.on] = balance
    balances.setdefault(end, balance)
    return list(balances.items())


def _draw_curve(points: list[Point], currency: str) -> Facts:
    begin, end = points[0][0], points[-1][0]
    least, most = min(level for _, level in points), max(level for _, level in points)
    levels = list_levels(float(least), float(most))
    low, high = levels[0], levels[-1]
    days = (end - begin).days

    def x_of(day: date) -> float:
        return round(LEFT + (day - begin).days / max(1, days) * (WIDTH - LEFT - RIGHT), 1)

    def y_of(level: float) -> float:
        return round(TOP + (high - level) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    steps = [f"M{x_of(begin):g} {y_of(float(points[0][1])):g}"]
    steps += [f"H{x_of(day):g}V{y_of(float(level)):g}" for day, level in points[1:]]
    line = "".join(steps) + (f"H{WIDTH - RIGHT}" if begin == end else "")
    first, lowest, highest, last = (
        amount(Money(level, currency)) for level in (points[0][1], least, most, points[-1][1])
    )
    ticks = min(5, days)
    dates = [begin + timedelta(days=days * at // ticks) for at in range(ticks + 1)] if ticks else [begin]
    return {
        "line": line,
        "area": f"{line}V{y_of(max(low, min(0.0, high))):g}H{LEFT}Z",
        "zero": y_of(0.0) if low < 0 < high else None,
        "levels": [(y_of(level), f"{level:,.10g}") for level in levels],
        "days": [(x_of(day), f"{day:%d %b %y}" if days > 200 else f"{day:%d %b}") for day in dates],
        "says": f"From {begin} to {end}: begins at {first}, lowest {lowest}, highest {highest}, ends at {last}.",
        "width": WIDTH,
        "height": HEIGHT,
    }


def list_levels(least: float, most: float) -> list[float]:
    """Returns round numbers at equal distances for the vertical scale of the curve. The first is at or below `least`,
    and the last is at or above `most`."""
    quarter = max(most - least, abs(most) * 0.1, 10.0) / 4
    size = 10.0 ** floor(log10(quarter))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= quarter)
    low, high = floor(least / step), ceil(most / step)
    return [step * at for at in range(low, max(high, low + 1) + 1)]
