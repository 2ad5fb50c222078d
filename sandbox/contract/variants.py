"""The table of axes: how this bank could differ within the service's word, and what a world has chosen (choice 13)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sandbox.contract import axes_accounts, axes_http, axes_orders, axes_payments
from sandbox.contract.axis import TOPICS, Axis
from sandbox.contract.settings import Settings

Pairs = tuple[tuple[str, str], ...]  # axis and value

ROWS: tuple[Axis, ...] = (*axes_http.ROWS, *axes_payments.ROWS, *axes_orders.ROWS, *axes_accounts.ROWS)
AXES: dict[str, Axis] = {axis.name: axis for axis in sorted(ROWS, key=lambda axis: TOPICS.index(axis.topic))}
# What an axis is called too: by the name of its setting, or by that of the field.
ALSO = {"settled_status": "final_status", "amounts_in_details": "details_amount"}
# The axes that every call of the bank's interface meets.
EVERYWHERE = frozenset(axis.name for axis in ROWS if axis.topic == "surprises") | {
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
