"""Routes made from the rows, a world found by the path's prefix, and one place that stamps every response."""

from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed, NotFound

from sandbox.bank.records import Client
from sandbox.bank.state import Bank
from sandbox.banking.names import is_world_name
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import BY_NAME, Operation
from sandbox.contract.products import XB
from sandbox.files.admission import FILE_BYTES_MAX
from sandbox.web.api import accounts, bulks, consents, initiations, oauth
from sandbox.web.api.barriers import View, perform, stand
from sandbox.web.api.call_lines import Announce, Listener, Observers, client_of
from sandbox.web.api.call_record import asked_as, record_call
from sandbox.web.api.credentials import client_named
from sandbox.web.api.failures import refusal_response
from sandbox.web.api.fault_replies import answered
from sandbox.web.api.gate import Call
from sandbox.web.api.surprises import cut_in_pieces, dress, surprised
from sandbox.web.api.target import Segment, authority_of, has_dots, is_readable, raw_path, text_of
from sandbox.world.beginning import nth_id
from sandbox.world.log.format import StateFileError
from sandbox.world.registry import Worlds
from sandbox.world.world import World

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust

WAIT_MAX = 16  # calls of a world that are observed at once


OF_KINDS: tuple[View, ...] = (
    initiations.initiation,
    initiations.details,
    initiations.status,
    initiations.cancellation,
)
# The view of an operation; one without a view is not routed.
VIEWS: dict[str, View] = {f"{kind.name}_{view.__name__}": view for kind in initiations.ROWS for view in OF_KINDS}
VIEWS |= {
    view.__name__: view
    for view in (
        bulks.bulk_initiation,
        bulks.bulk_status,
        bulks.bulk_cancellation,
        oauth.token,
        consents.consent_addresses,
        accounts.accounts,
        accounts.account,
        accounts.transactions,
    )
}

NOT_THE_BANK = ("/_sandbox/", "/psu/")
# What a call leaves in its environ that refers back to it: a body of 60 MB would stay until the collector looks.
IN_CIRCLES = ("werkzeug.request", "sandbox.call", "sandbox.refusal")
ASCII = "".join(map(chr, range(128)))


class WorldPath:
    """Moves the prefix /worlds/{name} from the path to the root, so that below it all is as at the bare address.

    Routes are matched on the path as the caller spelled it, so PATH_INFO is not decoded from here on.
    Bytes of a query that are no ASCII are quoted: the framework would decode them, and fail where they are no UTF-8.
    """

    def __init__(self, inner: Callable[..., Iterable[bytes]]) -> None:
        self.inner = inner

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["sandbox.started"] = perf_counter()
        name, path = "default", raw_path(environ)
        environ["sandbox.path"] = environ["PATH_INFO"] = path
        if path.startswith("/worlds/"):
            name, _, rest = path[8:].partition("/")
            environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/worlds/{name}"
            environ["PATH_INFO"] = f"/{rest}"
        environ["sandbox.world"] = name
        authority = authority_of(environ)
        if authority is not None:
            environ["HTTP_HOST"] = authority
        query = environ.get("QUERY_STRING", "")
        if not query.isascii():
            environ["QUERY_STRING"] = quote(query, safe=ASCII, encoding="latin-1")
        try:
            return self.inner(environ, start_response)
        finally:
            for name in IN_CIRCLES:
                environ.pop(name, None)


def route(
    app: Flask,
    worlds: Worlds,
    announce: Announce | None = None,
    trust: "Trust | None" = None,
    listener: Listener | None = None,
) -> None:
    """Everything of the bank's own interface."""
    app.before_request(partial(check_certificate, worlds, trust))
    frame(app)
    for name, view in VIEWS.items():
        operation = BY_NAME[name]
        app.add_url_rule(
            operation.path,
            name,
            endpoint_of(operation, view, trust),
            methods=[operation.method],
            provide_automatic_options=False,
        )
    app.after_request(partial(stamp, observers=Observers(worlds, announce, listener)))


def frame(app: Flask) -> None:
    """What every app of the sandbox has, also one of the controls alone: worlds in the path, one body for every no."""
    app.register_error_handler(Refusal, tell)
    app.register_error_handler(HTTPException, http_refusal)
    app.register_error_handler(StateFileError, lambda error: tell(Refusal(Error.UNAVAILABLE)))
    app.wsgi_app = WorldPath(app.wsgi_app)  # type: ignore[method-assign]
    app.before_request(demand_path)
    app.ensure_sync = lambda func: func  # type: ignore[method-assign]  # none of ours is a coroutine
    app.url_map.merge_slashes = False
    app.url_map.converters["default"] = Segment
    app.config["MAX_CONTENT_LENGTH"] = FILE_BYTES_MAX  # nothing longer is read


