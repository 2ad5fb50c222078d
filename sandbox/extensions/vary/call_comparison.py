"""Compares the calls of a run with those of today's run: the axes that they met, and the call before a failure."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import Any
from urllib.parse import quote

from sandbox.client import Controls, Refused
from sandbox.extensions.vary.axes import AXES, SET_BY_SETTINGS
from sandbox.extensions.vary.runs import Reference
from sandbox.extensions.vary.space import TODAY, Variant
from sandbox.worlds.calls import cut

ROWS_ASKED_MAX = 50  # of the last calls
INITIATIONS = ("payment_", "standing_order_", "bulk_")
READS = ("accounts", "account", "transactions")
# An axis that settings decide is met by every call of these operations (or of all), because no code asks for it.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "initiation": INITIATIONS,
    "settling": ("payment_",),
    "standing orders": ("standing_order_",),
    "files": ("bulk_",),
    "tokens": ("consent_addresses", "token", *READS),
    "accounts": READS,
    "callback": ("token", *INITIATIONS),
}

Rows = Sequence[Mapping[str, Any]]
CALLS_COMPARED_MAX = 200
PLACES_MAX = 20
WORLD = re.compile(r"/worlds/[^/\"]+")
# Ids that clients make at random differ in each run and are not compared.
IDS = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
LINES_MAX = 12  # of a reply that is shown
LINE_MAX = 300  # characters


def look_at(controls: Controls, variant: Variant, before: Reference) -> tuple[frozenset[str], str, Reference]:
    """Returns the axes that the calls met, the last call, and the calls with which later runs are compared."""
    calls = controls.listed("requests")
    reference = reference_of(controls, calls) if variant == TODAY else before
    return axes_met(controls, calls), last_call(controls, calls, variant, reference), reference


def axes_met(controls: Controls, calls: Rows) -> frozenset[str]:
    """Returns the axes that the world reports as met, and those whose settings concern a called operation."""
    operations = {row["operation"] for row in calls if row["operation"]}
    asked = {row["name"] for row in controls.listed("variants") if row["met"]}
    by_settings = {name for name in AXES if any(_is_met_by_settings(name, operation) for operation in operations)}
    return frozenset(asked | by_settings)


def _is_met_by_settings(name: str, operation: str) -> bool:
    """Whether settings decide the axis, and the operation belongs to its topic."""
    axis = AXES[name]
    prefixes = OPERATIONS.get(axis.topic, ("",))
    return name in SET_BY_SETTINGS and any(
        operation == one or operation.startswith(one) for one in prefixes if one != "token"
    )


def last_call(controls: Controls, calls: Rows, variant: Variant, before: Reference = ()) -> str:
    """Describes the last call of a failed test. `before` has its calls under today's bank."""
    return describe_last_call(controls, calls, len(calls) - 1, variant, before) if calls else ""


def last_calls(controls: Controls, calls: Rows, variant: Variant, before: Reference, failed: int) -> list[str]:
    """Describes the last call of each failed test, if many tests were run one after the other.

    A test ends early where today's calls go on and these do not. If the number of these places is not that of the
    failed tests, all of them get the first place."""
    if not calls:
        return [""] * failed
    places = divergences(calls, before)[:PLACES_MAX]
    if not places:
        return differing_calls(controls, calls, variant, before, failed)
    shown = [describe_last_call(controls, calls, place, variant, before) for place in places]
    return shown if len(shown) == failed else shown[:1] * failed


def differing_calls(controls: Controls, calls: Rows, variant: Variant, before: Reference, failed: int) -> list[str]:
    """Describes a call for each failed test if the calls are today's: one that met an axis and has another reply."""
    places, whole = [], []
    for place, row in enumerate(calls[:CALLS_COMPARED_MAX]):
        known, explanation = counterpart(calls, place, before), explanation_of(controls, row)
        differs = known is not None and IDS.sub("", known) != IDS.sub("", reply_text(explanation))
        if differs and _meets(explanation, row, variant):
            places.append(place)
            if all(_meets(explanation, row, Variant((choice,))) for choice in variant.changes):
                whole.append(place)
    places = whole or places
    if not places:
        return [describe_last_call(controls, calls, len(calls) - 1, variant, before)] * failed
    if len(places) == failed:
        return [describe_call(controls, calls, place, before) for place in places]
    first = describe_call(controls, calls, places[0], before)
    return [f"{first}\n  the first of {len(places)} replies that differ; which one the test met is not known"] * failed


