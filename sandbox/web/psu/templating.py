"""Pages out of templates, with the headers that keep them to themselves."""

from functools import cache
from typing import Any

from flask import Response
from jinja2 import Environment

from sandbox.web.html import environment_of
from sandbox.web.psu import formats
from sandbox.web.psu.phrases import counted
from sandbox.web.psu.visits import Visit, proof_of
from sandbox.web.psu.words import SCREENS, say, spelled

HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action {forms}"
)


@cache
def templates() -> Environment:
    return environment_of("sandbox.web.psu")


def draw(
    visit: Visit,
    language: str,
    template: str,
    *,
    status: int = 200,
    session_id: str = "",
    forms: str = "",
    kind: str = "",
    **seen: Any,
) -> Response:
    """A page in one language; `forms` is where its forms may lead besides this bank."""
    page = templates().get_template(f"{template}.html")
    text = page.render(
        seen,
        language=language,
        languages=[(code, row.name) for code, row in SCREENS.items()],
        proof=proof_of(session_id) if session_id else "",
        say=lambda key, **facts: say(language, key, kind, **facts),
        spelled=lambda number: spelled(language, number),
        amount=lambda money: formats.amount(language, money),
        account=formats.account,
        day=lambda date: formats.long_date(language, date),
        counted=lambda key, number: counted(language, key, number),
        to=visit.to,
        root=visit.root,
    )
    response = Response(text, status, content_type="text/html;charset=utf-8")
    response.headers["Content-Language"] = language
    guard(response, forms)
    return response


def guard(response: Response, forms: str = "") -> None:
    """Loads nothing from outside, is framed by nobody, and is kept nowhere."""
    response.headers.update(HEADERS)
    response.headers["Content-Security-Policy"] = POLICY.format(forms=f"'self' {forms}".strip())
