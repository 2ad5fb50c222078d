"""Reads a HAR file, as browsers and proxies write it."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from sandbox.banking.durations import bounded_instant
from sandbox.extensions.lift.recorded_calls import RecordedCall, RecordError, path_at_bank

HAR_BYTES_MAX = 100_000_000
MONTH_MS = 31 * 86_400_000  # no call lasts longer


def read_har(content: bytes) -> list[RecordedCall | None]:
    """The calls in the order of the file; None for a call whose path no bank has."""
    if len(content) > HAR_BYTES_MAX:
        raise RecordError(f"it is over {HAR_BYTES_MAX:,} bytes long")
    try:
        return [read_entry(number, entry) for number, entry in enumerate(json.loads(content)["log"]["entries"], 1)]
    except RecordError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise RecordError(f"it is no HAR: {type(fault).__name__} {fault}") from None


def read_entry(number: int, entry: Mapping[str, Any]) -> RecordedCall | None:
    request, response = entry["request"], entry["response"]
    parts = urlsplit(request["url"])
    path = path_at_bank(parts.path)
    if path is None:
        return None
    text = (response.get("content") or {}).get("text") or ""
    try:
        reply = orjson.loads(text)
    except orjson.JSONDecodeError:
        reply = text
    return RecordedCall(
        number,
        str(request["method"]).upper(),
        path,
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        read_headers(request),
        str((request.get("postData") or {}).get("text") or ""),
        int(response["status"]),
        read_headers(response),
        reply,
        *read_times(entry),
        parts.netloc.rpartition("@")[2].lower(),
    )


def read_times(entry: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When a call began and when its reply had come."""
    started, milliseconds = entry.get("startedDateTime"), entry.get("time")
    if not isinstance(started, str) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < MONTH_MS:
        return None, None
    began = datetime.fromisoformat(started)
    if began.tzinfo is None:
        return None, None
    try:
        began = bounded_instant(began)
    except ValueError as fault:
        raise RecordError(f"its startedDateTime is {started!a}, and {fault}") from None
    return began, began + timedelta(milliseconds=milliseconds)


def read_headers(part: Mapping[str, Any]) -> dict[str, str]:
    return {str(row["name"]).lower(): str(row["value"]) for row in part.get("headers") or ()}
