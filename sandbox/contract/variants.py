"""The table of axes: how this bank could differ within the service's word, and what a world has chosen (choice 13)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sandbox.contract import (
    axes_accounts,
    axes_callback,
    axes_headers,
    axes_initiation,
    axes_orders,
    axes_settings,
    axes_settling,
    axes_surprises,
    axes_tokens,
)
from sandbox.contract.axis import TOPICS, Axis, Exclusion, Value
from sandbox.contract.settings import Settings

__all__ = ["AXES", "TOPICS", "Axis", "Exclusion", "Value", "value_in", "with_changes"]

Pairs = tuple[tuple[str, str], ...]  # axis and value

ROWS: tuple[Axis, ...] = (
    *axes_settings.ROWS,
    *axes_accounts.ROWS,
    *axes_tokens.ROWS,
    *axes_headers.ROWS,
    *axes_initiation.ROWS,
    *axes_settling.ROWS,
    *axes_orders.ROWS,
    *axes_callback.ROWS,
    *axes_surprises.ROWS,
)
AXES: dict[str, Axis] = {axis.name: axis for axis in sorted(ROWS, key=lambda axis: TOPICS.index(axis.topic))}
# What an axis is called too: by the name of its setting, or by that of the field.
ALSO = {"settled_status": "final_status", "amounts_in_details": "details_amount"}
# The axes that every call of the bank's interface meets.
EVERYWHERE = frozenset(axis.name for axis in axes_surprises.ROWS) | {
    "vendor",
    "limits",
    "client_certificates",
    "content_type_reply",
}
DEFAULTS: dict[str, str] = {axis.name: axis.default for axis in ROWS}


@lru_cache(maxsize=1024)
def chosen(pairs: Pairs) -> dict[str, str]:
    """The value of every axis in a world that differs in these."""
    return DEFAULTS | dict(pairs)


def settings_of(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The settings that these values name."""
    return dict(row for axis, value in pairs for row in AXES[axis].value(value).settings)


def with_changes(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Settings with changes. Variants are merged; one at its default, or overruled by a later setting, is taken out."""
    if not settings.variants and "variants" not in changes:
        return replace(settings, **changes)
    merged = dict(settings.variants) | dict(changes.get("variants", ()))
    changed = replace(settings, **dict(changes))
    left = sorted((axis, value) for axis, value in merged.items() if value != DEFAULTS[axis])
    return replace(changed, variants=tuple(pair for pair in left if _stands(changed, *pair)))


def _stands(settings: Settings, axis: str, value: str) -> bool:
    return all(getattr(settings, name) == expected for name, expected in AXES[axis].value(value).settings)


def value_in(settings: Settings, axis: Axis) -> str | None:
    """The value that a world has; None where its settings are those of no value."""
    if not axis.by_settings:
        return chosen(settings.variants)[axis.name]
    return next((value.name for value in axis.values if _stands(settings, axis.name, value.name)), None)
