"""What a server refuses before the application sees it, in the bank's body and with a Response-ID all the same."""

from uuid import uuid4

from flask import Response

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.failures import refusal_response
from sandbox.web.api.gate import UUID_4

HEADER_BYTES_MAX = 65_536
REASONS = {
    431: (
        Error.HEADER_INVALID,
        "headers",
        f"together they are over {HEADER_BYTES_MAX} bytes, which is all that the server reads; a long x5c in a "
        "Signature is the usual cause, and the first certificate of it is enough",
    ),
    413: (Error.INPUT_INVALID, "body", "it is longer than the server reads"),
    501: (Error.HEADER_INVALID, "Transfer-Encoding", "the server does not know it"),
    400: (Error.INPUT_INVALID, "request", "it is not HTTP as the server reads it"),
}


def unread(status: int, request_id: str = "", refusal: Refusal | None = None) -> Response:
    """The reply to a request of which the server could make nothing; its own trouble is 500."""
    error, name, why = REASONS.get(status, (Error.INTERNAL, "", ""))
    response = refusal_response(refusal or Refusal(error, input=name, why=why))
    response.headers["Response-ID"] = request_id if UUID_4.match(request_id) else str(uuid4())
    return response
