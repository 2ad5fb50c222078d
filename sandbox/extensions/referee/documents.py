"""Documents of the referee: its report as JUnit XML, SARIF 2.1.0 and one self-contained HTML page, and its rules."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from sandbox.banking.durations import write_instant
from sandbox.extensions.referee.report import SHOWN, BrokenRule, RefereeReport, list_broken_rules
from sandbox.extensions.referee.rule import Finding, RefereeRule, Severity
from sandbox.extensions.referee.table import TABLE
from sandbox.web.docs.reference_tables import Table, make_table, write_table_page
from sandbox.web.html.pages import compute_source, draw_whole_page, make_page_headers, write_policy
from sandbox.web.html.reports import (
    STYLE,
    Case,
    Suite,
    escape_text,
    make_run,
    make_suppression,
    write_article,
    write_junit,
)
from sandbox.worlds.calls import Exchange, describe_call

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}  # of SARIF
LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
PLACES = {row.id: place for place, row in enumerate(TABLE)}
# The policy repeats that of the page, with the parts that only a header can have.
HEADERS = make_page_headers(write_policy(style=compute_source(STYLE), img="data:"))


def as_junit(report: RefereeReport, level: Severity) -> bytes:
    """Returns a report with a test case for each rule. A case fails if its rule has a finding at or above the level.
    Other findings are in the output of the case."""
    failed = {row.rule.id for row in report.list_unwaived(level)}
    cases = [
        make_junit_case(rule, [row for row in report.findings if row.rule.id == rule.id], failed) for rule in TABLE
    ]
    return write_junit([Suite(f"referee {report.world}", cases, "referee")])


def make_junit_case(rule: RefereeRule, findings: list[Finding], failed: set[str]) -> Case:
    text = "\n".join(map(write_junit_line, findings)) + f"\n{rule.instead} ({rule.clause})"
    if rule.id in failed:
        return Case(rule.id, "failure", rule.title, text, rule.severity.value)
    if findings and findings[0].reason is not None:
        return Case(rule.id, "skipped", findings[0].reason)
    return Case(rule.id, "system-out", text=text) if findings else Case(rule.id)


def write_junit_line(finding: Finding) -> str:
    exchange = finding.exchange
    call = f"{exchange.operation or exchange.method + ' ' + exchange.path} {exchange.request_id}".strip()
    waived = "" if finding.reason is None else f" (accepted: {finding.reason})"
    return f"{write_instant(exchange.at)}  {call}: {finding.what}{waived}"


def as_sarif(report: RefereeReport) -> dict[str, Any]:
    return make_run(
        "referee", map(make_sarif_rule, TABLE), map(make_sarif_result, report.findings), {"world": report.world}
    )


def make_sarif_rule(row: RefereeRule) -> dict[str, Any]:
    return {
        "id": row.id,
        "shortDescription": {"text": f"{row.title}."},
        "help": {"text": f"{row.instead} ({row.clause})"},
        "defaultConfiguration": {"level": LEVELS[row.severity]},
        "properties": {"clause": row.clause},
    }


def make_sarif_result(finding: Finding) -> dict[str, Any]:
    rule, exchange = finding.rule, finding.exchange
    name = f"{exchange.operation or exchange.method} {exchange.request_id}".strip()
    call = describe_call(exchange)
    result: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": PLACES[rule.id],
        "level": LEVELS[rule.severity],
        "message": {"text": f"{rule.title}: {finding.what}. {rule.instead} ({rule.clause})"},
        "locations": [
            {
                "physicalLocation": make_sarif_location(exchange),
                "logicalLocations": [{"name": exchange.operation or "call", "fullyQualifiedName": name}],
            }
        ],
        "properties": {name: call[name] for name in ("request_id", "at", "status", "client_id")},
    }
    if finding.proof.calls:
        result["relatedLocations"] = [
            {"physicalLocation": make_sarif_location(call), "message": {"text": f"call {call.request_id}"}}
            for call in finding.proof.calls
        ]
    return result | make_suppression(finding.reason)


def make_sarif_location(exchange: Exchange) -> dict[str, Any]:
    """Returns the location of a call for SARIF. Code hosts require a file and a line, so the path of the call is the
    file, and the line is 1."""
    # A relative reference (RFC 3986, 4.2): escapes stay, and no colon may look like a scheme.
    uri = quote(LONE_PERCENT.sub("%25", exchange.path.lstrip("/")), safe="/%~", errors="replace") or "call"
    line = f"{exchange.method} {exchange.path} {exchange.status}"
    return {"artifactLocation": {"uri": uri}, "region": {"startLine": 1, "snippet": {"text": line}}}


def as_page(report: RefereeReport) -> str:
    """Returns one HTML page with an article for each broken rule, the gravest first."""
    unwaived = len(report.list_unwaived())
    summary = f"{unwaived} finding{'' if unwaived == 1 else 's'}, {len(report.findings) - unwaived} accepted."
    body = f"<h1>Referee: world {escape(report.world)}</h1><p>{summary if report.findings else 'No finding.'}</p>"
    rows = sorted(list_broken_rules(report), key=lambda row: row.reason is not None)
    return draw_whole_page(f"Referee: {report.world}", STYLE, body + "".join(map(write_rule_article, rows)))


def write_rule_article(row: BrokenRule) -> str:
    rule, times = row.rule, row.times
    waived = "" if row.reason is None else f"<p>Accepted: {escape_text(row.reason)}</p>"
    first_findings, folded_findings = (
        write_finding_list(part) for part in (row.findings[:SHOWN], row.findings[SHOWN:])
    )
    more = (
        f"<details><summary>{len(row.findings) - SHOWN:,} more</summary>{folded_findings}</details>"
        if folded_findings
        else ""
    )
    unlisted = f"<p><small>and {row.unlisted:,} more, of which only the number is kept</small></p>"
    content = (
        f"<p>{escape(rule.instead)}</p>{waived}{first_findings}{more}{unlisted if row.unlisted else ''}"
        f"<p><small>{rule.severity.value} <code>{rule.id}</code>, {rule.clause}</small></p>"
    )
    title = f"{rule.title}, {times:,} times" if times > 1 else rule.title
    return write_article(rule.severity.value + (" waved" if waived else ""), title, content)


def write_finding_list(findings: Sequence[Finding]) -> str:
    rows = "".join(f"<li>{write_finding(finding)}</li>" for finding in findings)
    return f"<ul>{rows}</ul>" if rows else ""


def write_finding(finding: Finding) -> str:
    exchange, proof = finding.exchange, finding.proof
    calls = "".join(f"<li>call <code>{escape(call.request_id)}</code></li>" for call in proof.calls)
    rows = "".join(f"<li><code>{escape_text(line)}</code></li>" for line in proof.difference)
    evidence = f"<ul>{calls}{rows}</ul>" if calls or rows else ""
    return (
        f"<p>{escape_text(finding.what)}.</p>{evidence}<p><small>{write_instant(exchange.at)}, "
        f"{escape(exchange.operation or 'no operation')}, answered {exchange.status}, <code>"
        f"{escape_text(f'{exchange.method} {exchange.path}')}</code>, "
        f"Request-ID <code>{escape(exchange.request_id)}</code></small></p>"
    )


def rules() -> Table:
    return make_table(
        ("rule", "severity", "what is seen", "instead"),
        ((row.id, row.severity.value, row.title, row.instead, row.clause) for row in TABLE),
    )


def write_rules_page() -> str:
    return write_table_page("referee", "Rules of the referee", "What it notices about clients.")
