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


def parameter(
    name: str, about: str, schema: dict[str, Any] = TEXT, *, required: bool = False, place: str = "query"
) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "description": about, "schema": schema}


SINCE = parameter("since", "Only entries after that number.", {"type": "integer", "minimum": 0})
QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "GET /health": (parameter("live", "Asks only whether anybody is there."),),
    "GET /worlds": (
        parameter("limit", "At most so many.", {"type": "integer", "minimum": 1, "maximum": PAGE, "default": PAGE}),
        parameter("after", "`next` of the page before."),
    ),
    "GET /export": (parameter("secrets", "strip: without secrets.", {"type": "string", "enum": ["keep", "strip"]}),),
    "POST /import": (
        parameter("as", "The name that the world takes."),
        parameter("replace", REPLACE, {"type": "string", "enum": ["true", "false"]}),
    ),
    "GET /referee": (
        parameter("format", "json where left out.", {"type": "string", "enum": list(FORMATS)}),
        parameter(
            "level", "From where on JUnit fails.", {"type": "string", "enum": [level.value for level in Severity]}
        ),
        parameter("waive", "`rule: reason`, as often as needed.", {"type": "array", "items": TEXT}),
    ),
    "GET /holds/<name>": (parameter("within", f"{SPAN} Waits so long for its call."),),
    "GET /authorize": (
        parameter("client_id", "The registered client.", required=True),
        parameter("redirect_uri", "A callback that the client registered.", required=True),
        parameter("response_type", "code", {"type": "string", "enum": ["code"]}, required=True),
        parameter("scope", "AIS where left out.", {"type": "string", "enum": ["AIS", "CAF"]}),
        parameter("iban", "The account, for CAF only."),
        parameter("code_challenge", "As RFC 7636 has it.", required=True),
        parameter("code_challenge_method", "plain where left out.", {"type": "string", "enum": ["S256", "plain"]}),
        parameter("state", "Comes back at the callback."),
    ),
}
