"""The tables that say almost everything, as rows for a person; each with its clause, and whether it is our choice."""

from collections.abc import Iterable
from dataclasses import fields
from datetime import timedelta

from sandbox.banking.durations import write_duration
from sandbox.contract.errors import Error
from sandbox.contract.fields import FIELDS, PAYMENT
from sandbox.contract.moves import MOVES
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.products import PRODUCTS
from sandbox.contract.reference_flows import evidence
from sandbox.contract.settings import Settings
from sandbox.contract.variants import AXES, Axis
from sandbox.referee.table import TABLE as REFEREE

Row = tuple[str, ...]
Table = tuple[Row, list[Row]]


def ours(clause: str) -> str:
    return "ours" if clause.startswith("choice") else ""


def table(head: Row, rows: Iterable[Row]) -> Table:
    """With the clause of each row in its last column, and whether it is our choice."""
    return (*head, "clause", ""), [(*row, ours(row[-1])) for row in rows]


def moves() -> Table:
    rows = [(path, row) for path, of in MOVES.items() for row in of]
    return table(
        ("path", "from", "trigger", "to", "when"),
        (
            (path, row.source, row.trigger, row.target, row.when.__doc__ or "" if row.when else "", row.clause)
            for path, row in rows
        ),
    )


def errors() -> Table:
    rows = [error.value for error in Error]
    return table(
        ("status", "error", "error_code", "text"),
        ((str(row.status), row.error, row.code, row.text, row.clause) for row in rows),
    )


def operations() -> Table:
    return table(
        ("operation", "method", "path", "versions", "authorization"),
        (
            (row.name, row.method, row.path, " ".join(map(str, row.versions)), row.authorization.value, row.clause)
            for row in OPERATIONS
        ),
    )


def products() -> Table:
    uses = {path: [PAYMENT.use_of(row, name).value for name in PRODUCTS] for path, row in FIELDS.items()}
    return table(("field", *PRODUCTS), ((path, *row, "service 2.1") for path, row in uses.items()))


def settings() -> Table:
    def text(value: object) -> str:
        return write_duration(value) if isinstance(value, timedelta) else str(value)

    rows = [(row.name, text(row.default), row.metadata) for row in fields(Settings)]
    return table(
        ("setting", "topic", "default", "text"),
        ((name, facts["topic"], default, facts["about"], facts["clause"]) for name, default, facts in rows),
    )


def referee() -> Table:
    return table(
        ("rule", "severity", "what is seen", "instead"),
        ((row.id, row.severity.value, row.title, row.instead, row.clause) for row in REFEREE),
    )


def variants() -> Table:
    outside = {True: "", False: "not within"}
    return table(
        ("axis", "topic", "values", "text", "brings to light", "within", "withstood"),
        (
            (*axis_cells(row), outside[row.within], evidence(row.name).replace("`", ""), row.clause)
            for row in AXES.values()
        ),
    )


def axis_cells(row: Axis) -> Row:
    return row.name, row.topic, " ".join(row.marked), row.about, row.brings


TABLES = {one.__name__: one for one in (moves, errors, operations, products, settings, referee, variants)}
