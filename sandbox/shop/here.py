"""What every page needs: who is there, the line to the bank, and forms that only the shop's own pages can send."""

from hmac import compare_digest
from typing import cast

from flask import Response, abort, current_app, g, redirect, request

from sandbox.contract.languages import SCREENS
from sandbox.shop.line import Line
from sandbox.shop.visitors import Visitor


def line() -> Line:
    return cast(Line, current_app.extensions["line"])


def visitor() -> Visitor:
    return cast(Visitor, g.visitor)


def language() -> str:
    """What the visitor's browser prefers of what the bank's pages speak."""
    return request.accept_languages.best_match(SCREENS) or next(iter(SCREENS))


def demand_proof() -> None:
    """A form without the visitor's own proof was made by somebody else."""
    if not compare_digest(request.form.get("proof", "").encode(), visitor().proof.encode()):
        abort(403)


def go(address: str) -> Response:
    """On with a GET: a page that is loaded again does nothing twice."""
    response = redirect(address, 303)
    assert isinstance(response, Response)
    return response
