"""Compares the calls of a run under a variant with the calls of the default run, whose bank has no variant. Finds the
call that probably made a test fail. Also finds the axes that the calls met, that is, the axes on which their replies
may depend."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher, unified_diff
from itertools import islice
from typing import Any
from urllib.parse import quote

from sandbox.client import Controls, Refused
from sandbox.contract.decisions import AXES, SET_BY_SETTINGS
from sandbox.extensions.vary.runs import Reference
from sandbox.extensions.vary.space import DEFAULT_BANK, Variant
from sandbox.worlds.calls import cut

ROWS_ASKED_MAX = 50  # how many of the last calls are examined
INITIATIONS = ("payment_", "standing_order_", "bulk_")
READS = ("accounts", "account", "transactions")
# Operations by topic. No code asks for an axis that only changes settings. So each call of the operations of its topic
# meets the axis. If the topic is not in the table, each call of any operation meets it.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "initiation": INITIATIONS,
    "settling": ("payment_",),
    "standing orders": ("standing_order_",),
    "files": ("bulk_",),
    "tokens": ("consent_addresses", *READS),
    "accounts": READS,
    "callback": INITIATIONS,
}
# Axes that concern other operations than their topic says.
SIGNED = ("payment_initiation", "standing_order_initiation", "bulk_initiation")
OPERATIONS_OF_AXES: Mapping[str, tuple[str, ...]] = {"signatures": SIGNED, "date_tolerance": SIGNED}

Rows = Sequence[Mapping[str, Any]]
CALLS_COMPARED_MAX = 200
PLACES_MAX = 20
WORLD = re.compile(r"/worlds/[^/\"]+")
# Ids that clients make at random differ in each run and are not compared.
IDS = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
HEADERS_IGNORED = ("Response-ID", "response-id", "Content-Length", "content-length", "Date", "date")
LINES_MAX = 12  # of a reply that is shown
LINE_MAX = 300  # characters


def list_lies_met(controls: Controls) -> list[dict[str, Any]]:
    """Returns a row for each reply of the world that a lie changed. With `lie: listed` or `lie_as: failure` (see
    lie_filter.py), returns a row for each reply that a lie would have changed. Decimals become floats for JSON."""
    rows = controls.listed("lies")
    return [
        {name: float(value) if isinstance(value, Decimal) else value for name, value in row.items()} for row in rows
    ]


def list_axes_met(controls: Controls, calls: Rows) -> frozenset[str]:
    """Returns the axes that the calls met, that is, the axes on which their replies may depend. Most axes are reported
    by the world: it notes an axis as met when its code reads the bank's value of this axis.

    The world cannot report an axis of `SET_BY_SETTINGS`. Such an axis only changes settings, and code reads a setting
    without knowing the axis. The axis counts as met if an operation that it concerns was called.
    """
    operations = {row["operation"] for row in calls if row["operation"]}
    reported = {row["name"] for row in controls.listed("variants") if row["met"]}
    return frozenset(
        reported | {name for name in AXES if any(_do_settings_concern(name, operation) for operation in operations)}
    )


def _do_settings_concern(axis: str, operation: str) -> bool:
    """Whether the axis only changes settings, and these settings concern the operation."""
    prefixes = OPERATIONS_OF_AXES.get(axis) or OPERATIONS.get(AXES[axis].topic, ("",))
    return axis in SET_BY_SETTINGS and operation.startswith(prefixes)


def fetch_explanation(controls: Controls, request_id: str) -> Mapping[str, Any]:
    """Returns what the control `/explain` says about a call, such as its contents and the axes that it met. Returns an
    empty mapping if the control refuses, as for a call that is no longer stored."""
    try:
        explanation: Mapping[str, Any] = controls.call("GET", f"/explain/{quote(request_id, safe='')}").body
        return explanation
    except Refused:
        return {}


def has_met(axis: str, operation: str | None, reported: Mapping[str, Any]) -> bool:
    """Whether a call met an axis. `reported` are the axes that the control `/explain` lists for the call. For every
    call, the control lists all axes of the variant that only change settings. So for such an axis, the operation of the
    call decides instead."""
    if axis in SET_BY_SETTINGS:
        return operation is not None and _do_settings_concern(axis, operation)
    return axis in reported


class RunCalls:
    """The calls of one run under a variant, and the calls of the default run (`reference`), with which they are
    compared. In the default run itself, its own calls become the reference for later runs."""

    def __init__(self, controls: Controls, rows: Rows, variant: Variant, reference: Reference = ()) -> None:
        self.controls = controls
        self.rows = rows
        self._axes = {axis for axis, _ in variant.changes} & AXES.keys()
        self._explanations: dict[int, Mapping[str, Any]] = {}
        if variant == DEFAULT_BANK and not reference:
            reference = tuple((call_key(row), self.reply(place)) for place, row in enumerate(rows[:CALLS_COMPARED_MAX]))
        self.reference = reference

    def describe_each(self, failed: int) -> list[str]:
        """Returns a text for each of the `failed` tests, about the call at which the test probably failed. The texts
        are empty if the run made no calls.

        The calls of all tests are in one list, because the tests ran one after the other. A test that fails makes fewer
        calls than in the default run. So each place in the list where calls of the default run are missing is taken for
        the end of a failed test. If there are as many such places as failed tests, each text is about one place. If
        there are more or fewer, every text is about the first place. If there is no such place, the texts are those of
        `describe_changed_replies`.
        """
        if not self.rows:
            return [""] * failed
        places = find_divergences(self.rows, self.reference)[:PLACES_MAX]
        if not places:
            return self.describe_changed_replies(failed)
        texts = [self.describe_last(place) for place in places]
        return texts if len(texts) == failed else texts[:1] * failed

    def describe_changed_replies(self, failed: int) -> list[str]:
        """Returns a text for each of the `failed` tests, for a run in which no call is missing.

        The texts are about the calls that met an axis of the variant and got another reply than in the default run. If
        some of these calls met all axes of the variant, only those count. If as many calls count as tests failed, each
        text is about one call. If more or fewer count, every text is about the first of them. If none counts, every
        text is that of `describe_last`.
        """
        places = [place for place in range(len(self.rows))[:CALLS_COMPARED_MAX] if self._has_changed(place)]
        places = [place for place in places if self._axes == self._list_axes_met_by(place)] or places
        if not places:
            return [self.describe_last()] * failed
        if len(places) == failed:
            return [self.describe(place) for place in places]
        first = self.describe(places[0])
        hint = f"  the first of {len(places)} replies that differ; which one the test met is not known"
        return [f"{first}\n{hint}"] * failed

    def describe_last(self, place: int = -1) -> str:
        """Returns a text about the call that probably made a test fail, or an empty text if the run made no calls. The
        search goes back from the call with the index `place` (by default the last call), over ROWS_ASKED_MAX calls at
        most.

        If an axis did not change the reply to the call at `place`, the text is about the latest call before it whose
        reply an axis changed. If there is no such call, the text is about the call at `place`. If that call met no axis
        of the variant, the text also has the latest call before it that did.
        """
        if not self.rows:
            return ""
        place = range(len(self.rows))[place]
        recent = range(place, max(-1, place - ROWS_ASKED_MAX), -1)
        if self.reference and not self._has_changed(place):
            changed = next((earlier for earlier in recent if self._has_changed(earlier)), None)
            if changed is not None:
                return self.describe(changed)
        axis_place = next((earlier for earlier in recent if self._list_axes_met_by(earlier)), place)
        text = self.describe(place)
        return text if axis_place == place else f"{text}\nIt met the axis before: {self.describe(axis_place)}"

    def describe(self, place: int) -> str:
        """Returns a text about the call with the index `place`. Its lines are the call, the body that the call sent, if
        any, and the lines in which the reply differs from that of the default run (see `find_counterpart`). If the
        default run has no such call, the text has the whole reply instead. A long reply is cut."""
        row, content = self.rows[place], self.find_explanation(place).get("content") or {}
        address = content.get("address", row["path"])
        lines = [f"{row['method']} {address} {row['status']}, Request-ID {row['request_id']}"]
        if body := content.get("request", {}).get("body"):
            lines.append(f"  > {cut(' '.join(body.split()), LINE_MAX)}")
        return "\n".join(
            [*lines, *describe_difference(find_counterpart(self.rows, place, self.reference), self.reply(place))]
        )

    def find_explanation(self, place: int) -> Mapping[str, Any]:
        if "explanation" in self.rows[place]:  # noted before a world ended
            noted: Mapping[str, Any] = self.rows[place]["explanation"]
            return noted
        if place not in self._explanations:
            self._explanations[place] = fetch_explanation(self.controls, self.rows[place]["request_id"])
        return self._explanations[place]

    def reply(self, place: int) -> str:
        """Returns the reply's body and headers as text. Leaves out the world's name, and headers that differ in each
        run."""
        reply = (self.find_explanation(place).get("content") or {}).get("reply", {})
        headers = [
            f"{name}: {value}" for name, value in reply.get("headers", {}).items() if name not in HEADERS_IGNORED
        ]
        return WORLD.sub("", "\n".join([str(reply.get("body", "")), *headers]))

    def _list_axes_met_by(self, place: int) -> set[str]:
        """Returns the axes of the variant that the call met."""
        operation, reported = self.rows[place]["operation"], self.find_explanation(place).get("variants", {})
        return {axis for axis in self._axes if has_met(axis, operation, reported)}

    def _has_changed(self, place: int) -> bool:
        """Whether the call met an axis of the variant and got another reply than its counterpart in the default run
        (see `find_counterpart`). Random ids in the replies are not compared. False if it has no counterpart."""
        counterpart = find_counterpart(self.rows, place, self.reference)
        if counterpart is None or IDS.sub("", counterpart) == IDS.sub("", self.reply(place)):
            return False
        return bool(self._list_axes_met_by(place))


def call_key(row: Mapping[str, Any]) -> str:
    return f"{row['method']} {row['operation']}"


def find_divergences(calls: Rows, reference: Reference) -> list[int]:
    """Returns the indexes of the calls after which calls of the default run are missing, or are replaced by other
    calls. The index is 0 if this is so before the first call."""
    matcher = SequenceMatcher(None, [key for key, _ in reference], [call_key(row) for row in calls], autojunk=False)
    return [max(0, start - 1) for kind, _, _, start, _ in matcher.get_opcodes() if kind in ("delete", "replace")]


def find_counterpart(calls: Rows, place: int, reference: Reference) -> str | None:
    """Finds the call in the default run that corresponds to the call with the index `place`, and returns its reply as
    text. The n-th call of an operation in the one run corresponds to the n-th call of the same operation in the other.
    Returns None if the default run has fewer calls of the operation."""
    key = call_key(calls[place])
    number = sum(call_key(row) == key for row in calls[:place])
    replies = [reply for other, reply in reference if other == key]
    return replies[number] if number < len(replies) else None


def describe_difference(before: str | None, now: str) -> list[str]:
    """Returns the lines in which two replies differ. The lines that only `now` has begin with `+`. After them come the
    lines that only `before` has, which begin with `-`. If `before` is None, returns all lines of `now` instead, which
    begin with `<`. Returns at most LINES_MAX lines, and then a line that says how many more there are."""
    if before is None:
        rows: Iterable[str] = [f"  < {line}" for line in now.splitlines()]
    else:
        changes = unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
        without_heads = islice(changes, 2, None)  # the first two lines name the files
        rows = [f"  {line}" for line in without_heads if not line.startswith("@@")]
    lines = [cut(row, LINE_MAX) for row in sorted(rows, key=lambda row: row.startswith("  -"))]
    return lines[:LINES_MAX] + ([f"  and {len(lines) - LINES_MAX} more lines"] if len(lines) > LINES_MAX else [])