def describe_last_call(controls: Controls, calls: Rows, place: int, variant: Variant, before: Reference) -> str:
    """Describes the call, and the last call before it that met an axis of the variant."""
    end = describe_call(controls, calls, place, before)
    lately = range(place, max(-1, place - ROWS_ASKED_MAX), -1)
    met = next((at for at in lately if _meets(explanation_of(controls, calls[at]), calls[at], variant)), place)
    return end if met == place else f"{end}\nIt met the axis before: {describe_call(controls, calls, met, before)}"


def call_key(row: Mapping[str, Any]) -> str:
    return f"{row['method']} {row['operation']}"


def divergences(calls: Rows, before: Reference) -> list[int]:
    """Returns the places of the last calls before those that are no longer made."""
    found = SequenceMatcher(None, [key for key, _ in before], [call_key(row) for row in calls], autojunk=False)
    return [max(0, start - 1) for kind, _, _, start, _ in found.get_opcodes() if kind in ("delete", "replace")]


def counterpart(calls: Rows, place: int, before: Reference) -> str | None:
    """Returns the reply to today's call of the same operation and the same number, or None."""
    key = call_key(calls[place])
    number = sum(call_key(row) == key for row in calls[:place])
    replies = [reply for one, reply in before if one == key]
    return replies[number] if number < len(replies) else None


def _meets(explanation: Mapping[str, Any], row: Mapping[str, Any], variant: Variant) -> bool:
    """Whether the call met an axis of the variant."""
    axes = {axis for axis, _ in variant.changes}
    if row["operation"] and any(_is_met_by_settings(axis, row["operation"]) for axis in axes & AXES.keys()):
        return True
    return not axes.isdisjoint(explanation.get("variants", {}))


def explanation_of(controls: Controls, row: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = controls.call("GET", f"/explain/{quote(row['request_id'], safe='')}").body
    except Refused:
        return {}
    return found


def reply_text(explanation: Mapping[str, Any]) -> str:
    """Returns the body of the reply, without the name of the world."""
    content = explanation.get("content") or {"reply": {"body": ""}}
    return WORLD.sub("", str(content["reply"]["body"]))


def reference_of(controls: Controls, calls: Rows) -> Reference:
    """Returns the calls of a run, each with its reply."""
    return tuple((call_key(row), reply_text(explanation_of(controls, row))) for row in calls[:CALLS_COMPARED_MAX])


def describe_call(controls: Controls, calls: Rows, place: int, before: Reference) -> str:
    """Returns the line of the call, and the lines of its reply that differ from today's."""
    row = calls[place]
    explanation = explanation_of(controls, row)
    content = explanation.get("content") or {}
    lines = [f"{row['method']} {content.get('address', row['path'])} {row['status']}, Request-ID {row['request_id']}"]
    if sent := content.get("request", {}).get("body"):
        lines.append(f"  > {cut(' '.join(sent.split()), LINE_MAX)}")
    return "\n".join([*lines, *difference(counterpart(calls, place, before), reply_text(explanation))])


def difference(before: str | None, now: str) -> list[str]:
    """Returns the lines that differ, `+` as now, then `-` as before; without a reply before, the lines of this one."""
    if before is None:
        rows = [f"  < {line}" for line in now.splitlines()]
    else:
        found = unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
        lines = [f"  {line}" for line in found if not line.startswith(("---", "+++", "@@"))]
        rows = sorted(lines, key=lambda line: line.startswith("  -"))
    shown = [cut(row, LINE_MAX) for row in rows[:LINES_MAX]]
    return shown + ([f"  and {len(rows) - LINES_MAX} more lines"] if len(rows) > LINES_MAX else [])
