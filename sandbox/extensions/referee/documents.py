"""Documents of the referee: its report as JUnit XML, as SARIF 2.1.0 and as one self-contained HTML page, and the table
of its rules for the documentation."""

import re
from typing import Any
from urllib.parse import quote

from sandbox.banking.durations import write_instant
from sandbox.extensions.referee.report import SHOWN, RefereeReport, list_broken_rules
from sandbox.extensions.referee.rule import Finding, RefereeRule, Severity
from sandbox.extensions.referee.table import TABLE
from sandbox.web.docs.reference_tables import Table, make_table, write_table_page
from sandbox.web.html.pages import compute_source, make_page_headers, write_policy
from sandbox.web.html.reports import (
    STYLE,
    Case,
    Suite,
    draw_report,
    make_run,
    make_suppression,
    write_junit,
)
from sandbox.worlds.calls import Exchange, describe_call

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}  # of SARIF
LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
PLACES = {row.id: place for place, row in enumerate(TABLE)}
# The policy repeats that of the page, with the parts that only a header can have.
HEADERS = make_page_headers(write_policy(style=compute_source(STYLE), img="data:"))


def as_junit(report: RefereeReport, level: Severity) -> bytes:
    """Returns the report with a test case for each rule. The case fails if the rule has findings at or above the level
    that are not waived. It is skipped if the rule has findings and is waived. Otherwise its output lists the findings,
    if there are any."""
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
    """Returns one HTML page with an article for each broken rule, the gravest first. Waived rules come last."""
    unwaived = len(report.list_unwaived())
    return draw_report(
        "sandbox.extensions.referee",
        "report.html",
        f"Referee: {report.world}",
        world=report.world,
        unwaived=unwaived,
        waived=len(report.findings) - unwaived,
        broken_rules=sorted(list_broken_rules(report), key=lambda row: row.reason is not None),
        shown=SHOWN,
        write_instant=write_instant,
    )


def rules() -> Table:
    return make_table(
        ("rule", "severity", "what is seen", "instead"),
        ((row.id, row.severity.value, row.title, row.instead, row.clause) for row in TABLE),
    )


def write_rules_page() -> str:
    return write_table_page("referee", "Rules of the referee", "What it notices about clients.")
