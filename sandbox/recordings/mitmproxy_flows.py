"""Files of flows, as mitmproxy and mitmdump write them (`-w FILE`).

mitmproxy has a library that reads them. The sandbox does not use it, because it needs other versions of Flask,
cryptography and ruamel.yaml than the sandbox, so both cannot be installed together. The format is small. A file is a
sequence of flows. Each flow is a tnetstring: a length, a colon, the content, and a letter for its type.
"""

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sandbox.recordings.recorded_calls import RecordedCall, decode_text, read_headers, read_status, read_times

LENGTH_MAX = 12  # digits
PORTS = {"http": 80, "https": 443}
WINDOW = 47  # the parameter with which zlib detects by the header whether content is gzip or zlib
UNPACKED_MAX = 100_000_000  # bytes


class BrokenFlow(NamedTuple):
    """Stands in the list of flows for the first flow that cannot be read. The list ends with it, because the rest of
    the file cannot be read either."""

    reason: str


def find_flows(content: bytes) -> list[Any] | None:
    """Returns the flows of HTTP in a file. Returns None if the file has another format."""
    head, colon, _ = content[: LENGTH_MAX + 1].partition(b":")
    return list(read_flows(content)) if colon and head.isdigit() else None


def read_flows(content: bytes) -> Iterator[Any]:
    """Yields the flows of HTTP in a file, and skips flows of other protocols. If a flow cannot be read, yields a
    BrokenFlow and ends. A recording may end in the middle of a flow."""
    at = 0
    while at < len(content):
        try:
            flow, at = read_tnetstring(content, at)
        except (ValueError, RecursionError) as fault:
            yield BrokenFlow(f"byte {at:,} begins no flow: {fault}")
            return
        if not isinstance(flow, dict) or flow.get("type") == "http":  # other flows are DNS, TCP and UDP
            yield flow


def read_tnetstring(content: bytes, at: int) -> tuple[Any, int]:
    """Returns the value that begins at `at`, and the position after it. Raises ValueError if no whole value begins
    there."""
    head, colon, _ = content[at : at + LENGTH_MAX + 1].partition(b":")
    if not colon or not head.isdigit():
        raise ValueError(f"expected is a length and a colon, and found {head!a}")
    begin = at + len(head) + 1
    end = begin + int(head)
    if end >= len(content):
        raise ValueError(f"the file ends {end + 1 - len(content):,} bytes too early")
    return _read_value(content[end : end + 1], content[begin:end]), end + 1


def _read_value(letter: bytes, content: bytes) -> Any:
    match letter:
        case b",":
            return content
        case b";":
            return content.decode()
        case b"#":
            return int(content)
        case b"^":
            return float(content)
        case b"!":
            return content == b"true"
        case b"~":
            return None
        case b"]":
            return list(_read_values(content))
        case b"}":
            values = list(_read_values(content))
            return {_decode_text(name): value for name, value in zip(values[::2], values[1::2], strict=True)}
        case _:
            raise ValueError(f"there is no type {letter!a}")


def _read_values(content: bytes) -> Iterator[Any]:
    at = 0
    while at < len(content):
        value, at = read_tnetstring(content, at)
        yield value


def read_entry(number: int, flow: Any) -> RecordedCall:
    if isinstance(flow, BrokenFlow):
        raise ValueError(flow.reason)
    request, response = flow["request"], flow.get("response")
    scheme, host, port = _decode_text(request["scheme"]), _decode_text(request["host"]), request["port"]
    place = host if port == PORTS.get(scheme) else f"{host}:{port}"
    begin = request.get("timestamp_start")
    end = response.get("timestamp_end") if response else None
    headers, reply_headers = _read_headers(request), _read_headers(response or {})
    return RecordedCall(
        number,
        _decode_text(request["method"]).upper(),
        f"{scheme}://{place}{_decode_text(request['path'])}",
        headers,
        _read_body(request, headers),
        read_status(response["status_code"]) if response else 0,
        reply_headers,
        _read_body(response, reply_headers) if response else "",
        *read_times(
            datetime.fromtimestamp(begin, UTC) if isinstance(begin, int | float) else None,
            (end - begin) * 1000 if isinstance(begin, int | float) and isinstance(end, int | float) else None,
        ),
    )


def _decode_text(value: Any) -> str:
    return decode_text(value) if isinstance(value, bytes) else str(value)


def _read_headers(part: Any) -> dict[str, str]:
    return read_headers((_decode_text(name), _decode_text(value)) for name, value in part.get("headers") or ())


def _read_body(part: Any, headers: dict[str, str]) -> str:
    """Returns a body as text. Raises ValueError if the file does not contain it, or if its encoding is unknown."""
    content = part.get("content")
    if content is None:
        raise ValueError("a body of it was streamed past, and is not in the file")
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return decode_text(zlib.decompressobj(WINDOW).decompress(content, UNPACKED_MAX))
    if encoding not in ("", "identity"):
        raise ValueError(f"a body of it is packed as {encoding[:20]!a}: expected is gzip, deflate or none")
    return decode_text(content)
