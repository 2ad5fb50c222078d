"""Coverage: which cells of the bank's tables the calls of a world have reached.

A cell is one thing that a client can meet: a successful operation, one of its versions, one of its HTTP statuses, a
status of an initiation in a reply, an error, or a move (a change of an initiation's status). The tables of the contract
give all cells, so a new row of a table is a new cell. A call reaches the cells of its reply. It reaches none if a fault
rule made the reply unreadable for the client. Moves are read from the bank's journal, because time and customers cause
moves without a call.
"""

from collections.abc import Iterable
from typing import Any

from sandbox.bank.state import Bank
from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.contract.moves import MOVES, list_statuses
from sandbox.contract.operations import BY_NAME, OPERATIONS
from sandbox.extensions.referee.stream import Referee, find_referee
from sandbox.worlds.world import World

Cells = dict[str, dict[str, bool]]  # by kind and text: whether the cell was reached

USEFUL = 10
FOLLOWED = {
    "payment_status": "sepa-credit-transfers",
    "standing_order_status": "periodic-payments",
    "bulk_status": "bulk-payments",
}
# What an untested client will meet first in production, most useful first.
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
# A fault rule answers without a refusal of the bank. Each of these HTTP statuses belongs to one error.
BY_FAULT = {
    error.value.status: error.name
    for error in (Error.REQUEST_TIMEOUT, Error.TOO_MANY_REQUESTS, Error.INTERNAL, Error.UNAVAILABLE)
}
KINDS = ("operation", "status", "error", "move", "answer", "version")


def list_cells(settled_status: str) -> dict[str, list[str]]:
    """Returns the names of all cells (things that a client can meet), grouped by kind. The setting `settled_status`
    decides which table of moves is counted for credit transfers."""
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
        "status": [f"{name} {status.value}" for name, path in FOLLOWED.items() for status in list_statuses(path)],
        "move": [move_text(path, row.source, row.trigger, row.target) for path in paths for row in MOVES[path]],
    }


def move_text(path: str, source: str | None, trigger: str, target: str) -> str:
    return f"{path}: {source} {trigger} {target}"


def find_reached_cells(referee: Referee, bank: Bank) -> dict[str, set[str]]:
    reached: dict[str, set[str]] = {kind: set() for kind in KINDS}
    reached["move"] = {move_text(*row) for row in referee.count_moves(bank)}
    for operation, version, status, error, state in referee.met:
        error_name = error or BY_FAULT.get(status)
        if error_name is not None:
            reached["error"].add(error_name)
        if operation is None:
            continue
        reached["answer"].add(f"{operation} {status}")
        if status == BY_NAME[operation].success:
            reached["operation"].add(operation)
            reached["version"].add(f"{operation} {version}")
            if operation in FOLLOWED and state is not None:
                reached["status"].add(f"{operation} {state}")
    return reached


def compute_coverage(world: World) -> dict[str, Any]:
    def collect(bank: Bank) -> dict[str, Any]:
        cells = list_cells(bank.settings.settled_status)
        reached = find_reached_cells(find_referee(world), bank)
        return summarize({kind: {cell: cell in reached[kind] for cell in cells[kind]} for kind in KINDS})

    return world.ask(collect)


def merge_coverage(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Joins the coverage of several worlds. A cell is reached if it is reached in any of them."""
    cells: Cells = {kind: {} for kind in KINDS}
    for part in parts:
        for kind in KINDS:
            for cell, is_met in part["cells"][kind].items():
                cells[kind][cell] = is_met or cells[kind].get(cell, False)
    return summarize(cells)


def summarize(cells: Cells) -> dict[str, Any]:
    """Returns the number and percentage of reached cells for each kind, the percentage of all cells, the unreached
    cells that are most useful to try next, and the given cells."""
    table = [
        {"kind": kind, "met": sum(rows.values()), "all": len(rows), "percent": compute_percent(rows.values())}
        for kind, rows in cells.items()
    ]
    return {
        "percent": compute_percent([is_met for rows in cells.values() for is_met in rows.values()]),
        "table": table,
        "most_useful_not_met": find_most_useful(cells),
        "cells": cells,
    }


def compute_percent(cells_met: Iterable[bool]) -> float:
    values = list(cells_met)
    return round(100 * sum(values) / len(values), 1) if values else 0.0


def describe_cell(cell: str) -> str:
    """Returns the cell as text. If the cell is an error, appends the HTTP status, the `error` and the `error_code` of
    replies with this error."""
    kind, _, name = cell.partition(" ")
    if kind != "error" or name not in Error.__members__:
        return cell
    row = Error[name].value
    return f"{cell}: {row.status} {row.error} {row.code}"


def find_most_useful(cells: Cells) -> list[str]:
    """Returns up to USEFUL cells that were not reached, the most useful first: the cells in FIRST, then the others by
    kind, in the order of KINDS. The statuses, HTTP statuses and versions of an operation come last if the client has
    not reached the operation."""
    missing = [f"{kind} {cell}" for kind in KINDS for cell, is_met in cells[kind].items() if not is_met]
    operations_met = {cell for cell, is_met in cells["operation"].items() if is_met}

    def rank(text: str) -> tuple[int, int]:
        if text in FIRST:
            return 0, FIRST.index(text)
        kind, name = text.split()[:2]
        near = name in operations_met or kind in ("error", "move", "operation")
        return 1 + KINDS.index(kind) + (0 if near else len(KINDS)), 0

    return sorted(missing, key=rank)[:USEFUL]
