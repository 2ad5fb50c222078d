"""Writers: what goes back to the caller."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson
from flask import Response
from marshmallow import Schema, fields
from werkzeug.datastructures import Headers

from sandbox.bank.entries import debit_reference
from sandbox.bank.records import Debtor, Order
from sandbox.contract.fields import PAYMENT
from sandbox.web.api.body_writer import BodyWriter

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Write = Callable[[Any], Any]
ABSENT = object()
MEDIA = "application/json;charset=utf-8"  # choice 2


class ReplyWriter:
    """Made once from a schema; it gives what the schema's `dump` gives of a map, without marshmallow's own loop."""

    def __init__(self, schema: Schema) -> None:
        named = schema.dump_fields.items()
        self._rows = [(field.attribute or name, field.data_key or name, _writer(field)) for name, field in named]

    def dump(self, content: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, key, write in self._rows:
            value = content.get(name, ABSENT)
            if value is not ABSENT:
                found[key] = None if value is None else write(value)
        return found


def _writer(field: fields.Field[Any]) -> Write:
    if type(field) is fields.String:
        return str
    if type(field) is fields.Nested and not field.many:
        schema = field.schema
        assert isinstance(schema, Schema)
        return ReplyWriter(schema).dump
    return lambda value: field._serialize(value, "", None)


class Link(Schema):
    href = fields.String(required=True)
    templated = fields.Boolean(required=True)


class StatusReply(Schema):
    """Fields of a status (choice 5)."""

    payment_id = fields.String(required=True)
    status = fields.String(required=True)
    reason = fields.String()


class InitiationLinks(Schema):
    sca_redirect = fields.Nested(Link)
    self = fields.Nested(Link)
    status = fields.Nested(Link)


class InitiationReply(Schema):
    """The reply to an initiation, version 3 (choice 5)."""

    payment_id = fields.String(required=True)
    endtoend_identification = fields.String(required=True)
    status = fields.String(required=True)
    _links = fields.Nested(InitiationLinks, required=True)


class TokenReply(Schema):
    """service 2.6, and the SCA token of choice 8."""

    access_token = fields.String(required=True)
    refresh_token = fields.String(required=True)
    token_type = fields.String(required=True)
    expires_in = fields.Integer(required=True)
    scope = fields.String(required=True)
    logical_id = fields.String()
    sca_token = fields.String()


class EarlierInitiationReply(Schema):
    """The reply to an initiation, version 1 (service 2.4)."""

    payment_id = fields.String(required=True)
    transaction_ref = fields.String(required=True)


class BulkLinks(Schema):
    status = fields.Nested(Link)


class BulkInitiationReply(Schema):
    """The reply to a file: no address yet, for it is validated first (choice 7)."""

    payment_file_id = fields.String(required=True)
    status = fields.String(required=True)
    _links = fields.Nested(BulkLinks, required=True)


class ConsentAddressReply(Schema):
    """service 2.5"""

    language = fields.String(required=True)
    consent_uri = fields.String(required=True)


NO_BODY = (204, 304)
# An address that werkzeug would leave as it is.
PLAIN = re.compile(r"https?://[a-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9_.-]+)*\Z")
ENDED_BADLY = ("RJCT", "CANC")  # the two that have a reason to tell (choice 5)
TOKEN = ReplyWriter(TokenReply())
BULK_INITIATION = ReplyWriter(BulkInitiationReply())
CONSENT_ADDRESSES = ConsentAddressReply(many=True)
EARLIER_INITIATION = ReplyWriter(EarlierInitiationReply())
STATUS = ReplyWriter(StatusReply())
INITIATION = ReplyWriter(InitiationReply())
ORDER_FIELDS = BodyWriter(PAYMENT)


def link(href: str) -> dict[str, Any]:
    return {"href": href, "templated": False}


class Reply(Response):
    """A response of ours, whose headers need no correction: that is a tenth of what an answer costs."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        location = self.headers.get("Location")
        if self.status_code < 200 or self.status_code in NO_BODY or not (location is None or PLAIN.match(location)):
            return super().get_wsgi_headers(environ)
        if isinstance(self.response, list) and "Content-Length" not in self.headers:
            self.headers["Content-Length"] = str(sum(map(len, self.response)))
        return self.headers


def json_response(content: Any, status: int = 200) -> Response:
    return Reply(orjson.dumps(content), status, content_type=MEDIA)


def no_content() -> Response:
    """204: no body, so no Content-Type either (choice 2)."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def status_content(payment_id: str, status: str, reason: str | None) -> dict[str, Any]:
    content = {"payment_id": payment_id, "status": status}
    if reason is not None and status in ENDED_BADLY:
        content["reason"] = reason
    found: dict[str, Any] = STATUS.dump(content)
    return found


def initiation_content(path: str, initiated: Any, address: str, link: Callable[[str], Any]) -> dict[str, Any]:
    """The identifiers and the links."""
    content = {
        "payment_id": initiated.payment_id,
        "endtoend_identification": initiated.endtoend_identification,
        "status": initiated.status.value,
        "_links": {
            "sca_redirect": {"href": address, "templated": False},
            "self": link(f"{path}/details"),
            "status": link(f"{path}/status"),
        },
    }
    found: dict[str, Any] = INITIATION.dump(content)
    return found


def earlier_initiation_reply(initiated: Any, address: str) -> Response:
    """Version 1: the bank's id, the reference of the debit to come, and the address in Location alone."""
    content = {"payment_id": initiated.payment_id, "transaction_ref": debit_reference(initiated.payment_id)}
    response = json_response(EARLIER_INITIATION.dump(content), 201)
    response.headers["Location"] = address
    return response


def details_content(payment_id: str, status: str, psu_name: str | None, order: dict[str, Any]) -> dict[str, Any]:
    """The fields of service 2.4, and every other one of the initiation; the PSU once one is known (choice 5)."""
    content = {"payment_id": payment_id, "status": status}
    if psu_name is not None:
        content["psu_name"] = psu_name
    return content | order


def order_fields(order: Order, debtor: Debtor | None) -> dict[str, Any]:
    """Every field of an initiation, as it came (choice 5), with the debtor that was given or picked."""
    return ORDER_FIELDS.write(order, debtor)


def consent_addresses_reply(addresses: list[tuple[str, str]]) -> Response:
    rows = [{"language": language, "consent_uri": address} for language, address in addresses]
    return json_response(CONSENT_ADDRESSES.dump(rows))
