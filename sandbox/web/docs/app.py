"""The reference of a running sandbox: two documents, a page that explains the choices, and Swagger UI, all offline."""

from collections.abc import Callable
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files

import orjson
from flask import Flask, Response, request

from sandbox.banking.calendar import brussels_date
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.variants import Pairs
from sandbox.web.api.addresses import CALLBACK, bank_root_of, root_of
from sandbox.web.api.app import here
from sandbox.world.registry import Worlds

ROOTS_KEPT = 64  # base addresses whose documents are kept
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)
# Swagger UI sets styles of its own while it draws; scripts stay files of this server.
SWAGGER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
OURS = {"reference.css": "text/css;charset=utf-8", "try.js": "text/javascript;charset=utf-8"}
SWAGGER = {
    "swagger-ui.css": "text/css;charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript;charset=utf-8",
    "favicon-32x32.png": "image/png",
}


@lru_cache(maxsize=ROOTS_KEPT)
def bank_document(root: str, vendor: str, today: date, variants: Pairs = ()) -> bytes:
    """The library is asked for only when somebody wants the document."""
    from sandbox.web.docs.document import document
    from sandbox.web.docs.parameters import CALLBACK as EXAMPLE

    made = orjson.dumps(document(root, vendor, today, variants), option=orjson.OPT_INDENT_2)
    return made.replace(orjson.dumps(EXAMPLE)[1:-1], orjson.dumps(root + CALLBACK)[1:-1])


@lru_cache(maxsize=ROOTS_KEPT)
def controls_document(root: str) -> bytes:
    from sandbox.web.docs.controls_document import document

    return orjson.dumps(document(root), option=orjson.OPT_INDENT_2)


@lru_cache(maxsize=ROOTS_KEPT)
def page_of(root: str, bank: str) -> str:
    from sandbox.web.docs.templating import page

    return page(root, bank)


@lru_cache(maxsize=ROOTS_KEPT)
def trial_of(root: str) -> str:
    from sandbox.web.docs.templating import trial

    return trial(root)


@cache
def asset(name: str) -> bytes:
    if name in OURS:
        return (files("sandbox.web.docs") / "static" / name).read_bytes()
    if name in SWAGGER:
        return (files("flask_swagger_ui") / "dist" / name).read_bytes()
    raise Refusal(Error.NOT_FOUND, input="file")


def route(app: Flask, worlds: Worlds) -> None:
    """Beside the controls, in every world."""

    def openapi() -> Response:
        bank = here(worlds).bank
        settings, today = bank.settings, brussels_date(bank.clock.now)
        return _json(bank_document(bank_root_of(request), settings.vendor, today, settings.variants))

    def controls() -> Response:
        return _json(controls_document(root_of(request)))

    def docs() -> Response:
        return _html(page_of(root_of(request), bank_root_of(request)), POLICY)

    def trial() -> Response:
        return _html(trial_of(root_of(request)), SWAGGER_POLICY)

    def static(name: str) -> Response:
        response = Response(asset(name), content_type=(OURS | SWAGGER)[name])
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.add_etag()
        response.make_conditional(request)
        return response

    views: tuple[tuple[str, Callable[..., Response]], ...] = (
        ("/openapi.json", openapi),
        ("/controls.json", controls),
        ("/docs", docs),
        ("/docs/try", trial),
        ("/docs/static/<name>", static),
    )
    for path, view in views:
        app.add_url_rule(
            f"/_sandbox{path}", f"reference {path}", view, methods=["GET"], provide_automatic_options=False
        )


def _json(content: bytes) -> Response:
    return Response(content, content_type="application/json;charset=utf-8")


def _html(text: str, policy: str) -> Response:
    response = Response(text, content_type="text/html;charset=utf-8")
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
