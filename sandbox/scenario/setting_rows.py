"""The `settings` of a scenario: every field of settings.py, by its own name (choice 13)."""

from dataclasses import fields
from datetime import timedelta
from typing import Any

from sandbox.contract.settings import Settings
from sandbox.contract.variants import ALSO, AXES
from sandbox.reader.scalars import DURATION, FLAG, TEXT, duration, number, one_of, text
from sandbox.reader.shapes import Each, Json, Notes, Shape, Table
from sandbox.reader.tree import AlreadyReported, Node, Wrong, quote, suggestion

WORDS = {
    "request_id_reuse": ("replay", "refuse", "allow"),
    "worlds": ("on_demand", "declared"),
    "signatures": ("off", "lenient", "strict"),
    "client_certificates": ("off", "proxy", "tls"),
    "certificate_clock": ("real", "bank"),
    "settled_status": ("ACSC", "ACSP"),
    "closed_days": ("ignore", "respect"),
    "life": ("on", "off"),
    "referee": ("on", "off"),
    "screens_in_english": ("on", "off"),
    "sca_methods": ("card_reader", "app", "by_risk"),
}
NUMBER_MAX = 1_000_000_000


class VariantsShape:
    """A mapping of axes to their values. A number or null is the value that is written so, such as 403."""

    def read(self, node: Node, notes: Notes) -> tuple[tuple[str, str], ...]:
        if not isinstance(node.value, dict):
            raise Wrong("a mapping of axes to values is expected", "like {final_status: ACSP}")
        count, found = len(notes.errors), []
        for key, entry in node.rows.items():
            name = ALSO.get(key, key)
            if name not in AXES:
                notes.add(entry.key, f"an unknown axis {quote(key)}", suggestion(name, AXES))
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
        axes |= {other: axes[name] for other, name in ALSO.items() if name in axes}
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
        for name, expected in AXES[axis].value(value).settings:
            if found.setdefault(name, expected) != expected:
                raise Wrong(f"{axis}: {value} sets {name}, which is set otherwise", key=f"variants.{axis}")
    return found


NETWORK = text(r"[0-9.]{7,15}(/[0-9]{1,2})?|[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?", "10.0.0.0/8")
SHAPES: dict[str, Shape] = {
    **{name: one_of(words, f"value of {name}") for name, words in WORDS.items()},
    "page_size": number(1, 50),
    "recycling_tries": number(0, 1000),
    "rules_edition": number(1, 3),
    "requests_per_minute": number(0, NUMBER_MAX),
    "reads_per_day": number(0, NUMBER_MAX),
    "contents_kept": number(0, 10_000),
    "execution_days_ahead_max": number(0, 3650),
    "due_events_max": number(1_000_000, NUMBER_MAX),  # fewer than one advance may meet would stop the bank itself
    "variants": VariantsShape(),
    "vendor": text(r"[a-z0-9][a-z0-9.-]{0,60}", "service"),
    "certificate_header": text(r"[A-Za-z0-9-]{1,64}", "X-Client-Cert"),
    "trusted_proxies": Each(NETWORK),
    "instant_settlement": duration(timedelta(seconds=10)),  # choice 5: never over 10 s
    "referee_waives": Each(text(r"[a-z0-9-]+ *: *\S.*", "paging-stopped: one page is all we show")),
}
OF_TYPES: dict[type, Shape] = {
    bool: FLAG,
    timedelta: DURATION,
    int: number(1, NUMBER_MAX),
    tuple: Each(TEXT),
    str: TEXT,
}


def shape_of(name: str, default: Any) -> Shape:
    """The shape of a setting: its own, or that of its default's type."""
    return SHAPES.get(name) or OF_TYPES.get(type(default), TEXT)


SETTINGS = Table(
    {row.name: shape_of(row.name, row.default) for row in fields(Settings)},
    add_settings_of_variants,
    called="a mapping of settings",
)
