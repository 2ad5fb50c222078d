"""A picture of the way through the states, made from the moves table (service 3.1, 3.2)."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from sandbox.bank.records import Fact
from sandbox.contract.moves import MOVES, STATUS_STYLES, Move, Status, statuses_of
from sandbox.web.console.formats import moment
from sandbox.web.console.visits import Facts

ENDS = tuple(status for status, look in STATUS_STYLES.items() if look.tone in ("bad", "gone"))

WIDE, HIGH, STEP = 104, 34, 168  # of a state, and from one to the next
LEFT, TOP, DEEP = 12, 62, 172


@lru_cache(maxsize=32)
def places(path: str) -> dict[Status, tuple[float, float]]:
    """The straight way from left to right; the two bad ends below it."""
    statuses = statuses_of(path)
    straight = [status for status in statuses if status not in ENDS]
    found: dict[Status, tuple[float, float]] = {status: (LEFT + STEP * at, TOP) for at, status in enumerate(straight)}
    last = len(straight) - 1
    for status, at in ((Status.CANC, min(1.0, last / 2)), (Status.RJCT, max(2.0, last - 1.0))):
        if status in statuses:
            found[status] = (LEFT + STEP * at, DEEP)
    return found


def picture_of(path: str, history: Sequence[Fact]) -> Facts:
    where = places(path)
    taken = {(fact.source, fact.target) for fact in history}
    current = history[-1].target if history else None
    pairs: dict[tuple[Status, Status], list[Move]] = {}
    for row in MOVES[path]:
        pairs.setdefault((row.source, row.target), []).append(row)
    edges = [(_line(where, *pair), _describe(rows), pair in taken) for pair, rows in pairs.items()]
    edges.sort(key=lambda edge: edge[2])  # the lit ones are drawn last, above the others
    width = max(x for x, _ in where.values()) + WIDE + LEFT
    says = ", then ".join(f"{fact.target} at {moment(fact.at)}" for fact in history[:20])
    return {
        "width": width,
        "height": DEEP + HIGH + 34,
        "nodes": [_node(status, *place, history, current) for status, place in where.items()],
        "edges": edges,
        "says": says or "nothing happened yet",
    }


def _node(status: Status, x: float, y: float, history: Sequence[Fact], current: Status | None) -> Facts:
    """A state at its place, with date and time of the first arrival."""
    arrivals = [fact.at for fact in history if fact.target is status]
    born = any(fact.source is status for fact in history[:1])  # a bulk in a file is born before its first line
    return {
        "status": status.value,
        "x": x,
        "y": y,
        "middle": x + WIDE / 2,
        "at": moment(arrivals[0]).split(" ") if arrivals else None,
        "times": len(arrivals),
        "been": bool(arrivals) or born,
        "current": status is current,
    }


def _describe(rows: Iterable[Move]) -> str:
    """The triggers and clauses of a line."""
    return "; ".join(
        f"{row.trigger.value.replace('_', ' ')} ({row.clause}{', when ' + str(row.when.__doc__) if row.when else ''})"
        for row in rows
    )


def _line(where: dict[Status, tuple[float, float]], source: Status, target: Status) -> str:
    (x1, y1), (x2, y2) = where[source], where[target]
    half = HIGH / 2
    if source is target:  # a loop above
        left, right = x1 + WIDE / 2 - 14, x1 + WIDE / 2 + 14
        return f"M{left:g} {y1:g}C{left - 8:g} {y1 - 30:g} {right + 8:g} {y1 - 30:g} {right:g} {y1 - 4:g}"
    if y2 > y1:  # down to a bad end, leaving room for the times below a state
        start, drop = x1 + WIDE - 16, y1 + HIGH
        end = x2 + WIDE / 2 + max(-36.0, min(36.0, (x1 - x2) / STEP * 18))
        return f"M{start:g} {drop:g}C{start:g} {drop + 52:g} {end:g} {y2 - 48:g} {end:g} {y2 - 4:g}"
    if x2 - x1 > STEP:  # over what is skipped
        start, end = x1 + WIDE / 2 + 24, x2 + WIDE / 2 - 24
        return f"M{start:g} {y1:g}C{start + 30:g} {y1 - 52:g} {end - 30:g} {y1 - 52:g} {end:g} {y1 - 4:g}"
    return f"M{x1 + WIDE:g} {y1 + half:g}L{x2 - 4:g} {y2 + half:g}"


class Dot(NamedTuple):
    """A state in the small picture of a list."""

    status: str
    x: int
    kind: str  # ahead, passed, here, bad


@lru_cache(maxsize=4096)
def dots(path: str, visited: tuple[Status, ...]) -> tuple[Dot, ...]:
    """The straight way, lit as far as it went; a bad end stands behind it."""
    reached, last = set(visited), visited[-1] if visited else None
    straight = [status for status in places(path) if status not in ENDS]
    row = [*straight, last] if last in ENDS else straight
    found = []
    for at, status in enumerate(row):
        assert status is not None
        kind = "bad" if status in ENDS else "here" if status is last else "passed" if status in reached else "ahead"
        found.append(Dot(status.value, 6 + 14 * at, kind))
    return tuple(found)
