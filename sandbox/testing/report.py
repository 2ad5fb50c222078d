"""The report about the bank that is added to a failed test: the clock, the journal, the timeline and the last calls."""

from collections.abc import Iterator
from typing import Any

import httpx

from sandbox.client import Refused, Unreadable
from sandbox.contract.errors import Error
from sandbox.testing.bank import BankFixture

JOURNAL_MAX = 20
COMING_MAX = 5
CALLS_MAX = 10
REFUSED = 400


NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, Refused, Unreadable)


def render_bank(bank: BankFixture) -> str:
    """Returns the report as text. If the bank cannot be reached, it is one line that says so."""
    try:
        return "\n".join(render_lines(bank))
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"


def find_unreachable_reason(bank: BankFixture) -> str:
    """Returns why the bank cannot be reached, or an empty text if it can."""
    try:
        bank.clock.get()
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"
    return ""


def render_lines(bank: BankFixture) -> Iterator[str]:
    clock = bank.clock.get()
    yield f"{bank.base_url}, its clock {clock.mode} at {clock.now.isoformat()}"
    yield from _write_part("what happened", map(_change, bank.journal[-JOURNAL_MAX:]))
    yield from _write_part("what comes next", map(_promise, bank.timeline[:COMING_MAX]))
    yield from _write_part(
        "the last calls", (line for call in bank.requests[-CALLS_MAX:] for line in _call(bank, call))
    )


def _write_part(title: str, rows: Iterator[str]) -> Iterator[str]:
    yield f"{title}:"
    lines = [f"  {row}" for row in rows]
    yield from lines or ["  nothing"]


def _change(row: dict[str, Any]) -> str:
    came = f"{row['from']} -> {row['to']}" if row["from"] else row["to"]
    return f"{row['at']}  {row['subject']}  {came}  {row['trigger']}{' ' + row['reason'] if row['reason'] else ''}"


def _promise(row: dict[str, Any]) -> str:
    return f"{row['at']}  {row['subject']}  {row['trigger']}"


def _call(bank: BankFixture, row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['at']}  {row['method']} {row['path']}  {row['status']}  {row['request_id']}"
    if row["status"] >= REFUSED:
        explanation = bank.explain(row["request_id"])
        yield f"    {describe_client_view(explanation['error'])} ({explanation['clause']}): {explanation['rule']}"


def describe_client_view(error: str | None) -> str:
    """Returns the texts by which a client recognizes a refusal: the values of the fields `error` and `error_code` that
    the bank sends by default. The parameter is the name of a member of the enumeration `Error`. A name that `Error`
    does not have is returned unchanged. None becomes `by a rule`, because a fault rule usually made the reply then."""
    if error is None or error not in Error.__members__:
        return error or "by a rule"
    row = Error[error].value
    return f"{row.error} {row.code}"
