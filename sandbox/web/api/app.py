"""The application of the bank's interface: it reads the path of a call, finds its world, checks it and answers it.

Theory. A call is checked and answered under the lock of its world, because a token must not end between its check and
the payment that it allows. So the checks that need the bank run together with the view. A call that may change the
world takes the lock by `World.enter`. A read takes it by `World.ask`, which does not wait while a large bulk file is
checked.

Work that needs no lock is done before or after. The checks of the request alone and the fault rules run before. A view
may return a function in the place of a reply. This function runs after the lock is released. It does long work, or a
change that a read turned out to need. When the reply is known, it is written in the form that the world's settings ask
for, the record of the call is stored, and records are delivered to observers. The reply is complete before the record
is made. So a failure to record the call is logged and does not change the reply.

Servers may share a world in a database. `World.enter` asks the database for the acts of other servers. But the first
checks of a call run earlier, and depend on the settings of the world. To save a query, they use the settings of the
world's copy in memory. If acts of other servers may have changed the outcome, the database is queried, and the checks
run again.
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
from werkzeug.routing import MapAdapter, UnicodeConverter

from sandbox.bank.state import Bank
from sandbox.banking.names import is_world_name
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import BY_NAME, Operation
from sandbox.lazy import load
from sandbox.storage.format import StateFileError
from sandbox.web.api import initiations
from sandbox.web.api.call import Answer, Call, View
from sandbox.web.api.call_records import Announce, CallListener, Observers, read_request_id, record_call
from sandbox.web.api.failures import make_http_refusal, render_refusal
from sandbox.web.api.faults import (
    apply_fault,
    apply_reply_variants,
    claim_barrier,
    fail_first_call_or_view,
    pass_by,
    send_in_chunks,
)
from sandbox.web.api.gate import pass_client_checks, pass_request_checks
from sandbox.web.api.headers import find_client_id
from sandbox.web.api.replies import ReplyContent, write
from sandbox.web.html.pages import add_route
from sandbox.worlds.beginning import compute_nth_id
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust

log = getLogger("sandbox")
T = TypeVar("T")
DELIVERED_AT = 16  # calls that wait in a world, at which they are delivered to the observers

VERBS = ("initiation", "details", "status", "cancellation")
# The view of an operation, imported at its first call; an operation without one is not routed.
VIEWS = {
    f"{kind.name}_{verb}": f"sandbox.web.api.initiations:{verb}"
    for kind in initiations.INITIATION_ACTIONS
    for verb in VERBS
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
NOT_THE_BANK = ("/_sandbox/", "/psu/")
ENTRY = "sandbox.entry"  # among the extensions of an app: the guard of all that is not the bank

PATH_CHARACTERS = "!$&'()*+,;=:@/"  # that `quote` would escape (RFC 3986, 3.3)
ABSOLUTE = re.compile(r"https?://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)  # RFC 9112, 3.2.2
PATH = re.compile(r"(?:/(?:[^/\\?#%\x00-\x1f\x7f]++|%[0-9A-Fa-f]{2})+)*/?")
ASCII = "".join(map(chr, range(128)))
PLAIN_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}(?::(?!80$|443$)[1-9][0-9]{0,4})?")
# These refer back to the environ: a body of 60 MB would stay in memory until the garbage collector looks.
CIRCULAR = ("werkzeug.request", "sandbox.call", "sandbox.refusal")
Outside = Callable[[dict[str, Any], Any], Iterable[bytes] | None]


# Paths


class WorldPath:
    """WSGI middleware that moves the prefix /worlds/{name} from the path to SCRIPT_NAME, so that the same routes serve
    every world. But first, a function in `outside` may answer the request.

    It sets PATH_INFO to the path as the caller wrote it, with its percent escapes. The routes match that path. If the
    request line has an absolute address, its host replaces the header Host. A request to the host of --public-url gets
    the scheme of that address. The framework fails for a query with bytes that are not UTF-8, so the middleware escapes
    all bytes of a query that are not ASCII.
    """

    def __init__(self, inner: Callable[..., Iterable[bytes]]) -> None:
        self.inner = inner
        self.public: tuple[str, tuple[str, ...]] | None = None  # scheme of --public-url, and its host in each spelling
        self.outside: dict[str, Outside] = {}  # paths that may be answered before the bank sees them

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["sandbox.started"] = perf_counter()
        path = read_raw_path(environ)
        outside = self.outside.get(path)
        reply = None if outside is None else outside(environ, start_response)
        if reply is not None:
            return reply
        environ["sandbox.path"] = path
        name, environ["PATH_INFO"] = split_path(path)
        if environ["PATH_INFO"] is not path:
            environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/worlds/{name}"
        environ["sandbox.world"] = name
        target = environ.get("REQUEST_URI") or ""
        absolute = None if target[:1] == "/" else ABSOLUTE.match(target)
        if absolute:  # its host counts instead of the header (RFC 9112, 3.2.2)
            environ["HTTP_HOST"] = absolute[1]
        if self.public and environ.get("HTTP_HOST", "").lower() in self.public[1]:
            environ["wsgi.url_scheme"] = self.public[0]  # also if the proxy that ends the TLS is on another machine
        query = environ.get("QUERY_STRING", "")
        if not query.isascii():
            environ["QUERY_STRING"] = quote(query, safe=ASCII, encoding="latin-1")
        try:
            return self.inner(environ, start_response)
        finally:
            for name in CIRCULAR:
                environ.pop(name, None)


class Segment(UnicodeConverter):
    """Converts a segment of a path. Percent-decodes the segment once, after the route was found: `123%2F1` is the
    reference `123/1` (choice 5)."""

    def to_python(self, value: str) -> str:
        return unquote(value) if "%" in value else value


def split_path(path: str) -> tuple[str, str]:
    """Splits a path into the name of the world and the path in that world. A path without /worlds/{name} is in the
    world `default`."""
    if not path.startswith("/worlds/"):
        return "default", path
    name, _, path_in_world = path[8:].partition("/")
    return name, f"/{path_in_world}"


def read_raw_path(environ: dict[str, Any]) -> str:
    """Returns the path as the caller wrote it, with its percent escapes, but without SCRIPT_NAME. Most servers keep
    this path in REQUEST_URI or RAW_URI. If neither has it, or if a middleware has set another path, escapes PATH_INFO
    again."""
    target: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    plain = target.partition("?")[0]
    if plain == environ.get("PATH_INFO") and plain[:1] == "/" and "%" not in plain and not environ.get("SCRIPT_NAME"):
        return plain  # nearly always
    absolute = ABSOLUTE.match(target)
    path = (absolute[2] if absolute else target).partition("?")[0] or ("/" if absolute else "")
    decoded_path, root = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
    for prefix in (root, ""):
        # waitress reads several first slashes as one, and cheroot keeps %2F in what it decoded.
        if path.startswith(prefix) and is_decoded_to(path[len(prefix) :], decoded_path):
            return path[len(prefix) :]
    return quote(decoded_path, safe=PATH_CHARACTERS, encoding="latin-1")


def is_decoded_to(path: str, decoded_path: str) -> bool:
    """Whether `decoded_path` is `path` with all, some or none of its percent escapes decoded. Slashes at the beginning
    do not count, because some servers join them. False means that a middleware has set another path."""
    decoded = decode(path)
    return decoded_path in (path, decoded) or decoded.lstrip("/") in (
        decoded_path.lstrip("/"),
        decode(decoded_path).lstrip("/"),
    )


def decode(path: str) -> str:
    """Decodes the percent escapes of a path. Each byte becomes one Latin-1 character, as WSGI demands."""
    return unquote_to_bytes(path.encode("latin-1", "replace")).decode("latin-1")


def is_readable(path: str) -> bool:
    """Whether the path has only complete percent escapes, no control character, no backslash, and no empty segment
    except the last."""
    return PATH.fullmatch(path) is not None


def has_dots(path: str) -> bool:
    return not {".", ".."}.isdisjoint(path.split("/"))


# Applications and routes


class App(Flask):
    """The base of the sandbox's Flask applications. It reads the name of the world from the path, and replies to every
    error with the bank's error body."""

    def __init__(self) -> None:
        super().__init__("sandbox", static_folder=None)
        self.register_error_handler(Refusal, render_refusal)
        self.register_error_handler(HTTPException, make_http_refusal)
        self.register_error_handler(StateFileError, lambda error: render_refusal(Refusal(Error.UNAVAILABLE)))
        self.path_reader = WorldPath(self.wsgi_app)
        self.wsgi_app = self.path_reader  # type: ignore[method-assign]
        self.before_request(demand_path)
        self.url_map.merge_slashes = False
        self.url_map.converters["default"] = Segment
        self.config["MAX_CONTENT_LENGTH"] = FILE_BYTES_MAX  # nothing longer is read

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function unchanged. The framework's own method checks at each call whether the function is
        `async`, which no function of the sandbox is."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Returns the adapter that matches the path of a request with the routes. For a usual request, makes the
        adapter without the framework's method, because that method takes 7 % of the CPU of a status GET."""
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
    """Adds the routes of the bank's interface. Also makes the application find the world of each call before its view
    runs, and store a record of the call after its reply is made."""
    app.before_request(partial(prepare_world, worlds, trust))
    for name, view in VIEWS.items():
        operation = BY_NAME[name]
        add_route(app, operation.method, operation.path, name, make_endpoint(operation, view, worlds, trust))
    app.after_request(partial(complete_reply, observers=Observers(worlds, announce, listeners)))


