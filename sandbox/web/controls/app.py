"""Adds routes for the controls in the table of rows.py, and calls their views (choice 10).

Also adds routes for the public files of the PKI, such as revocation lists. Programs need these files to check
certificates. The routes need no key, and exist even if the controls are switched off.
"""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from flask import Flask, Request, Response, request

from sandbox.contract.errors import Error, Refusal
from sandbox.lazy import load
from sandbox.pki import PLACE
from sandbox.storage.long_work import work_for_caller
from sandbox.web.api.app import find_world_of_request
from sandbox.web.api.replies import make_json_response
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.lock import READ_ONLY
from sandbox.web.controls.request_bodies import read_body, read_query
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from sandbox.pki.folder import Folder


@dataclass(frozen=True, slots=True)
class ControlCall:
    """A call of a control, made over HTTP or by a button of the console."""

    worlds: WorldRegistry
    request: Request
    path: dict[str, str]
    find_world: Callable[[], World]  # loads the world, so it is called only for a view that names `world`


View = Callable[[ControlCall], Any]

# What a view gets for a parameter of that name. Every other parameter is a name in the path. A view whose first
# parameter is `bank` reads the bank of the world.
PARAMETERS: dict[str, Callable[[ControlCall, Control], Any]] = {
    "worlds": lambda call, row: call.worlds,
    "world": lambda call, row: call.find_world(),
    "request": lambda call, row: call.request,
    "row": lambda call, row: row,
    "query": lambda call, row: read_query(call.request, row.query),
    "body": lambda call, row: read_body(call.request, row.body),
    "take_body": lambda call, row: lambda: read_body(call.request, row.body),  # when the view decides
}


def find_view(row: Control) -> View:
    """Returns a function that calls the view of a row. It passes the arguments that the view's parameters name. If the
    first parameter is `bank`, the view runs within `World.ask`. If the view returns a list, the function returns an
    object with this list under the row's `list_name`. Raises AssertionError if the view has an unknown parameter."""
    module, _, function = row.view.rpartition(".")
    view = load(row.view if ":" in row.view else f"sandbox.web.controls.{module}:{function}")
    names = tuple(signature(view).parameters)
    reads_bank = names[:1] == ("bank",)
    parameters = names[1:] if reads_bank else names
    assert {*parameters} <= {*PARAMETERS, *row.path_names}, f"{row.view} names what {row.name} does not have"

    def call_view(call: ControlCall) -> Any:
        values = [PARAMETERS[name](call, row) if name in PARAMETERS else call.path[name] for name in parameters]
        is_gone = call.request.environ.get("sandbox.gone")  # by the server
        with nullcontext() if is_gone is None else work_for_caller(is_gone):
            outcome = call.find_world().ask(view, *values) if reads_bank else view(*values)
        return {row.list_name: outcome} if isinstance(outcome, list) else outcome

    return call_view


def route(app: Flask, worlds: WorldRegistry, rows: Iterable[Control] = CONTROLS) -> None:
    for row in rows:
        add_route(app, row.method, f"/_sandbox{row.path}", f"control {row.name}", _make_endpoint(row, worlds))


def _make_endpoint(row: Control, worlds: WorldRegistry) -> Callable[..., Response]:
    """Returns the function that answers the calls of a control. It makes the response from what the control's view
    returns: the content of a JSON reply, a whole response, or None for a reply without a body. It refuses a call that
    changes something and has a wrong Content-Type."""
    view = cache(partial(find_view, row))  # imported at the first call

    def endpoint(**path: str) -> Response:
        # A call without a Content-Type is let through: a browser sends its Origin, which is checked before.
        if request.method not in READ_ONLY and "Content-Type" in request.headers and request.mimetype not in row.media:
            raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected=" or ".join(row.media[:2]))
        outcome = view()(ControlCall(worlds, request, path, lambda: find_world_of_request(worlds)))
        if outcome is None:
            return Response(status=row.success)
        return outcome if isinstance(outcome, Response) else make_json_response(outcome, row.success)

    return endpoint


def route_pki(app: Flask, folder: "Folder") -> None:
    """Adds a route for the revocation lists and the certificates of the authorities. The certificates of the PKI name
    the addresses of these files."""

    def file(name: str) -> Response:
        content_and_type = folder.read_public_file(name)
        if content_and_type is None:
            raise Refusal(Error.NOT_FOUND, input=name[:100])
        content, media_type = content_and_type
        return Response(content, content_type=media_type)

    add_route(app, "GET", f"{PLACE}<name>", "file of the PKI", file)
