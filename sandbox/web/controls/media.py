"""Which Content-Type a control takes (choice 10): none that a form of another site can send without asking."""

from flask import Request

from sandbox.contract.errors import Error, Refusal
from sandbox.web.controls.control_row import JSON
from sandbox.web.controls.rows import CONTROLS

CONTROL = "control "  # how the endpoints of the controls begin; the reference and the console take nothing here
READ_ONLY = ("GET", "HEAD")

TAKES = {row.endpoint: row.media for row in CONTROLS}


def demand_media(asked: Request, endpoint: str) -> None:
    """A call without any is let through: a browser always tells the Origin of such a call, which is looked at first."""
    if asked.method in READ_ONLY or not endpoint.startswith(CONTROL) or "Content-Type" not in asked.headers:
        return
    media = TAKES.get(endpoint, JSON)
    if asked.mimetype not in media:
        raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected=" or ".join(media[:2]))