def demand_path() -> Response | None:
    """Refuses a path with an unusual spelling. Refuses the segments `.` and `..` except in the bank's interface, where
    they can be a reference. For a path outside of the bank's interface, also runs the access checks of the controls.
    Returns their response if they answer the call, else None."""
    environ = request.environ
    path, rule = environ["sandbox.path"], get_request(environ).url_rule
    of_bank = rule is not None and rule.endpoint in BY_NAME
    leads_elsewhere = not of_bank and (has_dots(path) or (rule is None and has_dots(decode(path))))
    if leads_elsewhere or not is_readable(path):
        raise Refusal(Error.NOT_FOUND, input=path[:200])
    entry: Callable[[], Response | None] | None = None if of_bank else current_app.extensions.get(ENTRY)
    return None if entry is None else entry()


def get_request(environ: dict[str, Any]) -> Request:
    """Returns the request object. Flask's `request` is a proxy that looks this object up at each use. That took 6 % of
    a status GET."""
    whole_request: Request = environ["werkzeug.request"]
    return whole_request


def is_beside_bank(environ: dict[str, Any]) -> bool:
    return f"{environ['PATH_INFO']}/".startswith(NOT_THE_BANK)


# The world of a call


def prepare_world(worlds: WorldRegistry, trust: "Trust | None") -> None:
    """Finds the world of a call to the bank, before an unknown path is refused (choice 2). Stores the world and its
    decisions (settings and axes) in the environ. Does nothing for pages and controls.

    If servers share the worlds, a call that may change the bank first gets the world's copy in memory, if there is one,
    without a query to the database. See `answer_from_memory`.
    """
    environ = request.environ
    rule = get_request(environ).url_rule
    operation = None if rule is None else BY_NAME.get(rule.endpoint)
    if operation is None and (rule is not None or is_beside_bank(environ)):
        return
    if worlds.is_shared and operation is not None and operation.method != "GET":
        world = worlds.get_without_query(environ["sandbox.world"])
        if world is not None:
            environ["sandbox.found_world"], environ["sandbox.decisions"] = world, world.begin_call()
            environ["sandbox.from_memory"] = True
            return
    find_world(environ, worlds, trust, operation)


