"""The record of decisions: how this bank decides each point that the service leaves open (choice 13).

`Decisions` has a field for each decision. The modules decisions_*.py declare the fields, each with its type, default,
clause and words. The tables SETTINGS and AXES are made from these fields. Their keys are the names that scenarios and
controls use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args, get_origin

from sandbox.contract.decision_rows import TOPICS, Axis, Setting, Topic
from sandbox.contract.decisions_accounts import AccountDecisions
from sandbox.contract.decisions_http import HttpDecisions
from sandbox.contract.decisions_orders import OrderDecisions
from sandbox.contract.decisions_payments import PaymentDecisions
from sandbox.contract.decisions_sandbox import SandboxDecisions

Pairs = tuple[tuple[str, str], ...]  # axis and value


@dataclass(frozen=True)
class Decisions(SandboxDecisions, AccountDecisions, OrderDecisions, PaymentDecisions, HttpDecisions):
    """All decisions of a bank. Scenarios and controls change them from these defaults."""

    # The axes that were given a value, among those that set fields which are settings too. An axis is removed when a
    # setting no longer agrees with its value.
    named: Pairs = ()

    @cached_property
    def variants(self) -> Pairs:
        """The axes on which this bank differs from the default, each with its value, by name."""
        values = ((name, getattr(self, name)) for name in AXES if name not in SET_BY_SETTINGS)
        return tuple(sorted((*self.named, *(pair for pair in values if pair[1] != DEFAULTS[pair[0]]))))


def _collect_settings() -> dict[str, Setting]:
    rows = [row for row in fields(Decisions) if "setting" in row.metadata]
    words = {row.name: get_args(row.type) for row in rows if get_origin(row.type) is Literal}
    settings = [Setting(row.name, words=words.get(row.name, ()), **row.metadata["setting"]) for row in rows]
    about = "The axes on which this bank differs, each as axis: value."
    settings.append(Setting("variants", Topic.VARIANTS, "choice 13", (), about))
    order = list(Topic)
    return {setting.name: setting for setting in sorted(settings, key=lambda setting: order.index(setting.topic))}


def _collect_axes() -> dict[str, Axis]:
    defaults = {row.name: row.default for row in fields(Decisions)}
    rows = [(row.name, row.metadata["axis"]) for row in fields(Decisions) if row.metadata.get("axis")]
    axes = [row.complete(name, defaults) for name, row in rows]
    return {axis.name: axis for axis in sorted(axes, key=lambda axis: TOPICS.index(axis.topic))}


SETTINGS = _collect_settings()
AXES = _collect_axes()
DEFAULTS = {name: axis.default for name, axis in AXES.items()}
SET_BY_SETTINGS = frozenset(name for name, axis in AXES.items() if not axis.fields.isdisjoint(SETTINGS))
# The axes that every call of the bank's interface reads.
EVERYWHERE = frozenset(name for name, axis in AXES.items() if axis.topic == "surprises") | {
    "vendor",
    "limits",
    "client_certificates",
    "content_type_reply",
}


AXIS_FIELDS = frozenset[str]().union(*(axis.fields for axis in AXES.values()))


class _Noting:
    """Has the attributes of a `Decisions` record. When a field of an axis (a point on which banks may differ) is read,
    calls `note` with the field's name.

    Python calls `__getattr__` only for attributes that an object does not have. A value becomes an attribute when it is
    first read, so later reads are fast and not noted. But if the bank differs from the default, `explain` names the
    axes that each call read. Then fields of axes never become attributes, and every read is noted."""

    def __init__(self, decisions: Decisions, note: Callable[[str], None]) -> None:
        self._decisions, self._note, self._always = decisions, note, bool(decisions.variants)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._decisions, name)
        if name in AXIS_FIELDS:
            self._note(name)
            if self._always:
                return value
        self.__dict__[name] = value
        return value


def note_reads(decisions: Decisions, note: Callable[[str], None]) -> Decisions:
    """Returns an object that has the attributes of `decisions`. When a field of an axis (a point on which banks may
    differ) is read from this object, the object calls `note` with the field's name. If the bank is the default bank,
    only the first read of each field is noted."""
    return cast(Decisions, _Noting(decisions, note))


def list_settings(decisions: Decisions) -> dict[str, Any]:
    """Returns the settings by name, including the variants."""
    return {name: getattr(decisions, name) for name in SETTINGS}


def with_changes(decisions: Decisions, changes: Mapping[str, Any]) -> Decisions:
    """Returns the decisions with these settings changed. The entry `variants` of `changes` has values of axes, by the
    axis's name. If a setting and an axis set the same field, the setting counts."""
    settings = {name: value for name, value in changes.items() if name != "variants"}
    variants = dict(changes.get("variants", ()))
    variant_fields = {
        name: value for axis, of_axis in variants.items() for name, value in AXES[axis].find_value(of_axis).fields
    }
    axis_values = dict(decisions.named) | {axis: value for axis, value in variants.items() if axis in SET_BY_SETTINGS}
    changed = replace(decisions, **variant_fields | settings)
    remaining_pairs = (
        pair for pair in sorted(axis_values.items()) if pair[1] != DEFAULTS[pair[0]] and _holds(changed, *pair)
    )
    return replace(changed, named=tuple(remaining_pairs))


def find_axis_value(decisions: Decisions, axis: Axis) -> str | None:
    """Returns the name of the value that the axis has in these decisions. Returns None if the decisions match no value
    of the axis."""
    return next((value for value in axis.names if _holds(decisions, axis.name, value)), None)


def _holds(decisions: Decisions, axis: str, value: str) -> bool:
    return all(getattr(decisions, name) == field_value for name, field_value in AXES[axis].find_value(value).fields)
