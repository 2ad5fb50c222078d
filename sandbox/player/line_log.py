"""The HTTP exchanges of a step, recorded for the report of a failing step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

BODY_SHOWN_MAX = 2_000  # characters
SHOWN_HEADERS = ("request-id", "accept", "client-id", "authorization", "content-type", "location", "retry-after")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its response or its connection error."""

    request: httpx.Request
    response: httpx.Response | None
    trouble: str = ""

    def lines(self) -> list[str]:
        """The exchange as lines of text."""
        asked = [f"> {self.request.method} {self.request.url}", *_headers(">", self.request.headers)]
        if self.request.content:
            asked.append(f"> {_text(self.request.content)}")
        if self.response is None:
            return [*asked, f"< {self.trouble}"]
        lines = [f"< {self.response.status_code}", *_headers("<", self.response.headers)]
        return asked + lines + ([f"< {_text(self.response.content)}"] if self.response.content else [])


def _headers(sign: str, headers: httpx.Headers) -> list[str]:
    pairs = ((name.decode(), value.decode("latin-1")) for name, value in headers.raw)
    return [f"{sign} {name}: {value}" for name, value in pairs if name.lower() in SHOWN_HEADERS]


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    return text if len(text) <= BODY_SHOWN_MAX else f"{text[:BODY_SHOWN_MAX]}... ({len(content)} bytes)"


class RecordingTransport(httpx.BaseTransport):
    """Records all exchanges, and adds a step's own headers to calls of the bank's interface."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line
        self.exchanges: list[Exchange] = []
        self.headers: Mapping[str, Any] = {}

    def begin_step(self, headers: Mapping[str, Any]) -> None:
        """Forgets the exchanges of the last step and sets the headers of this one; None removes a header."""
        self.exchanges = []
        self.headers = headers

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/_sandbox/" not in request.url.path:
            for name, value in self.headers.items():
                request.headers.pop(name, None)
                if value is not None:
                    request.headers[name] = str(value)
        request.read()
        try:
            response = self.line.handle_request(request)
            response.read()
        except httpx.TransportError as broken:
            self.exchanges.append(Exchange(request, None, f"the line broke: {broken}"))
            raise
        self.exchanges.append(Exchange(request, response))
        return response

    def close(self) -> None:
        self.line.close()
