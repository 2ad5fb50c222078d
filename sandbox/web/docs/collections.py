"""Writes the examples as files for HTTP clients: one .http file, and a folder for the client Bruno.

In both, the first call makes a world, and replaces the world that an earlier run made. The clock of the world begins at
a fixed time. So the dates in the calls are valid on any day, and the calls can be sent more than once.
"""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from sandbox.web.docs.examples import PsuStep, list_steps

DAY = date(2027, 3, 1)
WORLD = "collection"
CODE_IN = r"/[?&]code=([^&]+)/"
BODIES = {
    "application/json": "json",
    "application/xml": "xml",
    "text/csv": "text",
    "application/x-www-form-urlencoded": "form-urlencoded",
}


JSON = {"Content-Type": "application/json"}


class CollectionCall(NamedTuple):
    """A call of a collection. In its texts, the HTTP client that sends it replaces `{{server}}`, `{{bank}}`, and the
    names of values from earlier replies, such as `{{code}}`."""

    title: str
    method: str
    url: str
    headers: dict[str, str]
    body: str | None
    status: int
    gives: tuple[tuple[str, str], ...] = ()  # names for values, each with the script that reads it from the body


def list_calls(vendor: str) -> Iterator[CollectionCall]:
    """Yields the call that makes the world, then a call for each example."""
    clock = {"clock": {"at": f"{DAY.isoformat()}T09:00"}, "replace": True}  # the collection may be run again
    world = f"{{{{server}}}}/_sandbox/worlds/{WORLD}"
    yield CollectionCall("A world of its own", "PUT", world, JSON, json.dumps(clock), 201)
    for step in list_steps(DAY):
        url, gives = f"{{{{bank}}}}{step.target}", tuple((name, write_script_path(place)) for name, place in step.gives)
        if isinstance(step, PsuStep):
            yield CollectionCall(step.title, "POST", url, JSON, step.content, 200, gives)
        else:
            headers = step.make_headers(vendor)
            yield CollectionCall(step.title, step.row.method, url, headers, step.content, step.row.success, gives)


def write_script_path(place: str) -> str:
    """Returns the JavaScript, such as `.payment_id`, that reads the value at `place` in a reply's body. The caller puts
    it behind the name of the body. If `place` is `redirect`, the value is an address, and the JavaScript reads the code
    in this address."""
    path = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in place.split("."))
    return f"{path}.match({CODE_IN})[1]" if place == "redirect" else path


def write_http_file(root: str, vendor: str) -> str:
    """Returns the text of the .http file, for the HTTP clients of editors and for httpyac."""
    parts = [f"@server = {root}\n@bank = {{{{server}}}}/worlds/{WORLD}\n"]
    for call in list_calls(vendor):
        lines = [f"### {call.title}", f"{call.method} {call.url}"]
        lines += [f"{name}: {value}" for name, value in list_headers(call, "{{$uuid}}")]
        if call.body is not None:
            lines += ["", call.body.rstrip("\n")]
        if call.gives:
            script = "\n".join(f'  client.global.set("{name}", response.body{place});' for name, place in call.gives)
            lines += ["", f"> {{%\n{script}\n%}}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def list_headers(call: CollectionCall, request_id: str) -> list[tuple[str, str]]:
    """Returns the headers of a call. Calls of the bank also get a Request-ID; calls of controls do not."""
    return [*([("Request-ID", request_id)] if call.headers is not JSON else []), *call.headers.items()]


def write_bruno_files(root: str, vendor: str) -> dict[str, str]:
    """Returns the texts of the files for Bruno, by their paths."""
    about = {"version": "1", "name": "Sandbox bank", "type": "collection", "ignore": []}
    files = {
        "bruno.json": json.dumps(about, indent=2) + "\n",
        "environments/sandbox.bru": f"vars {{\n  server: {root}\n  bank: {root}/worlds/{WORLD}\n}}\n",
    }
    for number, call in enumerate(list_calls(vendor), 1):
        name = re.sub(r"[^a-z0-9]+", "-", call.title.lower()).strip("-")
        files[f"{number:02}-{name}.bru"] = write_bruno_file(number, call)
    return files


def write_bruno_file(number: int, call: CollectionCall) -> str:
    kind = "none" if call.body is None else BODIES[call.headers["Content-Type"]]
    word = "formUrlEncoded" if kind == "form-urlencoded" else kind
    blocks = [
        write_block("meta", [f"name: {number:02} {call.title}", "type: http", f"seq: {number}"]),
        write_block(call.method.lower(), [f"url: {call.url}", f"body: {word}", "auth: none"]),
        write_block("headers", [f"{name}: {value}" for name, value in list_headers(call, "{{$guid}}")]),
    ]
    if call.body is not None:
        lines = call.body.rstrip("\n").splitlines()
        if kind == "form-urlencoded":
            lines = [": ".join(pair.split("=", 1)) for pair in call.body.split("&")]
        blocks.append(write_block(f"body:{kind}", lines))
    if call.gives:
        script = [f'bru.setVar("{name}", res.body{place});' for name, place in call.gives]
        blocks.append(write_block("script:post-response", script))
    check = f'test("{call.status}", function () {{ expect(res.status).to.equal({call.status}); }});'
    blocks.append(write_block("tests", [check]))
    return "\n".join(blocks)


def write_block(name: str, lines: list[str]) -> str:
    return "\n".join([f"{name} {{", *(f"  {line}" for line in lines), "}"]) + "\n"
