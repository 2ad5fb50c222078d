"""Reports as JUnit XML; that of the referee has one case for each rule."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from lxml.etree import Element, SubElement, tostring

from sandbox.banking.durations import write_instant
from sandbox.referee.report import Finding, Report
from sandbox.referee.rule import Rule, Severity
from sandbox.referee.table import TABLE

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Case(NamedTuple):
    """A case; `outcome` is failure, error, skipped or system-out, and empty where there is nothing to say."""

    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""
    type: str = ""
    seconds: float = 0.0


class Suite(NamedTuple):
    name: str
    cases: list[Case]
    classname: str
    seconds: float = 0.0
    properties: tuple[tuple[str, str], ...] = ()


def write_junit(suites: Iterable[Suite], **more: str) -> bytes:
    """The document of all suites, with more attributes of its root."""
    rows = list(suites)
    counts = _counts([case for suite in rows for case in suite.cases])
    top = Element("testsuites", {key: counts[key] for key in ("tests", "failures", "errors")} | more)
    for suite in rows:
        facts = {"name": clean(suite.name), "time": f"{suite.seconds:.3f}"} | _counts(suite.cases)
        element = SubElement(top, "testsuite", facts)
        properties = SubElement(element, "properties") if suite.properties else element
        for name, value in suite.properties:
            SubElement(properties, "property", name=name, value=clean(value))
        for case in suite.cases:
            names = {"classname": suite.classname, "name": clean(case.name), "time": f"{case.seconds:.3f}"}
            inner = SubElement(element, "testcase", names)
            if case.outcome:
                words = (("message", clean(case.message)), ("type", case.type))
                reason = SubElement(inner, case.outcome, {name: word for name, word in words if word})
                reason.text = clean(case.text) or None
    return tostring(top, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _counts(cases: list[Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {"tests": str(len(cases))} | {key: str(outcomes.count(outcome)) for key, outcome in COUNTED.items()}


def as_junit(report: Report, level: Severity) -> bytes:
    """A finding at or above the level fails its rule's case; others are listed in the output."""
    failed = {row.found.rule.id for row in report.unwaived(level)}
    cases = [_case(rule, [row for row in report.findings if row.found.rule.id == rule.id], failed) for rule in TABLE]
    return write_junit([Suite(f"referee {report.world}", cases, "referee")])


def _case(rule: Rule, findings: list[Finding], failed: set[str]) -> Case:
    text = "\n".join(map(line, findings)) + f"\n{rule.instead} ({rule.clause})"
    if rule.id in failed:
        return Case(rule.id, "failure", rule.title, text, rule.severity.value)
    if findings and findings[0].reason is not None:
        return Case(rule.id, "skipped", findings[0].reason)
    return Case(rule.id, "system-out", text=text) if findings else Case(rule.id)


def line(finding: Finding) -> str:
    """A finding as one line of text."""
    exchange = finding.found.exchange
    call = f"{exchange.operation or exchange.method + ' ' + exchange.path} {exchange.request_id}".strip()
    waved = "" if finding.reason is None else f" (waved off: {finding.reason})"
    return f"{write_instant(exchange.at)}  {call}: {finding.found.what}{waved}"


def clean(text: str) -> str:
    """The text without characters that XML forbids."""
    return UNWRITABLE.sub("?", text)
