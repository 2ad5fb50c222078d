"""The routes of the bank's own pages (choice 1). A view is imported when it is first called."""

from functools import partial

from flask import Flask, Response

from sandbox.lazy import load
from sandbox.web.html.pages import add_route
from sandbox.worlds.registry import WorldRegistry

# Method, path below /psu, view.
PAGES = (
    ("GET", "/sign/<token>", "sandbox.web.psu.steps:SIGNING.open_address"),
    ("GET", "/sign/<token>/<step>", "sandbox.web.psu.steps:SIGNING.see_step"),
    ("POST", "/sign/<token>/<step>", "sandbox.web.psu.steps:SIGNING.take_step"),
    ("GET", "/app/<approval>", "sandbox.web.psu.approvals:BANK_APP.see"),
    ("GET", "/app/<approval>/waits", "sandbox.web.psu.approvals:BANK_APP.says_whether_it_waits"),
    ("POST", "/app/<approval>/<answer>", "sandbox.web.psu.approvals:BANK_APP.answer"),
    ("GET", "/identity-app/<approval>", "sandbox.web.psu.approvals:ZELVO.see"),
    ("GET", "/identity-app/<approval>/waits", "sandbox.web.psu.approvals:ZELVO.says_whether_it_waits"),
    ("POST", "/identity-app/<approval>/<answer>", "sandbox.web.psu.approvals:ZELVO.answer"),
    ("GET", "/consent/<token>", "sandbox.web.psu.steps:CONSENTING.open_address"),
    ("GET", "/consent/<token>/<step>", "sandbox.web.psu.steps:CONSENTING.see_step"),
    ("POST", "/consent/<token>/<step>", "sandbox.web.psu.steps:CONSENTING.take_step"),
    ("GET", "/channel", "sandbox.web.psu.channel:open_channel"),
    ("GET", "/channel/login", "sandbox.web.psu.channel:open_channel"),
    ("POST", "/channel/login", "sandbox.web.psu.channel:log_in"),
    ("POST", "/channel/leave", "sandbox.web.psu.channel:log_out"),
    ("GET", "/channel/payments/<payment_id>", "sandbox.web.psu.channel:see_payment"),
    ("POST", "/channel/payments/<payment_id>", "sandbox.web.psu.channel:sign_payment"),
    ("POST", "/channel/payments/<payment_id>/method", "sandbox.web.psu.channel:choose_method"),
    ("POST", "/channel/payments/<payment_id>/biometrics", "sandbox.web.psu.channel:sign_by_biometrics"),
    ("POST", "/channel/payments/<payment_id>/refuse", "sandbox.web.psu.channel:refuse_payment"),
    ("POST", "/channel/payments/<payment_id>/cancel", "sandbox.web.psu.channel:cancel_payment"),
    ("GET", "/channel/consents/<consent_id>", "sandbox.web.psu.channel:see_consent"),
    ("POST", "/channel/consents/<consent_id>", "sandbox.web.psu.channel:withdraw_consent"),
    ("GET", "/static/<name>", "sandbox.web.psu.visits:see_file"),
    ("GET", "/", "sandbox.web.psu.visits:refuse_unknown_page"),
    ("GET", "/<path:rest>", "sandbox.web.psu.visits:refuse_unknown_page"),
    ("POST", "/<path:rest>", "sandbox.web.psu.visits:refuse_unknown_page"),
)


def route(app: Flask, worlds: WorldRegistry) -> None:
    def page(view: str, **names: str) -> Response:
        response: Response = load("sandbox.web.psu.visits:answer")(worlds, view, names)
        return response

    for method, path, view in PAGES:
        add_route(app, method, f"/psu{path}", f"page {method} /psu{path}", partial(page, view))
