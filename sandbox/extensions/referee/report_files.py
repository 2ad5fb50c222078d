"""The referee's report as files: JUnit XML, SARIF 2.1.0, and one self-contained HTML page."""

import re
from html import escape
from typing import Any
from urllib.parse import quote

from sandbox.banking.durations import write_instant
from sandbox.extensions.referee.report import Finding, RefereeReport
from sandbox.extensions.referee.rule import RefereeRule, Severity
from sandbox.extensions.referee.table import TABLE
from sandbox.web.html.pages import page_headers, policy_of, source_of, whole_page
from sandbox.web.html.reports import STYLE, Case, Suite, article, escape_text, one_run, suppressed_for, write_junit
from sandbox.worlds.calls import Exchange, describe_call

# JUnit: one case for each rule


def as_junit(report: RefereeReport, level: Severity) -> bytes:
    """A finding at or above the level fails its rule's case; others are listed in the output."""
    failed = {row.found.rule.id for row in report.unwaived(level)}
    cases = [_case(rule, [row for row in report.findings if row.found.rule.id == rule.id], failed) for rule in TABLE]
    return write_junit([Suite(f"referee {report.world}", cases, "referee")])


def _case(rule: RefereeRule, findings: list[Finding], failed: set[str]) -> Case:
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


# SARIF, for code hosts and editors

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
PLACES = {row.id: place for place, row in enumerate(TABLE)}


def as_sarif(report: RefereeReport) -> dict[str, Any]:
    return one_run("referee", map(_rule, TABLE), map(_result, report.findings), {"world": report.world})


def _rule(row: RefereeRule) -> dict[str, Any]:
    return {
        "id": row.id,
        "shortDescription": {"text": f"{row.title}."},
        "help": {"text": f"{row.instead} ({row.clause})"},
        "defaultConfiguration": {"level": LEVELS[row.severity]},
        "properties": {"clause": row.clause},
    }


def _result(finding: Finding) -> dict[str, Any]:
    """One finding, located at its call."""
    rule, exchange = finding.found.rule, finding.found.exchange
    name = f"{exchange.operation or exchange.method} {exchange.request_id}".strip()
    result: dict[str, Any] = {
        "ruleId": rule.id,
        "ruleIndex": PLACES[rule.id],
        "level": LEVELS[rule.severity],
        "message": {"text": f"{rule.title}: {finding.found.what}. {rule.instead} ({rule.clause})"},
        "locations": [
            {
                "physicalLocation": _place(exchange),
                "logicalLocations": [{"name": exchange.operation or "call", "fullyQualifiedName": name}],
            }
        ],
        "properties": {name: describe_call(exchange)[name] for name in ("request_id", "at", "status", "client_id")},
    }
    if finding.found.proof.calls:
        result["relatedLocations"] = [
            {"physicalLocation": _place(call), "message": {"text": f"call {call.request_id}"}}
            for call in finding.found.proof.calls
        ]
    return result | suppressed_for(finding.reason)


def _place(exchange: Exchange) -> dict[str, Any]:
    """Code hosts want a file and a line. The call stands for the file; its first line is the request line."""
    line = f"{exchange.method} {exchange.path} {exchange.status}"
    # A relative reference (RFC 3986, 4.2): escapes stay, and no colon may look like a scheme.
    uri = quote(LONE_PERCENT.sub("%25", exchange.path.lstrip("/")), safe="/%~", errors="replace") or "call"
    return {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": 1, "snippet": {"text": line}},
    }


# HTML

# Where a server gives it out: the policy repeats that of the page, with what only a header can say.
HEADERS = page_headers(policy_of(style=source_of(STYLE), img="data:"))


def as_page(report: RefereeReport) -> str:
    standing, waved = len(report.unwaived()), len(report.findings) - len(report.unwaived())
    summary = (
        f"{standing} finding{'' if standing == 1 else 's'}, {waved} waved off." if report.findings else "No finding."
    )
    rows = "".join(map(_article, report.findings))
    body = f"<h1>Referee: world {escape(report.world)}</h1><p>{summary}</p>{rows}"
    return whole_page(f"Referee: {report.world}", STYLE, body)


def _article(finding: Finding) -> str:
    rule, exchange = finding.found.rule, finding.found.exchange
    waved = "" if finding.reason is None else f"<p>Waved off: {escape(finding.reason)}</p>"
    content = (
        f"<p>{escape_text(finding.found.what)}.</p>{_proof(finding)}<p>{escape(rule.instead)}</p>{waved}"
        f"<p><small>{rule.severity.value} <code>{rule.id}</code>, {rule.clause}; {write_instant(exchange.at)}, "
        f"{escape(exchange.operation or 'no operation')}, answered {exchange.status}, <code>"
        f"{escape_text(f'{exchange.method} {exchange.path}')}</code>, "
        f"Request-ID <code>{escape(exchange.request_id)}</code></small></p>"
    )
    return article(rule.severity.value + (" waved" if waved else ""), rule.title, content)


def _proof(finding: Finding) -> str:
    """The earlier calls that prove it, and how the calls differ."""
    proof = finding.found.proof
    calls = "".join(f"<li>call <code>{escape(call.request_id)}</code></li>" for call in proof.calls)
    rows = "".join(f"<li><code>{escape_text(line)}</code></li>" for line in proof.difference)
    return f"<ul>{calls}{rows}</ul>" if calls or rows else ""
