"""Writes replies in the form that the bank's decisions (its settings and axes) ask for. Also has the schemas that
document replies.

A view returns the content of a reply in its default form. Some decisions change only the form: names, spelling, fields
that are left out, a header. No view reads these decisions. Instead, `write` changes the form for each operation.
faults.py makes the changes to the JSON and the headers that are the same for all operations.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import orjson
from flask import Response
from marshmallow import Schema, fields
from orjson import Fragment
from werkzeug.datastructures import Headers

from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.iban import find_bic
from sandbox.banking.money import Money
from sandbox.contract.decisions import Decisions
from sandbox.contract.reasons import ISO_CODES

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MEDIA = "application/json;charset=utf-8"  # choice 2


class Link(Schema):
    href = fields.String(required=True)
    templated = fields.Boolean(required=True)


def make_links_schema(name: str, *relations: str) -> type[Schema]:
    """Makes the schema of the links in a reply. The documents show the schema under this name."""
    return Schema.from_dict({relation: fields.Nested(Link) for relation in relations}, name=name)


InitiationLinks = make_links_schema("InitiationLinks", "sca_redirect", "self", "status")
BulkLinks = make_links_schema("BulkLinks", "status")


class StatusReply(Schema):
    """The reply with the status of a payment or a standing order (choice 5)."""

    payment_id = fields.String(required=True)
    status = fields.String(required=True)
    reason = fields.String()


class InitiationReply(Schema):
    """The reply to an initiation in version 3 of the interface (choice 5)."""

    payment_id = fields.String(required=True)
    endtoend_identification = fields.String(required=True)
    status = fields.String(required=True)
    _links = fields.Nested(InitiationLinks, required=True)


class TokenReply(Schema):
    """The reply with the tokens of a client (service 2.6). `sca_token` is an addition of choice 8."""

    access_token = fields.String(required=True)
    refresh_token = fields.String(required=True)
    token_type = fields.String(required=True)
    expires_in = fields.Integer(required=True)
    scope = fields.String(required=True)
    logical_id = fields.String()
    sca_token = fields.String()


class EarlierInitiationReply(Schema):
    """The reply to an initiation in version 1 of the interface (service 2.4)."""

    payment_id = fields.String(required=True)
    transaction_ref = fields.String(required=True)


class BulkInitiationReply(Schema):
    """The reply to a bulk file. It has no SCA address yet, because the file is validated first (choice 7)."""

    payment_file_id = fields.String(required=True)
    status = fields.String(required=True)
    _links = fields.Nested(BulkLinks, required=True)


class ConsentAddressesReply(Schema):
    """An entry of the reply with consent addresses. The reply is a list with an entry for each language (service
    2.5)."""

    language = fields.String(required=True)
    consent_uri = fields.String(required=True)


NO_BODY = (204, 304)
# An address that werkzeug would leave as it is.
PLAIN = re.compile(r"https?://[a-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9_.-]+)*\Z")
ENDED_BADLY = ("RJCT", "CANC")  # the two that have a reason to tell (choice 5)


def link(href: str) -> dict[str, Any]:
    return {"href": href, "templated": False}


class Reply(Response):
    """A response whose headers are complete. It skips the framework's correction of headers, because that takes a tenth
    of the time of a reply. Uses the correction only for a reply that has no body, or that has a Location with unusual
    characters."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        location = self.headers.get("Location")
        if self.status_code < 200 or self.status_code in NO_BODY or not (location is None or PLAIN.match(location)):
            return super().get_wsgi_headers(environ)
        return self.headers