def find_world(
    environ: dict[str, Any], worlds: WorldRegistry, trust: "Trust | None", operation: Operation | None
) -> None:
    """Finds the world of a request in its latest state, and stores the world and its decisions in the environ. A
    request that matches no operation gets the world `default` if its own world does not exist. Checks the caller's
    certificate if the world demands one."""
    name = environ["sandbox.world"]
    world = worlds.get_or_default(name) if operation is None else worlds.get(name)
    decisions = world.begin_call()
    environ["sandbox.found_world"], environ["sandbox.decisions"] = world, decisions
    if decisions.client_certificates == "off":
        return
    client = world.ask(lambda bank: bank.clients.get(find_client_id(bank, environ, operation) or ""))
    role = operation.role if operation else None
    from sandbox.web.api.certificates import demand_certificate  # with the cryptography that most banks never need

    demand_certificate(environ, decisions, trust, client, role, world.read_certificate_time())


def find_world_of_request(worlds: WorldRegistry) -> World:
    return worlds.get(request.environ["sandbox.world"])


# The way of a call


def make_endpoint(
    operation: Operation, name: str, worlds: WorldRegistry, trust: "Trust | None"
) -> Callable[..., Response]:
    """Makes the function that answers the calls of an operation. `name` is the import name of the view, which is
    imported at the first call."""

    def begin_call(environ: dict[str, Any], path: dict[str, str]) -> Call:
        world, decisions = environ["sandbox.found_world"], environ["sandbox.decisions"]
        call = environ["sandbox.call"] = Call(operation, world, get_request(environ), path, decisions, trust)
        return call

    def endpoint(**path: str) -> Response:
        environ, view = request.environ, load(name)
        call = begin_call(environ, path)
        if "sandbox.from_memory" in environ:
            response = answer_from_memory(view, call)
            if response is not None:
                return response
            find_world(environ, worlds, trust, operation)
            call = begin_call(environ, path)
        world = call.world
        fault = None
        if world.faults.rules:
            fault = world.faults.find_for_call(operation.name, world.look(find_client_id, environ, operation))
        if fault is not None:
            environ["sandbox.fault"] = fault
            return apply_fault(fault, lambda: answer_or_refuse(view, call))
        if call.decisions.variants:
            return fail_first_call_or_view(call, lambda: answer_or_refuse(view, call))
        return answer(view, call)

    return endpoint


