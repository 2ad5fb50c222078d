"""What the controls explain of one call, as schemas."""

from marshmallow import Schema, fields

from sandbox.web.docs.control_schemas import CallSummary, instant, rows, text, text_or_null


class MoveOnTheWay(Schema):
    """A move of the call's subject before the answer; where funds were missing, with the balance of the day before."""

    at = instant()
    from_ = fields.String(data_key="from", required=True, allow_none=True)
    to = text_or_null()
    trigger = text()
    reason = text_or_null()
    balance = fields.Dict(keys=fields.String(), values=fields.String())


class CallPart(Schema):
    """Headers and body without secrets; `cut` says what is missing of them."""

    headers = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    body = text()
    cut = text()


class CallContent(Schema):
    """Both sides of a call; null where they are kept no longer (the setting contents_kept)."""

    address = text()
    request = fields.Nested(CallPart, required=True)
    reply = fields.Nested(CallPart, required=True)


class Explanation(CallSummary):
    """The rule that decided, its clause, what it was judged on, and the axes it met that are not at their default.

    `decided_by` are the numbers and dates that decided, `would_succeed` is what would have, `history` what led there.
    """

    error = text_or_null()
    rule = text()
    clause = text()
    subject = text_or_null()
    state = text_or_null()
    scenario_rule = text_or_null()
    variants = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    decided_by = fields.Dict(keys=fields.String(), required=True)
    would_succeed = text_or_null()
    history = rows(MoveOnTheWay)
    content = fields.Nested(CallContent, required=True, allow_none=True)
