"""The headers of a step whose call was refused for its headers, or was sent twice with one Request-ID."""

from typing import Any

from sandbox.contract.operations import Operation
from sandbox.lift.har import Recorded
from sandbox.lift.lifted import HEADER_CODES, Lift
from sandbox.web.api.gate import UUID_4

ELSEWHERE = "https://elsewhere.example/"
BY_STATUS = {406: ("Accept", "Accept-Language"), 415: ("Content-Type",)}
# RFC 7636, appendix B: for calls that have to be identical.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
PKCE = {"Code-Challenge-Method": "S256", "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}


def wrong_headers(row: Operation, call: Recorded) -> dict[str, str | None]:
    """The headers that got the call refused; None is one that was missing."""
    if call.status in BY_STATUS:
        return {name: call.headers.get(name.lower()) for name in BY_STATUS[call.status]}
    if call.outcome.get("error_code") not in HEADER_CODES:
        return {}
    found: dict[str, str | None] = {}
    request_id = call.headers.get("request-id")
    if request_id is None or UUID_4.match(request_id) is None:
        found["Request-ID"] = None if request_id is None else "no-uuid"
    demanded = [
        *(("Client-ID",) if row.bank_headers else ()),
        *(("Redirect-URI",) if row.redirect_uri else ()),
        *(PKCE if row.pkce and call.token is None else ()),
    ]
    found |= {name: None for name in demanded if name.lower() not in call.headers}
    return found or _bad_value(call)


def _bad_value(call: Recorded) -> dict[str, str | None]:
    """Which header the error names; its value stays in the record."""
    text = str(call.outcome.get("error_description", ""))
    values = {"Redirect-URI": ELSEWHERE, "Code-Challenge-Method": "none", "Code-Challenge": "short"}
    return {name: value for name, value in values.items() if f"'{name}'" in text}


def twin_headers(found: Lift, call: Recorded) -> dict[str, Any]:
    """Of an initiation that came more than once with its Request-ID: the same again, also its challenge."""
    request_id = call.headers.get("request-id", "")
    if request_id not in found.twins:
        return {}
    headers = {"Request-ID": f"00000000-0000-4000-8000-{found.twins.index(request_id) + 1:012}"}
    return headers if call.token is not None else headers | PKCE
