"""A reply is written as its schema says, and its headers as werkzeug would write them."""

from typing import Any

import pytest
from flask import Response
from marshmallow import Schema

from sandbox.bank.initiations import InitiationOutcome
from sandbox.contract.moves import Status
from sandbox.web.api import replies
from sandbox.web.api.replies import Reply, make_json_response

INITIATED = InitiationOutcome("a", "e2e", Status.RCVD, "token")
CONTENTS: tuple[tuple[Schema, dict[str, Any]], ...] = (
    (replies.StatusReply(), replies.make_status_content("a", "PATC", None)),
    (replies.StatusReply(), replies.make_status_content("a", "RJCT", "TIME_OUT")),
    (replies.InitiationReply(), replies.make_initiation_content("/x", INITIATED, "http://h/a", replies.link)),
)


@pytest.mark.parametrize("schema, content", CONTENTS)
def test_a_reply_is_what_its_schema_dumps(schema: Schema, content: dict[str, Any]) -> None:
    assert content == schema.dump(content) and list(content) == list(schema.dump(content))


@pytest.mark.parametrize("status", (200, 201, 204, 304, 403))
@pytest.mark.parametrize(
    "location",
    (
        None,
        "http://127.0.0.1:8080/psu/sign/x_-1",
        "http://HOST/a",
        "/psu/é b",
        "http://h:080/",
        "http://h/a\n"[:-1] + "?b",
    ),
)
def test_headers_are_those_of_werkzeug(status: int, location: str | None) -> None:
    environ = {"wsgi.url_scheme": "http", "HTTP_HOST": "h", "SERVER_NAME": "h", "SERVER_PORT": "80"}
    both = make_json_response({"a": 1}, status), Response(b'{"a":1}', status, content_type=replies.MEDIA)
    assert isinstance(both[0], Reply)
    for response in both:
        response.autocorrect_location_header = False
        if location is not None:
            response.headers["Location"] = location
    one, other = (sorted(response.get_wsgi_headers(environ)) for response in both)
    assert one == other
