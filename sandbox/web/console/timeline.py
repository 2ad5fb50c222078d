"""A stretch of a world's life as one picture: its clock, calls, customers and initiations over bank time (choice 10).

Links zoom and move; a wheel and keys do the same.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, zip_longest
from operator import attrgetter
from typing import NamedTuple

from sandbox.bank.records import Fact, Initiation
from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.durations import read_instant
from sandbox.contract.moves import STATUS_STYLES, Status, Trigger
from sandbox.web.console.formats import moment
from sandbox.web.console.initiations import row_of
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.worlds.calls import Exchange
from sandbox.worlds.clock import ClockMove

WIDE, LEFT, RIGHT, ROW, HEAD = 1000, 150, 10, 22, 24
DOTS_MAX = 300  # events of a lane that are drawn one by one; more are counted in columns
FACTS_MAX = 5_000  # lines of the journal that are told apart; more are only counted
BARS_MAX = 30  # initiations with a bar of their own, the newest
COLUMNS = 100
SHORTEST = timedelta(seconds=1)
CUSTOMERS = {Trigger.OPENED, Trigger.SIGNED, Trigger.COSIGNED, Trigger.REFUSED, Trigger.PSU_ACTS}
STEPS = [timedelta(seconds=s) for s in (1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600)] + [
    timedelta(days=d) for d in (1, 2, 7, 14, 30, 91, 182, 365, 730, 3_650, 36_500)
]
TICKS_MAX = 8
# How a time on the axis is written, where the next one is at least so far away.
FORMS = ((timedelta(days=1), "%Y-%m-%d"), (timedelta(minutes=1), "%d %b %H:%M"), (timedelta(), "%H:%M:%S"))
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2310, 1, 1, tzinfo=UTC)
# What a link shows next: shares of the window that is seen.
WAYS = {
    "Earlier": (-0.5, 0.5),
    "Later": (0.5, 1.5),
    "Zoom in": (0.25, 0.75),
    "Zoom out": (-0.5, 1.5),
}
at_of = attrgetter("at")


class Window(NamedTuple):
    """The stretch of bank time that the picture shows."""

    begin: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.begin

    def x(self, at: datetime) -> float:
        share = (min(max(at, self.begin), self.end) - self.begin) / self.length
        return round(LEFT + share * (WIDE - LEFT - RIGHT), 1)

    def part(self, begin: float, end: float) -> "Window":
        """The window from one share of it to another; at least a second long, within what a date can be."""
        first = self.begin + self.length * begin
        return Window(first, max(self.begin + self.length * end, first + SHORTEST))


class TimelineMark(NamedTuple):
    """An event, or a column of them, which leads into its own stretch."""

    x: float
    wide: float
    high: float
    tone: str
    text: str
    zoom: Window | None = None


def timeline(visit: ConsoleVisit) -> Facts:
    world = visit.world
    calls = world.calls.after(0)

    def view(bank: Bank) -> Facts:
        window = asked(visit) or whole(bank, calls, world.clock.moves, world.opening)
        return picture_of(bank, calls, world.clock.moves, window)

    def zoomed(window: Window) -> str:
        begin, end = (at.isoformat(timespec="milliseconds") for at in window)
        return visit.to("/console/timeline", **{"from": begin, "until": end})

    picture = world.ask(view)
    ways = {name: zoomed(picture["window"].part(*way)) for name, way in WAYS.items()}
    return {"picture": picture, "ways": ways, "zoomed": zoomed}


def asked(visit: ConsoleVisit) -> Window | None:
    """The window of the query; anything odd is the whole."""
    try:
        begin, end = (read_instant(visit.request.args[name]) for name in ("from", "until"))
    except (KeyError, ValueError):
        return None
    begin, end = max(begin, EARLIEST), min(end, LATEST)
    return Window(begin, max(end, begin + SHORTEST)) if begin < end else None


def whole(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], opening: datetime) -> Window:
    """From the first event to the bank's now, with a margin."""
    firsts = [opening, bank.clock.now]
    firsts += [one[0].at for one in (bank.journal, calls) if one] + [one.begin for one in moves[:1]]
    first, last = min(firsts), bank.clock.now
    margin = max((last - first) / 50, SHORTEST)
    return Window(first - margin, last + margin)


def picture_of(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], window: Window) -> Facts:
    calls = calls[bisect_left(calls, window.begin, key=at_of) : bisect_right(calls, window.end, key=at_of)]
    first, last = place_of(bank, window.begin), bisect_right(bank.journal, window.end, key=at_of)
    count = last - first
    facts: Sequence[Fact] = bank.journal[first:last] if count <= FACTS_MAX else ()
    moves = [move for move in moves if move.end >= window.begin and move.begin <= window.end]
    by_customers = [fact for fact in facts if fact.trigger in CUSTOMERS]
    subjects = map(bank.initiation, dict.fromkeys(fact.subject for fact in reversed(facts)))
    own = [found for found in subjects if found]
    bars = [bar_of(found, place, bank.clock.now, window) for place, found in enumerate(own[:BARS_MAX])]
    events = events_of(calls, facts, moves)
    changes = lane([(fact.at, tone_of(fact), words_of_fact(fact)) for fact in facts], window)
    if count and not facts:
        changes = columns([place_of(bank, part.end) - place_of(bank, part.begin) for part in parts_of(window)], window)
    return {
        "window": window,
        "height": HEAD + ROW * (4 + len(bars)) + 8,
        "ticks": [(window.x(at), text) for at, text in ticks(window)],
        "lanes": {
            "Clock": [mark_of_move(move, window) for move in moves],
            "Calls": lane([(call.at, tone_of_call(call), words_of_call(call)) for call in calls], window),
            "Customers": lane([(fact.at, "move", words_of_fact(fact)) for fact in by_customers], window),
            "Changes of status": changes,
        },
        "bars": bars,
        "bars_left_out": len(own) - len(bars),
        "events": events[:DOTS_MAX],
        "events_left_out": max(0, len(events) - DOTS_MAX) + (count - len(facts)),
        "counts": {"calls": len(calls), "changes of status": count, "moves of the clock": len(moves)},
    }


