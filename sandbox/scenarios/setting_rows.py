"""The `settings` of a scenario: every setting of the record of decisions, by its own name (choice 13)."""

from datetime import timedelta
from typing import Any

from sandbox.contract.added_settings import added_settings, split_line
from sandbox.contract.decision import Setting
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.reader.scalars import TEXT, duration, number, one_of, text
from sandbox.reader.shapes import Each, Json, Leaf, Notes, Shape, Table
from sandbox.reader.tree import AlreadyReported, Node, Wrong, quote, suggestion


class VariantsShape:
    """A mapping of axes to their values. A number or null is the value that is written so, such as 403."""

    def read(self, node: Node, notes: Notes) -> tuple[tuple[str, str], ...]:
        if not isinstance(node.value, dict):
            raise Wrong("a mapping of axes to values is expected", "like {final_status: ACSP}")
        count, found = len(notes.errors), []
        for name, entry in node.rows.items():
            if name not in AXES:
                notes.add(entry.key, f"an unknown axis {quote(name)}", suggestion(name, AXES))
                continue
            value = _value_of(entry.value)
            if value not in AXES[name].names:
                hint = suggestion(value, AXES[name].names)
                notes.add(entry.value, f"{quote(value)} is no value of {name}", hint)
            found.append((name, value))
        if len(notes.errors) > count:
            raise AlreadyReported
        return tuple(found)

    def schema(self) -> Json:
        axes = {name: {"enum": _spellings(axis.names), "description": axis.about} for name, axis in AXES.items()}
        return {"type": "object", "properties": axes, "additionalProperties": False}


def _value_of(node: Node) -> str:
    if isinstance(node.value, dict | tuple | bool | float):
        raise Wrong("a value's name is expected")
    return "null" if node.value is None else str(node.value)


def _spellings(names: tuple[str, ...]) -> list[str | int | None]:
    """The names as texts, and those that YAML reads as numbers and as nothing."""
    numbers = [int(name) for name in names if name.isdecimal()]
    return [*names, *numbers, *([None] if "null" in names else [])]


def add_settings_of_variants(rows: dict[str, Any]) -> dict[str, Any]:
    """The settings that variants name, beside those that are given; the two must not differ."""
    found = dict(rows)
    for axis, value in rows.get("variants", ()):
        for name, expected in AXES[axis].value(value).fields:
            if name in SETTINGS and found.setdefault(name, expected) != expected:
                raise Wrong(f"{axis}: {value} sets {name}, which is set otherwise", key=f"variants.{axis}")
    return found


def added_setting(pattern: str, example: str) -> Leaf:
    """A line `name: value`, of a setting that an installed extension has."""
    form = text(pattern, example)

    def read(node: Node, notes: Notes) -> str:
        name, value = split_line(form.read(node, notes))
        row = added_settings().get(name)
        if row is None:
            raise Wrong(f"no extension has a setting {quote(name)}", suggestion(name, added_settings()))
        if value not in row.words:
            raise Wrong(f"{quote(value)} is no value of {name}", suggestion(value, row.words))
        return f"{name}: {value}"

    return Leaf(read, form.schema())


def shape_of(row: Setting) -> Shape:
    """The shape of a setting, from its default's type and the limits in its row."""
    default = row.default
    if row.name == "variants":
        return VariantsShape()
    if row.name == "extensions" and row.form is not None:
        return Each(added_setting(*row.form))
    if isinstance(default, timedelta):
        return duration(row.longest)
    if isinstance(default, int):
        return number(*row.bounds)
    one = text(*row.form) if row.form else TEXT
    if row.words:
        one = one_of(row.words, f"value of {row.name}")
    return Each(one) if isinstance(default, tuple) else one


SETTINGS_SHAPE = Table(
    {row.name: shape_of(row) for row in SETTINGS.values()},
    add_settings_of_variants,
    called="a mapping of settings",
)
