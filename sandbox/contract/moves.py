"""Statuses, triggers and the table of moves. Every change of a status after the initiation is looked up here first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from sandbox.contract.products import PRODUCTS, Product


class Status(StrEnum):
    """The statuses of service 3.1 and 3.2. `PNDG` in the service's text means PDNG (choice 5)."""

    RCVD = "RCVD"
    PATC = "PATC"
    PDNG = "PDNG"
    ACSP = "ACSP"
    ACSC = "ACSC"
    ACWP = "ACWP"
    RJCT = "RJCT"
    CANC = "CANC"


class StatusStyle(NamedTuple):
    """How pages and terminals show a status."""

    tone: str  # wait, move, good, bad or gone: a colour of pages and terminals
    waits_for: str = "nothing any more"


STATUS_STYLES = {
    Status.RCVD: StatusStyle("wait", "the customer, who has not opened the address"),
    Status.PATC: StatusStyle("wait", "the customer's signature"),
    Status.PDNG: StatusStyle("move", "its execution"),
    Status.ACSP: StatusStyle("move", "its settlement"),
    Status.ACSC: StatusStyle("good"),
    Status.ACWP: StatusStyle("good", "its next execution or its end"),
    Status.RJCT: StatusStyle("bad"),
    Status.CANC: StatusStyle("gone"),
}


class Trigger(StrEnum):
    """An event that happened to an initiation. ADDED and CHANGED happen to a customer or an account."""

    RECEIVED = "received"
    CHECKED = "checked"
    OPENED = "opened"
    COSIGNED = "cosigned"
    SIGNED = "signed"
    REFUSED = "refused"
    UNSIGNED_TOO_LONG = "unsigned_too_long"
    EXECUTED = "executed"
    FUNDS_MISSING = "funds_missing"
    GIVEN_UP = "given_up"
    SETTLED = "settled"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    ACTIVATED = "activated"
    OCCURRED = "occurred"
    ENDED = "ended"
    VALIDATED = "validated"
    INVALID = "invalid"
    RULED = "ruled"  # a rule of the scenario moves the initiation
    PSU_ACTS = "psu_acts"  # a rule of the scenario lets the customer act
    HABIT = "habit"  # a customer does something without a TPP
    RETURNED = "returned"  # settled money comes back, days later, and the status stays
    PAYEE_CHECKED = "payee_checked"  # the beneficiary's bank compared the beneficiary's name (choice 14)
    ADDED = "added"  # a tester added a customer or an account (choice 10)
    CHANGED = "changed"  # a tester changed a customer or an account


class MovableSubject(Protocol):
    """The properties of an initiation that the condition of a move may read."""

    @property
    def deferred(self) -> bool: ...

    @property
    def settled(self) -> bool: ...


Condition = Callable[[MovableSubject], bool]


def is_deferred(subject: MovableSubject) -> bool:
    """future-dated or in recycling"""
    return subject.deferred


def is_unsettled(subject: MovableSubject) -> bool:
    """not settled yet"""
    return not subject.settled


@dataclass(frozen=True, slots=True)
class Move:
    """A row of a table of moves. In the status `source`, `trigger` leads to the status `target`, if the condition
    `when` holds."""

    source: Status
    trigger: Trigger
    target: Status
    clause: str
    when: Condition | None = None

    @property
    def ours(self) -> bool:
        return self.clause.startswith("choice")


RCVD, PATC, PDNG, ACSP, ACSC = Status.RCVD, Status.PATC, Status.PDNG, Status.ACSP, Status.ACSC
RJCT, CANC, ACWP = Status.RJCT, Status.CANC, Status.ACWP

OPENING = (
    Move(RCVD, Trigger.CHECKED, PATC, "choice 5"),
    Move(RCVD, Trigger.OPENED, PATC, "choice 5"),
    Move(PATC, Trigger.COSIGNED, PATC, "service 1"),
    Move(RCVD, Trigger.REFUSED, CANC, "choice 5"),
    Move(PATC, Trigger.REFUSED, CANC, "choice 5"),
)
TIMING_OUT = (
    Move(RCVD, Trigger.UNSIGNED_TOO_LONG, CANC, "service 3.3"),
    Move(PATC, Trigger.UNSIGNED_TOO_LONG, CANC, "service 3.3"),
)
WITHDRAWING = (
    Move(RCVD, Trigger.CANCELLED, CANC, "service 3.4"),
    Move(PATC, Trigger.CANCELLED, CANC, "service 3.4"),
)
CALLING_OFF = (Move(PDNG, Trigger.CANCELLED, CANC, "service 3.4", is_deferred),)
WAITING = (
    Move(PATC, Trigger.SIGNED, PDNG, "choice 5"),
    Move(PDNG, Trigger.EXECUTED, ACSP, "choice 5"),
    Move(PDNG, Trigger.FUNDS_MISSING, PDNG, "choice 5"),
    Move(PDNG, Trigger.REJECTED, RJCT, "choice 5"),
    Move(PDNG, Trigger.GIVEN_UP, RJCT, "choice 5"),
)
AT_ONCE = (Move(PATC, Trigger.SIGNED, ACSP, "service 3.1"),)  # PDNG never occurs
SETTLING = (
    Move(ACSP, Trigger.SETTLED, ACSC, "choice 5"),
    Move(ACSP, Trigger.REJECTED, RJCT, "choice 5"),
)
# For banks that do not use ACSC, because the service's schema lacks it: a settled payment stays in ACSP (service 3.1,
# setting settled_status).
SETTLING_AT_ACSP = (
    Move(ACSP, Trigger.SETTLED, ACSP, "choice 5", is_unsettled),
    Move(ACSP, Trigger.REJECTED, RJCT, "choice 5", is_unsettled),
)


