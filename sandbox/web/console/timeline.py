"""Shows a stretch of bank time as one picture: the world's clock, calls, customers and initiations."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, zip_longest
from operator import attrgetter
from typing import NamedTuple

from sandbox.bank.records import Fact, Initiation
from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.durations import read_instant
from sandbox.contract.moves import STATUS_STYLES, Status, Trigger
from sandbox.web.console.formats import moment, tone
from sandbox.web.console.initiations import make_row
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.worlds.calls import Exchange
from sandbox.worlds.clock import ClockMove

HIGH = 18  # px: the height of a lane
WIDTH_MIN = 1.0  # percent: a narrower mark has a width of MARK pixels
MARK = "5"
DOTS_MAX = 300  # events of a lane that are drawn one by one; more are counted in columns
FACTS_MAX = 5_000  # lines of the journal that are read; more are only counted
BARS_MAX = 30  # initiations with a bar of their own, the newest
COLUMNS = 100
SHORTEST = timedelta(seconds=1)
CUSTOMERS = {Trigger.OPENED, Trigger.SIGNED, Trigger.COSIGNED, Trigger.REFUSED, Trigger.PSU_ACTS}
STEPS = [timedelta(seconds=s) for s in (1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600, 12 * 3_600)] + [
    timedelta(days=d) for d in (1, 2, 7, 14, 30, 91, 182, 365, 730, 3_650, 36_500)
]
TICKS_MAX = 8
# The form of a time on the axis, by the least step between two times.
FORMS = ((timedelta(days=1), "%Y-%m-%d"), (timedelta(minutes=1), "%d %b %H:%M"), (timedelta(), "%H:%M:%S"))
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2310, 1, 1, tzinfo=UTC)
# The links, and the window to which each leads: its begin and its end, as fractions of the window that is shown.
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
        """Returns the horizontal place of a time, in percent of the picture's width. A time before or after the window
        gets the place of the window's begin or end."""
        return round(100 * ((min(max(at, self.begin), self.end) - self.begin) / self.length), 2)

    def cut_part(self, begin: float, end: float) -> "Window":
        """Returns the window between two places of this window. A place is a fraction of this window's length: 0 is its
        begin and 1 is its end. A place may be below 0 or above 1. The new window is at least a second long."""
        first = self.begin + self.length * begin
        return Window(first, max(self.begin + self.length * end, first + SHORTEST))


class TimelineEvent(NamedTuple):
    at: datetime
    who: str
    tone: str
    text: str


class TimelineMark(NamedTuple):
    """An event or a piece of a bar in the picture, or a column that counts events. A column links to the part of the
    window that it covers. `zoom` is this part. It is None for an event, for a piece of a bar, and for a column of a
    second or less. `x` is in percent of the picture's width. `wide` is the value of the SVG attribute `width`, in
    percent or in pixels. `high` is in pixels."""

    x: float
    wide: str
    high: float
    tone: str
    text: str
    zoom: Window | None = None


def timeline(visit: ConsoleVisit) -> Facts:
    world = visit.world
    calls = world.calls.list_after(0)

    def view(bank: Bank) -> Facts:
        window = read_window(visit) or fit_window(bank, calls, world.clock.moves, world.opening)
        return draw_picture(bank, calls, world.clock.moves, window)

    def zoomed(window: Window) -> str:
        begin, end = (at.isoformat(timespec="milliseconds") for at in window)
        return visit.to("/console/timeline", **{"from": begin, "until": end})

    picture = world.ask(view)
    ways = {name: zoomed(picture["window"].cut_part(*shares)) for name, shares in WAYS.items()}
    return {"picture": picture, "ways": ways, "zoomed": zoomed}


def read_window(visit: ConsoleVisit) -> Window | None:
    """Returns the window between the query's `from` and `until`, limited to the times from EARLIEST to LATEST, and at
    least a second long. Returns None if one of the two is missing or invalid, or if `until` is not after `from`."""
    try:
        begin, end = (read_instant(visit.request.args[name]) for name in ("from", "until"))
    except (KeyError, ValueError):
        return None
    begin, end = max(begin, EARLIEST), min(end, LATEST)
    return Window(begin, max(end, begin + SHORTEST)) if begin < end else None


def fit_window(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], opening: datetime) -> Window:
    """Returns the window for a query that names none. It begins at the world's opening, or at the first journal line,
    call or clock move if that is earlier. It ends at the bank's present time. A margin is added on both sides."""
    last = bank.clock.now
    firsts = [opening, last, *(events[0].at for events in (bank.journal, calls) if events)]
    first = min(firsts + [move.begin for move in moves[:1]])
    margin = max((last - first) / 50, SHORTEST)
    return Window(first - margin, last + margin)


