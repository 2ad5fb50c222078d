"""A no on its way out: the row of the catalogue, in the body of service 2.9."""

from typing import TYPE_CHECKING, Any

import orjson
from flask import Response, current_app, has_request_context, request
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed, NotFound

from sandbox.contract.errors import Error, Refusal, Row
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import XB
from sandbox.web.api.addresses import consent_address
from sandbox.web.api.error_variants import retry_after, varied
from sandbox.web.api.replies import MEDIA

if TYPE_CHECKING:
    from sandbox.web.api.call import Call

RETRY_AFTER = 5  # seconds, where nobody names any
REASONS = {495: "495 SSL Certificate Error"}  # a number that HTTP does not name


def refusal_response(refusal: Refusal) -> Response:
    call = request.environ.get("sandbox.call") if has_request_context() else None  # what waitress refuses has none
    if call is not None and not call.world.is_here:  # one that cannot be read, or is at another server, varies nothing
        call = None
    row, text = (refusal.error.value, refusal.text) if call is None else _varied(call, refusal)
    body: dict[str, Any] = {"error": row.error, "error_code": row.code, "error_description": text}
    if refusal.error is Error.SCA_REQUIRED:
        body["_links"] = {"sca_redirect": {"href": consent_address(request, str(refusal.facts["address"]))}}
    response = Response(orjson.dumps(body), REASONS.get(row.status, row.status), content_type=MEDIA)
    match refusal.error:
        case Error.ACCESS_TOKEN_REFUSED:
            response.headers["WWW-Authenticate"] = "Bearer"
        case Error.CREDENTIALS_REFUSED:
            response.headers["WWW-Authenticate"] = 'Basic realm="token"'
        case Error.TOO_MANY_REQUESTS | Error.UNAVAILABLE | Error.FILES_WAITING | Error.FILES_FULL:
            seconds = int(str(refusal.facts.get("seconds", RETRY_AFTER)))
            wait = str(seconds) if call is None else retry_after(call.world, seconds)
            if wait is not None:
                response.headers["Retry-After"] = wait
        case Error.METHOD_NOT_ALLOWED:
            response.headers["Allow"] = str(refusal.facts["allow"])
    return response


def _varied(call: "Call", refusal: Refusal) -> tuple[Row, str]:
    return varied(call.world, refusal, call.header("Accept-Language") or "")


def tell(refusal: Refusal) -> Response:
    """Sends a refusal, and keeps it for *explain*."""
    request.environ["sandbox.refusal"] = refusal.with_traceback(None)  # which would hold all that the call read
    return refusal_response(refusal)


def http_refusal(error: HTTPException) -> Response:
    """What the framework refuses by itself, in the bank's body."""
    match error:
        case NotFound():
            return tell(Refusal(Error.NOT_FOUND, input=request.path[:200]))
        case MethodNotAllowed():
            return tell(method_refusal(sorted(error.valid_methods or ())))
        case InternalServerError():
            return tell(Refusal(Error.INTERNAL))
        case _:
            return tell(Refusal(Error.INPUT_INVALID, input="request", why=error.name.lower()))


def method_refusal(allowed: list[str]) -> Refusal:
    """Another method is offered here, unless the path names no product: paths are judged before methods (choice 2)."""
    adapter = current_app.create_url_adapter(request)
    assert adapter is not None and allowed
    name, path = adapter.match(method=allowed[0])
    if "product" in path and path["product"] not in BY_NAME[name].products:
        return Refusal(Error.NOT_FOUND, input="payment-product")
    if path.get("product") == XB.name:  # service 3.4: it has no cancellation
        allowed = [method for method in allowed if method != "DELETE"]
    clause = "service 3.4" if path.get("product") == XB.name and request.method == "DELETE" else None
    return Refusal(Error.METHOD_NOT_ALLOWED, method=request.method[:20], allow=", ".join(allowed), clause=clause)
