"""Templates, responses, headers and cookies of pages, and the proof that a form is ours."""

from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Literal

from flask import Flask, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

HTML = "text/html;charset=utf-8"
NO_REFERRER, SAME_ORIGIN = "no-referrer", "same-origin"


def environment_of(room: str) -> Environment:
    """Everything that goes into a page is escaped; a name that nobody gave is our own mistake."""
    return Environment(
        loader=PackageLoader(room), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def policy_of(forms: str = "'none'", **sources: str) -> str:
    """A Content-Security-Policy: what is not named is not loaded, and nobody frames the page."""
    named = "; ".join(f"{kind}-src {source}" for kind, source in sources.items())
    return f"default-src 'none'; {named}; base-uri 'none'; frame-ancestors 'none'; form-action {forms}"


def page_headers(policy: str, referrer: str = NO_REFERRER, opener: str = SAME_ORIGIN) -> dict[str, str]:
    """A page is framed by nobody and kept nowhere. `opener`: whether a window that opened it may speak with it."""
    return {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": referrer,
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cross-Origin-Opener-Policy": opener,
        "Cache-Control": "no-store",
    }


def page(text: str, headers: Mapping[str, str], *, status: int = 200, language: str = "en") -> Response:
    response = Response(text, status, headers=headers, content_type=HTML)
    response.headers["Content-Language"] = language
    return response


def add_route(app: Flask, method: str, path: str, name: str, view: Callable[..., Response]) -> None:
    """One method of a path; whatever else is asked there the bank refuses by itself."""
    app.add_url_rule(path, name, view, methods=[method], provide_automatic_options=False)


def see_other(address: str, headers: Mapping[str, str]) -> Response:
    """On with a GET."""
    return Response(status=303, headers={**headers, "Location": address})


SameSite = Literal["Lax", "Strict"]


def proof_of(session: str, purpose: str) -> str:
    """What every form of a session carries; nobody can make it without the session's id."""
    return blake2b(purpose.encode(), key=session.encode()[:64], digest_size=24).hexdigest()


def keep_cookie(
    request: Request,
    response: Response,
    name: str,
    value: str,
    *,
    path: str,
    same_site: SameSite,
    max_age: int | None = None,
    expires: datetime | None = None,
) -> None:
    """For this server's own pages below a path; no script reads it."""
    secure = request.is_secure
    response.set_cookie(name, value, max_age, expires, path, secure=secure, httponly=True, samesite=same_site)


def drop_cookie(request: Request, response: Response, name: str, *, path: str, same_site: SameSite) -> None:
    response.delete_cookie(name, path, secure=request.is_secure, httponly=True, samesite=same_site)
