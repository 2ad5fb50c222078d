"""Calls of the bank and of its controls: made by the console, and as code that makes the same call."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

import orjson
from flask import Request
from werkzeug.test import Client, EnvironBuilder

from sandbox.web.api.addresses import server_of
from sandbox.web.api.call_records import Content
from sandbox.web.api.call_texts import (
    SECRET_HEADERS,
    SENT,
    headers_of,
    scheme_of,
    without_secrets,
)
from sandbox.web.console.visits import ConsoleVisit
from sandbox.web.controls.app import ControlCall, view_of
from sandbox.web.controls.control_row import Control, fill_path
from sandbox.web.controls.lock import KEY_HEADER

FRESH_ID = """-H "Request-ID: $(python3 -c 'import uuid; print(uuid.uuid4())')\""""
# Headers that curl adds by itself, and the id that is made anew.
OF_ITSELF = ("Host", "User-Agent", "Accept-Encoding", "Connection", "Content-Length", "Request-ID")
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call. The Request-ID is left out, because each call needs a new one."""

    title: str
    method: str
    target: str  # path and query below the bank's address
    headers: Mapping[str, str]
    body: Any = None  # an object is sent as JSON or as a form, a text as it is
    basic: tuple[str, str] | None = None  # client id and secret, of POST /token

    @property
    def is_form(self) -> bool:
        return self.headers.get("Content-Type") == FORM_TYPE

    @property
    def content(self) -> str:
        if self.body is None:
            return ""
        if isinstance(self.body, str):
            return self.body
        if self.is_form:
            return urlencode(self.body)
        return json.dumps(self.body, ensure_ascii=False)

    def lines(self, address: str) -> tuple[tuple[str, str], ...]:
        """The same call in three languages."""
        return ("curl", self.as_curl(address)), ("Python", self.as_python(address)), ("JavaScript", self.as_js(address))

    def as_curl(self, address: str) -> str:
        words = ["curl -i"] + ([f"-X {self.method}"] if self.method not in ("GET", "POST") else [])
        words[0] += f" {shlex.quote(address + self.target)}"
        if self.basic:
            words.append(f"--user {shlex.quote(':'.join(self.basic))}")
        words += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in self.headers.items()]
        words.append(FRESH_ID)
        if self.is_form:
            words += [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in self.body.items()]
        elif self.body is not None:
            words.append(f"--data-binary {shlex.quote(self.content)}")
        return " \\\n  ".join(words)

    def as_python(self, address: str) -> str:
        headers = "".join(f"    {name!r}: {value!r},\n" for name, value in self.headers.items())
        arguments = ["headers=headers"]
        if self.basic:
            arguments.append(f"auth={self.basic!r}")
        if self.is_form:
            arguments.append(f"data={dict(self.body)!r}")
        elif self.body is not None:
            arguments.append(f"content={self.body!r}" if isinstance(self.body, str) else f"json={self.body!r}")
        return (
            "import uuid\n\nimport httpx\n\n"
            f"headers = {{\n{headers}    'Request-ID': str(uuid.uuid4()),\n}}\n"
            f"reply = httpx.request({self.method!r}, {address + self.target!r}, {', '.join(arguments)})\n"
            "print(reply.status_code, reply.text)"
        )

    def as_js(self, address: str) -> str:
        """For a browser, or for Node.js 19 and newer as a module."""
        headers = "".join(f"    {_js(name)}: {_js(value)},\n" for name, value in self.headers.items())
        if self.basic:
            headers += f"    'Authorization': 'Basic ' + btoa({_js(':'.join(self.basic))}),\n"
        body = ""
        if self.is_form:
            body = f"  body: new URLSearchParams({_js(dict(self.body))}),\n"
        elif self.body is not None:
            body = f"  body: {_js(self.body) if isinstance(self.body, str) else f'JSON.stringify({_js(self.body)})'},\n"
        return (
            f"const reply = await fetch({_js(address + self.target)}, {{\n  method: {_js(self.method)},\n"
            f"  headers: {{\n{headers}    'Request-ID': crypto.randomUUID(),\n  }},\n{body}}});\n"
            "console.log(reply.status, await reply.text());"
        )


def _js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class BankReply(NamedTuple):
    status: int
    body: Any  # of JSON; else the text

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        if isinstance(self.body, str):
            return self.body
        return orjson.dumps(self.body, option=orjson.OPT_INDENT_2).decode()

    def at(self, *names: str) -> Any:
        """A member of the body; None if it is absent."""
        member = self.body
        for name in names:
            member = member.get(name) if isinstance(member, dict) else None
        return member


def call_bank(visit: ConsoleVisit, call: ApiCall) -> BankReply:
    """Calls this world's bank within the process, through everything that a call from outside meets.

    Raises ValueError for a line break in a header."""
    reply = Client(visit.state.bank_app.wsgi_app, use_cookies=False).open(
        path=visit.request.script_root + call.target,
        base_url=visit.bank_address.removesuffix(visit.request.script_root),
        method=call.method,
        headers={**call.headers, "Request-ID": str(uuid4())},
        auth=call.basic,
        data=call.content.encode() if call.body is not None else None,
        environ_base={
            "REMOTE_ADDR": visit.request.remote_addr or "127.0.0.1",
            "sandbox.listens": visit.request.environ.get("sandbox.listens", str),
        },
    )
    try:
        return BankReply(reply.status_code, orjson.loads(reply.data) if reply.data else "")
    except orjson.JSONDecodeError:
        return BankReply(reply.status_code, reply.data.decode(errors="replace"))


def curl_again(visit: ConsoleVisit, method: str, address: str, content: Content) -> str:
    """The curl line that makes a call again, with an id of its own. Secrets come from the shell."""
    words = ["curl -i"] + ([f"-X {shlex.quote(method)}"] if method != "GET" else [])
    words.append(shlex.quote(visit.bank_address + address))
    for name, value in headers_of(content):
        if name == "Authorization":
            words.append(f'-H "{name}: {scheme_of(value) or "Bearer"} $TOKEN"')
        elif name in SECRET_HEADERS:
            words.append(f'-H "{name}: ${SECRET_HEADERS[name]}"')
        elif name not in OF_ITSELF:
            words.append(f"-H {shlex.quote(f'{name}: {value}')}")
    words.append(FRESH_ID)
    if content.length:
        text = without_secrets(content.sent.decode(errors="replace"), SENT)
        words.append(f"--data-binary {shlex.quote(text) if len(content.sent) == content.length else '@body'}")
    return " ".join(words)


# Calls of the controls


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """A call of a control: its row, the names in its path, and a JSON body or the text of a scenario."""

    row: Control
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    text: str | None = None

    @property
    def place(self) -> str:
        """The path with its names filled in."""
        return fill_path(self.row.path, self.names)


def curl_of(visit: ConsoleVisit, call: ControlRequest) -> str:
    words = ["curl"]
    if call.row.method != "GET":
        words += ["-X", call.row.method]
    words.append(shlex.quote(server_of(visit.request) + visit.root + call.place))
    if visit.state.key is not None:
        words += ["-H", f'"{KEY_HEADER}: $SANDBOX_KEY"']
    if call.text is not None:
        words += ["-H", "'Content-Type: application/yaml'", "--data-binary", shlex.quote(call.text)]
    elif call.body:
        words += ["--json", shlex.quote(orjson.dumps(call.body).decode())]
    return " ".join(words)


def call_control(visit: ConsoleVisit, call: ControlRequest) -> Any:
    """Calls the view of a control and returns its reply. Raises Refusal."""
    if call.text is not None:
        content, kind = call.text.encode(), "application/yaml"
    else:
        content, kind = orjson.dumps(call.body) if call.body else b"", "application/json"
    environ = EnvironBuilder(call.place, method=call.row.method, data=content, content_type=kind).get_environ()
    names = {name: call.names.get(name, "") for name in call.row.path_names}
    return view_of(call.row)(ControlCall(visit.state.worlds, Request(environ), names, lambda: visit.world))
