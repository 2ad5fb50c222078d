"""Calls the controls of a running sandbox for the tools of an agent. Refuses a reply over REPLY_MAX bytes."""

import json
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from sandbox.client.transport import context_for
from sandbox.extensions.agents.tool import Hint, ToolError

REPLY_MAX = 32_000_000  # bytes
PATIENCE = 120.0  # seconds: a long move of the clock
DEFAULT_WORLD = "default"
WORLDS = "get_worlds"


class BankLink:
    """A connection to a sandbox. `world` is the world of a tool call that names no world."""

    def __init__(self, url: str, world: str = DEFAULT_WORLD, key: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.world = world
        self.key = key
        self.http = httpx.Client(timeout=PATIENCE, trust_env=False, verify=context_for(self.url))

    def link_to(self, world: str) -> "WorldLink":
        """Returns the link to a world. Raises ToolError if the world does not exist, because a call to its address
        would create it."""
        server = WorldLink(self, self.url)
        if world == DEFAULT_WORLD:
            return server
        name = quote(world, safe="")
        try:
            server.call("GET", f"/worlds/{name}")
        except ToolError as error:
            hints = (Hint(WORLDS, {}, "the worlds that there are"),)
            raise ToolError(f"there is no world {world!r}: {error}", hints) from None
        return WorldLink(self, f"{self.url}/worlds/{name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.http.close()


class WorldLink:
    """Calls the controls of one world."""

    def __init__(self, link: BankLink, base_url: str) -> None:
        self._link, self.base_url = link, base_url

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None) -> Any:
        """Calls a control and returns the content of the reply: JSON, a text, or None if it is empty. Raises ToolError
        if `body` cannot be written as JSON, if the sandbox does not answer, if the control refuses, or if the reply is
        too long."""
        headers = {} if self._link.key is None else {"X-Sandbox-Key": self._link.key}
        try:
            content = None if body is None else json.dumps(body).encode()
        except (TypeError, ValueError) as error:
            raise ToolError(f"the arguments are no JSON: {error}") from None
        if content is not None:
            headers["Content-Type"] = "application/json"
        url = f"{self.base_url}/_sandbox{path}"
        try:
            with self._link.http.stream(
                method, url, headers=headers, params=dict(query or {}) or None, content=content
            ) as reply:
                received = _read(reply)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            bank_url = self._link.url
            raise ToolError(f"no sandbox answers at {bank_url}: {error}. `bank-sandbox serve` starts one") from None
        value = _read_content(received, reply.headers.get("Content-Type", ""))
        if not reply.is_success:
            raise ToolError(describe_refusal(reply.status_code, value))
        return value


def _read(reply: httpx.Response) -> bytes:
    received = bytearray()
    for piece in reply.iter_bytes():
        received += piece
        if len(received) > REPLY_MAX:
            raise ToolError(f"the reply is over {REPLY_MAX // 1_000_000} MB; a command or an export carries it")
    return bytes(received)


def _read_content(received: bytes, media: str) -> Any:
    if not received.strip():
        return None
    if "json" in media:
        try:
            return json.loads(received)
        except ValueError:
            raise ToolError("the reply is no JSON: the server at that address is no sandbox") from None
    return received.decode(errors="replace")


def describe_refusal(status: int, body: Any) -> str:
    if not isinstance(body, dict) or "error" not in body:
        return f"{status}: the server at that address is no sandbox, or its controls are off"
    words = (body.get(name) for name in ("error", "error_code", "error_description"))
    return f"{status} {' '.join(str(word) for word in words if word)}"
