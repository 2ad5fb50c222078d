"""What the referee found, and what a run has met (choice 10)."""

from typing import Any

from flask import Request, Response

from sandbox.referee.coverage import coverage_of
from sandbox.referee.report import Report, as_json, report_of
from sandbox.referee.rule import Severity
from sandbox.web.controls.request_bodies import refuse
from sandbox.world.world import World


def findings(world: World, request: Request, query: dict[str, Any]) -> dict[str, Any] | Response:
    """As JSON, or in the format that is asked for; `waive` may come again and again."""
    try:
        report = report_of(world, request.args.getlist("waive"))
    except ValueError as error:
        raise refuse("waive", str(error)) from None
    return report_row(report, query.get("format", "json"), Severity(query.get("level", Severity.ERROR)))


def report_row(report: Report, kind: str, level: Severity) -> dict[str, Any] | Response:
    """The formats are loaded when they are first asked for."""
    match kind:
        case "junit":
            from sandbox.referee.junit import as_junit

            return Response(as_junit(report, level), content_type="application/xml;charset=utf-8")
        case "sarif":
            from sandbox.referee.sarif import as_sarif

            return as_sarif(report)
        case "html":
            from sandbox.referee.page import HEADERS, as_page

            return Response(as_page(report), headers=HEADERS, content_type="text/html;charset=utf-8")
        case _:
            return as_json(report)


def coverage(world: World) -> dict[str, Any]:
    return coverage_of(world)
