"""The sandbox's own list of calls: the reply of `GET /_sandbox/requests`.

A row has method, path, status and the error of a refusal. A list of replies of `GET /_sandbox/explain/ID` is read too:
these have the contents of the last calls, without their secrets.
"""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.banking.durations import read_instant
from sandbox.recordings.recorded_calls import RecordedCall, read_headers, read_status, read_times

HEADERS = {"request-id": "request_id", "client-id": "client_id"}
ERROR = ("error", "error_code")


def find_entries(content: Any) -> list[Any] | None:
    rows = content.get("requests") if isinstance(content, dict) else content
    if not isinstance(rows, list) or any(isinstance(row, dict) and "request" in row for row in rows):
        return None
    return rows if any(isinstance(row, dict) and "path" in row for row in rows) else None


def read_entry(number: int, row: Any) -> RecordedCall:
    content = row.get("content") or {}
    request, reply = content.get("request") or {}, content.get("reply") or {}
    named_headers = {header: str(row[name]) for header, name in HEADERS.items() if row.get(name)}
    error = {name: row[name] for name in ERROR if row.get(name)}
    return RecordedCall(
        number,
        str(row["method"]).upper(),
        str(content.get("address") or row["path"]),
        named_headers | _read_headers(request),
        str(request.get("body") or ""),
        read_status(row["status"]),
        _read_headers(reply),
        str(reply.get("body") or (json.dumps(error) if error else "")),
        *read_times(read_instant(row["at"]) if "at" in row else None, None),
        has_contents=bool(content),
    )


def _read_headers(part: Mapping[str, Any]) -> dict[str, str]:
    return read_headers((part.get("headers") or {}).items())
