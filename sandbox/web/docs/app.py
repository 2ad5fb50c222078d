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
from sandbox.web.docs import site
from sandbox.web.html.pages import page, page_headers, policy_of
from sandbox.web.html.static_files import KIT, SHARED, content_of, serve
from sandbox.world.registry import Worlds

ROOTS_KEPT = 64  # base addresses whose documents are kept
POLICY = policy_of(script="'self'", style="'self'", img="'self' data:", connect="'self'")
# Swagger UI sets styles of its own while it draws; scripts stay files of this server.
SWAGGER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
OURS = ("reference.css", "try.js", "site.css", "site.js")
SWAGGER = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")


@lru_cache(maxsize=ROOTS_KEPT)
def bank_document(root: str, vendor: str, today: date, variants: Pairs = ()) -> bytes:
    """The library is asked for only when somebody wants the document."""
    from sandbox.web.docs.document import document
    from sandbox.web.docs.parameters import CALLBACK as EXAMPLE

    made = orjson.dumps(document(root, vendor, today, variants))
    return made.replace(orjson.dumps(EXAMPLE)[1:-1], orjson.dumps(root + CALLBACK)[1:-1])


@lru_cache(maxsize=ROOTS_KEPT)
def controls_document(root: str) -> bytes:
    from sandbox.web.docs.controls_document import document

    return orjson.dumps(document(root))


@lru_cache(maxsize=ROOTS_KEPT)
def page_of(root: str, bank: str) -> str:
    from sandbox.web.docs.templating import page as draw

    return draw(root, bank)


@lru_cache(maxsize=ROOTS_KEPT)
def trial_of(root: str) -> str:
    from sandbox.web.docs.templating import trial

    return trial(root)


@lru_cache(maxsize=4 * ROOTS_KEPT)
def handbook_of(slug: str, root: str, bank: str) -> str:
    return site.page_of(slug, f"{root}/_sandbox/docs/", "", bank, f"{root}/_sandbox/")


@cache
def asset(name: str) -> bytes:
    if name in OURS:
        return content_of("sandbox.web.docs", name)
    if name == "search-index.js":
        return site.search_index()
    if name in site.PICTURES:
        return site.picture(name)
    if name in SHARED:
        return content_of(KIT, name)
    if name in SWAGGER:
        return (files("flask_swagger_ui") / "dist" / name).read_bytes()
    raise Refusal(Error.NOT_FOUND, input="file")


def route(app: Flask, worlds: Worlds) -> None:
    """Beside the controls, in every world."""

    def openapi() -> Response:
        settings, today = here(worlds).ask(lambda bank: (bank.settings, brussels_date(bank.clock.now)))
        return _json(bank_document(bank_root_of(request), settings.vendor, today, settings.variants))

    def controls() -> Response:
        return _json(controls_document(root_of(request)))

    def docs() -> Response:
        return page(page_of(root_of(request), bank_root_of(request)), page_headers(POLICY))

    def trial() -> Response:
        return page(trial_of(root_of(request)), page_headers(SWAGGER_POLICY))

    def handbook(slug: str) -> Response:
        return page(handbook_of(slug, root_of(request), bank_root_of(request)), page_headers(POLICY))

    def static(name: str) -> Response:
        return serve(asset(name), name, request)

    views: tuple[tuple[str, Callable[..., Response]], ...] = (
        ("/openapi.json", openapi),
        ("/controls.json", controls),
        ("/docs", docs),
        ("/docs/try", trial),
        ("/docs/<slug>", handbook),
        ("/docs/static/<name>", static),
    )
    for path, view in views:
        app.add_url_rule(
            f"/_sandbox{path}", f"reference {path}", view, methods=["GET"], provide_automatic_options=False
        )


def _json(content: bytes) -> Response:
    return Response(content, content_type="application/json;charset=utf-8")
