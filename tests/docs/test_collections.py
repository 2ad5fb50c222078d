"""The collections are sent as they are written, and each of their calls succeeds, twice over."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from tests.tpp import Tpp

SET = re.compile(r'(?:client\.global\.set|bru\.setVar)\("(\w+)", (?:response|res)\.body([^;]*)\);')
MATCH = re.compile(r"\.match\(/\[\?&\]code=\(\[\^&\]\+\)/\)\[1\]$")
SENT = 45  # calls at the least


def write(kind: str, target: Path, url: str = "http://localhost/") -> None:
    result = CliRunner().invoke(main, ["collection", kind, str(target), "--url", url])
    assert result.exit_code == 0, result.output


def value_at(body: Any, place: str) -> str:
    """What the script would find."""
    plain = MATCH.sub("", place)
    for key, number in re.findall(r"\.(\w+)|\[(\d+)\]", plain):
        body = body[key] if key else body[int(number)]
    if plain == place:
        return str(body)
    found = re.search(r"[?&]code=([^&]+)", str(body))
    assert found is not None
    return found[1]


class Tool:
    """The little of an HTTP tool that the collections ask for."""

    def __init__(self, tpp: Tpp, known: dict[str, str]) -> None:
        self.http, self.known = tpp.http, known
        self.sent = 0

    def fill(self, text: str) -> str:
        fresh = text.replace("{{$uuid}}", str(uuid4())).replace("{{$guid}}", str(uuid4()))
        while "{{" in fresh:
            fresh = re.sub(r"\{\{(\w+)\}\}", lambda found: self.known[found[1]], fresh)
        return fresh

    def send(self, method: str, url: str, headers: list[str], body: str | None, script: str) -> int:
        given = dict(self.fill(line).split(": ", 1) for line in headers)
        content = None if body is None else self.fill(body)
        reply = self.http.open(self.fill(url), method=method, headers=given, data=content)
        self.sent += 1
        assert reply.status_code < 300, f"{method} {url}: {reply.text}"
        for name, place in SET.findall(script):
            self.known[name] = value_at(reply.json, place)
        return int(reply.status_code)


def send_http_file(tool: Tool, text: str) -> None:
    first, *parts = text.split("### ")
    tool.known |= dict(re.findall(r"(?m)^@(\w+) = (.*)$", first))
    for part in parts:
        call, _, script = part.partition("\n> {%")
        head, _, body = call.partition("\n\n")
        _, line, *headers = head.strip().split("\n")
        method, url = line.split(" ", 1)
        tool.send(method, url, headers, body.strip("\n") or None, script)


def block(text: str, name: str) -> list[str] | None:
    found = re.search(rf"(?ms)^{name} \{{\n(.*?)^\}}$", text)
    return None if found is None else [line[2:] for line in found[1].splitlines()]


def send_bruno(tool: Tool, folder: Path) -> None:
    assert json.loads((folder / "bruno.json").read_text())["type"] == "collection"
    for line in block((folder / "environments/sandbox.bru").read_text(), "vars") or []:
        name, value = line.split(": ", 1)
        tool.known[name] = value
    for file in sorted(folder.glob("*.bru")):
        text = file.read_text()
        method = next(word for word in ("get", "post", "put", "delete") if block(text, word))
        url, kind, _ = block(text, method) or []
        kind = kind.removeprefix("body: ").replace("formUrlEncoded", "form-urlencoded")
        lines = block(text, f"body:{kind}")
        if kind == "form-urlencoded":
            assert lines is not None
            body: str | None = "&".join(line.replace(": ", "=", 1) for line in lines)
        else:
            body = None if lines is None else "\n".join(lines)
        script = "\n".join(block(text, "script:post-response") or [])
        status = tool.send(method.upper(), url.removeprefix("url: "), block(text, "headers") or [], body, script)
        assert f'test("{status}"' in text


@pytest.mark.parametrize("times", [1, 2])
def test_the_http_file_is_sent(tpp: Tpp, tmp_path: Path, times: int) -> None:
    write("http", tmp_path / "bank.http")
    for _ in range(times):
        tool = Tool(tpp, {})
        send_http_file(tool, (tmp_path / "bank.http").read_text())
        assert tool.sent >= SENT


@pytest.mark.parametrize("times", [1, 2])
def test_the_bruno_collection_is_sent(tpp: Tpp, tmp_path: Path, times: int) -> None:
    write("bruno", tmp_path / "bruno")
    for _ in range(times):
        tool = Tool(tpp, {})
        send_bruno(tool, tmp_path / "bruno")
        assert tool.sent >= SENT


def test_they_leave_the_other_worlds_alone(tpp: Tpp, tmp_path: Path) -> None:
    write("http", tmp_path / "bank.http")
    send_http_file(Tool(tpp, {}), (tmp_path / "bank.http").read_text())
    assert tpp.listed("payments") == []
    assert len(Tpp(tpp.http.application, "collection").listed("payments")) == 4


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write("http", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
