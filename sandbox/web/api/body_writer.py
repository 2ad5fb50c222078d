"""Writes the fields of an initiation as its details show them (choice 5), by the rows of contract/fields."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from sandbox.bank.records import Debtor, Order
from sandbox.bank.subjects import Contract
from sandbox.contract.field_rows import Amount, Body, Day, Field, Object
from sandbox.web.api.body_schemas import RECORDS, parts_of, reply_order

Record = Order | Contract
Write = Callable[[Any], Any]  # of a record
DEBTOR = "debtor_account"


class BodyWriter:
    """The fields of a body, each with the function that gets its value from a record."""

    def __init__(self, body: Body) -> None:
        self._fields = [(row.path, _writer(body, row)) for row in reply_order(body.outers())]

    def write(self, record: Record, debtor: Debtor | None) -> dict[str, Any]:
        """The order's fields, with the debtor of the body or the one that the customer picked."""
        found = {}
        for name, write in self._fields:
            source = debtor if name == DEBTOR else record
            value = None if source is None else write(source)
            if value is not None:
                found[name] = value
        return found


def _writer(body: Body, row: Field) -> Write:
    if not isinstance(row.kind, Object):
        return _value(row, row.record)
    parts = reply_order(parts_of(body, row.path))
    source, dot, _ = parts[0].record.partition(".")
    if row.path not in RECORDS or not dot:
        return _filled([(part.inner, _value(part, part.record)) for part in parts])
    write = _filled([(part.inner, _value(part, part.inner)) for part in parts])
    if row.path == DEBTOR:
        return write
    get = attrgetter(source)
    return lambda record: None if (found := get(record)) is None else write(found)


def _filled(parts: list[tuple[str, Write]]) -> Write:
    return lambda record: {name: value for name, write in parts if (value := write(record)) is not None}


def _value(row: Field, attribute: str) -> Write:
    get = attrgetter(attribute)
    match row.kind:
        case Amount():
            return lambda record: None if (money := get(record)) is None else money.text()
        case Day():
            return lambda record: None if (day := get(record)) is None else day.isoformat()
        case _:
            return lambda record: None if (value := get(record)) is None else str(value)