def answer(view: View, call: Call) -> Response:
    pass_request_checks(call)
    entrance = call.world.ask if call.operation.method == "GET" else call.world.enter
    if not call.world.holds.by_name:
        return _complete(call, entrance(_judge, view, call))
    call.world.ask(pass_client_checks, call)
    with claim_barrier(call, "before_act") as hold:
        hold()  # outside of the world's lock, as at each barrier
    with claim_barrier(call, "after_act") as hold:
        try:
            return _complete(call, entrance(view, call))
        finally:
            hold()


def answer_from_memory(view: View, call: Call) -> Response | None:
    """Answers a call without a query to the database before the first checks. These checks use the settings of the
    world's copy in memory. Only `World.enter`, which runs after them, asks the database for newer acts.

    Returns None if newer acts could change the outcome of the first checks. The caller must then answer the call again,
    with a query first. This is so if the call was refused before it entered the world, or if the settings have changed
    since its first checks. It is also so in a world with faults, barriers, certificates, or axes that are not at their
    default, because these affect the first checks.
    """
    has_entered = False

    def judge(bank: Bank) -> Answer | None:
        nonlocal has_entered
        has_same_settings = bank.decisions is call.decisions  # any change of settings, and another copy, replace them
        if not has_entered and not (has_same_settings and call.world.is_judged_by_settings()):
            return None
        has_entered = True
        return _judge(bank, view, call)

    try:
        pass_request_checks(call)
        reply = call.world.enter(judge)
    except Refusal:
        if has_entered:
            raise
        return None
    return None if reply is None else _complete(call, reply)


def _judge(bank: Bank, view: View, call: Call) -> Answer:
    pass_client_checks(bank, call)
    return view(bank, call)


def _complete(call: Call, reply: Answer) -> Response:
    while not isinstance(reply, Response | ReplyContent):
        reply = reply()
    if isinstance(reply, Response):
        return reply
    content: ReplyContent = reply
    if call.decisions.extensions:
        content = load("sandbox.web.api.reply_filter:filter_reply")(call, content)
    return write(content, call.operation.name, call.decisions)


