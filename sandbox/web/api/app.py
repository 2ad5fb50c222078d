"""The application: paths as callers spelled them, routes made from the table of operations, and the way of each call:
its world, its checks, its view, its reply, its record.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from logging import getLogger
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, unquote_to_bytes

from flask import Flask, Request, Response, current_app, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import MapAdapter, Rule, UnicodeConverter

from sandbox.bank.state import Bank
from sandbox.banking.names import is_world_name
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import BY_NAME, Operation
from sandbox.lazy import load
from sandbox.storage.format import StateFileError
from sandbox.web.api import initiations
from sandbox.web.api.call import Answer, Call, View
from sandbox.web.api.call_records import Announce, CallListener, Observers, asked_as, record_call
from sandbox.web.api.failures import http_refusal, render_refusal
from sandbox.web.api.faults import (
    answered,
    apply_reply_variants,
    barrier,
    maybe_fail_first_call,
    pass_by,
    send_in_chunks,
)
from sandbox.web.api.gate import pass_client_checks, pass_request_checks
from sandbox.web.api.headers import client_named
from sandbox.web.api.replies import ReplyContent, write
from sandbox.web.html.pages import add_route
from sandbox.worlds.beginning import nth_id
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust


PLAIN = "!$&'()*+,;=:@/"  # beside what `quote` leaves as it is: RFC 3986, 3.3
ABSOLUTE = re.compile(r"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)  # RFC 9112, 3.2.2
PATH = re.compile(r"(?:/(?:[^/\\?#%\x00-\x1f\x7f]|%[0-9A-Fa-f]{2})+)*/?")

Outside = Callable[[dict[str, Any], Any], Iterable[bytes] | None]
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
        self.public: tuple[str, tuple[str, ...]] | None = None  # scheme of --public-url, and its host in each spelling
        self.outside: dict[str, Outside] = {}  # paths that may be answered before the bank sees them

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["sandbox.started"] = perf_counter()
        path = raw_path(environ)
        outside = self.outside.get(path)
        found = None if outside is None else outside(environ, start_response)
        if found is not None:
            return found
        environ["sandbox.path"] = path
        name, environ["PATH_INFO"] = world_and_path(path)
        if environ["PATH_INFO"] is not path:
            environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/worlds/{name}"
        environ["sandbox.world"] = name
        target = environ.get("REQUEST_URI") or ""
        absolute = None if target[:1] == "/" else ABSOLUTE.match(target)
        if absolute:  # its host counts instead of the header (RFC 9112, 3.2.2)
            environ["HTTP_HOST"] = absolute[1]
        if self.public and environ.get("HTTP_HOST", "").lower() in self.public[1]:
            environ["wsgi.url_scheme"] = self.public[0]  # also where a proxy that ends the TLS is not on this machine
        query = environ.get("QUERY_STRING", "")
        if not query.isascii():
            environ["QUERY_STRING"] = quote(query, safe=ASCII, encoding="latin-1")
        try:
            return self.inner(environ, start_response)
        finally:
            for name in IN_CIRCLES:
                environ.pop(name, None)


class Route(Rule):
    """A rule for reading paths. No address is written from one, so that werkzeug has nothing to compile for that."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return write_no_address


def write_no_address(rule: Rule, **values: object) -> tuple[str, str]:
    raise AssertionError(f"the address of {rule.rule} is not written from its rule")


class Segment(UnicodeConverter):
    """One segment of a path, percent-decoded once, after routing: `123%2F1` is the reference `123/1` (choice 5)."""

    def to_python(self, value: str) -> str:
        return unquote(value) if "%" in value else value


def world_and_path(path: str) -> tuple[str, str]:
    """The name of the world, and the path in it."""
    if not path.startswith("/worlds/"):
        return "default", path
    name, _, rest = path[8:].partition("/")
    return name, f"/{rest}"


def raw_path(environ: dict[str, Any]) -> str:
    """The path before any decoding. Servers tell it as REQUEST_URI or RAW_URI; elsewhere it is made anew."""
    target: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    plain = target.partition("?")[0]
    if plain == environ.get("PATH_INFO") and plain[:1] == "/" and "%" not in plain and not environ.get("SCRIPT_NAME"):
        return plain  # nearly always
    absolute = ABSOLUTE.match(target)
    path = (absolute[2] if absolute else target).partition("?")[0] or ("/" if absolute else "")
    decoded_path, root = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
    for prefix in (root, ""):
        # waitress takes the first slashes for one, and cheroot keeps %2F in what it decoded.
        if path.startswith(prefix) and same(path[len(prefix) :], decoded_path):
            return path[len(prefix) :]
    return quote(decoded_path, safe=PLAIN, encoding="latin-1")


