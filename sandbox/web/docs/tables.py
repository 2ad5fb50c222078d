"""The tables that say almost everything, as rows for a person; each with its clause, and whether it is our choice."""

from dataclasses import fields
from datetime import timedelta

from sandbox.banking.durations import write_duration
from sandbox.contract.errors import Error
from sandbox.contract.fields import FIELDS, PAYMENT
from sandbox.contract.moves import MOVES
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.products import PRODUCTS
from sandbox.contract.settings import Settings
from sandbox.contract.variants import AXES
from sandbox.referee.table import TABLE as REFEREE

Row = tuple[str, ...]
Table = tuple[Row, list[Row]]


def ours(clause: str) -> str:
    return "ours" if clause.startswith("choice") else ""


def moves() -> Table:
    rows: list[Row] = [
        (
            path,
            row.source.value,
            row.trigger.value,
            row.target.value,
            row.when.__doc__ or "" if row.when else "",
            row.clause,
        )
        for path, of in MOVES.items()
        for row in of
    ]
    return ("path", "from", "trigger", "to", "when", "clause", ""), _with_ours(rows)


def errors() -> Table:
    rows: list[Row] = [
        (str(row.status), row.error, row.code, row.text, row.clause) for row in (error.value for error in Error)
    ]
    return ("status", "error", "error_code", "text", "clause", ""), _with_ours(rows)


def operations() -> Table:
    rows: list[Row] = [
        (
            row.name,
            row.method,
            row.path,
            " ".join(map(str, row.versions)),
            row.authorization.value,
            row.clause,
        )
        for row in OPERATIONS
    ]
    return ("operation", "method", "path", "versions", "authorization", "clause", ""), _with_ours(rows)


def products() -> Table:
    rows: list[Row] = [
        (path, *(PAYMENT.use_of(row, name).value for name in PRODUCTS), "service 2.1") for path, row in FIELDS.items()
    ]
    return ("field", *PRODUCTS, "clause", ""), _with_ours(rows)


def settings() -> Table:
    def text(value: object) -> str:
        return write_duration(value) if isinstance(value, timedelta) else str(value)

    rows: list[Row] = [
        (row.name, row.metadata["topic"], text(row.default), row.metadata["about"], row.metadata["clause"])
        for row in fields(Settings)
    ]
    return ("setting", "topic", "default", "text", "clause", ""), _with_ours(rows)


def referee() -> Table:
    rows: list[Row] = [(row.id, row.severity.value, row.title, row.instead, row.clause) for row in REFEREE]
    return ("rule", "severity", "what is seen", "instead", "clause", ""), _with_ours(rows)


def variants() -> Table:
    rows: list[Row] = [
        (
            row.name,
            row.topic,
            " ".join(row.marked),
            row.about,
            row.brings,
            "" if row.within else "not within",
            row.clause,
        )
        for row in AXES.values()
    ]
    return ("axis", "topic", "values", "text", "brings to light", "within", "clause", ""), _with_ours(rows)


TABLES = {
    "moves": moves,
    "errors": errors,
    "operations": operations,
    "products": products,
    "settings": settings,
    "referee": referee,
    "variants": variants,
}


def _with_ours(rows: list[Row]) -> list[Row]:
    return [(*row, ours(row[-1])) for row in rows]
