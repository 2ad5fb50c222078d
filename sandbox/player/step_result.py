"""The result of one step of a script, with the HTTP exchanges that the report of a failing step shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from sandbox.client import ClientReply
from sandbox.scenarios import ScriptStep
from sandbox.scenarios.matching import quote

BODY_SHOWN_MAX = 2_000  # characters
SHOWN_HEADERS = ("request-id", "accept", "client-id", "authorization", "content-type", "location", "retry-after")
LINE_MAX = 110  # characters of the text that describes a step


@dataclass(frozen=True, slots=True)
class StepExchange:
    """A request with its response, or with the error of its connection."""

    request: httpx.Request
    response: httpx.Response | None
    trouble: str = ""

    def write_lines(self) -> list[str]:
        """Returns the exchange as lines of text."""
        request_lines = [f"> {self.request.method} {self.request.url}", *_write_headers(">", self.request.headers)]
        if self.request.content:
            request_lines.append(f"> {_write_text(self.request.content)}")
        if self.response is None:
            return [*request_lines, f"< {self.trouble}"]
        lines = [f"< {self.response.status_code}", *_write_headers("<", self.response.headers)]
        return request_lines + lines + ([f"< {_write_text(self.response.content)}"] if self.response.content else [])


def _write_headers(sign: str, headers: httpx.Headers) -> list[str]:
    pairs = ((name.decode(), value.decode("latin-1")) for name, value in headers.raw)
    return [f"{sign} {name}: {value}" for name, value in pairs if name.lower() in SHOWN_HEADERS]


def _write_text(content: bytes) -> str:
    text = content.decode("utf-8", "replace").strip()
    return text if len(text) <= BODY_SHOWN_MAX else f"{text[:BODY_SHOWN_MAX]}... ({len(content)} bytes)"


class RecordingTransport(httpx.BaseTransport):
    """Records the exchanges of a step, and sends the headers of the step with its calls of the bank's interface."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line
        self.exchanges: list[StepExchange] = []
        self.headers: Mapping[str, Any] = {}

    def begin_step(self, headers: Mapping[str, Any]) -> None:
        """Clears the exchanges of the last step and sets the headers of this one. None removes a header."""
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
            self.exchanges.append(StepExchange(request, None, f"the line broke: {broken}"))
            raise
        self.exchanges.append(StepExchange(request, response))
        return response

    def close(self) -> None:
        self.line.close()


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step: its text and its failed expectations."""

    step: ScriptStep
    text: str
    faults: tuple[str, ...] = ()
    exchanges: tuple[StepExchange, ...] = ()
    skipped: bool = False
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.faults and not self.skipped

    @property
    def place(self) -> str:
        """The place of the step in its file, as a prefix of its text."""
        return "" if self.step.line is None else f"line {self.step.line}, "


def describe_step(step: ScriptStep, reply: ClientReply | None = None) -> str:
    """Returns a description of a step: its word, content, name and reply."""
    text = f"{step.what} {_describe_content(step.content)}".rstrip()
    if len(text) > LINE_MAX:
        text = f"{text[:LINE_MAX]}..."
    if step.as_name:
        text += f" as {step.as_name}"
    return text if reply is None else f"{text} -> {reply.status}{_describe_status(reply)}"


def _describe_content(content: Any) -> str:
    if isinstance(content, dict):
        return ", ".join(f"{name}: {_describe_inner(value)}" for name, value in content.items())
    return "" if content is None else quote(content)


def _describe_inner(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_describe_inner(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_describe_inner(item) for item in value) + "]"
    return "null" if value is None else str(value)


def _describe_status(reply: ClientReply) -> str:
    body = reply.body if isinstance(reply.body, dict) else {}
    parts = [str(body[name]) for name in ("error", "status", "reason") if name in body]
    return "".join(f" {part}" for part in parts)
