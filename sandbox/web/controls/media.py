"""Which Content-Type a control takes (choice 10): none that a form of another site can send without asking."""

from flask import Request

from sandbox.contract.errors import Error, Refusal
from sandbox.web.controls.scenario_bodies import YAML

JSON = ("application/json",)
PARCELS = ("application/x-ndjson", "application/jsonl", "application/octet-stream", *JSON)
CONTROL = "control "  # how the endpoints of the controls begin; the reference and the console take nothing here
READ_ONLY = ("GET", "HEAD")

# What takes more than JSON.
TAKES = {"control PUT /scenario": (*JSON, *YAML), "control POST /import": PARCELS}


def demand_media(asked: Request, endpoint: str) -> None:
    """A call without any is let through: a browser always tells the Origin of such a call, which is looked at first."""
    if asked.method in READ_ONLY or not endpoint.startswith(CONTROL) or "Content-Type" not in asked.headers:
        return
    taken = TAKES.get(endpoint, JSON)
    if asked.mimetype not in taken:
        raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected=" or ".join(taken[:2]))
