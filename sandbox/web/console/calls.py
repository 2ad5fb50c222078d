"""Makes calls to the bank and to its controls for the console, and writes these calls as code in three languages."""

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

from sandbox.web.api.addresses import find_server
from sandbox.web.api.call_records import Content
from sandbox.web.api.call_texts import (
    SECRET_HEADERS,
    SENT,
    find_scheme,
    list_headers,
    mask_secrets,
)
from sandbox.web.console.visits import ConsoleVisit
from sandbox.web.controls.app import ControlCall, find_view
from sandbox.web.controls.control_row import Control, fill_path
from sandbox.web.controls.lock import KEY_HEADER

FRESH_ID = """-H "Request-ID: $(python3 -c 'import uuid; print(uuid.uuid4())')\""""
# Headers that curl adds by itself, and the id that is made anew.
OF_ITSELF = ("Host", "User-Agent", "Accept-Encoding", "Connection", "Content-Length", "Request-ID")
FORM_TYPE = "application/x-www-form-urlencoded"
LANGUAGES = ("curl", "Python", "JavaScript")


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call to the bank or to a control. The console can show it as code. The code of a call to the bank makes a new
    Request-ID each time it runs, because the bank accepts a Request-ID only once."""

    title: str
    method: str
    target: str  # path and query below the address
    headers: Mapping[str, str]
    body: Any = None  # an object is sent as JSON or as a form, a text as it is
    basic: tuple[str, str] | None = None  # client id and secret, of POST /token
    secrets: Mapping[str, str] = field(default_factory=dict)  # headers that end with a variable, such as `$TOKEN`
    file: str = ""  # the body is in this file
    is_control: bool = False
    address: str = ""

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

    def list_samples(self) -> tuple[tuple[str, str], ...]:
        """Returns the code of the call in curl, Python and JavaScript, as pairs of language and code."""
        return tuple(zip(LANGUAGES, (self.as_curl(), self.as_python(), self.as_js()), strict=True))

    def as_curl(self) -> str:
        words = ["curl" if self.is_control else "curl -i"]
        if self.method != ("GET" if self.is_control or (self.body is None and not self.file) else "POST"):
            words[0] += f" -X {shlex.quote(self.method)}"
        words[0] += f" {shlex.quote(self.address + self.target)}"
        if self.basic:
            words.append(f"--user {shlex.quote(':'.join(self.basic))}")
        words += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in self.headers.items()]
        words += [f'-H "{name}: {value}"' for name, value in self.secrets.items()]
        if not self.is_control:
            words.append(FRESH_ID)
        if self.file:
            words.append(f"--data-binary @{self.file}")
        elif self.is_form and not isinstance(self.body, str):
            words += [f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in self.body.items()]
        elif self.body is not None:
            is_json = self.is_control and not isinstance(self.body, str)
            text = orjson.dumps(self.body).decode() if is_json else self.content
            words.append(f"{'--json' if is_json else '--data-binary'} {shlex.quote(text)}")
        return (" " if self.is_control else " \\\n  ").join(words)

    def as_python(self) -> str:
        headers = [f"    {name!r}: {value!r},\n" for name, value in self.headers.items()]
        headers += [f"    {name!r}: os.path.expandvars({value!r}),\n" for name, value in self.secrets.items()]
        modules = ["os"] if self.secrets else []
        if not self.is_control:
            headers.append("    'Request-ID': str(uuid.uuid4()),\n")
            modules.append("uuid")
        arguments = ["headers=headers"] if headers else []
        if self.basic:
            arguments.append(f"auth={self.basic!r}")
        if self.file:
            arguments.append(f"content=open({self.file!r}, 'rb').read()")
        elif self.is_form and not isinstance(self.body, str):
            arguments.append(f"data={dict(self.body)!r}")
        elif self.body is not None:
            arguments.append(f"content={self.body!r}" if isinstance(self.body, str) else f"json={self.body!r}")
        words = ", ".join([repr(self.method), repr(self.address + self.target), *arguments])
        return (
            "".join(f"import {module}\n" for module in modules)
            + ("\n" if modules else "")
            + "import httpx\n\n"
            + (f"headers = {{\n{''.join(headers)}}}\n" if headers else "")
            + f"reply = httpx.request({words})\nprint(reply.status_code, reply.text)"
        )

    def as_js(self) -> str:
        """Returns JavaScript code, to be run as a module by Node.js 19 or newer. A browser can run the code too, if the
        call has no secrets and no file. Node.js reads the secrets from environment variables."""
        headers = "".join(f"    {_write_js(name)}: {_write_js(value)},\n" for name, value in self.headers.items())
        for name, value in self.secrets.items():
            headers += f"    {_write_js(name)}: `{value.replace('$', '${process.env.')}}}`,\n"
        if self.basic:
            headers += f"    'Authorization': 'Basic ' + btoa({_write_js(':'.join(self.basic))}),\n"
        if not self.is_control:
            headers += "    'Request-ID': crypto.randomUUID(),\n"
        elif self.body is not None and not isinstance(self.body, str):
            headers += "    'Content-Type': 'application/json',\n"
        body = ""
        if self.file:
            body = f"  body: await (await import('node:fs/promises')).readFile({_write_js(self.file)}),\n"
        elif self.is_form and not isinstance(self.body, str):
            body = f"  body: new URLSearchParams({_write_js(dict(self.body))}),\n"
        elif self.body is not None:
            text = _write_js(self.body)
            body = f"  body: {text if isinstance(self.body, str) else f'JSON.stringify({text})'},\n"
        address, method = _write_js(self.address + self.target), _write_js(self.method)
        return (
            f"const reply = await fetch({address}, {{\n  method: {method},\n"
            + (f"  headers: {{\n{headers}  }},\n" if headers else "")
            + f"{body}}});\nconsole.log(reply.status, await reply.text());"
        )


def _write_js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class BankReply(NamedTuple):
    status: int
    body: Any  # of JSON; else the text
    request_id: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        if isinstance(self.body, str):
            return self.body
        return orjson.dumps(self.body, option=orjson.OPT_INDENT_2).decode()

    def get_value_at(self, *names: str) -> Any:
        """Returns the value that these names lead to in the body, or None if it is absent. `get_value_at("_embedded",
        "accounts")` reads a nested member."""
        member = self.body
        for name in names:
            member = member.get(name) if isinstance(member, dict) else None
        return member


def call_bank(visit: ConsoleVisit, call: ApiCall) -> BankReply:
    """Calls this world's bank within the process. The call passes the whole WSGI application, as a call over the
    network does.

    Raises ValueError if a header has a line break.
    """
    request_id = str(uuid4())
    reply = Client(visit.state.bank_app.wsgi_app, use_cookies=False).open(
        path=visit.request.script_root + call.target,
        base_url=visit.bank_address.removesuffix(visit.request.script_root),
        method=call.method,
        headers={**call.headers, "Request-ID": request_id},
        auth=call.basic,
        data=call.content.encode() if call.body is not None else None,
        environ_base={
            "REMOTE_ADDR": visit.request.remote_addr or "127.0.0.1",
            "sandbox.listens": visit.request.environ.get("sandbox.listens", str),
        },
    )
    try:
        return BankReply(reply.status_code, orjson.loads(reply.data) if reply.data else "", request_id)
    except orjson.JSONDecodeError:
        return BankReply(reply.status_code, reply.data.decode(errors="replace"), request_id)


def call_again(visit: ConsoleVisit, method: str, target: str, content: Content) -> ApiCall:
    """Returns a call that makes a recorded call again, with a new Request-ID. Variables such as `$TOKEN` replace the
    secrets. If only a part of the body was recorded, the call takes its body from a file called `body`."""
    headers, secrets = dict[str, str](), dict[str, str]()
    for name, value in list_headers(content):
        if name == "Authorization":
            secrets[name] = f"{find_scheme(value) or 'Bearer'} $TOKEN"
        elif name in SECRET_HEADERS:
            secrets[name] = f"${SECRET_HEADERS[name]}"
        elif name not in OF_ITSELF:
            headers[name] = value
    is_whole = len(content.sent) == content.length
    text = mask_secrets(content.sent.decode(errors="replace"), SENT) if is_whole and content.length else None
    file = "" if is_whole else "body"
    return ApiCall("The same call again", method, target, headers, text, None, secrets, file, False, visit.bank_address)


# Calls of the controls


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """A call of a control: the control's row, the values of the names in its path, and a JSON body or the text of a
    scenario."""

    row: Control
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    text: str | None = None

    @property
    def place(self) -> str:
        """The path of the control, in which values replace the parameters such as `<name>`."""
        return fill_path(self.row.path, self.names)


def make_api_call(visit: ConsoleVisit, title: str, call: ControlRequest) -> ApiCall:
    """Returns the call of a control as an ApiCall, to show it as code."""
    headers = {} if call.text is None else {"Content-Type": "application/yaml"}
    secrets = {} if visit.state.key is None else {KEY_HEADER: f"${SECRET_HEADERS[KEY_HEADER]}"}
    body = call.body or None if call.text is None else call.text
    target, address = visit.root + call.place, find_server(visit.request)
    return ApiCall(title, call.row.method, target, headers, body, None, secrets, "", True, address)


def call_control(visit: ConsoleVisit, call: ControlRequest) -> Any:
    """Calls the view of a control within the process, and returns what the view returns. Raises Refusal if the control
    refuses the call."""
    if call.text is not None:
        content, kind = call.text.encode(), "application/yaml"
    else:
        content, kind = orjson.dumps(call.body) if call.body else b"", "application/json"
    environ = EnvironBuilder(call.place, method=call.row.method, data=content, content_type=kind).get_environ()
    names = {name: call.names.get(name, "") for name in call.row.path_names}
    return find_view(call.row)(ControlCall(visit.state.worlds, Request(environ), names, lambda: visit.world))