def draw_picture(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], window: Window) -> Facts:
    def count_facts(until: datetime) -> int:
        return bisect_left(bank.journal, until, key=at_of)

    calls = calls[bisect_left(calls, window.begin, key=at_of) : bisect_right(calls, window.end, key=at_of)]
    first, last = count_facts(window.begin), bisect_right(bank.journal, window.end, key=at_of)
    count = last - first
    facts: Sequence[Fact] = bank.journal[first:last] if count <= FACTS_MAX else ()
    subjects = map(bank.find_initiation, dict.fromkeys(fact.subject for fact in reversed(facts)))
    initiations = [initiation for initiation in subjects if initiation]
    bars = [draw_bar(initiation, bank.clock.now, window) for initiation in initiations[:BARS_MAX]]
    moves = [move for move in moves if move.end >= window.begin and move.begin <= window.end]
    moved = [TimelineEvent(move.begin, "clock", "wait", f"moved to {moment(move.end)}") for move in moves]
    called, changed = [make_call_event(call) for call in calls], [make_fact_event(fact) for fact in facts]
    events = sorted([*called, *changed, *moved], key=at_of)
    by_customers = [event._replace(tone="move") for event in changed if event.who == "customer"]
    return {
        "window": window,
        "high": HIGH,
        "ticks": [(window.x(at), text) for at, text in list_ticks(window)],
        "lanes": {
            "Clock": [make_move_mark(move, window) for move in moves],
            "Calls": make_lane(called, window),
            "Customers": make_lane(by_customers, window),
            "Changes of status": make_lane(changed, window)
            if facts or not count
            else make_columns(count_facts, window),
        },
        "bars": bars,
        "bars_left_out": len(initiations) - len(bars),
        "events": events[:DOTS_MAX],
        "events_left_out": max(0, len(events) - DOTS_MAX) + (count - len(facts)),
        "counts": {"calls": len(calls), "changes of status": count, "moves of the clock": len(moves)},
    }


def make_call_event(call: Exchange) -> TimelineEvent:
    text = f"{call.method[:12]} {call.path[:120]}: {call.status}" + (f" {call.error}" if call.error else "")
    return TimelineEvent(call.at, "call", tone(call.status), text)


def make_fact_event(fact: Fact) -> TimelineEvent:
    actor = "customer" if fact.trigger in CUSTOMERS else "bank"
    tone = STATUS_STYLES[fact.target].tone if isinstance(fact.target, Status) else "gone"
    change = f": {fact.source or 'new'} to {fact.target}" if fact.target and fact.target is not fact.source else ""
    reason = f", {fact.reason[:80]}" if fact.reason else ""
    return TimelineEvent(fact.at, actor, tone, f"{fact.subject[:40]} {fact.trigger.replace('_', ' ')}{change}{reason}")


def make_lane(events: Sequence[TimelineEvent], window: Window) -> list[TimelineMark]:
    """Returns a mark for each event, or columns that count the events if there are more than DOTS_MAX."""
    if len(events) > DOTS_MAX:
        return make_columns(lambda until: bisect_left(events, until, key=at_of), window)
    return [TimelineMark(window.x(at), MARK, 12, tone, f"{moment(at)} {text}") for at, _, tone, text in events]


def make_columns(count: Callable[[datetime], int], window: Window) -> list[TimelineMark]:
    """Returns a column for each part of the window that has events. `count` returns the number of events before a
    time."""
    edges = [window.begin + window.length * (place / COLUMNS) for place in range(COLUMNS + 1)]
    parts = [Window(*edge) for edge in pairwise(edges)]
    counts = [count(part.end) - count(part.begin) for part in parts]
    most, width = max(counts), 100 / COLUMNS
    return [
        TimelineMark(
            round(place * width, 2),
            f"{0.9 * width:g}%",
            round(4 + 12 * number / most, 1),
            "gone",
            f"{number:,} events from {moment(part.begin)} to {moment(part.end)}",
            part if part.length > SHORTEST else None,
        )
        for place, (number, part) in enumerate(zip(counts, parts, strict=True))
        if number
    ]


def draw_bar(initiation: Initiation, now: datetime, window: Window) -> Facts:
    """Returns the bar of an initiation, with a piece for each status. A piece ends at the next change of status, or at
    the present time. The piece of a final status has no length and is drawn with the least width. Pieces outside the
    window are left out."""
    history = initiation.history
    changes = [(fact.at, fact.target) for fact in history if fact.target and fact.target is not fact.source]
    pieces = []
    for (at, status), following in zip_longest(changes, changes[1:]):
        tone = STATUS_STYLES[status].tone
        end = following[0] if following else at if tone in ("good", "bad", "gone") else now
        if end >= window.begin and at <= window.end:
            wide = write_width(window.x(end) - window.x(at))
            pieces.append(TimelineMark(window.x(at), wide, 12, tone, f"{status} from {moment(at)}"))
    row = make_row(initiation)
    label = f"{row.amount or row.product} {row.creditor}".strip()
    return {"kind": row.kind, "id": row.id, "label": label, "pieces": pieces}


def write_width(percent: float) -> str:
    """Returns the width of a mark as an attribute of SVG: a percentage, or pixels if the mark would be narrower than
    WIDTH_MIN percent."""
    return f"{percent:.2f}%" if percent >= WIDTH_MIN else MARK


def make_move_mark(move: ClockMove, window: Window) -> TimelineMark:
    x = window.x(move.begin)
    text = f"the clock was moved from {moment(move.begin)} to {moment(move.end)}"
    return TimelineMark(x, write_width(window.x(move.end) - x), 8, "wait", text)


def list_ticks(window: Window) -> Iterator[tuple[datetime, str]]:
    """Yields a few round times in the window, each with its text for the time scale."""
    step = next((step for step in STEPS if window.length / step <= TICKS_MAX), STEPS[-1])
    form = next(form for least, form in FORMS if step >= least)
    there = window.begin.astimezone(BRUSSELS)
    at = there.replace(hour=0, minute=0, second=0, microsecond=0)
    at += step * max(0, (there - at) // step)
    for _ in range(TICKS_MAX + 2):
        if window.begin <= at <= window.end:
            yield at, f"{at:{form}}"
        at += step
