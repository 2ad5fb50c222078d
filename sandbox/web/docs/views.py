"""The views of the reference: two OpenAPI documents, the choices and tables, the documentation, and Swagger UI."""

from datetime import date
from functools import cache, lru_cache, partial
from importlib.resources import files

import orjson
from flask import Response, request

from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.decisions import Pairs
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.addresses import CALLBACK, find_bank_root, find_root
from sandbox.web.api.app import find_world_of_request
from sandbox.web.docs import site
from sandbox.web.html.pages import (
    KIT,
    SHARED,
    compute_source,
    make_page_headers,
    make_page_response,
    read_content,
    see_other,
    serve,
    write_policy,
)
from sandbox.worlds.registry import WorldRegistry

SOURCES = {"script": "'self'", "img": "'self' data:", "connect": "'self'"}
POLICY = write_policy(style=compute_source(site.STYLE), **SOURCES)
# Swagger UI sets styles of its own while it draws; scripts stay files of this server.
SWAGGER_POLICY = write_policy(style="'self' 'unsafe-inline'", **SOURCES)
OURS = ("try.css", "try.js", "site.js")
SWAGGER = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")


@lru_cache(maxsize=site.ROOTS_KEPT)
def write_bank_document(root: str, vendor: str, today: date, variants: Pairs = ()) -> bytes:
    """Returns the JSON of the OpenAPI document of a bank with these variants. The callback address in the examples is
    the callback page below `root`. apispec is imported at the first call."""
    from sandbox.web.docs.amendments import amend_document
    from sandbox.web.docs.bank_document import describe_bank
    from sandbox.web.docs.examples import CALLBACK as EXAMPLE

    content = orjson.dumps(amend_document(describe_bank(root, vendor, today), variants))
    return content.replace(orjson.dumps(EXAMPLE)[1:-1], orjson.dumps(root + CALLBACK)[1:-1])


@lru_cache(maxsize=site.ROOTS_KEPT)
def write_controls_document(root: str) -> bytes:
    from sandbox.web.docs.controls_document import describe_controls

    return orjson.dumps(describe_controls(root))


@cache
def read_asset(name: str) -> bytes:
    """Returns the content of a static file of the documentation, the reference or Swagger UI. Raises a Refusal for any
    other name."""
    if name in OURS:
        return read_content("sandbox.web.docs", name)
    if name == "search-index.js":
        return site.search_index()
    if name in site.PICTURES:
        return (site.find_folder() / name).read_bytes()
    if name in SHARED:
        return read_content(KIT, name)
    if name in SWAGGER:
        return (files("flask_swagger_ui") / "dist" / name).read_bytes()
    raise Refusal(Error.NOT_FOUND, input="file")


def openapi(worlds: WorldRegistry) -> Response:
    settings, today = find_world_of_request(worlds).ask(
        lambda bank: (bank.settings, find_brussels_date(bank.clock.now))
    )
    return _make_json_response(write_bank_document(find_bank_root(request), settings.vendor, today, settings.variants))


def controls(worlds: WorldRegistry) -> Response:
    return _make_json_response(write_controls_document(find_root(request)))


def page(worlds: WorldRegistry, slug: str = "") -> Response:
    if slug not in ("", site.REFERENCE, *site.SLUGS):
        return answer_missing(slug)
    text = site.draw_served_page(slug, find_root(request), find_bank_root(request))
    return make_page_response(text, make_page_headers(POLICY))


reference = partial(page, slug=site.REFERENCE)


def trial(worlds: WorldRegistry) -> Response:
    return make_page_response(site.draw_trial(find_root(request)), make_page_headers(SWAGGER_POLICY))


def elsewhere(worlds: WorldRegistry, rest: str = "") -> Response:
    """Redirects an address with a slash at its end to the address without the slash. For any other address, replies
    that there is no such page."""
    root = f"{find_root(request)}/_sandbox/docs"
    if rest and not rest.endswith("/"):
        return answer_missing(rest)
    query = request.query_string.decode("ascii", "replace")
    address = f"{root}/{rest}".rstrip("/") + (f"?{query}" if query else "")
    return see_other(address, make_page_headers(POLICY))


def answer_missing(name: str) -> Response:
    """Returns a page with status 404 that offers a search, if the caller is a browser. Raises a Refusal for any other
    caller."""
    if request.accept_mimetypes.best_match(("application/json", "text/html")) != "text/html":
        raise Refusal(Error.NOT_FOUND, input="page")
    base = f"{find_root(request)}/_sandbox/"
    return make_page_response(
        site.draw_missing_page(name, f"{base}docs/", "", base), make_page_headers(POLICY), status=404
    )


def static(worlds: WorldRegistry, name: str) -> Response:
    return serve(read_asset(name), name, request)


def _make_json_response(content: bytes) -> Response:
    return Response(content, content_type="application/json;charset=utf-8")
