"""What the controls reply, as schemas; the tests hold every reply against them (choice 10)."""

from typing import Any

from marshmallow import Schema, fields
from marshmallow.validate import OneOf

from sandbox.web.docs.reply_schemas import (
    BULK_STATUSES,
    BulkStatusReply,
    ContractOrder,
    ErrorReply,
    PaymentOrder,
    TransactionRow,
    one_of,
)


def text() -> fields.String:
    return fields.String(required=True)


def text_or_null() -> fields.String:
    return fields.String(required=True, allow_none=True)


def number() -> fields.Integer:
    return fields.Integer(required=True)


def flag() -> fields.Boolean:
    return fields.Boolean(required=True)


def instant() -> fields.DateTime:
    return fields.DateTime(required=True)


def texts() -> fields.List[Any]:
    return fields.List(fields.String(), required=True)


def rows(row: type[Schema], **more: Any) -> fields.List[Any]:
    return fields.List(fields.Nested(row), required=True, **more)


def listed(name: str, row: type[Schema], *also: str) -> type[Schema]:
    """A list under its name, as every list of the controls is."""
    members: dict[str, Any] = {f"member_{place}": rows(row, data_key=key) for place, key in enumerate((name, *also))}
    return type(f"{row.__name__}List", (Schema,), members)


class StateFile(Schema):
    """How far the acts of the state file are checked, and what was noticed on opening it."""

    acts = fields.Integer()
    checked = fields.Integer()
    notes = fields.List(fields.String())


class Health(Schema):
    status = one_of("ready", "live")
    state_file = fields.Nested(StateFile)


class Clock(Schema):
    """Times are ISO 8601 with the offset of Brussels; the rate is bank seconds per second, 0 when frozen."""

    now = instant()
    mode = one_of("frozen", "running")
    rate = fields.Float(required=True)
    due_next = fields.DateTime(required=True, allow_none=True)


class World(Schema):
    name = text()
    scenario = text()
    seed = number()
    clock = fields.Nested(Clock, required=True)
    away = flag()


class ImportedWorld(World):
    """With the number of acts that were played again."""

    acts = number()


class Awaited(Schema):
    """`waited` is in seconds of bank time."""

    payment_id = text()
    status = text()
    at = instant()
    waited = fields.Float(required=True)


class ComingEvent(Schema):
    at = instant()
    subject = text()
    trigger = text()


class CallSummary(Schema):
    request_id = text()
    at = instant()
    operation = text_or_null()
    method = text()
    path = text()
    status = number()
    client_id = text_or_null()


class Explanation(CallSummary):
    """The rule that decided, its clause, and what it was judged on."""

    error = text_or_null()
    rule = text()
    clause = text()
    subject = text_or_null()
    state = text_or_null()
    scenario_rule = text_or_null()


class LoggedCall(CallSummary):
    seq = number()


class Finding(Schema):
    rule = text()
    title = text()
    severity = one_of("error", "warning", "advice")
    clause = text()
    call = fields.Nested(LoggedCall, required=True)
    what = text()
    instead = text()
    waved_off = flag()
    reason = text_or_null()


class FindingCounts(Schema):
    error = number()
    warning = number()
    advice = number()


class RefereeReport(Schema):
    world = text()
    rules = number()
    counts = fields.Nested(FindingCounts, required=True)
    waved_off = number()
    findings = rows(Finding)
    not_listed = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)


class CoverageRow(Schema):
    kind = text()
    met = number()
    all = number()
    percent = fields.Float(required=True)


class Coverage(Schema):
    percent = fields.Float(required=True)
    table = rows(CoverageRow)
    most_useful_not_met = texts()
    cells = fields.Dict(
        keys=fields.String(), values=fields.Dict(keys=fields.String(), values=fields.Boolean()), required=True
    )


class ShippedScenario(Schema):
    name = text()
    title = text()
    about = text()


class CurrentScenario(Schema):
    scenario = text()


class OrderedFault(Schema):
    title = text()
    met = number()


class Callback(Schema):
    seq = number()
    at = instant()
    subject = text()
    redirect = text()


class Customer(Schema):
    customer = text()
    name = text()
    language = one_of("fr", "nl")
    kind = one_of("private", "business")
    accounts = texts()


class Client(Schema):
    client_id = text()
    name = text()
    roles = fields.List(fields.String(validate=OneOf(("PIS", "AIS"))), required=True)
    active = flag()
    redirect_uris = texts()


class Balance(Schema):
    currency = text()
    balance = fields.Float(required=True)


class Account(Schema):
    iban = text()
    type = one_of("current-account", "savings-account")
    customer = text()
    balances = rows(Balance)
    signatures_required = number()


class StatusChange(Schema):
    at = instant()
    status = text()
    reason = text_or_null()


class Initiated(Schema):
    payment_id = text()
    product = text()
    status = text()
    reason = text_or_null()
    client_id = text()
    customer = text_or_null()
    history = rows(StatusChange)


class Payment(Initiated):
    order = fields.Nested(PaymentOrder, required=True)


class StandingOrder(Initiated):
    order = fields.Nested(ContractOrder, required=True)


