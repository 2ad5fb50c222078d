"""Whether the sandbox is ready, what the referee found, and what a run has met (choice 10)."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flask import Request, Response

from sandbox.contract.errors import Error, Refusal
from sandbox.referee.coverage import coverage_of
from sandbox.referee.report import Report, as_json, report_of
from sandbox.referee.rule import Severity
from sandbox.web.controls.request_bodies import refuse
from sandbox.world.log.format import StateFileError
from sandbox.world.registry import Worlds
from sandbox.world.world import World

if TYPE_CHECKING:
    from sandbox.world.log.state_store import StateStore


def health(worlds: Worlds, query: dict[str, Any]) -> dict[str, Any]:
    """Ready: calls are answered, and what they do is kept. `?live` asks only whether anybody is there."""
    if "live" in query:
        return {"status": "live"}
    if worlds.store is None:
        return {"status": "ready"}
    with suppress(StateFileError):  # which is told below
        worlds.store.connection.demand()  # asks the file again, if it could not be written
    if worlds.store.connection.unready is not None:
        raise Refusal(Error.NOT_READY, why=worlds.store.connection.unready)
    return {"status": "ready", **state_of(worlds.store)}


def state_of(store: "StateStore") -> dict[str, Any]:
    """The state file's figures in the health of a bank that is ready."""
    shown: dict[str, Any] = {}
    if store.progress is not None:
        shown |= {"acts": store.progress.acts, "checked": store.progress.checked}
    if store.connection.notes:
        shown["notes"] = list(store.connection.notes)
    return {"state_file": shown} if shown else {}


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
