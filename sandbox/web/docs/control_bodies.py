"""What the controls take, as schemas: bodies and query parameters (choice 10)."""

from typing import Any

from marshmallow import Schema, fields
from marshmallow.validate import OneOf

from sandbox.referee.rule import Severity
from sandbox.web.controls.health import FORMATS
from sandbox.web.controls.scenario_bodies import YAML

TIME = "A time: ISO 8601, with an offset or in Brussels time."
SPAN = "A span: `61m` (s, m, h, d, w) or ISO 8601."


def text(about: str = "", *, required: bool = False) -> fields.String:
    return fields.String(required=required, metadata={"description": about} if about else {})


class ClockChange(Schema):
    """One of advance, set, and mode (with a rate)."""

    advance = text(SPAN)
    set = text(TIME)
    mode = fields.String(validate=OneOf(("frozen", "running")))
    rate = fields.Float(metadata={"description": "Bank seconds per second."})


class NoContent(Schema):
    """An empty object, or no body at all."""


class WorldClock(Schema):
    at = text(TIME)
    frozen = fields.Boolean()
    rate = fields.Float()


class Fork(Schema):
    as_ = fields.String(required=True, data_key="as", metadata={"description": "The name of the new world."})
    at = text(TIME)


class Await(Schema):
    payment_id = text("Of a payment, standing order or file.", required=True)
    status = text(required=True)
    within = text(SPAN)


class ClientChange(Schema):
    client_id = text()
    secret = text("8 to 256 printable characters without blanks.")
    name = text()
    roles = fields.List(fields.String(validate=OneOf(("PIS", "AIS"))))
    active = fields.Boolean()
    redirect_uris = fields.List(fields.String())
    keys = fields.List(fields.Dict(), metadata={"description": "Public JWKs, each with a kid."})
    organisation = text("The organisation identifier of its certificates.")


class NewClient(ClientChange):
    client_id = text(required=True)
    secret = text("8 to 256 printable characters without blanks.", required=True)


class Counterparty(Schema):
    iban = text()
    name = text()


class Booking(Schema):
    amount = text("A decimal text; below 0, money that goes.", required=True)
    currency = text("EUR where left out.")
    date = fields.Date(metadata={"description": "Today where left out."})
    communication = text()


class Move(Schema):
    status = text(required=True)
    reason = text("An ISO 20022 reason code.")


class Approval(Schema):
    address = text("The SCA or consent address, with the state that the TPP appended.", required=True)
    customer = text("The first owner of the debtor account where left out.")
    account = text("The IBAN of the debtor account that the customer picks.")
    accounts = fields.List(fields.String(), metadata={"description": "The IBANs that the customer lets the TPP read."})


class FurtherSignature(Schema):
    payment_id = text(required=True)
    customer = text(required=True)


class ConsentWithdrawal(Schema):
    client_id = text(required=True)
    customer = text(required=True)
    scope = fields.String(required=True, validate=OneOf(("AIS", "CAF")))


# Components that are made from the tables that read scenarios, and the two that hold a scenario or its name.
SCENARIO, FAULT, SETTINGS_CHANGE = "Scenario", "Fault", "SettingsChange"
NEW_WORLD, SCENARIO_CHOICE = "NewWorld", "ScenarioChoice"

BODIES: dict[str, type[Schema] | str] = {
    "POST /clock": ClockChange,
    "POST /reset": NoContent,
    "PUT /worlds/<name>": NEW_WORLD,
    "POST /worlds/<name>/fork": Fork,
    "POST /await": Await,
    "PUT /scenario": SCENARIO_CHOICE,
    "POST /faults": FAULT,
    "PATCH /settings": SETTINGS_CHANGE,
    "POST /clients": NewClient,
    "PUT /clients/<client_id>": ClientChange,
    "POST /accounts/<iban>/transactions": Booking,
    "POST /payments/<payment_id>/move": Move,
    "POST /psu/approve": Approval,
    "POST /psu/refuse": Approval,
    "POST /psu/sign": FurtherSignature,
    "POST /psu/withdraw": ConsentWithdrawal,
}
MAY_BE_LEFT_OUT = {"POST /reset", "PUT /worlds/<name>"}
TEXT = {"type": "string"}
# Media types beside JSON, or in its place.
OTHER_MEDIA: dict[str, dict[str, Any]] = {
    "PUT /scenario": {name: {"schema": TEXT} for name in YAML},
    "POST /import": {
        "application/x-ndjson": {"schema": TEXT},
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}


def query(name: str, about: str, schema: dict[str, Any] = TEXT, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}


SINCE = query("since", "Only entries after that number.", {"type": "integer", "minimum": 0})
QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "GET /health": (query("live", "Asks only whether anybody is there."),),
    "GET /export": (query("secrets", "strip: without secrets.", {"type": "string", "enum": ["keep", "strip"]}),),
    "POST /import": (query("as", "The name that the world takes."),),
    "GET /referee": (
        query("format", "json where left out.", {"type": "string", "enum": list(FORMATS)}),
        query("level", "From where on JUnit fails.", {"type": "string", "enum": [level.value for level in Severity]}),
        query("waive", "`rule: reason`, as often as needed.", {"type": "array", "items": TEXT}),
    ),
    "GET /authorize": (
        query("client_id", "The registered client.", required=True),
        query("redirect_uri", "A callback that the client registered.", required=True),
        query("response_type", "code", {"type": "string", "enum": ["code"]}, required=True),
        query("scope", "AIS where left out.", {"type": "string", "enum": ["AIS", "CAF"]}),
        query("iban", "The account, for CAF only."),
        query("code_challenge", "As RFC 7636 has it.", required=True),
        query("code_challenge_method", "plain where left out.", {"type": "string", "enum": ["S256", "plain"]}),
        query("state", "Comes back at the callback."),
    ),
    "GET /journal": (SINCE,),
    "GET /requests": (SINCE,),
    "GET /callbacks": (SINCE,),
}