def same(path: str, decoded_path: str) -> bool:
    """Whether the server decoded this path to that one; a middleware in between may have set another."""
    decoded = text_of(path)
    return decoded_path in (path, decoded) or decoded.lstrip("/") in (
        decoded_path.lstrip("/"),
        text_of(decoded_path).lstrip("/"),
    )


def text_of(path: str) -> str:
    """As WSGI has paths: bytes written as Latin-1."""
    return unquote_to_bytes(path.encode("latin-1", "replace")).decode("latin-1")


def is_readable(path: str) -> bool:
    """Whole percent escapes, no control characters, no backslash, and no empty segment but the last."""
    return PATH.fullmatch(path) is not None


def has_dots(path: str) -> bool:
    """Whether a segment is `.` or `..`, which other programs take out of a path."""
    return not {".", ".."}.isdisjoint(path.split("/"))


log = getLogger("sandbox")
T = TypeVar("T")
WAIT_MAX = 16  # calls of a world that are observed at once


OF_KINDS = ("initiation", "details", "status", "cancellation")
# The view of an operation, imported at its first call; an operation without one is not routed.
VIEWS = {
    f"{kind.name}_{verb}": f"sandbox.web.api.initiations:{verb}"
    for kind in initiations.INITIATION_ACTIONS
    for verb in OF_KINDS
}
VIEWS |= {
    "bulk_initiation": "sandbox.web.api.bulks:bulk_initiation",
    "bulk_status": "sandbox.web.api.bulks:bulk_status",
    "bulk_cancellation": "sandbox.web.api.bulks:bulk_cancellation",
    "token": "sandbox.web.api.access:token",
    "consent_addresses": "sandbox.web.api.access:consent_addresses",
    "accounts": "sandbox.web.api.accounts:accounts",
    "account": "sandbox.web.api.accounts:account",
    "transactions": "sandbox.web.api.accounts:transactions",
}

# A name that needs no other form to be compared.
PLAIN_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}(?::(?!80$|443$)[1-9][0-9]{0,4})?")
ENTRY = "sandbox.entry"  # among the extensions of an app: what guards all that is not the bank
NOT_THE_BANK = ("/_sandbox/", "/psu/")


class App(Flask):
    """What every app of the sandbox has, also one of the controls alone: worlds in the path, one body for every no."""

    url_rule_class = Route

    def __init__(self) -> None:
        super().__init__("sandbox", static_folder=None)
        self.register_error_handler(Refusal, render_refusal)
        self.register_error_handler(HTTPException, http_refusal)
        self.register_error_handler(StateFileError, lambda error: render_refusal(Refusal(Error.UNAVAILABLE)))
        self.path_reader = WorldPath(self.wsgi_app)
        self.wsgi_app = self.path_reader  # type: ignore[method-assign]
        self.before_request(demand_path)
        self.url_map.merge_slashes = False
        self.url_map.converters["default"] = Segment
        self.config["MAX_CONTENT_LENGTH"] = FILE_BYTES_MAX  # nothing longer is read

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """None of ours is a coroutine."""
        return func

    def do_teardown_request(self, exc: object = None) -> None:
        """None of ours has anything to do at the end of a request."""

    def do_teardown_appcontext(self, exc: object = None) -> None:
        """Nor here."""

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Of a call as nearly all are; the framework's own takes a twelfth of a status GET."""
        if request is None:
            return super().create_url_adapter(request)
        environ, host = request.environ, request.environ.get("HTTP_HOST", "")
        path, root = environ["PATH_INFO"], environ.get("SCRIPT_NAME", "")
        if "HTTP_UPGRADE" in environ or not (PLAIN_HOST.fullmatch(host) and path.isascii() and root.isascii()):
            return super().create_url_adapter(request)
        return MapAdapter(
            self.url_map, host, root or "/", "", request.scheme, path, request.method, environ.get("QUERY_STRING")
        )


def route(
    app: Flask,
    worlds: WorldRegistry,
    announce: Announce | None = None,
    trust: "Trust | None" = None,
    listeners: tuple[CallListener, ...] = (),
) -> None:
    """Everything of the bank's own interface."""
    app.before_request(partial(check_certificate, worlds, trust))
    for name, view in VIEWS.items():
        operation = BY_NAME[name]
        add_route(app, operation.method, operation.path, name, endpoint_of(operation, view, worlds, trust))
    app.after_request(partial(stamp, observers=Observers(worlds, announce, listeners)))


