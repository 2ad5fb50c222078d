"""Commands that let something happen in a running sandbox."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from sandbox.commands.clock import face_of
from sandbox.commands.remote import Far, cell, remote, table


@click.command("await")
@click.argument("payment_id")
@click.argument("status")
@click.option("--within", help="At most so far ahead, such as 5d.")
@remote
def wait(far: Far, payment_id: str, status: str, within: str | None) -> None:
    """Moves the bank's time until PAYMENT_ID has STATUS; says why when it can never be."""
    body = {"payment_id": payment_id, "status": status} | ({"within": within} if within else {})
    found = far.call("POST", "/await", body)
    far.tell(found, lambda: f"{found['status']} at {found['at']}, after {found['waited']} s of the bank's time")


@click.command()
@click.argument("name")
@click.option("--at", help="As it was then; left out, as it is.")
@click.option("--from", "source", default=None, help="The world to fork; left out, the one of --world.")
@remote
def fork(far: Far, name: str, at: str | None, source: str | None) -> None:
    """Makes the world NAME: a second one that is this one; both go on apart."""
    here = source or _world_of(far)
    made = far.call("POST", f"/worlds/{quote(here, safe='')}/fork", {"as": name} | ({"at": at} if at else {}))
    far.tell(made, lambda: f"world {made['name']}: {face_of(made['clock'])}")


def _world_of(far: Far) -> str:
    _, found, name = far.controls.desk.base_url.rpartition("/worlds/")
    return name if found else "default"


@click.command()
@remote
def reset(far: Far) -> None:
    """The world as it was first loaded."""
    made = far.call("POST", "/reset", {})
    far.tell(made, lambda: f"world {made['name']} begins again: {face_of(made['clock'])}")


@click.command()
@click.argument("payment_id")
@click.argument("status")
@click.option("--reason", help="Such as AC04.")
@remote
def move(far: Far, payment_id: str, status: str, reason: str | None) -> None:
    """Forces a legal move of a payment, a standing order or a bulk file."""
    body = {"status": status} | ({"reason": reason} if reason else {})
    found = far.call("POST", f"/payments/{quote(payment_id, safe='')}/move", body)
    far.tell(found, lambda: " ".join([found["status"], found.get("reason") or ""]).strip())


@click.group()
def psu() -> None:
    """Acts as the customer, without a browser."""


@psu.command()
@click.argument("address")
@click.option("--customer", help="Who; left out, the debtor account's first owner.")
@click.option("--account", help="The IBAN to pay from; left out, their first current account.")
@click.option("--accounts", multiple=True, help="The IBANs of a consent; may be given several times.")
@remote
def approve(far: Far, address: str, customer: str | None, account: str | None, accounts: tuple[str, ...]) -> None:
    """Signs or consents at ADDRESS; prints where the customer is sent back to."""
    chosen = {"customer": customer, "account": account, "accounts": list(accounts)}
    body = {"address": address} | {name: value for name, value in chosen.items() if value}
    _redirected(far, far.call("POST", "/psu/approve", body))


@psu.command()
@click.argument("address")
@click.option("--customer", help="Who.")
@remote
def refuse(far: Far, address: str, customer: str | None) -> None:
    """Refuses at ADDRESS."""
    body = {"address": address} | ({"customer": customer} if customer else {})
    _redirected(far, far.call("POST", "/psu/refuse", body))


def _redirected(far: Far, found: Any) -> None:
    far.tell(found, lambda: str(found["redirect"]))


@psu.command()
@click.argument("payment_id")
@click.option("--customer", required=True, help="Who signs.")
@remote
def sign(far: Far, payment_id: str, customer: str) -> None:
    """A further signature, in the bank's own channel."""
    found = far.call("POST", "/psu/sign", {"payment_id": payment_id, "customer": customer})
    far.tell(found, lambda: str(found["status"]))


@psu.command()
@click.option("--customer", required=True, help="Whose consent.")
@click.option("--client", default="demo-tpp", show_default=True, help="The TPP that has it.")
@click.option("--scope", default="AIS", show_default=True, help="AIS or CAF.")
@remote
def withdraw(far: Far, customer: str, client: str, scope: str) -> None:
    """Ends a consent."""
    body = {"client_id": client, "customer": customer, "scope": scope}
    found = far.call("POST", "/psu/withdraw", body)
    far.tell(found, lambda: "withdrawn" if found["withdrawn"] else "there was none")


@click.command()
@click.argument("changes", nargs=-1, metavar="[NAME=VALUE]...")
@remote
def settings(far: Far, changes: tuple[str, ...]) -> None:
    """Shows the settings of a world, or changes some: settings bulk_validation=5s page_size=10."""
    body = dict(_change(text) for text in changes)
    found = far.call("PATCH", "/settings", body) if body else far.call("GET", "/settings")
    rows = [[name, cell(value)] for name, value in found["settings"].items() if not body or name in body]
    far.tell(found, lambda: table(rows, ("setting", "value")))


def _change(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text} is not written like page_size=10", param_hint="NAME=VALUE")
    return name, _plain(value)


def _plain(text: str) -> Any:
    """A number or true and false where it is one, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@click.group(invoke_without_command=True)
@click.pass_context
@remote
def faults(far: Far, context: click.Context) -> None:
    """Shows the fault rules of a world; the words below change them."""
    if context.invoked_subcommand is None:
        far.tell_rows(far.call("GET", "/faults"), "faults", ("title", "met"))


@faults.command()
@click.argument("rule")
@remote
def add(far: Far, rule: str) -> None:
    """Adds RULE, as JSON: {"when": {"operation": "token", "nth": 2}, "answer": {"status": 503}}"""
    try:
        body = json.loads(rule)
    except ValueError:
        raise click.BadParameter("it is not JSON", param_hint="RULE") from None
    far.tell_rows(far.call("POST", "/faults", body), "faults", ("title", "met"))


@faults.command()
@remote
def clear(far: Far) -> None:
    """Drops all of them."""
    far.call("DELETE", "/faults")
    far.tell({"faults": []}, lambda: "no faults are left")


@click.command()
@click.argument("name_or_file")
@remote
def load(far: Far, name_or_file: str) -> None:
    """Begins the world again with a scenario: one that the server has, or a file of yours."""
    made = far.call("PUT", "/scenario", _scenario(name_or_file))
    far.tell(made, lambda: f"world {made['name']} plays {made['scenario']}: {face_of(made['clock'])}")


def _scenario(name_or_file: str) -> dict[str, Any]:
    path = Path(name_or_file)
    if path.suffix not in (".yaml", ".yml"):
        return {"name": name_or_file}
    from sandbox.scenario import ScenarioErrors, load
    from sandbox.scenario.yaml_text import read_yaml

    try:
        load(name_or_file)
    except ScenarioErrors as errors:
        raise click.ClickException(f"it cannot be read:\n{errors}") from None
    return {"scenario": read_yaml(path.read_text(encoding="utf-8-sig"), name_or_file).plain()}


COMMANDS = (wait, fork, reset, move, psu, settings, faults)
