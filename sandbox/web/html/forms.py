"""Cookies of a visit, and the proof that a form is ours."""

from datetime import datetime
from hashlib import blake2b
from typing import Literal

from flask import Request, Response

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