def lane(found: list[tuple[datetime, str, str]], window: Window) -> tuple[TimelineMark, ...]:
    """Events one by one, or their number in each column where they are many."""
    if len(found) <= DOTS_MAX:
        return tuple(TimelineMark(window.x(at), 5, 12, tone, f"{moment(at)} {text}") for at, tone, text in found)
    times = sorted(at for at, _, _ in found)
    counted = [bisect_left(times, part.end) - bisect_left(times, part.begin) for part in parts_of(window)]
    return columns(counted, window)


def parts_of(window: Window) -> list[Window]:
    edges = [window.begin + window.length * (one / COLUMNS) for one in range(COLUMNS + 1)]
    return [Window(*edge) for edge in pairwise(edges)]


def columns(counted: Sequence[int], window: Window) -> tuple[TimelineMark, ...]:
    most, width = max(counted), (WIDE - LEFT - RIGHT) / COLUMNS
    return tuple(
        TimelineMark(
            round(LEFT + place * width, 1),
            round(width - 0.5, 1),
            round(4 + 12 * count / most, 1),
            "gone",
            f"{count:,} events from {moment(part.begin)} to {moment(part.end)}",
            part if part.length > SHORTEST else None,
        )
        for place, (count, part) in enumerate(zip(counted, parts_of(window), strict=True))
        if count
    )


def place_of(bank: Bank, at: datetime) -> int:
    return bisect_left(bank.journal, at, key=at_of)


def bar_of(found: Initiation, place: int, now: datetime, window: Window) -> Facts:
    """A piece for each status that it had."""
    row = row_of(found)
    return {
        "kind": row.kind,
        "id": row.id,
        "label": f"{row.amount or row.product} {row.creditor}".strip(),
        "y": HEAD + ROW * (4 + place),
        "pieces": pieces_of(found.history, now, window),
    }


def pieces_of(history: Sequence[Fact], now: datetime, window: Window) -> tuple[TimelineMark, ...]:
    """A piece for each status, from the change to the next; a final one is as long as it is told."""
    changes = [(fact.at, fact.target) for fact in history if fact.target and fact.target is not fact.source]
    found = []
    for (at, status), following in zip_longest(changes, changes[1:]):
        tone = STATUS_STYLES[status].tone
        end = following[0] if following else at if tone in ("good", "bad", "gone") else now
        if end >= window.begin and at <= window.end:
            x = window.x(at)
            wide = round(max(window.x(end) - x, 5), 1)
            found.append(TimelineMark(x, wide, 12, tone, f"{status} from {moment(at)}"))
    return tuple(found)


def mark_of_move(move: ClockMove, window: Window) -> TimelineMark:
    x = window.x(move.begin)
    text = f"the clock was moved from {moment(move.begin)} to {moment(move.end)}"
    return TimelineMark(x, round(max(window.x(move.end) - x, 2), 1), 8, "wait", text)


def ticks(window: Window) -> Iterable[tuple[datetime, str]]:
    """Round times, a few of them."""
    step = next((one for one in STEPS if window.length / one <= TICKS_MAX), STEPS[-1])
    there = window.begin.astimezone(BRUSSELS)
    midnight = there.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + step * max(0, (there - midnight) // step)
    form = next(form for least, form in FORMS if step >= least)
    for _ in range(TICKS_MAX + 2):
        if at > window.end:
            return
        if at >= window.begin:
            yield at, f"{at:{form}}"
        at += step


def tone_of(fact: Fact) -> str:
    return STATUS_STYLES[fact.target].tone if isinstance(fact.target, Status) else "gone"


def tone_of_call(call: Exchange) -> str:
    return "good" if call.status < 400 else "wait" if call.status < 500 else "bad"


def words_of_call(call: Exchange) -> str:
    return f"{call.method[:12]} {call.path[:120]}: {call.status}" + (f" {call.error}" if call.error else "")


def words_of_fact(fact: Fact) -> str:
    way = f": {fact.source or 'new'} to {fact.target}" if fact.target and fact.target is not fact.source else ""
    reason = f", {fact.reason[:80]}" if fact.reason else ""
    return f"{fact.subject[:40]} {fact.trigger.replace('_', ' ')}{way}{reason}"


def events_of(
    calls: Sequence[Exchange], facts: Sequence[Fact], moves: Sequence[ClockMove]
) -> list[tuple[datetime, str, str]]:
    """The rows of the table that says the same in words: when, who and what."""
    found = [(call.at, "call", words_of_call(call)) for call in calls]
    found += [(fact.at, "customer" if fact.trigger in CUSTOMERS else "bank", words_of_fact(fact)) for fact in facts]
    found += [(move.begin, "clock", f"moved to {moment(move.end)}") for move in moves]
    return sorted(found, key=lambda event: event[0])
