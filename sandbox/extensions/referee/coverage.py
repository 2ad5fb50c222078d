"""Coverage: which of the bank's operations, replies and moves the calls have reached."""

from collections.abc import Iterable
from typing import Any

from sandbox.bank.state import Bank
from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.contract.moves import MOVES, statuses_of
from sandbox.contract.operations import BY_NAME, OPERATIONS
from sandbox.extensions.referee.stream import Referee, referee_of
from sandbox.worlds.world import World

USEFUL = 10
FOLLOWED = {
    "payment_status": "sepa-credit-transfers",
    "standing_order_status": "periodic-payments",
    "bulk_status": "bulk-payments",
}
# What a client that was never tried with it will meet first in production, most useful first.
FIRST = (
    "status payment_status RJCT",
    "status payment_status CANC",
    "error SCA_REQUIRED",
    "error CONSENT_ENDED",
    "error REFRESH_TOKEN_REFUSED",
    "error ACCESS_TOKEN_REFUSED",
    "error TOO_MANY_REQUESTS",
    "error UNAVAILABLE",
    "error FUNDS_MISSING",
    "error PROFILE_FORBIDS",
    "error NOT_CANCELLABLE",
    "status payment_status PDNG",
    "status standing_order_status CANC",
    "status bulk_status RJCT",
)
# A fault rule answers without a refusal of the bank; these numbers tell the error by themselves.
TOLD_BY_STATUS = (Error.REQUEST_TIMEOUT, Error.TOO_MANY_REQUESTS, Error.INTERNAL, Error.UNAVAILABLE)
BY_FAULT = {error.value.status: error.name for error in TOLD_BY_STATUS}
KINDS = ("operation", "status", "error", "move", "answer", "version")


def universe(settled_status: str) -> dict[str, list[str]]:
    """All cells by kind; the setting selects the tables of moves."""
    ended = " (ACSP)"
    paths = [
        path
        for path in MOVES
        if (path.endswith(ended) if "credit-transfers" in path and settled_status == "ACSP" else ended not in path)
    ]
    return {
        "operation": [row.name for row in OPERATIONS],
        "version": [f"{row.name} {version}" for row in OPERATIONS for version in row.versions],
        "answer": [f"{row.name} {status}" for row in OPERATIONS for status in (row.success, *row.errors)],
        "error": [row.name for row in Error if row not in OF_CONTROLS],
        "status": [f"{name} {status.value}" for name, path in FOLLOWED.items() for status in statuses_of(path)],
        "move": [move_text(path, row.source, row.trigger, row.target) for path in paths for row in MOVES[path]],
    }


def move_text(path: str, source: str | None, trigger: str, target: str) -> str:
    return f"{path}: {source} {trigger} {target}"


def met_cells(referee: Referee, bank: Bank) -> dict[str, set[str]]:
    """The cells that calls and the journal have reached."""
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    found["move"] = {move_text(*row) for row in referee.count_moves(bank)}
    for operation, version, status, error, state in list(referee.met):
        error_name = error or BY_FAULT.get(status)
        if error_name is not None:
            found["error"].add(error_name)
        if operation is None:
            continue
        found["answer"].add(f"{operation} {status}")
        if status == BY_NAME[operation].success:
            found["operation"].add(operation)
            found["version"].add(f"{operation} {version}")
            if operation in FOLLOWED and state is not None:
                found["status"].add(f"{operation} {state}")
    return found


def coverage_of(world: World) -> dict[str, Any]:
    """The coverage of a world: the one function that a test plugin needs, with `merged`."""

    def collect(bank: Bank) -> dict[str, Any]:
        cells = universe(bank.settings.settled_status)
        met = met_cells(referee_of(world), bank)
        return summarize({kind: {cell: cell in met[kind] for cell in cells[kind]} for kind in KINDS})

    return world.ask(collect)


def merge_coverage(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Merges runs: a cell is met if any run met it."""
    cells: dict[str, dict[str, bool]] = {kind: {} for kind in KINDS}
    for part in parts:
        for kind in KINDS:
            for cell, met in part["cells"][kind].items():
                cells[kind][cell] = met or cells[kind].get(cell, False)
    return summarize(cells)


def summarize(cells: dict[str, dict[str, bool]]) -> dict[str, Any]:
    """The table, the overall percentage, and the most useful cells not met."""
    table = [
        {"kind": kind, "met": sum(rows.values()), "all": len(rows), "percent": percent(rows.values())}
        for kind, rows in cells.items()
    ]
    return {
        "percent": percent(met for rows in cells.values() for met in rows.values()),
        "table": table,
        "most_useful_not_met": most_useful(cells),
        "cells": cells,
    }


def percent(met: Iterable[bool]) -> float:
    found = list(met)
    return round(100 * sum(found) / len(found), 1) if found else 0.0


def describe_cell(cell: str) -> str:
    """A cell as text; an error with its HTTP status, token and code."""
    kind, _, name = cell.partition(" ")
    if kind != "error" or name not in Error.__members__:
        return cell
    row = Error[name].value
    return f"{cell}: {row.status} {row.error} {row.code}"


def most_useful(cells: dict[str, dict[str, bool]]) -> list[str]:
    """The cells to try next: common errors first, then operations, then details of used operations."""
    missing = [f"{kind} {cell}" for kind in KINDS for cell, met in cells[kind].items() if not met]
    used = {cell for cell, met in cells["operation"].items() if met}

    def rank(text: str) -> tuple[int, int]:
        if text in FIRST:
            return 0, FIRST.index(text)
        kind, name = text.split()[:2]
        near = name in used or kind in ("error", "move", "operation")
        return 1 + KINDS.index(kind) + (0 if near else len(KINDS)), 0

    return sorted(missing, key=rank)[:USEFUL]
