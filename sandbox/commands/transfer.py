"""A world as a file: `export` and `import`, its `film`, and a scenario that `lift` makes of its calls."""

import gzip
import json
from pathlib import Path
from urllib.parse import urlencode

import click

from sandbox.commands.options import YES, explain_errors, write_file
from sandbox.commands.remote import RemoteWorld, face_of, remote

GZIP = b"\x1f\x8b"
SOURCE, TARGET = (click.Path(exists=exists, dir_okay=False, path_type=Path) for exists in (True, False))


@click.command()
@click.option("--output", "-o", type=TARGET, help="The file; .gz compresses it.")
@click.option("--strip-secrets", is_flag=True, help="Replace callers' secrets; the export still replays.")
@remote
def export(far: RemoteWorld, output: Path | None, strip_secrets: bool) -> None:
    """Exports a world as one file, which replays to the same bank on any machine: attach it to a bug report."""
    content = far.carry("GET", f"/export?{urlencode({'secrets': 'strip' if strip_secrets else 'keep'})}")
    if output is None:
        click.echo(content, nl=False)
        return
    write_file(output, gzip.compress(content, mtime=0) if output.suffix == ".gz" else content)
    head = json.loads(content.partition(b"\n")[0])
    click.echo(f"{output}: world {head['world']} with {head['acts']} acts until {head['now']}", err=True)


@click.command("import")
@click.argument("file", type=SOURCE)
@click.option("--as", "name", help="The name of the new world; default: its name in the export.")
@click.option("--replace", is_flag=True, help="Replace a world of that name; without, that is refused.")
@YES
@remote
def take(far: RemoteWorld, file: Path, name: str | None, replace: bool, yes: bool) -> None:
    """Makes a world of FILE, which `export` wrote; one of that name that exists stays, unless --replace."""
    far.demand_yes("POST /import", yes, replace=replace)
    with explain_errors(OSError, about=f"{file} cannot be read: "):
        content = file.read_bytes()
    packed = content if content.startswith(GZIP) else gzip.compress(content, compresslevel=5, mtime=0)
    query = ({"as": name} if name else {}) | ({"replace": "true"} if replace else {})
    path = f"/import?{urlencode(query)}" if query else "/import"
    world = json.loads(far.carry("POST", path, packed))
    far.tell(world, lambda: f"world {world['name']} with {world['acts']} acts: {face_of(world['clock'])}")


@click.command()
@click.argument("name", metavar="WORLD")
@click.option("--output", "-o", type=TARGET, required=True, help="The file to write.")
@remote
def film(far: RemoteWorld, name: str, output: Path) -> None:
    """Writes the film of WORLD: an HTML file in which its calls, screens and states are replayed."""
    from sandbox.extensions.film import render_film

    filmed = RemoteWorld(far.server if name == "default" else far.server.world(name), far.as_json)
    filmed.demand_world()
    text = render_film(filmed.controls, f"World {name}")
    write_file(output, text.encode())
    far.tell({"film": str(output)}, lambda: f"{output}: open it in a browser")


@click.command()
@click.argument("file", type=SOURCE)
@click.option("-o", "target", type=TARGET, help="Write the scenario there.")
def lift(file: Path, target: Path | None) -> None:
    """Makes a scenario of FILE, with other names, IBANs and communications.

    FILE is a HAR of a client's calls, or an export of a world (`bank-sandbox export`).

    What could not be explained is listed, on stderr and at the end of the scenario."""
    from sandbox.extensions.lift.har import HarError
    from sandbox.extensions.lift.scenario_text import lift_file
    from sandbox.scenario import ScenarioErrors
    from sandbox.world.transfer.form import ParcelError

    with explain_errors(HarError, ParcelError, ScenarioErrors, about=f"{file}: "):
        text, unexplained = lift_file(file.read_bytes(), f"Lifted from {file.name}")
    for line in unexplained:
        click.echo(f"not explained: {line}", err=True)
    if target is None:
        click.echo(text, nl=False)
    else:
        write_file(target, text.encode())
