"""HAR files, as browsers and proxies write them."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sandbox.recordings.recorded_calls import RecordedCall, decode_base64, read_headers, read_status, read_times


def find_entries(content: Any) -> list[Any] | None:
    """Returns the entries of a HAR. Returns None if the content is not a HAR."""
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
        _read_headers(request),
        _read_sent_text(request.get("postData") or {}),
        read_status(response["status"]),
        _read_headers(response),
        _read_text(response.get("content") or {}),
        *read_times(began, entry.get("time")),
        reply_names=_list_names(response),
    )


def _read_headers(part: Any) -> dict[str, str]:
    return read_headers((row["name"], row["value"]) for row in part.get("headers") or ())


def _list_names(response: Any) -> tuple[str, ...]:
    """Returns the names of the response's headers in the letters in which the server wrote them. Returns no names for
    HTTP/2 and HTTP/3, because all names are in lower case there."""
    is_first = str(response.get("httpVersion") or "HTTP/1.1").upper().startswith("HTTP/1")
    return tuple(str(row["name"]) for row in response.get("headers") or ()) if is_first else ()


def _read_sent_text(data: Any) -> str:
    """Returns the body of a request. If the recording has only the fields of a form, makes the body from these
    fields."""
    text, params = _read_text(data), data.get("params")
    return text if text or not params else urlencode([(row["name"], row.get("value") or "") for row in params])


def _read_text(part: Any) -> str:
    text = part.get("text") or ""
    return decode_base64(text) if part.get("encoding") == "base64" else str(text)


# Writing

HEAD = '{"log": {"version": "1.2", "creator": {"name": "bank-sandbox", "version": "1"}, "entries": ['
TAIL = "\n]}}\n"


class HarWriter:
    """Writes a HAR file. The file is valid JSON after each added call, because a recording may end at any moment."""

    def __init__(self, path: Path) -> None:
        self.count = 0
        self._file = path.open("wb")
        self._end = self._file.write(HEAD.encode())
        self._file.write(TAIL.encode())
        self._file.flush()

    def add(self, call: RecordedCall) -> None:
        entry = json.dumps(write_entry(call), ensure_ascii=False)
        self._file.seek(self._end)
        self._end += self._file.write(f"{',' if self.count else ''}\n{entry}".encode())
        self._file.write(TAIL.encode())
        self._file.flush()
        self.count += 1

    def close(self) -> None:
        self._file.close()


def write_entry(call: RecordedCall) -> dict[str, Any]:
    took = call.ended - call.began if call.ended and call.began else None
    milliseconds = 0.0 if took is None else took.total_seconds() * 1000
    request_type, reply_type = (headers.get("content-type", "") for headers in (call.headers, call.reply_headers))
    request = {
        "method": call.method,
        "url": call.url,
        "httpVersion": "HTTP/1.1",
        "headers": _make_pairs(call.headers),
        "queryString": [{"name": name, "value": value} for name, value in call.query.items()],
        "cookies": [],
        "headersSize": -1,
        "bodySize": len(call.body.encode()),
    }
    response = {
        "status": call.status,
        "statusText": "",
        "httpVersion": "HTTP/1.1" if call.reply_names else "unknown",
        "headers": _make_pairs(call.reply_headers, call.reply_names),
        "cookies": [],
        "content": {"size": len(call.reply_body.encode()), "mimeType": reply_type, "text": call.reply_body},
        "redirectURL": call.reply_headers.get("location", ""),
        "headersSize": -1,
        "bodySize": -1,
    }
    return {
        "startedDateTime": call.began.isoformat() if call.began else None,
        "time": milliseconds,
        "request": request | ({"postData": {"mimeType": request_type, "text": call.body}} if call.body else {}),
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
    }


def _make_pairs(headers: Mapping[str, str], names: Iterable[str] = ()) -> list[dict[str, str]]:
    """Returns each header as a pair of name and value. A header with several cookies, one a line, becomes one pair for
    each cookie. `names` are the names in the letters in which they were sent, if these are known."""
    spelled = {name.lower(): name for name in names}
    return [
        {"name": spelled.get(name, name), "value": part}
        for name, value in headers.items()
        for part in value.split("\n")
    ]
