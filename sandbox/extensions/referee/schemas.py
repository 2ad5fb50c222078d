"""What the controls of the referee reply, as schemas."""

from marshmallow import Schema, fields

from sandbox.extensions.referee.rule import Severity
from sandbox.web.controls.body_fields import reply
from sandbox.web.docs.control_schemas import LoggedCall, amount, flag, number, rows, text, text_or_null, texts
from sandbox.web.docs.reply_schemas import one_of


class FindingSchema(Schema):
    rule = text()
    title = text()
    severity = one_of(*Severity)
    clause = text()
    call = fields.Nested(LoggedCall, required=True)
    what = text()
    proof = rows(LoggedCall)
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
    findings = rows(FindingSchema)
    not_listed = fields.Dict(fields.String(), fields.Integer(), required=True)


CoverageRow = reply("CoverageRow", kind=text(), met=number(), all=number(), percent=amount())


class Coverage(Schema):
    percent = amount()
    table = rows(CoverageRow)
    most_useful_not_met = texts()
    cells = fields.Dict(fields.String(), fields.Dict(fields.String(), fields.Boolean()), required=True)
