"""The shape of a scenario's `settings`. It reads each setting of `contract/decisions` under its own name (choice
13)."""

from datetime import timedelta
from typing import Any

from sandbox.bank.records import METHODS
from sandbox.bank.signing_methods import NO_METHOD, RISK_NAMES
from sandbox.contract.added_settings import load_added_settings, split_line
from sandbox.contract.decision_rows import Axis, Setting
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.reader import shapes
from sandbox.reader.tree import Node, Wrong, quote, suggest


def make_axis_shape(axis: Axis) -> shapes.Leaf:
    """Returns the shape that reads a value of an axis. A value is a name. So a whole number such as 403, and null, are
    read as the names `403` and `null`. A name that YAML reads as a boolean or a decimal number must be in quotes."""

    def read(node: Node, notes: shapes.Notes) -> str:
        if isinstance(node.value, dict | tuple | bool | float):
            in_quotes = f'"{node.value}"' if str(node.value) in axis.names else None
            raise Wrong("a value's name is expected", in_quotes and f"in quotes: {in_quotes}")
        value = "null" if node.value is None else str(node.value)
        if value not in axis.names:
            raise Wrong(f"{quote(value)} is no value of {axis.name}", suggest(value, axis.names))
        return value

    numbers = [int(name) for name in axis.names if name.isdecimal()]
    spellings = [*axis.names, *numbers, *([None] if "null" in axis.names else [])]
    return shapes.Leaf(read, {"enum": spellings, "description": axis.about})


def add_settings_of_variants(rows: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings together with those that their `variants` set. Raises Wrong if a setting has another value
    than a variant sets."""
    settings = dict(rows)
    for axis, value in rows.get("variants", ()):
        for name, field_value in AXES[axis].find_value(value).fields:
            if name in SETTINGS and settings.setdefault(name, field_value) != field_value:
                raise Wrong(f"{axis}: {value} sets {name}, which is set otherwise", key=f"variants.{axis}")
    return settings


def make_added_setting_shape(pattern: str, example: str) -> shapes.Leaf:
    """Returns the shape that reads a line `name: value`, which sets a setting of an installed extension. `pattern` is
    the regular expression of such a line, and `example` is a line that an error shows."""
    form = shapes.make_text(pattern, example)

    def read(node: Node, notes: shapes.Notes) -> str:
        name, value = split_line(form.read(node, notes))
        row = load_added_settings().get(name)
        if row is None:
            raise Wrong(f"no extension has a setting {quote(name)}", suggest(name, load_added_settings()))
        if value not in row.words:
            raise Wrong(f"{quote(value)} is no value of {name}", suggest(value, row.words))
        return f"{name}: {value}"

    return shapes.Leaf(read, form.make_schema())


def make_risk_shape(pattern: str, example: str) -> shapes.Leaf:
    """Returns the shape that reads a line `risk: methods`, which says which signing methods a risk excludes. `none`
    means no methods (service 5.7). `pattern` is the regular expression of such a line, and `example` is a line that an
    error shows."""
    form = shapes.make_text(pattern, example)

    def read(node: Node, notes: shapes.Notes) -> str:
        risk, words = split_line(form.read(node, notes))
        if risk not in RISK_NAMES:
            raise Wrong(f"{quote(risk)} is no risk", suggest(risk, RISK_NAMES))
        for word in words.split():
            if words != NO_METHOD and word not in METHODS:
                raise Wrong(f"{quote(word)} is no way to sign", suggest(word, METHODS))
        return f"{risk}: {' '.join(words.split())}"

    return shapes.Leaf(read, form.make_schema())


VARIANTS = shapes.Table(
    {name: make_axis_shape(axis) for name, axis in AXES.items()},
    lambda rows: tuple(rows.items()),
    called="a mapping of axes to values",
    key_called="axis",
    hint="like {final_status: ACSP}",
)


def make_setting_shape(row: Setting) -> shapes.Shape:
    """Returns the shape that reads a setting. It depends on the type of the setting's default and on the limits in its
    row."""
    default = row.default
    if row.name == "variants":
        return VARIANTS
    if row.name == "extensions" and row.form is not None:
        return shapes.Each(make_added_setting_shape(*row.form))
    if row.name == "method_risks" and row.form is not None:
        return shapes.Each(make_risk_shape(*row.form))
    if isinstance(default, timedelta):
        return shapes.make_duration(row.longest)
    if isinstance(default, int):
        return shapes.make_number(*row.bounds)
    shape = shapes.make_text(*row.form) if row.form else shapes.TEXT
    if row.words:
        shape = shapes.make_one_of(row.words, f"value of {row.name}")
    return shapes.Each(shape) if isinstance(default, tuple) else shape


SETTINGS_SHAPE = shapes.Table(
    {row.name: make_setting_shape(row) for row in SETTINGS.values()},
    add_settings_of_variants,
    called="a mapping of settings",
    elsewhere={name: f"an axis, which stands in variants: {{{name}: {axis.names[1]}}}" for name, axis in AXES.items()},
)
