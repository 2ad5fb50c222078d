"""What the controls take beside the bodies of their rows: other media types, queries (choice 10)."""

from typing import Any

from sandbox.referee.rule import Severity
from sandbox.web.controls.body_fields import SPAN
from sandbox.web.controls.control_row import TEXT
from sandbox.web.controls.health import FORMATS
from sandbox.web.controls.scenario_rows import YAML
from sandbox.web.controls.world_rows import PAGE, REPLACE

MAY_BE_LEFT_OUT = {"POST /reset", "PUT /worlds/<name>"}
# Media types beside JSON, or in its place.
OTHER_MEDIA: dict[str, dict[str, Any]] = {
    "PUT /scenario": {name: {"schema": TEXT} for name in YAML},
    "POST /import": {
        "application/x-ndjson": {"schema": TEXT},
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}


def query(name: str, about: str, schema: dict[str, Any] = TEXT, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}


SINCE = query("since", "Only entries after that number.", {"type": "integer", "minimum": 0})
QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "GET /health": (query("live", "Asks only whether anybody is there."),),
    "GET /worlds": (
        query("limit", "At most so many.", {"type": "integer", "minimum": 1, "maximum": PAGE, "default": PAGE}),
        query("after", "`next` of the page before."),
    ),
    "GET /export": (query("secrets", "strip: without secrets.", {"type": "string", "enum": ["keep", "strip"]}),),
    "POST /import": (
        query("as", "The name that the world takes."),
        query("replace", REPLACE, {"type": "string", "enum": ["true", "false"]}),
    ),
    "GET /referee": (
        query("format", "json where left out.", {"type": "string", "enum": list(FORMATS)}),
        query("level", "From where on JUnit fails.", {"type": "string", "enum": [level.value for level in Severity]}),
        query("waive", "`rule: reason`, as often as needed.", {"type": "array", "items": TEXT}),
    ),
    "GET /holds/<name>": (query("within", f"{SPAN} Waits so long for its call."),),
    "GET /authorize": (
        query("client_id", "The registered client.", required=True),
        query("redirect_uri", "A callback that the client registered.", required=True),
        query("response_type", "code", {"type": "string", "enum": ["code"]}, required=True),
        query("scope", "AIS where left out.", {"type": "string", "enum": ["AIS", "CAF"]}),
        query("iban", "The account, for CAF only."),
        query("code_challenge", "As RFC 7636 has it.", required=True),
        query("code_challenge_method", "plain where left out.", {"type": "string", "enum": ["S256", "plain"]}),
        query("state", "Comes back at the callback."),
    ),
}
