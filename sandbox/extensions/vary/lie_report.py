"""The verdict on lies as lines for a terminal, and as parts of the reports of `vary`."""

from collections.abc import Iterator
from typing import Any

from sandbox.extensions.vary.lie_verdict import LieReading, LieVerdict
from sandbox.extensions.vary.lies import BY_NAME, LIES
from sandbox.web.html.reports import Case, Suite, clean, make_suppression

RULE = "lie/"  # before the names of lies, among the rules of SARIF
UNNOTICED = "UNNOTICED"
LIES_MAX = 10  # that a terminal shows
TESTS_MAX = 10  # of one lie that a terminal shows
MORE = "--report FILE.html lists all."


def group_by_lie(rows: tuple[LieReading, ...]) -> dict[str, list[LieReading]]:
    readings: dict[str, list[LieReading]] = {}
    for row in rows:
        readings.setdefault(row.lie, []).append(row)
    return readings


def describe_lie(name: str) -> str:
    """Returns a text such as `details_amount: The amount is 10 times what was ordered (service 2.4)`."""
    lie = BY_NAME[name]
    return f"{name}: {lie.says.rstrip('.')} ({lie.clause})"


def describe_values(row: LieReading) -> str:
    return f"{row.call}: {row.field} was {row.told!r}, and is {row.true!r}"


def describe_lies(verdict: LieVerdict) -> Iterator[str]:
    """Yields the verdict on lies in lines. They are about the following, in this order: the lies that no test notices,
    with the tests that read them; the number of times that a test passed although another test notices the lie; the
    lines of --allow-lies that are no longer needed; the lies that could change no reply. Long lists are cut."""
    groups = {
        lie: rows for lie, rows in group_by_lie(verdict.unnoticed).items() if not verdict.list_noticing_tests(lie)
    }
    for lie, rows in list(groups.items())[:LIES_MAX]:
        new = [row for row in rows if row.allowed is None]
        yield f"{UNNOTICED if new else 'allowed'}  {describe_lie(lie)}. Nobody would notice."
        yield f"        {BY_NAME[lie].harm}"
        yield f"        {describe_values(rows[0])}"
        for row in rows[:TESTS_MAX]:
            yield f"        in {row.test}" + (f" (allowed: {row.allowed})" if row.allowed else "")
        if len(rows) > TESTS_MAX:
            yield f"        and in {len(rows) - TESTS_MAX} more tests. {MORE}"
    if len(groups) > LIES_MAX:
        yield f"and {len(groups) - LIES_MAX} more lies that nobody would notice. {MORE}"
    unnoticed_here = [row for row in verdict.unnoticed if verdict.list_noticing_tests(row.lie)]
    if unnoticed_here:
        yield f"{len(unnoticed_here)} times a test read a lie and passed, while another test notices that lie. {MORE}"
    for line in verdict.ended:
        yield f"ended  {line}"
        yield "        It is noticed now: take this line out of the file of allowed lies."
    if verdict.unseen:
        yield f"No reply could be one of {len(verdict.unseen)} lies, so nothing is known about them:"
        yield f"        {', '.join(verdict.unseen)}"


def lies_as_json(verdict: LieVerdict) -> dict[str, Any]:
    return {
        "met": len(verdict.met),
        "noticed": len(verdict.noticed),
        "unnoticed": [_row_as_json(row, verdict) for row in verdict.unnoticed],
        "unseen": list(verdict.unseen),
        "ended": list(verdict.ended),
    }


def _row_as_json(row: LieReading, verdict: LieVerdict) -> dict[str, Any]:
    lie = BY_NAME[row.lie]
    return {
        "lie": row.lie,
        "test": row.test,
        "call": row.call,
        "field": row.field,
        "told": row.told,
        "true": row.true,
        "says": lie.says,
        "harm": lie.harm,
        "clause": lie.clause,
        "noticed_by": list(verdict.list_noticing_tests(row.lie)),
        "allowed": row.allowed,
    }


def lies_as_suite(verdict: LieVerdict) -> Suite:
    """Returns a JUnit suite with a case for each lie. A lie that tests read and no test notices is a failure, unless it
    is allowed. A lie that could change no reply is skipped."""
    rows = group_by_lie(verdict.unnoticed)
    cases = []
    for lie in LIES:
        readings = [] if verdict.list_noticing_tests(lie.name) else rows.get(lie.name, [])
        text = "\n".join(f"{row.test}: {describe_values(row)}" for row in readings)
        if lie.name in verdict.unseen:
            cases.append(Case(lie.name, "skipped", "no reply could be this lie"))
        elif any(row.allowed is None for row in readings):
            cases.append(Case(lie.name, "failure", f"{describe_lie(lie.name)}: nobody would notice", text, "lie"))
        else:
            cases.append(Case(lie.name, "system-out", text=text) if text else Case(lie.name))
    return Suite("lies", cases, "lies", properties=(("score", verdict.score),))


def make_lie_rules(verdict: LieVerdict) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{RULE}{name}",
            "shortDescription": {"text": BY_NAME[name].says},
            "help": {"text": f"{BY_NAME[name].harm} ({BY_NAME[name].clause})"},
            "properties": {"clause": BY_NAME[name].clause, "met": True},
        }
        for name in verdict.met
    ]


def make_lie_results(verdict: LieVerdict, rules_before: int) -> list[dict[str, Any]]:
    """Returns a SARIF result for each test that read a lie and passed. The result is a note if another test notices the
    lie, else an error. It is suppressed if the user allows it. `rules_before` is the number of rules in the report
    before the rules of lies."""
    return [
        {
            "ruleId": f"{RULE}{row.lie}",
            "ruleIndex": rules_before + verdict.met.index(row.lie),
            "level": "note" if verdict.list_noticing_tests(row.lie) else "error",
            "message": {"text": clean(f"{row.test} passes when {describe_lie(row.lie)}. {describe_values(row)}")},
            "locations": [{"logicalLocations": [{"name": row.test, "fullyQualifiedName": row.test}]}],
            "properties": {"told": row.told, "true": row.true, "call": row.call},
        }
        | make_suppression(row.allowed)
        for row in verdict.unnoticed
    ]
