"""What the referee found, and what a run has met (choice 10)."""

from typing import Any

from flask import Request, Response

from sandbox.control.asking import refuse
from sandbox.referee import report
from sandbox.referee.report import Report
from sandbox.worlds import World


def findings(world: World, request: Request) -> dict[str, Any] | Response:
    """As JSON, or in the format that is asked for; `waive` may come again and again."""
    try:
        found: Report = report.report_of(world, request.args.getlist("waive"))
    except ValueError as error:
        raise refuse("waive", str(error)) from None
    kind = request.args.get("format", "json")
    if kind == "json":
        return report.as_json(found)
    raise refuse("format", "json")