def demand_path() -> Response | None:
    """A path in another spelling is none of ours; only a reference of the bank's interface may be `.` or `..`."""
    environ, rule = request.environ, request.url_rule
    path = environ["sandbox.path"]
    of_bank = rule is not None and rule.endpoint in BY_NAME
    leads_elsewhere = not of_bank and (has_dots(path) or (rule is None and has_dots(text_of(path))))
    if leads_elsewhere or not is_readable(path):
        raise Refusal(Error.NOT_FOUND, input=path[:200])
    entry: Callable[[], Response | None] | None = None if of_bank else current_app.extensions.get(ENTRY)
    return None if entry is None else entry()


def check_certificate(worlds: WorldRegistry, trust: "Trust | None") -> None:
    """Before the path is even looked at (choice 2)."""
    environ, rule = request.environ, request.url_rule
    operation = None if rule is None else BY_NAME.get(rule.endpoint)
    if operation is None and (rule is not None or f"{environ['PATH_INFO']}/".startswith(NOT_THE_BANK)):
        return
    name = environ["sandbox.world"]
    if worlds.is_shared and operation is not None and operation.method != "GET":
        at_hand = worlds.get_at_hand(name)
        if at_hand is not None:
            environ["sandbox.place"], environ["sandbox.decisions"] = at_hand, at_hand.begin_call()
            environ["sandbox.at_hand"] = True
            return
    ask_world(worlds, trust, operation)


def ask_world(worlds: WorldRegistry, trust: "Trust | None", operation: Operation | None) -> None:
    """Finds the world of this request as it is now, and checks the certificate that it demands."""
    environ, rule = request.environ, request.url_rule
    name = environ["sandbox.world"]
    world = environ["sandbox.place"] = worlds.get_or_default(name) if rule is None else worlds.get(name)
    decisions = environ["sandbox.decisions"] = world.begin_call()
    if decisions.client_certificates == "off":
        return
    client = world.ask(lambda bank: bank.clients.get(client_named(bank, environ, operation) or ""))
    role = operation.role if operation else None
    from sandbox.web.api.certificates import demand_certificate  # with the cryptography that most banks never need

    demand_certificate(environ, decisions, trust, client, role, world.certificate_time())


def here(worlds: WorldRegistry) -> World:
    """The world of this request."""
    return worlds.get(request.environ["sandbox.world"])


def endpoint_of(
    operation: Operation, name: str, worlds: WorldRegistry, trust: "Trust | None"
) -> Callable[..., Response]:
    def begin_call(path: dict[str, str]) -> Call:
        environ = request.environ
        # The request itself: `request` looks it up anew at every use.
        request_itself = environ["werkzeug.request"]
        call = Call(operation, environ["sandbox.place"], request_itself, path, environ["sandbox.decisions"], trust)
        environ["sandbox.call"] = call
        return call

    def endpoint(**path: str) -> Response:
        environ, view = request.environ, load(name)
        call = begin_call(path)
        if "sandbox.at_hand" in environ:
            response = perform_at_hand(view, call)
            if response is not None:
                return response
            ask_world(worlds, trust, operation)
            call = begin_call(path)
        world = call.world
        fault = None
        if world.faults.rules:
            fault = world.fault_for(operation.name, world.look(client_named, environ, operation))
        if fault is None:
            return (
                maybe_fail_first_call(call, lambda: refusable(view, call))
                if call.decisions.variants
                else perform(view, call)
            )
        environ["sandbox.fault"] = fault
        return answered(fault, lambda: refusable(view, call))

    return endpoint


def perform(view: View, call: Call) -> Response:
    """A call is judged and answered at one moment of its world, which it enters once. What a view returns instead of
    an answer is done after that: long work without the world's lock, and the change that a read turned out to need."""
    pass_request_checks(call)
    door = call.world.ask if call.operation.method == "GET" else call.world.enter  # a read waits for no long file
    if not call.world.holds.by_name:
        return _complete(call, door(_answer, view, call))
    call.world.ask(pass_client_checks, call)
    with barrier(call, "before_act") as hold:
        hold()  # as at each barrier, not under the world's lock
    with barrier(call, "after_act") as hold:
        try:
            return _complete(call, door(view, call))
        finally:
            hold()


