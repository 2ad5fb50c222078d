"""What the referee says of the tests of a run, as text."""

from collections.abc import Sequence
from typing import Any

from sandbox.extensions.referee.coverage import describe_cell, merge_coverage
from sandbox.extensions.referee.report import read_waive
from sandbox.extensions.referee.rule import Severity
from sandbox.testing.bank import BankFixture


def render_findings(bank: BankFixture, level: str, waives: Sequence[str] = ()) -> str:
    """The findings at or above the level that are not suppressed, as text; empty if there are none."""
    waved = dict(map(read_waive, waives))
    rows = [
        row
        for row in bank.findings
        if not row["waved_off"] and row["rule"] not in waved and Severity(row["severity"]).is_at_least(Severity(level))
    ]
    return "\n".join(["the referee found:", *map(_finding, rows)]) if rows else ""


def _finding(row: dict[str, Any]) -> str:
    call = row["call"]
    return (
        f"  {row['severity']} {row['rule']} ({row['clause']}): {row['title']}: {row['what']}\n"
        f"    {call['method']} {call['path']} {call['request_id']} at {call['at']}\n    {row['instead']}"
    )


def render_coverage(parts: Sequence[dict[str, Any]]) -> str:
    """The coverage of all tests as text."""
    found = merge_coverage(parts)
    rows = [f"{row['kind']:10} {row['met']:4} of {row['all']:4}  {row['percent']:5} %" for row in found["table"]]
    missing = [f"  {describe_cell(cell)}" for cell in found["most_useful_not_met"]]
    return "\n".join([*rows, f"{found['percent']} % of everything; not met yet, most useful first:", *missing])
