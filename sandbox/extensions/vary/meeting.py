"""Which axes the calls of a world met, and which call it was after which a test failed."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import Any
from urllib.parse import quote

from sandbox.client import Controls, Refused
from sandbox.contract.decisions import AXES, SET_BY_SETTINGS
from sandbox.extensions.vary.runs import Reference
from sandbox.extensions.vary.space import TODAY, Variant
from sandbox.world.calls import cut

ROWS_ASKED_MAX = 50  # of the last calls
INITIATIONS = ("payment_", "standing_order_", "bulk_")
READS = ("accounts", "account", "transactions")
# An axis of settings is met by every call of these operations (or of all): a time that the bank read in one call may be
# felt in any later one.
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
# A client makes some by chance, so they differ in each run.
IDS = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
LINES_MAX = 12  # of a reply that is shown
LINE_MAX = 300  # characters


def look_at(controls: Controls, variant: Variant, before: Reference) -> tuple[frozenset[str], str, Reference]:
    """The axes that a world's calls met, the last of the calls, and what later runs are compared with."""
    calls = controls.listed("requests")
    reference = reference_of(controls, calls) if variant == TODAY else before
    return axes_met(controls, calls), last_call(controls, calls, variant, reference), reference


def axes_met(controls: Controls, calls: Rows) -> frozenset[str]:
    """The axes that the world says were met, and those of settings that concern an operation that was called."""
    operations = {row["operation"] for row in calls if row["operation"]}
    asked = {row["name"] for row in controls.listed("variants") if row["met"]}
    of_settings = {name for name in AXES if any(_concerns(name, operation) for operation in operations)}
    return frozenset(asked | of_settings)


def _concerns(name: str, operation: str) -> bool:
    """Whether it is an axis of settings, and the operation is one of its topic."""
    axis = AXES[name]
    prefixes = OPERATIONS.get(axis.topic, ("",))
    return name in SET_BY_SETTINGS and any(
        operation == one or operation.startswith(one) for one in prefixes if one != "token"
    )


def last_call(controls: Controls, calls: Rows, variant: Variant, before: Reference = ()) -> str:
    """The last call of a test that failed; `before` are its calls where it passed."""
    return describe_end(controls, calls, len(calls) - 1, variant, before) if calls else ""


def last_calls(controls: Controls, calls: Rows, variant: Variant, before: Reference, failed: int) -> list[str]:
    """The last call of each test that failed, of many that were run one after the other: where the calls that passed
    before go on and these do not. Where that cannot be assigned to each test, the first such place is that of all."""
    if not calls:
        return [""] * failed
    places = partings(calls, before)[:PLACES_MAX]
    if not places:
        return differing_calls(controls, calls, variant, before, failed)
    shown = [describe_end(controls, calls, place, variant, before) for place in places]
    return shown if len(shown) == failed else shown[:1] * failed


def differing_calls(controls: Controls, calls: Rows, variant: Variant, before: Reference, failed: int) -> list[str]:
    """A call for each test where the calls are the same as before: those that met an axis, with another reply."""
    places, whole = [], []
    for place, row in enumerate(calls[:CALLS_COMPARED_MAX]):
        known, explanation = counterpart(calls, place, before), explanation_of(controls, row)
        differs = known is not None and IDS.sub("", known) != IDS.sub("", reply_text(explanation))
        if differs and _concerned(explanation, row, variant):
            places.append(place)
            if all(_concerned(explanation, row, Variant((choice,))) for choice in variant.changes):
                whole.append(place)
    places = whole or places
    if not places:
        return [describe_end(controls, calls, len(calls) - 1, variant, before)] * failed
    if len(places) == failed:
        return [describe_call(controls, calls, place, before) for place in places]
    first = describe_call(controls, calls, places[0], before)
    return [f"{first}\n  the first of {len(places)} replies that differ; which one the test met is not known"] * failed


def describe_end(controls: Controls, calls: Rows, place: int, variant: Variant, before: Reference) -> str:
    """That call, and the last one that met an axis of the variant, if that is another."""
    end = describe_call(controls, calls, place, before)
    lately = range(place, max(-1, place - ROWS_ASKED_MAX), -1)
    met = next((at for at in lately if _concerned(explanation_of(controls, calls[at]), calls[at], variant)), place)
    return end if met == place else f"{end}\nIt met the axis before: {describe_call(controls, calls, met, before)}"


def key_of(row: Mapping[str, Any]) -> str:
    return f"{row['method']} {row['operation']}"


def partings(calls: Rows, before: Reference) -> list[int]:
    """The last call before each that is not made any more."""
    found = SequenceMatcher(None, [key for key, _ in before], [key_of(row) for row in calls], autojunk=False)
    return [max(0, start - 1) for kind, _, _, start, _ in found.get_opcodes() if kind in ("delete", "replace")]


def counterpart(calls: Rows, place: int, before: Reference) -> str | None:
    """The reply that the same call had before: the one of its operation that came as the same in order."""
    key = key_of(calls[place])
    number = sum(key_of(row) == key for row in calls[:place])
    replies = [reply for one, reply in before if one == key]
    return replies[number] if number < len(replies) else None


def _concerned(explanation: Mapping[str, Any], row: Mapping[str, Any], variant: Variant) -> bool:
    """Whether the call met an axis of the variant."""
    axes = {axis for axis, _ in variant.changes}
    if row["operation"] and any(_concerns(axis, row["operation"]) for axis in axes & AXES.keys()):
        return True
    return not axes.isdisjoint(explanation.get("variants", {}))


def explanation_of(controls: Controls, row: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = controls.call("GET", f"/explain/{quote(row['request_id'], safe='')}").body
    except Refused:
        return {}
    return found


def reply_text(explanation: Mapping[str, Any]) -> str:
    """The body of the reply, without the name of the world."""
    content = explanation.get("content") or {"reply": {"body": ""}}
    return WORLD.sub("", str(content["reply"]["body"]))


def reference_of(controls: Controls, calls: Rows) -> Reference:
    """The calls of a run that passed, each with its reply: what a failing run is compared with."""
    return tuple((key_of(row), reply_text(explanation_of(controls, row))) for row in calls[:CALLS_COMPARED_MAX])


def describe_call(controls: Controls, calls: Rows, place: int, before: Reference) -> str:
    """The line of the request and of the reply, and the part of the reply that differs from the one before."""
    row = calls[place]
    explanation = explanation_of(controls, row)
    content = explanation.get("content") or {}
    lines = [f"{row['method']} {content.get('address', row['path'])} {row['status']}, Request-ID {row['request_id']}"]
    if sent := content.get("request", {}).get("body"):
        lines.append(f"  > {cut(' '.join(sent.split()), LINE_MAX)}")
    return "\n".join([*lines, *difference(counterpart(calls, place, before), reply_text(explanation))])


def difference(before: str | None, now: str) -> list[str]:
    """Lines of two replies that differ: `+` as now, then `-` as before. Without one before: how the reply begins."""
    if before is None:
        rows = [f"  < {line}" for line in now.splitlines()]
    else:
        found = unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
        lines = [f"  {line}" for line in found if not line.startswith(("---", "+++", "@@"))]
        rows = sorted(lines, key=lambda line: line.startswith("  -"))
    shown = [cut(row, LINE_MAX) for row in rows[:LINES_MAX]]
    return shown + ([f"  and {len(rows) - LINES_MAX} more lines"] if len(rows) > LINES_MAX else [])
