"""The command `open`, the groups of the help, options before the command, and completion by the running server."""

import re
from collections.abc import Callable

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from sandbox.cli import GROUPS, LAST_GROUP, group_commands, main
from sandbox.client import Controls
from sandbox.extension_registry import Extension
from tests.running import KEY

LINE_MAX = 58  # characters beside the longest word, on a terminal of 80
Run = Callable[..., Result]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked to open."""
    addresses: list[str] = []

    def remember(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", remember)
    return addresses


@pytest.fixture
def run(url: str) -> Run:
    return lambda *words: CliRunner().invoke(main, list(words), env={"SANDBOX_URL": url})


@pytest.mark.parametrize(
    "words, path", [((), "/_sandbox/"), (("payments",), "/_sandbox/console/payments"), (("docs",), "/_sandbox/docs")]
)
def test_a_page_is_opened_and_its_address_printed(
    run: Run, url: str, opened: list[str], words: tuple[str, ...], path: str
) -> None:
    assert run("open", *words).output == f"{url}{path}\n" and opened == [url + path]


def test_an_id_opens_the_page_about_it(run: Run, url: str, opened: list[str]) -> None:
    assert run("pay").exit_code == run("order").exit_code == run("file").exit_code == 0
    with Controls(url) as controls:
        rows = {kind: controls.listed(kind)[0] for kind in ("payments", "standing-orders", "bulk-payments", "accounts")}
        call = controls.listed("requests")[0]
    for kind, row in rows.items():
        name = row.get("payment_id") or row.get("payment_file_id") or row["iban"]
        assert run("open", name).output == f"{url}/_sandbox/console/{kind}/{name}\n"
    assert run("open", call["request_id"]).output == f"{url}/_sandbox/console/calls/{call['seq']}\n"
    assert len(opened) == 5


def test_without_a_browser_the_address_is_printed(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    done = run("open")
    assert done.exit_code == 0 and done.stdout == f"{url}/_sandbox/\n" and "no browser" in done.stderr


def test_what_is_not_there_is_not_opened(run: Run, opened: list[str]) -> None:
    assert "Did you mean payments?" in run("open", "payment").output
    assert "there is no world 'nope'" in run("open", "--world", "nope").output
    assert run("open", "x/../y").exit_code == 1 and opened == []


def test_the_help_has_every_command_in_one_group_on_one_whole_line() -> None:
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    assert re.findall(r"^(\w[\w ]+):$", text, re.MULTILINE) == ["Options", *GROUPS]
    lines = re.findall(r"^  ([a-z-]+) +(.+)$", text.partition("Start:")[2], re.MULTILINE)
    assert sorted(word for word, _ in lines) == sorted(main.commands)
    assert [line for _, line in lines if len(line) > LINE_MAX or not re.search(r"\w\.$", line)] == []


def test_an_extension_says_the_group_of_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    added = Extension(name="x", commands={"a": "", "b": "", "c": ""}, groups={"a": "Check", "b": "Nowhere"})
    monkeypatch.setattr("sandbox.cli.load_installed", lambda: (added,))
    groups = group_commands()
    assert [groups[word] for word in "abc"] == ["Check", LAST_GROUP, LAST_GROUP]


def test_the_server_is_named_before_or_after_the_command(locked_url: str) -> None:
    before = CliRunner().invoke(main, ["--url", locked_url, "--key", KEY, "clock", "advance", "1h", "--json"])
    after = CliRunner().invoke(main, ["clock", "--url", locked_url, "--key", KEY, "--json"])
    assert before.exit_code == 0 and before.output == after.output
    between = CliRunner().invoke(main, ["clock", "--url", locked_url, "--key", KEY, "--json", "advance", "0s"])
    assert between.exit_code == 0 and between.output == after.output
    over = CliRunner().invoke(main, ["--url", "http://127.0.0.1:1", "clock", "--url", locked_url, "--key", KEY])
    assert over.exit_code == 0, "the option after the command wins"


@pytest.mark.parametrize("words", [("psu", "sign", "nope", "--customer", "alice"), ("account", "add", "alice")])
def test_the_server_is_named_between_the_words_of_any_command(url: str, words: tuple[str, ...]) -> None:
    first, *rest = words
    between = CliRunner().invoke(main, [first, "--url", url, "--world", "w", *rest])
    after = CliRunner().invoke(main, [*words, "--url", url, "--world", "v"])
    over = CliRunner().invoke(main, [first, "--url", "http://127.0.0.1:1", *rest, "--url", url, "--world", "u"])
    assert between.output == after.output == over.output and "cannot be reached" not in over.output


def test_a_command_that_calls_no_server_takes_none() -> None:
    between = CliRunner().invoke(main, ["scenario", "--url", "http://127.0.0.1:1", "list"])
    assert between.exit_code == 2 and "list takes no --url" in between.output
    refused = CliRunner().invoke(main, ["--key", "x", "tables", "moves"])
    assert refused.exit_code == 2 and "tables takes no --key" in refused.output


def test_ids_and_names_are_completed_by_the_running_server(run: Run, url: str) -> None:
    assert run("pay").exit_code == 0

    def completed(*words: str, begun: str = "") -> list[str]:
        found = ShellComplete(main, {}, "bank-sandbox", "X").get_completions(list(words), begun)
        return [item.value for item in found]

    with Controls(url) as controls:
        (payment,) = controls.listed("payments")
    assert completed("--url", url, "move") == completed("move", "--url", url) == [payment["payment_id"]]
    assert completed("--url", url, "psu", "sign", "--customer", begun="no") == ["notaris"]
    assert completed("psu", "--url", url, "sign", "--customer", begun="no") == ["notaris"]
    assert completed("--url", url, "open", begun="pay") == ["payments"]
    assert completed("--url", url, "--world", "nope", "move") == [] == completed("--url", "http://127.0.0.1:1", "move")
    with Controls(url) as controls:
        assert [world["name"] for world in controls.listed("worlds")] == ["default"], "completion makes no world"
    assert isinstance(main, click.Group)
