"""The routes of the bank's own screens (choice 1)."""

from collections.abc import Callable

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.app import here
from sandbox.web.api.edge_faults import page_fault
from sandbox.web.api.fault_replies import answered
from sandbox.web.html.pages import add_route
from sandbox.web.html.static_files import content_of, serve
from sandbox.web.psu import app_page, channel
from sandbox.web.psu.endings import Ending, end, end_refused
from sandbox.web.psu.steps import CONSENTING, SIGNING
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


# Method, path below /psu, what it does.
PAGES: tuple[tuple[str, str, Callable[[Visit], Response]], ...] = (
    ("GET", "/sign/<token>", SIGNING.open_address),
    ("GET", "/sign/<token>/<step>", SIGNING.see_step),
    ("POST", "/sign/<token>/<step>", SIGNING.take_step),
    ("GET", "/app/<approval>", app_page.see_approval),
    ("POST", "/app/<approval>/<answer>", app_page.answer),
    ("GET", "/consent/<token>", CONSENTING.open_address),
    ("GET", "/consent/<token>/<step>", CONSENTING.see_step),
    ("POST", "/consent/<token>/<step>", CONSENTING.take_step),
    ("GET", "/channel", channel.open_channel),
    ("GET", "/channel/login", channel.open_channel),
    ("POST", "/channel/login", channel.log_in),
    ("POST", "/channel/leave", channel.log_out),
    ("GET", "/channel/payments/<payment_id>", channel.see_payment),
    ("POST", "/channel/payments/<payment_id>", channel.sign_payment),
    ("POST", "/channel/payments/<payment_id>/method", channel.choose_method),
    ("POST", "/channel/payments/<payment_id>/biometrics", channel.sign_by_biometrics),
    ("POST", "/channel/payments/<payment_id>/refuse", channel.refuse_payment),
    ("POST", "/channel/payments/<payment_id>/cancel", channel.cancel_payment),
    ("GET", "/channel/consents/<consent_id>", channel.see_consent),
    ("POST", "/channel/consents/<consent_id>", channel.withdraw_consent),
    ("GET", "/static/<name>", see_file),
    ("GET", "/", nowhere),
    ("GET", "/<path:rest>", nowhere),
    ("POST", "/<path:rest>", nowhere),
)


def route(app: Flask, worlds: Worlds) -> None:
    for method, path, view in PAGES:
        add_route(app, method, f"/psu{path}", f"page {method} /psu{path}", endpoint_of(view, worlds))


def endpoint_of(view: Callable[[Visit], Response], worlds: Worlds) -> Callable[..., Response]:
    def endpoint(**path: str) -> Response:
        request.max_content_length = FORM_BYTES_MAX
        visit = Visit(here(worlds), request, path)
        fault = None if view is see_file else page_fault(visit.world)
        try:
            response = view(visit) if fault is None else answered(fault, lambda: view(visit))
        except Lost:
            response = end(visit, Ending("lost", 403))
        except Refusal as refusal:
            response = end_refused(visit, refusal)
        except HTTPException as refused:
            response = end(visit, Ending("failed", refused.code or 400))
        if response.status_code == 303:
            response.headers.update(headers())
        return response

    return endpoint
