"""A HAR of what a script sent to a sandbox, with the times of each call."""

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx

from sandbox.player.step_result import StepExchange

BEGAN = datetime(2027, 3, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Heard:
    """A call with the numbers of its beginning and its end, in the order in which they came."""

    exchange: StepExchange
    began: int
    ended: int


class Recorder(httpx.BaseTransport):
    """Notes all calls that pass, also those of branches at the same time."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line
        self.heard: list[Heard] = []
        self._numbers = count(1)
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        began = self._next()
        request.read()
        response: httpx.Response | None = None
        try:
            coming = self.line.handle_request(request)
            coming.read()
            response = coming
        finally:
            with self._lock:
                self.heard.append(Heard(StepExchange(request, response), began, next(self._numbers)))
        return coming

    def _next(self) -> int:
        with self._lock:
            return next(self._numbers)

    def close(self) -> None:
        self.line.close()

    def har(self) -> bytes:
        """The calls as a browser writes them: in the order in which they ended."""
        return json.dumps({"log": {"version": "1.2", "entries": [_entry(one) for one in self.heard]}}).encode()


def _entry(one: Heard) -> dict[str, Any]:
    asked, reply = one.exchange.request, one.exchange.response
    headers = {} if reply is None else dict(reply.headers)
    return {
        "startedDateTime": (BEGAN + timedelta(seconds=one.began)).isoformat(),
        "time": 1_000 * (one.ended - one.began),
        "request": {
            "method": asked.method,
            "url": str(asked.url),
            "headers": [{"name": name, "value": value} for name, value in asked.headers.items()],
            "postData": {"text": asked.content.decode(errors="replace")},
        },
        "response": {
            "status": 0 if reply is None else reply.status_code,
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
            "content": {"text": "" if reply is None else reply.text},
        },
    }
