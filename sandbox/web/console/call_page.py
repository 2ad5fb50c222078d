"""A call word for word, as a person reads it, and as a line that asks the same again."""

import shlex
from dataclasses import dataclass

from sandbox.web.api.call_contents import Content
from sandbox.web.api.call_texts import (
    SECRET_HEADERS,
    SENT,
    Part,
    address_of,
    name_of,
    reply_of,
    request_of,
    scheme_of,
    without_secrets,
)
from sandbox.web.console.visits import Visit
from sandbox.world.calls import Exchange

# What a client of HTTP adds by itself.
OF_ITSELF = ("Host", "User-Agent", "Accept-Encoding", "Connection", "Content-Length", "Request-ID")
FRESH_ID = """-H "Request-ID: $(python3 -c 'import uuid; print(uuid.uuid4())')\""""


@dataclass(frozen=True, slots=True)
class Bodies:
    """Both of a call."""

    address: str
    request: Part
    reply: Part
    curl: str


def bodies_of(visit: Visit, call: Exchange, content: Content) -> Bodies:
    address = address_of(call.path, content)
    headers = [("Content-Type", content.kind)] if content.kind else []
    headers += [(name_of(name), value) for name, value in content.headers.items()]
    curl = curl_of_call(visit, call.method, address, headers, content)
    return Bodies(address, request_of(content), reply_of(content), curl)


def curl_of_call(visit: Visit, method: str, address: str, headers: list[tuple[str, str]], content: Content) -> str:
    """The same again, under an id of its own; secrets come from the shell."""
    words = ["curl -i"] + ([f"-X {shlex.quote(method)}"] if method != "GET" else [])
    words.append(shlex.quote(visit.bank_address + address))
    for name, value in headers:
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
