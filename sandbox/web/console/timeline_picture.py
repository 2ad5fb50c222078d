"""A stretch of a world's life as one picture: its clock, calls, customers and initiations over bank time."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.moves import LOOKS, Status, Trigger
from sandbox.web.console.formats import moment
from sandbox.web.console.initiations import kind_of, register_of, row_of
from sandbox.world.calls import Exchange
from sandbox.world.paced import ClockMove

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


class Mark(NamedTuple):
    """An event, or a column of them, which leads into its own stretch."""

    x: float
    wide: float
    high: float
    tone: str
    text: str
    zoom: Window | None = None


class Bar(NamedTuple):
    """An initiation: a piece for each status that it had."""

    kind: str
    id: str
    label: str
    y: int
    pieces: tuple[Mark, ...]


class Event(NamedTuple):
    """A row of the table that says the same in words."""

    at: datetime
    lane: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    window: Window
    ticks: tuple[tuple[float, str], ...]
    clock: tuple[Mark, ...]
    calls: tuple[Mark, ...]
    customers: tuple[Mark, ...]
    changes: tuple[Mark, ...]
    bars: tuple[Bar, ...]
    bars_left_out: int
    events: tuple[Event, ...]
    events_left_out: int
    counts: dict[str, int]

    @property
    def height(self) -> int:
        return HEAD + ROW * (4 + len(self.bars)) + 8


def whole(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], opening: datetime) -> Window:
    """From the first event to the bank's now, with a margin."""
    firsts = [opening, bank.clock.now]
    firsts += [one[0].at for one in (bank.journal, calls) if one] + [one.begin for one in moves[:1]]
    first, last = min(firsts), bank.clock.now
    margin = max((last - first) / 50, SHORTEST)
    return Window(first - margin, last + margin)


def picture_of(bank: Bank, calls: Sequence[Exchange], moves: Sequence[ClockMove], window: Window) -> Picture:
    calls = calls[bisect_left(calls, window.begin, key=at_of) : bisect_right(calls, window.end, key=at_of)]
    first, last = place_of(bank, window.begin), bisect_right(bank.journal, window.end, key=at_of)
    count = last - first
    facts: Sequence[Fact] = bank.journal[first:last] if count <= FACTS_MAX else ()
    moves = [move for move in moves if move.end >= window.begin and move.begin <= window.end]
    by_customers = [fact for fact in facts if fact.trigger in CUSTOMERS]
    named = [(name, kind_of(bank, name)) for name in dict.fromkeys(fact.subject for fact in reversed(facts))]
    own = [(name, kind) for name, kind in named if kind]
    bars = [bar_of(bank, kind, name, place, window) for place, (name, kind) in enumerate(own[:BARS_MAX])]
    events = events_of(calls, facts, moves)
    return Picture(
        window=window,
        ticks=tuple((window.x(at), text) for at, text in ticks(window)),
        clock=tuple(mark_of_move(move, window) for move in moves),
        calls=lane([(call.at, tone_of_call(call), words_of_call(call)) for call in calls], window),
        customers=lane([(fact.at, "move", words_of_fact(fact)) for fact in by_customers], window),
        changes=lane([(fact.at, tone_of(fact), words_of_fact(fact)) for fact in facts], window)
        if facts or not count
        else columns([fact_count(bank, part) for part in parts_of(window)], window),
        bars=tuple(bars),
        bars_left_out=len(own) - len(bars),
        events=tuple(events[:DOTS_MAX]),
        events_left_out=max(0, len(events) - DOTS_MAX) + (count - len(facts)),
        counts={"calls": len(calls), "changes of status": count, "moves of the clock": len(moves)},
    )


def at_of(one: Fact | Exchange) -> datetime:
    return one.at


def lane(found: list[tuple[datetime, str, str]], window: Window) -> tuple[Mark, ...]:
    """Events one by one, or their number in each column where they are many."""
    if len(found) <= DOTS_MAX:
        return tuple(Mark(window.x(at), 5, 12, tone, f"{moment(at)} {text}") for at, tone, text in found)
    times = sorted(at for at, _, _ in found)
    counted = [bisect_left(times, part.end) - bisect_left(times, part.begin) for part in parts_of(window)]
    return columns(counted, window)


