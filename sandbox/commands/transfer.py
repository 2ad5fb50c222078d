"""A world as a file: `export` and `import`."""

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
