"""Whether a sandbox is up, as an image and a build ask: `bank-sandbox health`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.commands.health import find_address
from tests.deploy.proxies import free_port, made_pki
from tests.test_cli import serving


def ask(*words: str, **env: str) -> Result:
    return CliRunner().invoke(main, ["health", *words], env=env)


@pytest.fixture(scope="module")
def locked() -> Iterator[int]:
    with serving("--port", "0", "--key", "a key") as (_, port):
        yield port


def test_a_sandbox_that_answers_is_up(url: str) -> None:
    done = ask("--url", f"{url}/")
    assert (done.exit_code, done.output) == (0, f"{url} is up\n")


def test_one_that_is_not_there_is_not(tmp_path: Path) -> None:
    done = ask("--port", str(free_port()))
    assert done.exit_code == 1
    assert "is not up" in done.output


def test_the_environment_of_the_server_is_enough(locked: int) -> None:
    told = {"SANDBOX_PORT": str(locked), "SANDBOX_HOST": "0.0.0.0"}
    assert ask(**told, SANDBOX_KEY="a key").exit_code == 0
    for wrong in ({}, {"SANDBOX_KEY": "another"}):
        assert "answers 401: the key is missing or wrong, give it with --key or" in ask(**told, **wrong).output


def test_without_controls_the_bank_itself_is_asked() -> None:
    with serving("--port", "0", "--controls", "off") as (_, port):
        assert ask("--port", str(port), "--controls", "off").exit_code == 0
        assert ask("--port", str(port)).exit_code == 1


def test_controls_on_a_port_of_their_own_are_asked_there() -> None:
    apart = str(free_port())
    with serving("--port", "0", "--controls-port", apart) as (_, port):
        assert ask("--port", str(port), "--controls-port", apart).output == f"http://127.0.0.1:{apart} is up\n"


def test_a_server_with_tls_is_asked_so(tmp_path: Path) -> None:
    port = str(free_port())
    with serving_tls(port, made_pki(tmp_path / "pki")):
        assert ask("--port", port, "--tls", "--wait", "20").output == f"https://127.0.0.1:{port} is up\n"
        assert ask("--port", port).exit_code == 1


def test_a_server_that_cannot_write_its_state_is_live_and_not_ready(tmp_path: Path) -> None:
    state = tmp_path / "bank.state"
    with serving("--port", "0", "--state", str(state)) as (_, port):
        state.unlink()
        assert "answers 503" in ask("--port", str(port)).output
        assert ask("--port", str(port), "--live").exit_code == 0
    assert ask("--port", str(port), "--live").exit_code == 1


def serving_tls(port: str, pki: Path) -> Any:
    return serving("--port", port, "--tls", "--pki", str(pki), greets="listening on https://127.0.0.1:")


@pytest.mark.parametrize(
    "host, asked",
    [
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("*", "127.0.0.1"),
        ("::1", "[::1]"),
        ("192.0.2.1", "192.0.2.1"),
        ("bank.example", "bank.example"),
    ],
)
def test_who_listens_everywhere_is_asked_here(host: str, asked: str) -> None:
    served = {"host": host, "port": 8080, "tls": False, "controls": "on", "controls_port": None}
    assert find_address(served) == f"http://{asked}:8080"


@pytest.mark.parametrize("url", ["", "nonsense", "http://[", "http://127.0.0.1:x", "ftp://127.0.0.1:1"])
def test_an_address_that_is_none_is_told_kindly(url: str) -> None:
    done = ask("--url", url or "http://")
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
