"""Simulation files of Hoverfly. In version 5, each part of a request has a list of matchers. In versions 1 to 4, each
part has one value."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from sandbox.recordings.recorded_calls import RecordedCall, decode_base64, read_headers, read_status

EXACT = ("exact", "json", "xml")  # matchers whose value is what was sent
OLD_EXACT = ("exactMatch", "jsonMatch", "xmlMatch")


def find_entries(content: Any) -> list[Any] | None:
    data = content.get("data") if isinstance(content, dict) else None
    pairs = data.get("pairs") if isinstance(data, dict) else None
    return pairs if isinstance(pairs, list) else None


def read_entry(number: int, pair: Any) -> RecordedCall:
    request, response = pair["request"], pair["response"]
    path, query = _read_exact(request, "path"), _write_query(request.get("query"))
    host = _read_exact(request, "destination") if "destination" in request else ""
    scheme = _read_exact(request, "scheme") if "scheme" in request else "https"
    body = str(response.get("body") or "")
    return RecordedCall(
        number,
        _read_exact(request, "method").upper(),
        f"{f'{scheme}://{host}' if host else ''}{path}{f'?{query}' if query else ''}",
        read_headers((name, _read_exact_text(value)) for name, value in (request.get("headers") or {}).items()),
        _read_exact(request, "body") if "body" in request else "",
        read_status(response["status"]),
        read_headers((name, text) for name, texts in (response.get("headers") or {}).items() for text in texts),
        decode_base64(body) if response.get("encodedBody") else body,
    )


def _read_exact(request: Mapping[str, Any], name: str) -> str:
    """Returns the only value that the request's part `name` can have. Raises ValueError if its matcher accepts many
    values."""
    text = _read_exact_text(request[name])
    if text is None:
        raise ValueError(f"its {name} matches many values and not one")
    return text


def _read_exact_text(value: Any) -> str | None:
    match value:
        case str():
            return value
        case [str() as text, *_]:
            return text
        case [{"matcher": matcher, "value": text}, *_] if matcher in EXACT:
            return str(text)
        case {**names}:
            return next((str(names[name]) for name in OLD_EXACT if name in names), None)
        case _:
            return None


def _write_query(value: Any) -> str:
    if isinstance(value, dict) and not any(name in value for name in OLD_EXACT):
        pairs = [(name, _read_exact_text(texts)) for name, texts in value.items()]
        return urlencode([(name, text) for name, text in pairs if text is not None])
    return _read_exact_text(value) or ""