def perform_at_hand(view: View, call: Call) -> Response | None:
    """For a call that may change a shared world, whose store was not asked yet: the copy in memory judges the call
    until it enters, which asks. Returns None if the call is to be judged again, by a world that was asked: it was
    refused before it entered, or other settings are in force now, or the settings alone no longer decide."""
    has_entered = False

    def answer(bank: Bank) -> Answer | None:
        nonlocal has_entered
        is_as_judged = bank.decisions is call.decisions  # which another change of settings, or another copy, replaces
        if not has_entered and not (is_as_judged and call.world.is_judged_by_settings()):
            return None
        has_entered = True
        return _answer(bank, view, call)

    try:
        pass_request_checks(call)
        answered_now = call.world.enter(answer)
    except Refusal:
        if has_entered:
            raise
        return None
    return None if answered_now is None else _complete(call, answered_now)


def _answer(bank: Bank, view: View, call: Call) -> Answer:
    pass_client_checks(bank, call)
    return view(bank, call)


def _complete(call: Call, answer: Answer) -> Response:
    while not isinstance(answer, Response | ReplyContent):
        answer = answer()
    return write(answer, call.operation.name, call.decisions) if isinstance(answer, ReplyContent) else answer


def refusable(view: View, call: Call) -> Response:
    """The answer that a fault is laid over, be it a yes or a no."""
    try:
        return perform(view, call)
    except Refusal as refusal:
        return render_refusal(refusal)


def stamp(response: Response, observers: Observers) -> Response:
    """Stamps Response-ID on each reply of the bank's interface (service 4), and hands the call to the observers."""
    environ = request.environ
    if f"{environ['PATH_INFO']}/".startswith(NOT_THE_BANK):
        return tell_of_acts(observers, response)
    call: Call | None = environ.get("sandbox.call")
    if call is None or not call.world.holds.by_name:
        finish(environ, response, call, observers)
        return response
    with ExitStack() as reserved:
        hold = pass_by
        try:
            hold = reserved.enter_context(barrier(call, "before_reply"))
        except Refusal as refusal:
            response = render_refusal(refusal)
        finish(environ, response, call, observers)
        hold()
    return response


def tell_of_acts(observers: Observers, response: Response) -> Response:
    """Hands a call of a page or a control to the listeners; its reply was made already."""
    environ = request.environ
    for listener in observers.listeners:
        if listener.acted is not None:
            try:
                listener.acted(environ, response, observers.worlds)
            except Exception:
                log.exception("%s was answered, and the listener %s failed", environ["PATH_INFO"], listener.name)
    return response


def finish(environ: dict[str, Any], response: Response, call: Call | None, observers: Observers) -> None:
    """Has the call recorded, and gives the reply the form that the axes of its world ask for."""
    varied = call is not None and call.decisions.variants and "sandbox.fault" not in environ
    place = keep_record(environ, response, call, observers)
    if call is not None and varied:
        apply_reply_variants(call, response)
    if place is not None:
        guarded(environ, place.deliver_calls)
    if call is not None and varied:
        send_in_chunks(call, response)


def guarded(environ: dict[str, Any], keep: Callable[[], T]) -> T | None:
    """Keeps a failure of the record of a call from its reply, which was made already."""
    try:
        return keep()
    except (StateFileError, Refusal):  # a world that cannot be read back, or was dropped meanwhile, takes no record
        return None
    except Exception:
        log.exception("call %s was answered, and could not be recorded", asked_as(environ) or "without a Request-ID")
        return None


def keep_record(environ: dict[str, Any], response: Response, call: Call | None, observers: Observers) -> World | None:
    """Stamps the reply, and has one plain record of the call wait in its world; the reply is complete before anything
    observes it. Returns the world if the calls that wait there are to be delivered."""

    def keep() -> World | None:
        name = environ["sandbox.world"]
        world = call.world if call else observers.worlds.get_or_default(name)
        called = world.name if call or not is_world_name(name) else name
        record = record_call(observers.take, observers.prints_of, called, environ, response)
        added = world.add_call(record)
        response.headers["Response-ID"] = added.request_id
        is_due = not record.waits or observers.announce is not None or added.seq % WAIT_MAX == 0
        return world if is_due else None

    place = guarded(environ, keep)
    if "Response-ID" not in response.headers:
        response.headers["Response-ID"] = asked_as(environ) or nth_id(observers.worlds.beginning, 0)
    return place
