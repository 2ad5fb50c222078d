"""Files of WireMock: mappings that it recorded, and the journal of the calls that it received (`/__admin/requests`)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.recordings.recorded_calls import RecordedCall, decode_base64, read_headers, read_status, read_times

EXACT_URLS = ("url", "urlPath")
EXACT_BODIES = ("equalToJson", "equalTo", "binaryEqualTo", "equalToXml")


# Mappings


def find_mappings(content: Any) -> list[Any] | None:
    """Returns the mappings in the order of the recording, if each has an `insertionIndex`, else in the order of the
    file. A file may have a list of mappings, or be one mapping itself. Returns None for any other content."""
    if not isinstance(content, dict):
        return None
    rows = content.get("mappings")
    if rows is None and {"request", "response"} <= content.keys():
        rows = [content]
    if not isinstance(rows, list):
        return None
    if all(isinstance(row, dict) and isinstance(row.get("insertionIndex"), int) for row in rows):
        return sorted(rows, key=lambda row: int(row["insertionIndex"]))
    return rows


def read_mapping(number: int, mapping: Any) -> RecordedCall:
    request, response = mapping["request"], mapping["response"]
    url = next((str(request[name]) for name in EXACT_URLS if name in request), None)
    if url is None:
        raise ValueError("it matches many addresses and not one: expected is its url")
    if "bodyFileName" in response:
        raise ValueError(f"the body of its reply is in another file, {str(response['bodyFileName'])[:60]!a}")
    host, port = request.get("host"), request.get("port")
    if isinstance(host, dict) and "equalTo" in host:
        url = f"{request.get('scheme', 'https')}://{host['equalTo']}{f':{port}' if port else ''}{url}"
    return RecordedCall(
        number,
        str(request["method"]).upper(),
        url,
        read_headers((name, rule["equalTo"]) for name, rule in _read_matchers(request) if "equalTo" in rule),
        _read_body(request.get("bodyPatterns") or ()),
        read_status(response["status"]),
        _read_headers(response),
        _read_body_text(response, "base64Body"),
    )


def _read_matchers(request: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, rule) for name, rule in (request.get("headers") or {}).items() if isinstance(rule, dict)]


def _read_body(patterns: Any) -> str:
    for pattern in patterns:
        for name in EXACT_BODIES:
            if name in pattern:
                value = pattern[name]
                if name == "binaryEqualTo":
                    return decode_base64(value)
                return value if isinstance(value, str) else json.dumps(value)
    return ""


# The journal


def find_journal(content: Any) -> list[Any] | None:
    """Returns the rows of a WireMock journal, oldest call first. Returns None if the content is not a journal."""
    rows = content.get("requests") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not any(isinstance(row, dict) and "request" in row for row in rows):
        return None
    return rows[::-1]


def read_logged_call(number: int, row: Any) -> RecordedCall:
    request = row["request"]
    response = row.get("response") or row["responseDefinition"]
    milliseconds = request.get("loggedDate")
    is_instant = isinstance(milliseconds, int | float)
    began = datetime.fromtimestamp(milliseconds / 1000, UTC) if is_instant else None
    return RecordedCall(
        number,
        str(request["method"]).upper(),
        str(request.get("absoluteUrl") or request["url"]),
        _read_headers(request),
        _read_body_text(request, "bodyAsBase64"),
        read_status(response["status"]),
        _read_headers(response),
        _read_body_text(response, "bodyAsBase64" if "bodyAsBase64" in response else "base64Body"),
        *read_times(began, (row.get("timing") or {}).get("totalTime")),
    )


def _read_headers(part: Mapping[str, Any]) -> dict[str, str]:
    pairs = (part.get("headers") or {}).items()
    return read_headers(
        (name, text) for name, value in pairs for text in (value if isinstance(value, list) else [value])
    )


def _read_body_text(part: Mapping[str, Any], encoded: str) -> str:
    if "jsonBody" in part:
        return json.dumps(part["jsonBody"])
    return str(part["body"]) if part.get("body") else decode_base64(part.get(encoded) or "")
