"""Every command with the same words: --json, --url, --key, --world, --customer (choice 12)."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.client import Client, Controls
from tests.running import KEY

Run = Callable[..., Result]

# Commands without --json: what each prints is no fact about the bank, or is read by programs already.
NO_JSON = {
    "bulk sample": "prints a file",
    "collection": "writes files",
    "completion": "prints a script",
    "demo": "serves",
    "docs": "writes files",
    "lift": "prints a scenario",
    "mcp": "serves",
    "openapi": "is JSON",
    "pki init": "writes files",
    "pki issue": "writes files",
    "pki revoke": "writes a file",
    "record": "serves",
    "scenario run": "writes JUnit with --junit",
    "scenario schema": "is JSON",
    "serve": "serves",
}


def leaves(command: click.Command, *words: str) -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by its words."""
    if isinstance(command, click.Group):
        for word in command.commands:
            yield from leaves(command.commands[word], *words, word)
    if words and (not isinstance(command, click.Group) or command.invoke_without_command):
        yield " ".join(words), command


COMMANDS = dict(leaves(main))
OPTIONS = {words: {name for param in command.params for name in param.opts} for words, command in COMMANDS.items()}


def test_every_command_that_prints_a_fact_has_json() -> None:
    assert {words for words, options in OPTIONS.items() if "--json" not in options} == set(NO_JSON)


def test_every_command_that_calls_a_sandbox_takes_address_and_key_and_names_customers_alike() -> None:
    for words, options in OPTIONS.items():
        writes_address = words in ("openapi", "collection")  # of a document
        assert ("--url" not in options) or writes_address or "--key" in options, words
        assert not options & {"--user", "--psu", "--who", "--bank-url"}, words
        assert ("--as" not in options) or "--customer" in options or words in ("hold", "import"), words
        assert "--world" not in options or {"--url", "--key"} <= options, words


@pytest.fixture
def payment_id(locked_url: str) -> str:
    with Client(locked_url) as tpp, Controls(locked_url, key=KEY) as controls:
        payment = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
        controls.psu.approve(payment.sca_address or "", "alice")
        return payment.payment_id or ""


def values_of(payment_id: str, folder: Path, locked_url: str) -> dict[str, str]:
    """A line of words for each command that needs some."""
    (folder / "wages.xml").write_text(
        CliRunner().invoke(main, ["bulk", "sample", "three-bulks.pain.001.001.09.xml"]).output
    )
    assert CliRunner().invoke(main, ["pki", "init", "--dir", f"{folder}/pki"]).exit_code == 0
    with Controls(locked_url, key=KEY) as controls:
        request_id = controls.listed("requests")[0]["request_id"]
        iban = controls.listed("accounts")[0]["iban"]
    return {
        "account add": "alice",
        "account change": f"{iban} --closed false",
        "await": f"{payment_id} ACSC",
        "bulk check": f"{folder}/wages.xml",
        "clock advance": "1m",
        "clock set": "2027-03-05T09:00",
        "count": "--operation token",
        "customer add": "zoe",
        "customer change": "alice --language nl",
        "explain": request_id,
        "export": f"-o {folder}/a.world.gz",
        "faults add": '{"when":{"operation":"token"},"answer":{"status":503}}',
        "film": f"-o {folder}/film.html",
        "fork": "b",
        "hold": "before_reply --operation token",
        "payee": f"{iban} Alice",
        "pki show": f"--dir {folder}/pki",
        "psu withdraw": "--customer alice",
        "rewind": "2027-03-01T09:00",
        "scenario load": "default --yes",
        "scenario check": "default",
        "variants cover": "--strength 1",
        "verify": "--operation payment_initiation --at-least 0",
    }


# What these need is made by other tests: a signing address, a payment in one status, a test command, a file.
ELSEWHERE = {
    "bulk report", "calibrate", "import", "move", "open", "psu approve", "psu refuse", "psu sign", "ready",
    "ready verify", "recall", "release", "return", "state check", "state copy", "trigger", "vary",
}  # fmt: skip


def test_every_command_prints_json_with_address_and_key_before_it_and_after_it(
    locked_url: str, payment_id: str, tmp_path: Path
) -> None:
    words_of = values_of(payment_id, tmp_path, locked_url)
    for words in sorted(OPTIONS.keys() - NO_JSON.keys() - ELSEWHERE):
        options = ["--url", locked_url, "--key", KEY] if "--key" in OPTIONS[words] else []
        rest = [*words.split(), *words_of.get(words, "").split(), "--json"]
        told = CliRunner().invoke(main, [*options, *rest])
        assert told.exit_code == 0 and is_json(told.stdout), (rest, told.output)
        again = CliRunner().invoke(main, [*rest, *options])
        refused = re.match("Error: 40[049] ", again.output)  # as it was done before
        assert refused or (again.exit_code == 0 and is_json(again.stdout)), (rest, again.output)


def is_json(text: str) -> bool:
    json.loads(text)
    return True


@pytest.mark.parametrize("words", ["openapi", "demo --help"])
def test_an_address_before_a_command_counts_for_each_that_has_the_option(words: str) -> None:
    told = CliRunner().invoke(main, ["--url", "http://there.example", *words.split()])
    assert told.exit_code == 0 and ("http://there.example" in told.output or "--bank, --url URL" in told.output)
    refused = CliRunner().invoke(main, ["--url", "http://there.example", "values"])
    assert refused.exit_code == 2 and "values takes no --url" in refused.output


@pytest.mark.parametrize("name", ["--customer", "--as"])
def test_the_customer_has_one_name_and_the_earlier_one_stays(url: str, name: str) -> None:
    told = CliRunner().invoke(main, ["pay", name, "bram", "--json"], env={"SANDBOX_URL": url})
    made: dict[str, Any] = json.loads(told.output)
    with Controls(url) as controls:
        assert controls.call("GET", f"/payments/{made['payment_id']}").body["customer"] == "bram"


def test_a_fault_of_a_file_is_json_too(tmp_path: Path, url: str) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.yaml").write_text("clok: {}\n")
    for words in (
        f"bulk check {tmp_path}/empty.csv",
        f"scenario check {tmp_path}/bad.yaml",
        "health --url http://127.0.0.1:1",
    ):
        told = CliRunner().invoke(main, [*words.split(), "--json"])
        assert told.exit_code == 1 and is_json(told.stdout), words
