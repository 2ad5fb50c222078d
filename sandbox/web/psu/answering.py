"""Answers the calls of the bank's screens: finds the view, and ends the visit where it is refused."""

from flask import Response, request
from werkzeug.exceptions import HTTPException

from sandbox.contract.errors import Error, Refusal
from sandbox.lazy import load
from sandbox.web.api.app import here
from sandbox.web.api.edge_faults import page_fault
from sandbox.web.api.fault_replies import answered
from sandbox.web.html.static_files import content_of, serve
from sandbox.web.psu.endings import Ending, end, end_refused
from sandbox.web.psu.templating import headers
from sandbox.web.psu.visits import Lost, Visit
from sandbox.world.registry import Worlds

FORM_BYTES_MAX = 20_000
FILES = ("bank.css", "mark.svg", "countdown.js")


def nowhere(visit: Visit) -> Response:
    raise Refusal(Error.NOT_FOUND, input="page")


def see_file(visit: Visit) -> Response:
    """The pages' own files."""
    name = visit.path["name"]
    if name not in FILES:
        raise Refusal(Error.NOT_FOUND, input="file")
    return serve(content_of("sandbox.web.psu", name), name, visit.request)


def answer(worlds: Worlds, name: str, path: dict[str, str]) -> Response:
    request.max_content_length = FORM_BYTES_MAX
    visit, view = Visit(here(worlds), request, path), load(name)
    fault = None if view is see_file else page_fault(visit.world)
    try:
        response: Response = view(visit) if fault is None else answered(fault, lambda: view(visit))
    except Lost:
        response = end(visit, Ending("lost", 403))
    except Refusal as refusal:
        response = end_refused(visit, refusal)
    except HTTPException as refused:
        response = end(visit, Ending("failed", refused.code or 400))
    if response.status_code == 303:
        response.headers.update(headers())
    return response
