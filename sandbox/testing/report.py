"""The report of a failed test: the clock, the journal, the timeline and the last calls."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from sandbox.client import Refused, Unreadable
from sandbox.contract.errors import Error
from sandbox.extensions.referee.coverage import describe_cell, merge_coverage
from sandbox.extensions.referee.report import read_waive
from sandbox.extensions.referee.rule import Severity
from sandbox.testing.bank import Bank

JOURNAL_MAX = 20
COMING_MAX = 5
CALLS_MAX = 10
NAME_MAX = 120  # characters of a film's file
REFUSED = 400


NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, Refused, Unreadable)


def render_bank(bank: Bank) -> str:
    """Renders the report; an unreachable bank gives a line of text instead of an error."""
    try:
        return "\n".join(lines(bank))
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"


def write_film(bank: Bank, folder: Path, test: str) -> str:
    """Writes the film of a failed test, and says where; a bank that cannot be asked gives a line of text."""
    from sandbox.extensions.film import render_film

    file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', test)[-NAME_MAX:]}.html"
    try:
        text = render_film(bank.controls, test)
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}"
    return f"{file}: open it in a browser"


def unreachable_reason(bank: Bank) -> str:
    """The reason why a bank cannot be reached; empty when it can."""
    try:
        bank.clock.get()
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"
    return ""


def lines(bank: Bank) -> Iterator[str]:
    face = bank.clock.get()
    yield f"{bank.base_url}, its clock {face.mode} at {face.now.isoformat()}"
    yield from _part("what happened", map(_change, bank.journal[-JOURNAL_MAX:]))
    yield from _part("what comes next", map(_promise, bank.timeline[:COMING_MAX]))
    yield from _part("the last calls", (line for call in bank.requests[-CALLS_MAX:] for line in _call(bank, call)))


def _part(title: str, rows: Iterator[str]) -> Iterator[str]:
    yield f"{title}:"
    found = [f"  {row}" for row in rows]
    yield from found or ["  nothing"]


def _change(row: dict[str, Any]) -> str:
    came = f"{row['from']} -> {row['to']}" if row["from"] else row["to"]
    return f"{row['at']}  {row['subject']}  {came}  {row['trigger']}{' ' + row['reason'] if row['reason'] else ''}"


def _promise(row: dict[str, Any]) -> str:
    return f"{row['at']}  {row['subject']}  {row['trigger']}"


def _call(bank: Bank, row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['at']}  {row['method']} {row['path']}  {row['status']}  {row['request_id']}"
    if row["status"] >= REFUSED:
        why = bank.explain(row["request_id"])
        yield f"    {client_view(why['error'])} ({why['clause']}): {why['rule']}"


def client_view(error: str | None) -> str:
    """An error's token and code; a fault rule's reply has none."""
    if error is None or error not in Error.__members__:
        return error or "by a rule"
    row = Error[error].value
    return f"{row.error} {row.code}"


def render_findings(bank: Bank, level: str, waives: Sequence[str] = ()) -> str:
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
