"""The report as SARIF 2.1.0, for code hosts and editors."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from sandbox.banking.durations import write_instant
from sandbox.referee.report import Finding, Report
from sandbox.referee.rule import Rule, Severity
from sandbox.referee.table import TABLE
from sandbox.world.calls import Exchange
from sandbox.world.log.format import program

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
Row = dict[str, Any]
PLACES = {row.id: place for place, row in enumerate(TABLE)}


def as_sarif(report: Report) -> dict[str, Any]:
    return one_run("referee", map(_rule, TABLE), map(_result, report.findings), {"world": report.world})


def one_run(tool: str, rules: Iterable[Row], results: Iterable[Row], properties: Row) -> Row:
    driver = {"name": f"bank-sandbox {tool}", "version": program(), "rules": list(rules)}
    run = {"tool": {"driver": driver}, "results": list(results), "properties": properties}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def suppressed_for(reason: str | None) -> Row:
    """What a result has beside the rest where somebody gave a reason to live with it."""
    if reason is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": reason}]}


def _rule(row: Rule) -> dict[str, Any]:
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
        "properties": {
            "request_id": exchange.request_id,
            "at": write_instant(exchange.at),
            "status": exchange.status,
            "client_id": exchange.client_id,
        },
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
