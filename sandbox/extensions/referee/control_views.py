"""The controls of the referee: what the clients of a world did wrong, and what of the bank they have met."""

from typing import Any

from flask import Request, Response

from sandbox.extensions.referee.coverage import coverage_of
from sandbox.extensions.referee.report import RefereeReport, as_json, report_of
from sandbox.extensions.referee.rule import Severity
from sandbox.web.controls.request_bodies import refuse
from sandbox.worlds.world import World


def findings(world: World, request: Request, query: dict[str, Any]) -> dict[str, Any] | Response:
    """As JSON, or in the format that is asked for; `waive` may come again and again."""
    try:
        report = report_of(world, request.args.getlist("waive"))
    except ValueError as error:
        raise refuse("waive", str(error)) from None
    return report_row(report, query.get("format", "json"), Severity(query.get("level", Severity.ERROR)))


def report_row(report: RefereeReport, kind: str, level: Severity) -> dict[str, Any] | Response:
    """The formats are loaded when one of them is first asked for."""
    if kind == "json":
        return as_json(report)
    from sandbox.extensions.referee.report_files import HEADERS, as_junit, as_page, as_sarif

    match kind:
        case "junit":
            return Response(as_junit(report, level), content_type="application/xml;charset=utf-8")
        case "sarif":
            return as_sarif(report)
        case _:
            return Response(as_page(report), headers=HEADERS, content_type="text/html;charset=utf-8")


def coverage(world: World) -> dict[str, Any]:
    return coverage_of(world)
