"""The timeline of a world, with links that zoom and move; a wheel and keys do the same (choice 10)."""

from datetime import UTC, datetime

from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.web.console.timeline_picture import SHORTEST, Picture, Window, picture_of, whole
from sandbox.web.console.visits import Facts, Visit

EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2310, 1, 1, tzinfo=UTC)
# What a link shows next: shares of the window that is seen.
WAYS = {
    "Earlier": (-0.5, 0.5),
    "Later": (0.5, 1.5),
    "Zoom in": (0.25, 0.75),
    "Zoom out": (-0.5, 1.5),
}


def timeline(visit: Visit) -> Facts:
    world = visit.world
    calls = world.calls_after(0)

    def view(bank: Bank) -> Picture:
        window = asked(visit) or whole(bank, calls, world.clock_moves, world.opening)
        return picture_of(bank, calls, world.clock_moves, window)

    picture = world.ask(view)
    ways = {name: visit.to("/console/timeline", **query_of(picture.window.part(*way))) for name, way in WAYS.items()}
    return {
        "picture": picture,
        "ways": ways,
        "zoomed": lambda window: visit.to("/console/timeline", **query_of(window)),
    }


def asked(visit: Visit) -> Window | None:
    """The window of the query; anything odd is the whole."""
    try:
        begin, end = (read_instant(visit.request.args[name]) for name in ("from", "until"))
    except (KeyError, ValueError):
        return None
    begin, end = max(begin, EARLIEST), min(end, LATEST)
    return Window(begin, max(end, begin + SHORTEST)) if begin < end else None


def query_of(window: Window) -> dict[str, str]:
    return {
        "from": window.begin.isoformat(timespec="milliseconds"),
        "until": window.end.isoformat(timespec="milliseconds"),
    }
