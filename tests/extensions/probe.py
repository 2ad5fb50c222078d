"""Uses all of the program that is there: each module, command, page and control, a payment, and a world as a file.

Prints the extensions that are installed."""

import gc
from importlib import import_module
from pkgutil import walk_packages

import click
import httpx
from click.testing import CliRunner

import sandbox
from sandbox.cli import main
from sandbox.extension_registry import load_installed
from sandbox.testing import BankFixture

GATEWAY = 500


def import_all() -> None:
    for module in walk_packages(sandbox.__path__, "sandbox."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def ask_for_help(command: click.Command, words: tuple[str, ...] = ()) -> None:
    outcome = CliRunner().invoke(main, [*words, "--help"])
    assert outcome.exit_code == 0, (words, outcome.output)
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            ask_for_help(inner, (*words, word))


def open_pages(bank: BankFixture, http: httpx.Client) -> None:
    from sandbox.web.console.templating import MENU
    from sandbox.web.controls.rows import CONTROLS
    from sandbox.web.docs.site import SLUGS

    pages = [row.path for row in MENU] + [f"/docs/{slug}" for slug in SLUGS] + ["/console/calls/1"]
    for path in (*pages, "/docs", "/controls.json", "/openapi.json"):
        reply = http.get(f"{bank.base_url}/_sandbox{path}")
        assert reply.status_code == 200, (path, reply.text)
    for row in CONTROLS:
        if row.method == "GET" and "<" not in row.path:
            assert http.get(f"{bank.base_url}/_sandbox{row.path}").status_code < GATEWAY, row.path


def pay(bank: BankFixture) -> None:
    payment = bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    bank.psu.approve(str(payment.sca_address), customer="alice")
    assert bank.await_(payment, "ACSC").status == "ACSC"


def carry(bank: BankFixture, http: httpx.Client) -> None:
    """The world leaves as a file, and comes in as another."""
    content = http.get(f"{bank.base_url}/_sandbox/export").content
    headers = {"Content-Type": "application/x-ndjson"}
    reply = http.post(f"{bank.base_url}/_sandbox/import?as=second", content=content, headers=headers)
    assert reply.status_code == 201, reply.text


if __name__ == "__main__":
    gc.disable()  # all that is imported stays, and to look at it again and again takes a sixth of the time
    import_all()
    ask_for_help(main)
    # One client: each new one reads the certificates of the machine, which takes longer than a page.
    with sandbox.running() as bank, httpx.Client() as http:
        pay(bank)
        open_pages(bank, http)
        carry(bank, http)
    print("extensions:", *(extension.name for extension in load_installed()))  # noqa: T201
