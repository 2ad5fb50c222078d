"""Writers: what goes back to the caller."""

from typing import Any

import orjson
from flask import Response
from marshmallow import Schema, fields

MEDIA = "application/json;charset=utf-8"  # choice 2


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


STATUS = StatusReply()
INITIATION = InitiationReply()


def link(href: str) -> dict[str, Any]:
    return {"href": href, "templated": False}


def json_response(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, content_type=MEDIA)


def status_reply(payment_id: str, status: str, reason: str | None) -> Response:
    found = {"payment_id": payment_id, "status": status}
    if reason is not None:
        found["reason"] = reason
    return json_response(STATUS.dump(found))


def initiation_reply(kind: str, product: str, initiated: Any, address: str) -> Response:
    """201 with the identifiers, the links, and the address to sign at in Location too."""
    path = f"/{kind}/{product}/{initiated.payment_id}"
    content = {
        "payment_id": initiated.payment_id,
        "endtoend_identification": initiated.endtoend_identification,
        "status": initiated.status.value,
        "_links": {
            "sca_redirect": link(address),
            "self": link(f"{path}/details"),
            "status": link(f"{path}/status"),
        },
    }
    response = json_response(INITIATION.dump(content), 201)
    response.headers["Location"] = address
    return response