class ReplyContent(NamedTuple):
    """The content of a reply before it is written as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}
    amounts: Mapping[str, Money] = {}  # of an initiation, by their names in its body


def write(reply: ReplyContent, operation: str, decisions: Decisions) -> Response:
    """Returns the response with this content, in the form that the decisions (the bank's settings and axes) ask for.
    FORMS has the function that makes this form for an operation. The content of other operations has only one form."""
    form = FORMS.get(operation)
    if form is not None:
        reply = form(decisions, reply)
    response = make_json_response(reply.body, reply.status)
    for name, value in reply.headers.items():
        response.headers[name] = value
    return response


def make_json_response(content: Any, status: int = 200) -> Response:
    return Reply(orjson.dumps(content), status, content_type=MEDIA)


def make_empty_reply() -> Response:
    """Returns 204, without a body and so without Content-Type (choice 2)."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def make_status_content(payment_id: str, status: str, reason: str | None) -> dict[str, Any]:
    content = {"payment_id": payment_id, "status": status}
    if reason is not None and status in ENDED_BADLY:
        content["reason"] = reason
    return content


def make_initiation_content(path: str, initiated: Any, address: str, link: Callable[[str], Any]) -> dict[str, Any]:
    """Returns the content of the reply to an initiation: its identifiers, its status and links."""
    return {
        "payment_id": initiated.payment_id,
        "endtoend_identification": initiated.endtoend_identification,
        "status": initiated.status.value,
        "_links": {
            "sca_redirect": {"href": address, "templated": False},
            "self": link(f"{path}/details"),
            "status": link(f"{path}/status"),
        },
    }


# The forms: each takes a reply as it is by default, and gives it as the decisions ask for.

FILE_NUMBERS = ("control_sum", "number_of_transactions")
INITIATION_CAMEL = {
    "payment_id": "paymentId",
    "endtoend_identification": "endToEndIdentification",
    "sca_redirect": "scaRedirect",
}
YES = {"boolean": (False, True), "string": ("false", "true"), "Y": ("N", "Y"), "True": ("False", "True")}
ISO_TYPES = {"current-account": "CACC", "savings-account": "SVGS"}
TEXTS = ("counterparty_account", "counterparty_info", "communication", "remittance_info")
DATES = ("execution_date", "value_date")
BIC = "counterparty_bic"
RESPELLED = ("transaction_ref", *DATES, *TEXTS[:2], BIC, "communication_type", "remittance_info")
ITEM_CAMEL = {name: name[0] + name.title().replace("_", "")[1:] for name in RESPELLED}


def write_number(number: Fragment) -> str:
    """Returns the digits of a number that is already written as JSON."""
    return orjson.dumps(number).decode()


def spell(decisions: Decisions, row: dict[str, Any]) -> None:
    if row["status"] == "PDNG":
        row["status"] = decisions.status_spelling


def form_initiation(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    """Returns the reply to an initiation in the form that the decisions ask for. Returns the reply of version 1
    unchanged, because it has no links."""
    body = reply.body
    if "_links" not in body:
        return reply
    links = body["_links"]
    is_short = decisions.initiation_fields == "few"
    if decisions.sca_address_in == "location":
        del links["sca_redirect"]
    if is_short:
        links = {name: link for name, link in links.items() if name == "sca_redirect"}
        body = {"payment_id": body["payment_id"], "_links": links}
    if decisions.initiation_field_names == "camel":
        body = {INITIATION_CAMEL.get(name, name): value for name, value in body.items()}
        body["_links"] = {INITIATION_CAMEL.get(name, name): value for name, value in links.items()}
    return reply._replace(body=body, headers={} if decisions.sca_address_in == "links" else reply.headers)


def form_status(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    body = reply.body
    spell(decisions, body)
    if body.get("reason") in ISO_CODES and decisions.reason_codes == "iso":
        body["reason"] = ISO_CODES[body["reason"]]
    match decisions.reason:
        case "always":
            body.setdefault("reason", None)
        case "never":
            body.pop("reason", None)
    if decisions.status_names_payment == "no":
        del body["payment_id"]
    return reply


def form_details(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    body = reply.body
    spell(decisions, body)
    if "psu_name" not in body and decisions.psu_name_before_login == "null":
        body["psu_name"] = None
    inner = body["instructed_amount"]
    match decisions.details_amount:
        case "number":
            body["instructed_amount"] = inner | {name: Fragment(inner[name]) for name in reply.amounts}
        case "as_sent":
            body["instructed_amount"] = inner | {name: f"{money.number:f}" for name, money in reply.amounts.items()}
    return reply


def form_file_status(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    """Returns the status of a file and of its bulks in the form that the decisions ask for."""
    body = reply.body
    for row in (body, *body["bulks"]):
        spell(decisions, row)
    if not body["bulks"] and decisions.bulks_while_rcvd == "absent":
        del body["bulks"]
    elif body["bulks"] and decisions.file_numbers == "strings":
        for row in body["bulks"]:
            row |= {name: orjson.dumps(row[name]).decode() for name in FILE_NUMBERS}
    return reply


def form_token(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    body = reply.body
    body["token_type"] = decisions.token_type_case
    if "sca_token" in body:
        body[decisions.sca_token_reply] = body.pop("sca_token")
    return reply


def form_account(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    body = reply.body
    if decisions.account_type == "iso":
        body["type"] = ISO_TYPES[body["type"]]
    if decisions.balances_as == "string":
        body["balance"] = write_number(body["balance"])
    body["multicurrency"] = YES[decisions.multicurrency][body["multicurrency"]]
    if not body["other_compartments"] and decisions.no_compartments == "absent":
        del body["other_compartments"]
    return reply


def form_transactions(decisions: Decisions, reply: ReplyContent) -> ReplyContent:
    items = reply.body["_embedded"]["transactions"]
    if items:
        reply.body["_embedded"]["transactions"] = form_items(decisions, items)
    return reply


def form_items(decisions: Decisions, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if decisions.value_date_field == "sometimes":
        items = [_drop_value_date(item) if _lacks_value_date(item) else item for item in items]
    if decisions.counterparty_bic == "present":
        items = [item | {BIC: find_bic(item["counterparty_account"] or "")} for item in items]
    if decisions.item_sign == "indicator":
        items = [_drop_sign(item) for item in items]
    if decisions.item_amount == "string":
        items = [item | {"amount": write_number(item["amount"])} for item in items]
    if decisions.item_dates == "date_time":
        items = [item | {name: _write_midnight(item[name]) for name in DATES if name in item} for item in items]
    match decisions.item_blanks:
        case "empty":
            items = [item | {name: item[name] or "" for name in (*TEXTS, BIC) if name in item} for item in items]
        case "absent":
            blanks = (*TEXTS, BIC)
            items = [{name: value for name, value in item.items() if value or name not in blanks} for item in items]
    if decisions.item_fields == "camel":
        items = [{ITEM_CAMEL.get(name, name): value for name, value in item.items()} for item in items]
    return items


def _lacks_value_date(item: dict[str, Any]) -> bool:
    """Whether the value date of this transaction is left out under the axis `value_date_field`. It is left out of about
    one transaction in three. A checksum of date and amount decides, so that each read of a transaction has the same
    fields."""
    return crc32(f"{item['execution_date']} {write_number(item['amount'])}".encode()) % 3 == 0


def _drop_value_date(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "value_date"}


def _drop_sign(item: dict[str, Any]) -> dict[str, Any]:
    text = write_number(item["amount"])
    indicator = {"credit_debit_indicator": "DBIT" if text.startswith("-") else "CRDT"}
    return item | {"amount": Fragment(text.lstrip("-"))} | indicator


def _write_midnight(day: date) -> str:
    return datetime.combine(day, time(), BRUSSELS).isoformat()


# By operation.
FORMS: dict[str, Callable[[Decisions, ReplyContent], ReplyContent]] = {
    "payment_initiation": form_initiation,
    "payment_status": form_status,
    "payment_details": form_details,
    "standing_order_initiation": form_initiation,
    "standing_order_status": form_status,
    "standing_order_details": form_details,
    "bulk_status": form_file_status,
    "token": form_token,
    "account": form_account,
    "transactions": form_transactions,
}