def answer_or_refuse(view: View, call: Call) -> Response:
    """Returns the reply to the call. If the call is refused, returns the reply with the refusal, and does not raise it.
    So a fault or an axis can change both kinds of replies."""
    try:
        return answer(view, call)
    except Refusal as refusal:
        return render_refusal(refusal)


# After the view


def complete_reply(response: Response, observers: Observers) -> Response:
    """Sets Response-ID on each reply of the bank's interface (service 4), and stores the record of the call for the
    observers. If a tester has set a barrier `before_reply` for this call, the call waits at it before the reply is
    sent. If no worker is free to wait, the reply is a refusal. A call of a page or a control is only passed to the
    listeners of extensions."""
    environ = request.environ
    call: Call | None = environ.get("sandbox.call")
    if call is None and is_beside_bank(environ):
        return tell_listeners(observers, response)
    if call is None or not call.world.holds.by_name:
        finish(environ, response, call, observers)
        return response
    with ExitStack() as reserved:
        hold = pass_by
        try:
            hold = reserved.enter_context(claim_barrier(call, "before_reply"))
        except Refusal as refusal:
            response = render_refusal(refusal)
        finish(environ, response, call, observers)
        hold()
    return response


def tell_listeners(observers: Observers, response: Response) -> Response:
    """Passes a call of a page or a control, with its response, to the listeners of extensions. Logs the failure of a
    listener. Returns the response unchanged."""
    environ = request.environ
    for listener in observers.listeners:
        if listener.acted is not None:
            try:
                listener.acted(environ, response, observers.worlds)
            except Exception:
                log.exception("%s was answered, and the listener %s failed", environ["PATH_INFO"], listener.name)
    return response


def finish(environ: dict[str, Any], response: Response, call: Call | None, observers: Observers) -> None:
    """Stores the record of the call. After that, changes the reply as the axes that are not at their default ask for,
    but never changes the reply of a fault rule. Also delivers the records of the world if they are due."""
    varied_call = call if call is not None and call.decisions.variants and "sandbox.fault" not in environ else None
    due_world = keep_record(environ, response, call, observers)
    if varied_call is not None:
        apply_reply_variants(varied_call, response)
    if due_world is not None:
        log_failure(environ, due_world.calls.deliver)
    if varied_call is not None:
        send_in_chunks(varied_call, response)


def keep_record(environ: dict[str, Any], response: Response, call: Call | None, observers: Observers) -> World | None:
    """Sets Response-ID on the reply and adds the record of the call to its world. Returns the world if its records must
    be delivered to the observers now, else None. If the record cannot be added, Response-ID is the caller's Request-ID
    or, without a valid one, a computed id."""

    def keep() -> tuple[str, World | None]:
        name = environ["sandbox.world"]
        world = call.world if call else observers.worlds.get_or_default(name)
        called = world.name if call or not is_world_name(name) else name
        record = record_call(observers, called, environ, response)
        exchange = world.calls.add(record)
        is_due = not record.waits or observers.announce is not None or exchange.seq % DELIVERED_AT == 0
        return exchange.request_id, world if is_due else None

    recorded = log_failure(environ, keep)
    if recorded is None:
        recorded = read_request_id(environ) or compute_nth_id(observers.worlds.beginning, 0), None
    response.headers["Response-ID"], due_world = recorded
    return due_world


def log_failure(environ: dict[str, Any], keep: Callable[[], T]) -> T | None:
    """Calls `keep` and returns its result. If `keep` fails, returns None and does not raise the error, because the
    reply was made already. Logs the error, unless the world cannot be read or was dropped."""
    try:
        return keep()
    except (StateFileError, Refusal):  # a world that cannot be read back, or was dropped meanwhile, takes no record
        return None
    except Exception:
        request_id = read_request_id(environ) or "without a Request-ID"
        log.exception("call %s was answered, and could not be recorded", request_id)
        return None
