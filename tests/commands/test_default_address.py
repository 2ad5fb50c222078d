"""The address of a sandbox that a command calls without --url: that of the server which `serve` starts there."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from click.testing import CliRunner, Result

import sandbox
from sandbox.cli import main
from sandbox.commands.options import find_default_url
from sandbox.server_address import HOST, PORT, URL

# Without --url these start a server, or have the options of `serve`.
STARTS_ONE = ("scenario run", "vary", "ready", "health")
WORDS = {
    "clock": "frozen",
    "health": "is up",
    "pay": "PDNG",
    "requests": "POST /payments/sepa-credit-transfers",
    "worlds": "default",
    "settings page_size=10": "page_size",
    "variants cover --axes vendor --strength 1 --begin": "variants of 1 axes",
}


def run(*words: str, **env: str) -> Result:
    return CliRunner().invoke(main, words, env=env)


def commands(group: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    yield name, group
    if isinstance(group, click.Group):
        for word in group.commands:
            yield from commands(group.commands[word], f"{name} {word}".strip())


def test_commands_find_the_server_of_their_environment_by_its_port(url: str) -> None:
    port = str(urlsplit(url).port)
    for words, seen in WORDS.items():
        done = run(*words.split(), SANDBOX_PORT=port)
        assert done.exit_code == 0 and seen in done.output, (words, done.output)


def test_they_find_it_where_it_listens_on_every_address(url: str) -> None:
    told = {"SANDBOX_PORT": str(urlsplit(url).port), "SANDBOX_HOST": "0.0.0.0"}
    assert "frozen" in run("clock", **told).output


def test_an_address_in_words_or_in_the_environment_wins(url: str) -> None:
    assert "frozen" in run("clock", "--url", url, SANDBOX_PORT="1").output
    assert "frozen" in run("clock", SANDBOX_URL=url, SANDBOX_PORT="1").output


@pytest.mark.parametrize("port", ["", "0"])
def test_without_a_port_it_is_the_default(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PORT", port)
    assert find_default_url() == URL == f"http://{HOST}:{PORT}"


def test_an_address_of_version_6_is_written_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_HOST", "::")
    assert find_default_url() == f"http://[::1]:{PORT}"


@pytest.mark.parametrize("port", ["http", "65536", "-1"])
def test_a_port_that_is_none_is_refused_as_a_wrong_option(port: str) -> None:
    done = run("clock", SANDBOX_PORT=port)
    assert done.exit_code == 2 and "SANDBOX_PORT" in done.output


def test_every_command_that_calls_a_sandbox_has_this_default() -> None:
    urls = {
        name: param
        for name, command in commands(main)
        for param in command.params
        if param.name == "url" and param.envvar == "SANDBOX_URL"
    }
    assert len(urls) > 40
    assert {name for name, param in urls.items() if param.default is not find_default_url} == set(STARTS_ONE)


def test_the_default_is_written_in_one_place() -> None:
    folder = Path(sandbox.__file__).parent
    assert [file.name for file in folder.rglob("*.py") if str(PORT) in file.read_text()] == ["server_address.py"]