def list_moves(product: Product) -> tuple[Move, ...]:
    """Returns the moves of a payment of this product, without the moves of its settlement."""
    withdrawing = WITHDRAWING if product.deletable else ()  # service 3.4
    calling_off = CALLING_OFF if product.deletable and not product.instant else ()
    return OPENING + TIMING_OUT + withdrawing + calling_off + (AT_ONCE if product.instant else WAITING)


# A standing order is a contract. It does not time out, and an execution does not change its status (service 3.2,
# choice 6).
STANDING_ORDER = (
    Move(PATC, Trigger.REFUSED, CANC, "choice 5"),
    Move(PATC, Trigger.SIGNED, PDNG, "choice 6"),
    Move(PDNG, Trigger.ACTIVATED, ACWP, "choice 6"),
    Move(ACWP, Trigger.OCCURRED, ACWP, "service 2.2"),
    Move(ACWP, Trigger.FUNDS_MISSING, ACWP, "choice 6"),
    Move(ACWP, Trigger.ENDED, CANC, "choice 6"),
    Move(PATC, Trigger.CANCELLED, CANC, "service 3.4"),
    Move(PDNG, Trigger.CANCELLED, CANC, "service 3.4"),
    Move(ACWP, Trigger.CANCELLED, CANC, "service 3.4"),
)

SIGNING_A_FILE = (
    Move(RCVD, Trigger.VALIDATED, PATC, "choice 7"),
    Move(RCVD, Trigger.INVALID, RJCT, "choice 7"),
    Move(PATC, Trigger.REFUSED, CANC, "choice 7"),
    Move(PATC, Trigger.SIGNED, PDNG, "choice 7"),
    Move(RCVD, Trigger.CANCELLED, CANC, "service 3.4"),
    Move(PATC, Trigger.CANCELLED, CANC, "service 3.4"),
    Move(PATC, Trigger.REJECTED, RJCT, "choice 7"),
    Move(PDNG, Trigger.REJECTED, RJCT, "choice 5"),
)
BULK_FILE = SIGNING_A_FILE + (
    Move(PATC, Trigger.COSIGNED, PATC, "service 1"),
    Move(PDNG, Trigger.SETTLED, ACSC, "choice 7"),
    Move(PDNG, Trigger.CANCELLED, CANC, "service 3.4", is_deferred),
)
# A batch of a bulk file. It is signed and refused with its file, but executed on its own day.
BULK_IN_A_FILE = SIGNING_A_FILE + (
    Move(PDNG, Trigger.EXECUTED, ACSC, "choice 7"),
    Move(PDNG, Trigger.FUNDS_MISSING, PDNG, "choice 7"),
    Move(PDNG, Trigger.GIVEN_UP, RJCT, "choice 7"),
    Move(PDNG, Trigger.CANCELLED, CANC, "service 3.4"),
)

MOVES: dict[str, tuple[Move, ...]] = {
    **{name: list_moves(product) + SETTLING for name, product in PRODUCTS.items()},
    "periodic-payments": STANDING_ORDER,
    "bulk-payments": BULK_FILE,
    "bulk in a file": BULK_IN_A_FILE,
    **{f"{name} (ACSP)": list_moves(product) + SETTLING_AT_ACSP for name, product in PRODUCTS.items()},
}


_ROWS = {table: {(row.source, row.trigger): row for row in moves} for table, moves in MOVES.items()}
assert all(len(_ROWS[table]) == len(moves) for table, moves in MOVES.items()), "two rows for one status and trigger"
_TARGETS = {
    table: {status: {row.target for row in moves if row.source is status} for status in Status}
    for table, moves in MOVES.items()
}


def find_move(table: str, status: Status, trigger: Trigger, subject: MovableSubject) -> Move | None:
    """Returns the row of the table of moves named `table` that permits the trigger in this status. Returns None if
    there is no such row, or if its condition does not hold for `subject`."""
    row = _ROWS[table].get((status, trigger))
    if row is None or (row.when is not None and not row.when(subject)):
        return None
    return row


def find_moves_to(table: str, status: Status, target: Status) -> Iterator[Move]:
    """Yields the rows that lead from one status to another."""
    return (row for row in MOVES[table] if row.source is status and row.target is target)


def list_cancellable(table: str) -> Iterator[str]:
    """Yields the statuses in which a DELETE is possible, each with its condition if it has one."""
    for row in MOVES[table]:
        if row.trigger is Trigger.CANCELLED:
            yield row.source.value if row.when is None else f"{row.source.value}, {row.when.__doc__}"


def list_statuses(*tables: str) -> list[Status]:
    """Returns every status in these tables of moves, in the order of the enumeration."""
    statuses = {status for table in tables for row in MOVES[table] for status in (row.source, row.target)}
    return [status for status in Status if status in statuses]


def is_final(table: str, status: Status) -> bool:
    """Whether the table has no move from this status."""
    return not _TARGETS[table][status]


def find_reachable(table: str, status: Status) -> set[Status]:
    """Returns every status that the moves of a table can still reach from a status."""
    visited: set[Status] = set()
    ahead = [status]
    while ahead:
        unvisited = _TARGETS[table][ahead.pop()] - visited
        visited |= unvisited
        ahead += unvisited
    return visited
