"""A probe shows an axis on the wire: what it sees must differ from value to value, as its row says."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.tpp import Tpp

Probe = Callable[[Tpp], Any]


class Seen(NamedTuple):
    """A probe, and what it sees under each value."""

    probe: Probe
    values: Mapping[str, Any]


Table = Mapping[str, Seen]


def cases(table: Table) -> list[tuple[str, str]]:
    return [(axis, value) for axis, seen in table.items() for value in seen.values]


def show(tpp: Tpp, table: Table, axis: str, value: str) -> None:
    """The probe sees what the table says, and the world notes that it met the axis; one value is enough for that."""
    reply = tpp.control("PATCH", "/settings", variants={axis: value})
    assert reply.status_code == 200, reply.text
    assert table[axis].probe(tpp) == table[axis].values[value]
    if value != list(table[axis].values)[-1]:
        return
    row = next(row for row in tpp.listed("variants") if row["name"] == axis)
    assert (row["value"], row["met"]) == (value, True)
