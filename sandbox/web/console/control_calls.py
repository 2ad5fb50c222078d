"""A call of the controls, as the console makes it and as a person would type it."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import orjson
from flask import Request, Response
from werkzeug.test import EnvironBuilder

from sandbox.web.console.visits import Visit
from sandbox.web.controls.app import CONTROLS, Reach
from sandbox.web.controls.lock import KEY_HEADER

VIEWS = {(method, path): view for method, path, view in CONTROLS}


@dataclass(frozen=True, slots=True)
class Ask:
    """A row of the controls, the names in its path, and a JSON body; or a scenario's text as it is."""

    method: str
    path: str
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    text: str | None = None

    @property
    def place(self) -> str:
        """The path with its names filled in."""
        filled = self.path
        for name, value in self.names.items():
            filled = filled.replace(f"<{name}>", quote(value, safe=""))
        return filled

    @property
    def sent(self) -> bytes:
        if self.text is not None:
            return self.text.encode()
        return orjson.dumps(self.body) if self.body else b""


def curl_of(visit: Visit, ask: Ask) -> str:
    """The line that does the same from a shell."""
    words = ["curl"]
    if ask.method != "GET":
        words += ["-X", ask.method]
    words.append(shlex.quote(visit.request.host_url.rstrip("/") + visit.root + ask.place))
    if visit.key is not None:
        words += ["-H", f'"{KEY_HEADER}: $SANDBOX_KEY"']
    if ask.text is not None:
        words += ["-H", "'Content-Type: application/yaml'", "--data-binary", shlex.quote(ask.text)]
    elif ask.body:
        words += ["--json", shlex.quote(orjson.dumps(ask.body).decode())]
    return " ".join(words)


def done(visit: Visit, ask: Ask) -> Any:
    """Does it by the control's own function; a no is a Refusal. The answer is what the control replies."""
    kind = "application/yaml" if ask.text is not None else "application/json"
    environ = EnvironBuilder(path=ask.place, method=ask.method, data=ask.sent, content_type=kind).get_environ()
    outcome = VIEWS[ask.method, ask.path](Reach(visit.worlds, Request(environ), dict(ask.names), lambda: visit.world))
    if isinstance(outcome, Response):
        return orjson.loads(outcome.get_data()) if outcome.status_code != 204 else None
    return outcome
