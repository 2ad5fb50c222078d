"""Writers of what goes back to the caller, and the schemas by which the documents describe it."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson
from flask import Response
from marshmallow import Schema, fields
from werkzeug.datastructures import Headers

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MEDIA = "application/json;charset=utf-8"  # choice 2


class Link(Schema):
    href = fields.String(required=True)
    templated = fields.Boolean(required=True)


def links(name: str, *relations: str) -> type[Schema]:
    """The links of a reply, under the name of their schema in the documents."""
    return Schema.from_dict({relation: fields.Nested(Link) for relation in relations}, name=name)


InitiationLinks = links("InitiationLinks", "sca_redirect", "self", "status")
BulkLinks = links("BulkLinks", "status")


class StatusReply(Schema):
    """Fields of a status (choice 5)."""

    payment_id = fields.String(required=True)
    status = fields.String(required=True)
    reason = fields.String()


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


class BulkInitiationReply(Schema):
    """The reply to a file: no address yet, for it is validated first (choice 7)."""

    payment_file_id = fields.String(required=True)
    status = fields.String(required=True)
    _links = fields.Nested(BulkLinks, required=True)


class ConsentAddressesReply(Schema):
    """One entry of the list (service 2.5)."""

    language = fields.String(required=True)
    consent_uri = fields.String(required=True)


NO_BODY = (204, 304)
# An address that werkzeug would leave as it is.
PLAIN = re.compile(r"https?://[a-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9_.-]+)*\Z")
ENDED_BADLY = ("RJCT", "CANC")  # the two that have a reason to tell (choice 5)


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
    return content


def initiation_content(path: str, initiated: Any, address: str, link: Callable[[str], Any]) -> dict[str, Any]:
    """The identifiers and the links."""
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
