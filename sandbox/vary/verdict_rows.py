"""A verdict as rows of plain values, to be handed from one process to another."""

from typing import Any

from sandbox.vary.runs import Result
from sandbox.vary.space import Space, Variant
from sandbox.vary.verdict import Break, Verdict


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    return {
        "tests": list(verdict.tests),
        "met": sorted(verdict.met),
        "breaks": [
            [one.test, [list(choice) for choice in one.variant.changes], one.result.failure, one.result.call]
            for one in verdict.breaks
        ],
        "flaky": dict(verdict.flaky),
        "variants": verdict.variants,
        "runs": verdict.runs,
    }


def verdict_from(row: dict[str, Any], space: Space, strength: int) -> Verdict:
    breaks = tuple(
        Break(test, Variant.of((axis, value) for axis, value in changes), Result(False, failure, call))
        for test, changes, failure, call in row["breaks"]
    )
    met = frozenset(row["met"])
    return Verdict(space, strength, tuple(row["tests"]), met, breaks, row["flaky"], row["variants"], row["runs"])