def demand_path() -> None:
    """A path in another spelling is none of ours; only a reference of the bank's interface may be `.` or `..`."""
    path, rule = request.environ["sandbox.path"], request.url_rule
    if rule is None:
        leads_elsewhere = has_dots(path) or has_dots(text_of(path))
    else:
        leads_elsewhere = rule.endpoint not in BY_NAME and has_dots(path)
    if leads_elsewhere or not is_readable(path):
        raise Refusal(Error.NOT_FOUND, input=path[:200])


def check_certificate(worlds: Worlds, trust: "Trust | None") -> None:
    """Before the path is even looked at (choice 2)."""
    environ, rule = request.environ, request.url_rule
    operation = None if rule is None else BY_NAME.get(rule.endpoint)
    if operation is None and (rule is not None or f"{environ['PATH_INFO']}/".startswith(NOT_THE_BANK)):
        return
    name = environ["sandbox.world"]
    world = environ["sandbox.place"] = worlds.get_or_default(name) if rule is None else worlds.get(name)
    settings = worlds.settings_of(world)
    if settings.client_certificates == "off":
        return
    by_header = operation is None or operation.bank_headers  # as client_of has it, before there is a call
    client = world.ask(client_by, environ, by_header)
    role = operation.role if operation else None
    from sandbox.web.api.certificates import demand_certificate  # with the cryptography that most banks never need

    demand_certificate(environ, settings, trust, client, role, world.certificate_time())


def client_by(bank: Bank, environ: dict[str, Any], by_header: bool) -> Client | None:
    """The client that a call names, if the bank knows it."""
    named = environ.get("HTTP_CLIENT_ID") if by_header else client_named(bank, environ.get("HTTP_AUTHORIZATION"))
    return bank.clients.get(named) if named else None


def here(worlds: Worlds) -> World:
    """The world of this request."""
    return worlds.get(request.environ["sandbox.world"])


def endpoint_of(operation: Operation, view: View, trust: "Trust | None") -> Callable[..., Response]:
    def endpoint(**path: str) -> Response:
        environ = request.environ
        world: World = environ["sandbox.place"]
        # The request itself: `request` looks it up anew at every use.
        call = Call(operation, world, environ["werkzeug.request"], path, *world.terms(), trust)
        environ["sandbox.call"] = call
        fault = world.fault_for(operation.name, client_of(call)) if world.faults.rules else None
        if fault is None:
            return surprised(call, lambda: refusable(view, call)) if call.settings.variants else perform(view, call)
        environ["sandbox.fault"] = fault
        return answered(fault, lambda: refusable(view, call))

    return endpoint


def refusable(view: View, call: Call) -> Response:
    """The answer that a fault is laid over, be it a yes or a no."""
    try:
        return perform(view, call)
    except Refusal as refusal:
        return tell(refusal)


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


def stamp(response: Response, observers: Observers) -> Response:
    """Stamps Response-ID on each reply of the bank's interface (service 4), and hands the call to the observers."""
    environ = request.environ
    if f"{environ['PATH_INFO']}/".startswith(NOT_THE_BANK):
        if observers.listener is not None:
            observers.listener.acted(environ, response, observers.worlds)
        return response
    call: Call | None = environ.get("sandbox.call")
    try:
        hand_over(environ, response, call, observers)
    except (StateFileError, Refusal):  # a world that cannot be read back, or was dropped meanwhile, takes no note
        response.headers.setdefault("Response-ID", asked_as(environ) or nth_id(observers.worlds.beginning, 0))
    if call is not None and call.world.holds.by_name:
        stand(call, "before_reply")
    return response


def hand_over(environ: dict[str, Any], response: Response, call: Call | None, observers: Observers) -> None:
    """One plain record of the call, which waits in its world; its reply is complete before anything observes it."""
    name = environ["sandbox.world"]
    world = call.world if call else observers.worlds.get_or_default(name)
    varied = call is not None and call.settings.variants and "sandbox.fault" not in environ
    listener = observers.listener
    print_of = None if listener is None else listener.print_of
    record = record_call(observers.take, print_of, name if is_world_name(name) else world.name, environ, response)
    added = world.add_call(record)
    response.headers["Response-ID"] = added.request_id
    if call is not None and varied:
        dress(call, response)
    if not record.waits or observers.announce is not None or added.seq % WAIT_MAX == 0:
        world.deliver_calls()
    if call is not None and varied:
        cut_in_pieces(call, response)
