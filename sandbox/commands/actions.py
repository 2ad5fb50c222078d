"""The commands whose request or output has a form of its own, such as `clock` and `export`. A command that only calls a
control is generated from the row of that control (commands/generated.py)."""

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.options import YES, explain_errors, read_json, write_file
from sandbox.commands.remote import RemoteWorld, describe_clock, format_cell, get_value_at, remote
from sandbox.commands.screen import format_json, format_table


@click.group(invoke_without_command=True)
@click.pass_context
@remote
def clock(far: RemoteWorld, context: click.Context) -> None:
    """Shows the bank's clock. The commands below move it."""
    if context.invoked_subcommand is None:
        _print_clock(far, far.control("GET /clock"))


@clock.command()
@click.argument("span")
@remote
def advance(far: RemoteWorld, span: str) -> None:
    """Moves the bank's time on by SPAN, such as 61m, 2h30m or 5d. All events that fall due on the way happen."""
    _print_clock(far, far.control("POST /clock", {"advance": span}))


@clock.command("set")
@click.argument("time")
@remote
def set_to(far: RemoteWorld, time: str) -> None:
    """Moves the bank's time on to TIME, such as 2027-01-02T06:00 (Brussels time)."""
    _print_clock(far, far.control("POST /clock", {"set": time}))


@clock.command()
@remote
def freeze(far: RemoteWorld) -> None:
    """Freezes the bank's clock."""
    _print_clock(far, far.control("POST /clock", {"mode": "frozen"}))


@clock.command()
@click.option("--rate", type=float, default=1, show_default=True, help="Seconds of bank time per real second.")
@remote
def run(far: RemoteWorld, rate: float) -> None:
    """Lets the bank's clock run."""
    _print_clock(far, far.control("POST /clock", {"mode": "running", "rate": rate}))


def _print_clock(far: RemoteWorld, clock: Any) -> None:
    far.tell(clock, lambda: describe_clock(clock))


@click.command()
@click.argument("name")
@click.option("--at", help="Copy the world as it was at this time; default: now.")
@click.option("--from", "source", default=None, help="The world to fork; default: that of --world.")
@click.option("--replace", is_flag=True, help="Replace a world NAME that exists; without, that is refused.")
@YES
@remote
def fork(far: RemoteWorld, name: str, at: str | None, source: str | None, replace: bool, yes: bool) -> None:
    """Makes the world NAME as a copy of this world. Both are independent from then on."""
    far.demand_yes("POST /worlds/<name>/fork", yes, **{"as": name, "replace": replace})
    body = {"as": name, "at": at or None, "replace": replace or None}
    world = far.control("POST /worlds/<name>/fork", body, name=source or far.world)
    far.tell(world, lambda: f"world {world['name']}: {describe_clock(world['clock'])}")


@click.command()
@click.argument("at")
@YES
@remote
def rewind(far: RemoteWorld, at: str, yes: bool) -> None:
    """Takes the world back to AT, such as 2027-03-01T09:30. All later acts are gone."""
    far.demand_yes("POST /worlds/<name>/rewind", yes, name=far.world, at=at)
    world = far.control("POST /worlds/<name>/rewind", {"at": at}, name=far.world)
    far.tell(world, lambda: f"world {world['name']} is back at {describe_clock(world['clock'])}")


@click.command()
@click.argument("request_id", shell_complete=find_completer("request_id"))
@remote
def explain(far: RemoteWorld, request_id: str) -> None:
    """Explains why the call REQUEST_ID got its reply."""
    explanation = far.control("GET /explain/<request_id>", request_id=request_id)
    names = [name for name in explanation if explanation[name] is not None and name != "content"]
    far.tell(
        explanation,
        lambda: format_table([[name, format_cell(get_value_at(explanation, name))] for name in names], ("what", "is")),
    )


@click.group()
def psu() -> None:
    """Acts as the customer, without a browser."""


@psu.command()
@click.argument("address", required=False)
@click.option("--payment", help="The payment or file that a further signer refuses in the bank's own channel.")
@click.option("--customer", help="Who.", shell_complete=find_completer("customer"))
@remote
def refuse(far: RemoteWorld, address: str | None, payment: str | None, customer: str | None) -> None:
    """Refuses at ADDRESS, or as a further signer the initiation of --payment."""
    reply = far.control("POST /psu/refuse", {"address": address, "payment_id": payment, "customer": customer or None})
    far.tell(reply, lambda: str(reply["status"] if payment else reply["redirect"]))


@psu.command()
@click.option("--customer", required=True, help="Whose consent.", shell_complete=find_completer("customer"))
@click.option("--client", default="demo-tpp", show_default=True, help="The TPP that has it.")
@click.option("--scope", default="AIS", show_default=True, help="AIS or CAF.")
@remote
def withdraw(far: RemoteWorld, customer: str, client: str, scope: str) -> None:
    """Ends a consent."""
    reply = far.control("POST /psu/withdraw", {"client_id": client, "customer": customer, "scope": scope})
    far.tell(reply, lambda: "withdrawn" if reply["withdrawn"] else "there was none")


