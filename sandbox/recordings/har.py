"""HAR files, as browsers and proxies write them."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from sandbox.recordings.recorded_calls import RecordedCall, decode_base64, read_headers, read_status, read_times


def find_entries(content: Any) -> list[Any] | None:
    """The entries of a HAR; None for another content."""
    log = content.get("log") if isinstance(content, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    return entries if isinstance(entries, list) else None


def read_entry(number: int, entry: Any) -> RecordedCall:
    request, response = entry["request"], entry["response"]
    started = entry.get("startedDateTime")
    began = datetime.fromisoformat(started) if isinstance(started, str) else None
    return RecordedCall(
        number,
        str(request["method"]).upper(),
        str(request["url"]),
        _headers_of(request),
        _sent_text(request.get("postData") or {}),
        read_status(response["status"]),
        _headers_of(response),
        _text_of(response.get("content") or {}),
        *read_times(began, entry.get("time")),
    )


def _headers_of(part: Any) -> dict[str, str]:
    return read_headers((row["name"], row["value"]) for row in part.get("headers") or ())


def _sent_text(data: Any) -> str:
    """The body that was sent; some browsers write the fields of a form alone."""
    text, params = _text_of(data), data.get("params")
    return text if text or not params else urlencode([(row["name"], row.get("value") or "") for row in params])


def _text_of(part: Any) -> str:
    text = part.get("text") or ""
    return decode_base64(text) if part.get("encoding") == "base64" else str(text)
