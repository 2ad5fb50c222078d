"""A HAR of what a script said to a sandbox."""

import json
from collections.abc import Iterable
from typing import Any

from sandbox.player.line_log import Exchange


def har_of(exchanges: Iterable[Exchange]) -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": [_entry(one) for one in exchanges]}}).encode()


def _entry(one: Exchange) -> dict[str, Any]:
    asked, reply = one.request, one.response
    told = {} if reply is None else dict(reply.headers)
    return {
        "startedDateTime": "2027-03-01T09:00:00Z",
        "request": {
            "method": asked.method,
            "url": str(asked.url),
            "headers": [{"name": name, "value": value} for name, value in asked.headers.items()],
            "postData": {"text": asked.content.decode(errors="replace")},
        },
        "response": {
            "status": 0 if reply is None else reply.status_code,
            "headers": [{"name": name, "value": value} for name, value in told.items()],
            "content": {"text": "" if reply is None else reply.text},
        },
    }
