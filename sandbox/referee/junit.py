"""The report as JUnit XML: one case for each rule."""

import re

from lxml.etree import Element, SubElement, _Element, tostring

from sandbox.banking.durations import write_instant
from sandbox.referee.report import Finding, Report
from sandbox.referee.rule import Rule, Severity
from sandbox.referee.table import TABLE

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report, level: Severity) -> bytes:
    """A finding at or above the level fails its rule's case; others are listed in the output."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.found.rule.id, []).append(finding)
    failed = {row.found.rule.id for row in report.unwaived(level)}
    waved = {name for name, rows in by_rule.items() if all(row.reason is not None for row in rows)}
    suite = Element(
        "testsuite",
        name=f"referee {clean(report.world)}",
        tests=str(len(TABLE)),
        failures=str(len(failed)),
        errors="0",
        skipped=str(len(waved)),
        time="0",
    )
    for rule in TABLE:
        _case(suite, rule, by_rule.get(rule.id, []), rule.id in failed)
    suites = Element("testsuites", tests=str(len(TABLE)), failures=str(len(failed)), errors="0")
    suites.append(suite)
    return tostring(suites, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _case(suite: _Element, rule: Rule, findings: list[Finding], failed: bool) -> None:
    case = SubElement(suite, "testcase", classname="referee", name=rule.id, time="0")
    if not findings:
        return
    report_text = clean("\n".join(map(line, findings)) + f"\n{rule.instead} ({rule.clause})")
    if failed:
        SubElement(case, "failure", message=rule.title, type=rule.severity.value).text = report_text
    elif findings[0].reason is not None:
        SubElement(case, "skipped", message=clean(findings[0].reason))
    else:
        SubElement(case, "system-out").text = report_text


def line(finding: Finding) -> str:
    """A finding as one line of text."""
    exchange = finding.found.exchange
    call = f"{exchange.operation or exchange.method + ' ' + exchange.path} {exchange.request_id}".strip()
    waved = "" if finding.reason is None else f" (waved off: {finding.reason})"
    return f"{write_instant(exchange.at)}  {call}: {finding.found.what}{waved}"


def clean(text: str) -> str:
    """The text without characters that XML forbids."""
    return UNWRITABLE.sub("?", text)
