"""One payment, standing order or file: its picture, its history, and what may be done with it."""

from sandbox.bank.records import Fact
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Bulk, Initiation, StandingOrder
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.console.inbox import cosigning_of
from sandbox.web.console.initiations import KINDS, lines_of, part_of, row_of
from sandbox.web.console.next_steps import of_initiation
from sandbox.web.console.state_picture import picture_of
from sandbox.web.console.visits import Facts, Visit
from sandbox.web.controls.initiations import occurrences_of

PARTS_MAX = 50
FACTS_MAX = 200


def initiation(visit: Visit) -> Facts:
    kind, name = visit.path["kind"], visit.path["id"]
    return visit.world.ask(view_of, kind, name) | {"steps": of_initiation(visit, kind, name)}


def view_of(bank: Bank, kind: str, name: str) -> Facts:
    found = bank.initiation(name)
    if found is None or found.kind.list != kind:
        raise Refusal(Error.NOT_FOUND, input=KINDS[kind].lower())
    history, parts = found.history, found.parts if isinstance(found, Bulk) else []
    return {
        "kind": kind,
        "row": row_of(found),
        "lines": lines_of(found),
        "picture": picture_of(found.path, history),
        "facts": [(fact, clause_of(found, fact)) for fact in history[-FACTS_MAX:]],
        "more_facts": max(0, len(history) - FACTS_MAX),
        "parts": [part_of(part) for part in parts[:PARTS_MAX]],
        "more_parts": max(0, len(parts) - PARTS_MAX),
        "findings": [(one.place, one.code, one.text) for one in found.findings] if isinstance(found, Bulk) else [],
        "occurrences": occurrences_of(bank, found)[-40:] if isinstance(found, StandingOrder) else [],
        "targets": targets_of(bank, found),
        "ahead": sorted(moves.reachable(found.path, found.status) - {found.status}),
        "cosigning": cosigning_of(bank, found) if found.signatures and found.status is Status.PATC else None,
    }


def clause_of(found: Initiation, fact: Fact) -> str:
    """The row of the table behind a line of the history."""
    if fact.source is None or fact.target is None:
        return ""
    rows = moves.rows_to(found.path, fact.source, fact.target)
    return next((row.clause for row in rows if row.trigger is fact.trigger), "")


def targets_of(bank: Bank, found: Initiation) -> list[str]:
    """Where it may be forced to now."""
    rows = [row for row in moves.MOVES[found.path] if row.source is found.status and row.target is not row.source]
    return sorted({row.target.value for row in rows if bank.can(found, row.trigger)})
