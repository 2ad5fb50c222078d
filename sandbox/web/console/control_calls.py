"""A call of a control, as the console makes it and as a curl line."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Request
from werkzeug.test import EnvironBuilder

from sandbox.web.console.visits import Visit
from sandbox.web.controls.app import ControlCall, view_of
from sandbox.web.controls.control_row import Control, fill_path
from sandbox.web.controls.lock import KEY_HEADER


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of a control: its row, the names in its path, and a JSON body or the text of a scenario."""

    row: Control
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    text: str | None = None

    @property
    def method(self) -> str:
        return self.row.method

    @property
    def place(self) -> str:
        """The path with its names filled in."""
        return fill_path(self.row.path, self.names)

    @property
    def sent(self) -> bytes:
        if self.text is not None:
            return self.text.encode()
        return orjson.dumps(self.body) if self.body else b""


def curl_of(visit: Visit, ask: Ask) -> str:
    """The curl line that makes the same call."""
    words = ["curl"]
    if ask.method != "GET":
        words += ["-X", ask.method]
    words.append(shlex.quote(visit.request.host_url.rstrip("/") + visit.root + ask.place))
    if visit.desk.key is not None:
        words += ["-H", f'"{KEY_HEADER}: $SANDBOX_KEY"']
    if ask.text is not None:
        words += ["-H", "'Content-Type: application/yaml'", "--data-binary", shlex.quote(ask.text)]
    elif ask.body:
        words += ["--json", shlex.quote(orjson.dumps(ask.body).decode())]
    return " ".join(words)


def done(visit: Visit, ask: Ask) -> Any:
    """Calls the control's own view and returns its reply; a refusal is raised."""
    kind = "application/yaml" if ask.text is not None else "application/json"
    environ = EnvironBuilder(path=ask.place, method=ask.method, data=ask.sent, content_type=kind).get_environ()
    names = {name: ask.names.get(name, "") for name in ask.row.path_names}
    call = ControlCall(visit.desk.worlds, Request(environ), names, lambda: visit.world)
    return view_of(ask.row)(call)