class Occurrence(Schema):
    number = number()
    planned = fields.Date(required=True)
    on = fields.Date(required=True)
    shifted = text_or_null()
    state = one_of("executed", "failed", "passed over", "coming")
    at = fields.DateTime()
    amount = fields.String(allow_none=True)


class StandingOrderWithDays(StandingOrder):
    """With the days on which it was executed, and those that come."""

    occurrences = rows(Occurrence)


class BulkFile(BulkStatusReply):
    """The file as its status call tells it, whose it is, and its way through the statuses."""

    status = one_of(*BULK_STATUSES)
    product = one_of("pain.001", "csv")
    client_id = text()
    customer = text_or_null()
    message_id = text_or_null()
    history = rows(StatusChange)


class Redirection(Schema):
    """Where the customer's browser is sent back to."""

    redirect = text()


class SignedPayment(Schema):
    payment_id = text()
    status = text()


class Withdrawal(Schema):
    withdrawn = number()


class Currency(Schema):
    code = text()
    rate = text()


class Country(Schema):
    code = text()
    name = text()
    iban = flag()
    purpose_codes = texts()
    purpose_required = flag()


class Countries(Schema):
    sepa = texts()
    eea = texts()
    currencies = rows(Currency)
    countries = rows(Country)
    purpose_codes = texts()


class OauthMetadata(Schema):
    """RFC 8414, 2."""

    issuer = text()
    authorization_endpoint = text()
    token_endpoint = text()
    scopes_supported = texts()
    response_types_supported = texts()
    response_modes_supported = texts()
    grant_types_supported = texts()
    token_endpoint_auth_methods_supported = texts()
    code_challenge_methods_supported = texts()
    ui_locales_supported = texts()
    service_documentation = text()


class JournalEntry(Schema):
    seq = number()
    at = instant()
    subject = text()
    trigger = text()
    source = fields.String(required=True, allow_none=True, data_key="from")
    to = text()
    reason = text_or_null()
    rule = text_or_null()


class ControlError(ErrorReply):
    """The three fields of the bank's own errors."""


JSON, TEXT = "application/json", {"type": "string"}
FREE = {"type": "object"}
SETTINGS = "Settings"  # a component that is made from the table of settings

# What each control replies when it succeeds: a class, the name of a component, a schema, or a tuple of which it is one;
# by media type where that is not JSON alone. None: no body.
REPLIES: dict[str, Any] = {
    "GET /health": Health,
    "GET /metrics": {"text/plain": TEXT},
    "GET /clock": Clock,
    "POST /clock": Clock,
    "POST /reset": World,
    "GET /worlds": listed("worlds", World),
    "GET /worlds/<name>": World,
    "PUT /worlds/<name>": World,
    "DELETE /worlds/<name>": None,
    "POST /worlds/<name>/fork": World,
    "GET /export": {"application/x-ndjson": TEXT},
    "POST /import": ImportedWorld,
    "POST /await": Awaited,
    "GET /timeline": listed("timeline", ComingEvent),
    "GET /explain/<request_id>": Explanation,
    "GET /referee": {JSON: (RefereeReport, FREE), "application/xml": TEXT, "text/html": TEXT},
    "GET /coverage": Coverage,
    "GET /scenarios": listed("scenarios", ShippedScenario),
    "GET /scenario": CurrentScenario,
    "PUT /scenario": World,
    "GET /faults": listed("faults", OrderedFault),
    "POST /faults": listed("faults", OrderedFault),
    "DELETE /faults": None,
    "GET /settings": SETTINGS,
    "PATCH /settings": SETTINGS,
    "GET /callbacks": listed("callbacks", Callback),
    "GET /customers": listed("customers", Customer),
    "GET /clients": listed("clients", Client),
    "POST /clients": Client,
    "PUT /clients/<client_id>": Client,
    "GET /accounts": listed("accounts", Account),
    "POST /accounts/<iban>/transactions": TransactionRow,
    "GET /payments": listed("payments", Payment),
    "GET /payments/<payment_id>": Payment,
    "POST /payments/<payment_id>/move": (Payment, StandingOrder, BulkFile),
    "GET /standing-orders": listed("standing-orders", StandingOrder, "standing_orders"),
    "GET /standing-orders/<payment_id>": StandingOrderWithDays,
    "GET /bulk-payments": listed("bulk-payments", BulkFile, "bulk_payments"),
    "GET /bulk-payments/<payment_id>": BulkFile,
    "POST /psu/approve": Redirection,
    "POST /psu/refuse": Redirection,
    "POST /psu/sign": SignedPayment,
    "POST /psu/withdraw": Withdrawal,
    "GET /reference/countries": Countries,
    "GET /.well-known/oauth-authorization-server": OauthMetadata,
    "GET /authorize": None,
    "GET /journal": listed("journal", JournalEntry),
    "GET /requests": listed("requests", LoggedCall),
    "GET /openapi.json": FREE,
    "GET /controls.json": FREE,
    "GET /docs": {"text/html": TEXT},
    "GET /docs/try": {"text/html": TEXT},
}
