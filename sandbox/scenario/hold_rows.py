"""A barrier as a scenario or a control names it (choice 13)."""

from typing import Any

from sandbox.contract.reply_statuses import ANSWERS
from sandbox.reader.scalars import CLIENT, INSTANT, NTH, check_window, one_of, text
from sandbox.reader.shapes import Notes, Table
from sandbox.reader.tree import tree_of
from sandbox.seed.fixtures import Fixtures
from sandbox.world.faults import When
from sandbox.world.holds import PLACES

PLACE = one_of(PLACES, "place of a barrier")
HOLD_NAME = text(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", "first-refresh")


def _when(rows: dict[str, Any]) -> When:
    check_window(rows)
    rows = dict(rows)
    return When(since=rows.pop("from", None), **rows)


WHEN = Table(
    {
        "operation": one_of(ANSWERS, "operation"),
        "client": CLIENT,
        "nth": NTH,
        "from": INSTANT,
        "until": INSTANT,
    },
    _when,
    called="what a barrier waits for",
)
HOLD = Table({"at": PLACE, "when": WHEN, "as": HOLD_NAME}, required=("at",), called="a barrier")


def read_hold(content: Any, fixtures: Fixtures | None) -> tuple[str, When, str | None]:
    """The place, the call that it waits for, and its name; raises ScenarioErrors."""
    notes = Notes("hold", fixtures)
    rows = notes.read_whole(HOLD, tree_of(content, "hold"))
    return rows["at"], rows.get("when", When()), rows.get("as")
