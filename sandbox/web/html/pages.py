"""Templates, responses and headers of pages, their static files, and the proof that a form belongs to its session."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b, sha256
from html import escape
from importlib.resources import files

from flask import Flask, Request, Response
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

HTML = "text/html;charset=utf-8"
NO_REFERRER, SAME_ORIGIN = "no-referrer", "same-origin"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
TEXTS = (".css", ".js")
KIT = "sandbox.web.html"
SHARED = ("tokens.css", "kit.css")
WITH_KIT = ("console.js", "site.js")  # the scripts that begin with kit.js
# Comments, blanks and semicolons that nothing needs
BLANKS = re.compile(r"/\*.*?\*/|\n\s*|(?<=[;{,:>]) +| +(?=[{}>])|;(?=\s*\})", re.DOTALL)
NO_CACHE, IMMUTABLE = "no-cache", "public, max-age=31536000, immutable"


def make_environment(room: str, *more: BaseLoader) -> Environment:
    """Returns the template environment of a package. The environment escapes every value, and raises an error for an
    undefined name."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(room), PackageLoader(KIT), *more]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def write_sources(sources: Mapping[str, str]) -> str:
    """Returns the part of a Content-Security-Policy that says from where a page may load its parts. `sources` maps a
    kind of parts, such as `img`, to their source. A page may not load any other kind."""
    return "; ".join(["default-src 'none'", *(f"{kind}-src {source}" for kind, source in sources.items())])


def write_policy(forms: str = "'none'", **sources: str) -> str:
    """Returns a Content-Security-Policy with these sources. `forms` are the addresses to which forms may be sent. No
    other page may show the page in a frame."""
    return f"{write_sources(sources)}; base-uri 'none'; frame-ancestors 'none'; form-action {forms}"


def compute_source(text: str) -> str:
    """Returns the source of a Content-Security-Policy (`'sha256-...'`) that allows exactly this inline style or
    script."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def draw_whole_page(title: str, style: str, body: str, script: str = "") -> str:
    """Returns a page that loads no other file and can itself be stored as a file. Its Content-Security-Policy is in a
    `meta` element, because a file has no headers."""
    scripts = {"script": compute_source(script)} if script else {}
    policy = write_sources({"style": compute_source(style), **scripts, "img": "data:"})
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>{body}"
        f"{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def make_page_headers(policy: str, referrer: str = NO_REFERRER, opener: str = SAME_ORIGIN) -> dict[str, str]:
    """Returns the headers of a page. No other page may show the page in a frame, and no cache may store it. `opener` is
    its Cross-Origin-Opener-Policy. This header says whether a window that opened the page may access it."""
    return {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": referrer,
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cross-Origin-Opener-Policy": opener,
        "Cache-Control": "no-store",
    }


def make_page_response(text: str, headers: Mapping[str, str], *, status: int = 200, language: str = "en") -> Response:
    response = Response(text, status, headers=headers, content_type=HTML)
    response.headers["Content-Language"] = language
    return response


def add_route(app: Flask, method: str, path: str, name: str, view: Callable[..., Response]) -> None:
    """Adds a route for one method of a path. Flask does not answer OPTIONS for this path, because the application
    itself refuses all other methods."""
    app.add_url_rule(path, name, view, methods=[method], provide_automatic_options=False)


def see_other(address: str, headers: Mapping[str, str]) -> Response:
    """Returns a redirection that the browser follows with GET."""
    return Response(status=303, headers={**headers, "Location": address})


def compute_proof(session: str, purpose: str) -> str:
    """Returns the value of a hidden field that proves that a form was made for this session. Only somebody who knows
    the session's id can compute this value. `purpose` says whose form it is, so that a proof for the bank's pages is
    not valid in the console."""
    return blake2b(purpose.encode(), key=session.encode()[:64], digest_size=24).hexdigest()


# Static files


@cache
def read_content(room: str, name: str) -> bytes:
    """Returns the content of a file in the folder `static` of the package `room`. In every package but this one, a
    style sheet begins with the rules that all pages share, and the scripts in WITH_KIT begin with kit.js."""
    content = (files(room) / "static" / name).read_bytes()
    shared = SHARED if name.endswith(".css") else ("kit.js",) if name in WITH_KIT else ()
    return content if room == KIT else b"".join(read_content(KIT, each) for each in shared) + content


@cache
def read_inline_style(room: str, name: str) -> Markup:
    """Returns a style sheet without comments and blanks, for a `style` element. So the browser can draw the page
    without a second request."""
    style = BLANKS.sub("", read_content(room, name).decode())
    assert "</" not in style
    return Markup(style)


@cache
def compute_digest(room: str, name: str) -> str:
    """Returns a checksum of a file. The checksum is a part of the file's address, so a changed file has a new address.
    Browsers may therefore cache files forever."""
    return blake2b(read_content(room, name), digest_size=8).hexdigest()


def serve(content: bytes, name: str, request: Request, cache_control: str = NO_CACHE) -> Response:
    """Returns the response with a file, or 304 if the browser's copy is current. With the default of `cache_control`, a
    browser asks at each use whether its copy is current."""
    suffix = name[name.rindex(".") :]
    charset = ";charset=utf-8" if suffix in TEXTS else ""
    response = Response(content, content_type=TYPES[suffix] + charset)
    response.headers["Cache-Control"] = cache_control
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.add_etag()
    response.make_conditional(request)
    return response