def parts_of(window: Window) -> list[Window]:
    edges = [window.begin + window.length * (one / COLUMNS) for one in range(COLUMNS + 1)]
    return [Window(begin, end) for begin, end in zip(edges, edges[1:], strict=False)]


def columns(counted: Sequence[int], window: Window) -> tuple[Mark, ...]:
    most, width = max(counted), (WIDE - LEFT - RIGHT) / COLUMNS
    return tuple(
        Mark(
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


def fact_count(bank: Bank, part: Window) -> int:
    return place_of(bank, part.end) - place_of(bank, part.begin)


def place_of(bank: Bank, at: datetime) -> int:
    return bisect_left(bank.journal, at, key=at_of)


def bar_of(bank: Bank, kind: str, name: str, place: int, window: Window) -> Bar:
    found = register_of(bank, kind)[name]
    row = row_of(found)
    label = f"{row.amount or row.product} {row.creditor}".strip()
    return Bar(kind, name, label, HEAD + ROW * (4 + place), pieces_of(found.history, bank.clock.now, window))


def pieces_of(history: Sequence[Fact], now: datetime, window: Window) -> tuple[Mark, ...]:
    """A piece for each status, from the change to the next; a final one is as long as it is told."""
    changes = [fact for fact in history if fact.target is not None and fact.target is not fact.source]
    found = []
    for place, fact in enumerate(changes):
        is_last = place + 1 == len(changes)
        end = now if is_last else changes[place + 1].at
        status = fact.target
        assert status is not None
        if is_last and LOOKS[status].tone in ("good", "bad", "gone"):
            end = fact.at
        if end < window.begin or fact.at > window.end:
            continue
        x = window.x(fact.at)
        wide = max(window.x(end) - x, 5)
        found.append(Mark(x, round(wide, 1), 12, LOOKS[status].tone, f"{status} from {moment(fact.at)}"))
    return tuple(found)


def mark_of_move(move: ClockMove, window: Window) -> Mark:
    x = window.x(move.begin)
    text = f"the clock was moved from {moment(move.begin)} to {moment(move.end)}"
    return Mark(x, round(max(window.x(move.end) - x, 2), 1), 8, "wait", text)


def ticks(window: Window) -> Iterable[tuple[datetime, str]]:
    """Round times, a few of them."""
    step = next((one for one in STEPS if window.length / one <= TICKS_MAX), STEPS[-1])
    there = window.begin.astimezone(BRUSSELS)
    midnight = there.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + step * max(0, (there - midnight) // step)
    for _ in range(TICKS_MAX + 2):
        if at > window.end:
            return
        if at >= window.begin:
            form = (
                "%Y-%m-%d"
                if step >= timedelta(days=1)
                else "%d %b %H:%M"
                if step >= timedelta(minutes=1)
                else "%H:%M:%S"
            )
            yield at, f"{at:{form}}"
        at += step


def tone_of(fact: Fact) -> str:
    return LOOKS[fact.target].tone if isinstance(fact.target, Status) else "gone"


def tone_of_call(call: Exchange) -> str:
    return "good" if call.status < 400 else "wait" if call.status < 500 else "bad"


def words_of_call(call: Exchange) -> str:
    return f"{call.method[:12]} {call.path[:120]}: {call.status}" + (f" {call.error}" if call.error else "")


def words_of_fact(fact: Fact) -> str:
    way = f": {fact.source or 'new'} to {fact.target}" if fact.target and fact.target is not fact.source else ""
    return f"{fact.subject[:40]} {fact.trigger.replace('_', ' ')}{way}" + (
        f", {fact.reason[:80]}" if fact.reason else ""
    )


def events_of(calls: Sequence[Exchange], facts: Sequence[Fact], moves: Sequence[ClockMove]) -> list[Event]:
    found = [Event(call.at, "call", words_of_call(call)) for call in calls]
    found += [Event(f.at, "customer" if f.trigger in CUSTOMERS else "bank", words_of_fact(f)) for f in facts]
    found += [Event(move.begin, "clock", f"moved to {moment(move.end)}") for move in moves]
    return sorted(found, key=lambda event: event.at)
