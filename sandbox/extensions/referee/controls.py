"""The controls of the referee: one returns the mistakes of a world's clients, the other the coverage, that is, which
parts of the bank their calls have reached."""

from typing import Any

from flask import Request, Response
from marshmallow import Schema, fields

from sandbox.extensions.referee.coverage import compute_coverage
from sandbox.extensions.referee.report import as_json, make_report
from sandbox.extensions.referee.rule import Severity
from sandbox.web.controls.body_fields import reply
from sandbox.web.controls.request_bodies import refuse
from sandbox.web.docs.control_schemas import (
    LoggedCall,
    amount,
    flag,
    make_rows_field,
    number,
    text,
    text_or_null,
    texts,
)
from sandbox.web.docs.reply_schemas import make_one_of
from sandbox.worlds.world import World


def findings(world: World, request: Request, query: dict[str, Any]) -> dict[str, Any] | Response:
    try:
        report = make_report(world, request.args.getlist("waive"))
    except ValueError as error:
        raise refuse("waive", str(error)) from None
    kind = query.get("format", "json")
    if kind == "json":
        return as_json(report)
    from sandbox.extensions.referee.documents import HEADERS, as_junit, as_page, as_sarif

    match kind:
        case "junit":
            level = Severity(query.get("level", Severity.ERROR))
            return Response(as_junit(report, level), content_type="application/xml;charset=utf-8")
        case "sarif":
            return as_sarif(report)
        case _:
            return Response(as_page(report), headers=HEADERS, content_type="text/html;charset=utf-8")


def coverage(world: World) -> dict[str, Any]:
    return compute_coverage(world)


class FindingSchema(Schema):
    rule = text()
    title = text()
    severity = make_one_of(*Severity)
    clause = text()
    call = fields.Nested(LoggedCall, required=True)
    what = text()
    proof = make_rows_field(LoggedCall)
    difference = texts()
    instead = text()
    waved_off = flag()
    reason = text_or_null()


FindingCounts = reply("FindingCounts", **{level.value: number() for level in Severity})


class RefereeReportSchema(Schema):
    world = text()
    rules = number()
    counts = fields.Nested(FindingCounts, required=True)
    waved_off = number()
    findings = make_rows_field(FindingSchema)
    not_listed = fields.Dict(fields.String(), fields.Integer(), required=True)


CoverageRow = reply("CoverageRow", kind=text(), met=number(), all=number(), percent=amount())


class Coverage(Schema):
    percent = amount()
    table = make_rows_field(CoverageRow)
    most_useful_not_met = texts()
    cells = fields.Dict(fields.String(), fields.Dict(fields.String(), fields.Boolean()), required=True)