@click.command()
@click.argument("changes", nargs=-1, metavar="[NAME=VALUE]...")
@remote
def settings(far: RemoteWorld, changes: tuple[str, ...]) -> None:
    """Shows the settings of a world, or changes some. An example: settings bulk_validation=5s page_size=10."""
    body = dict(_change(text) for text in changes)
    reply = far.control("PATCH /settings", body) if body else far.control("GET /settings")
    rows = [[name, format_cell(value)] for name, value in reply["settings"].items() if not body or name in body]
    far.tell(reply, lambda: format_table(rows, ("setting", "value")))


def _change(text: str) -> tuple[str, Any]:
    """Returns the name and the value of a change. A value that is valid JSON, such as 5 or true, is read as JSON, and
    any other value as text. Raises BadParameter for a change without `=`."""
    name, sign, value = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text} is not written like page_size=10", param_hint="NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@click.group(invoke_without_command=True)
@click.pass_context
@remote
def faults(far: RemoteWorld, context: click.Context) -> None:
    """Shows the fault rules of a world. The commands below change them."""
    if context.invoked_subcommand is None:
        far.tell_rows(far.control("GET /faults"), "faults", ("title", "met"))


@faults.command()
@click.argument("rule", callback=read_json)
@remote
def add(far: RemoteWorld, rule: Any) -> None:
    """Adds RULE, as JSON: {"when": {"operation": "token", "nth": [2, 3]}, "answer": {"status": 503}}

    "times": 2 lets it happen twice."""
    far.tell_rows(far.control("POST /faults", rule), "faults", ("title", "met"))


@faults.command()
@remote
def clear(far: RemoteWorld) -> None:
    """Drops all fault rules."""
    far.control("DELETE /faults")
    far.tell({"faults": []}, lambda: "no faults are left")


@click.command()
@click.argument("name_or_file", shell_complete=find_completer("scenario"))
@YES
@remote
def load(far: RemoteWorld, name_or_file: str, yes: bool) -> None:
    """Begins the world again with a scenario of the server, or with a scenario file."""
    scenario = _read_scenario(name_or_file)
    far.demand_yes("PUT /scenario", yes)
    world = far.control("PUT /scenario", scenario)
    far.tell(world, lambda: f"world {world['name']} plays {world['scenario']}: {describe_clock(world['clock'])}")


def _read_scenario(name_or_file: str) -> dict[str, Any]:
    path = Path(name_or_file)
    if path.suffix not in (".yaml", ".yml"):
        return {"name": name_or_file}
    from sandbox.reader.tree import read_yaml
    from sandbox.scenarios import ScenarioErrors, load

    with explain_errors(ScenarioErrors, about="it cannot be read:\n"):
        load(name_or_file)
    return {"scenario": read_yaml(path.read_text(encoding="utf-8-sig"), name_or_file).to_python()}


GZIP = b"\x1f\x8b"
SOURCE, TARGET = (click.Path(exists=exists, dir_okay=False, path_type=Path) for exists in (True, False))


@click.command()
@click.option("--output", "-o", type=TARGET, help="The file; .gz compresses it.")
@click.option("--strip-secrets", is_flag=True, help="Replace callers' secrets; the export still replays.")
@remote
def export(far: RemoteWorld, output: Path | None, strip_secrets: bool) -> None:
    """Exports a world as one file, to attach to a bug report. The file replays to the same bank on any machine."""
    content = far.carry("GET", f"/export?{urlencode({'secrets': 'strip' if strip_secrets else 'keep'})}")
    if output is None:
        click.echo(content, nl=False)  # lines of JSON
        return
    write_file(output, gzip.compress(content, mtime=0) if output.suffix == ".gz" else content)
    head = json.loads(content.partition(b"\n")[0])
    facts = {"file": str(output)} | {name: head[name] for name in ("world", "acts", "now")}
    text = f"{output}: world {head['world']} with {head['acts']} acts until {head['now']}"
    click.echo(format_json(facts) if far.as_json else text, err=not far.as_json)


@click.command("import")
@click.argument("file", type=SOURCE)
@click.option("--as", "name", help="The name of the new world; default: its name in the export.")
@click.option("--replace", is_flag=True, help="Replace a world of that name; without, that is refused.")
@YES
@remote
def take(far: RemoteWorld, file: Path, name: str | None, replace: bool, yes: bool) -> None:
    """Makes a world of FILE, which `export` wrote. Replaces a world of that name only with --replace."""
    far.demand_yes("POST /import", yes, replace=replace)
    with explain_errors(OSError, about=f"{file} cannot be read: "):
        content = file.read_bytes()
    compressed_file = content if content.startswith(GZIP) else gzip.compress(content, compresslevel=5, mtime=0)
    query = ({"as": name} if name else {}) | ({"replace": "true"} if replace else {})
    path = f"/import?{urlencode(query)}" if query else "/import"
    world = json.loads(far.carry("POST", path, compressed_file))
    far.tell(world, lambda: f"world {world['name']} with {world['acts']} acts: {describe_clock(world['clock'])}")
