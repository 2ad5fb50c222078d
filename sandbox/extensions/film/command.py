"""The command `bank-sandbox film`."""

from pathlib import Path

import click

from sandbox.commands.options import write_file
from sandbox.commands.remote import RemoteWorld, remote

TARGET = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("name", required=False, metavar="[WORLD]")
@click.option("--output", "-o", type=TARGET, required=True, help="The file to write.")
@remote
def film(far: RemoteWorld, name: str | None, output: Path) -> None:
    """Writes the film of WORLD as one HTML file. Its calls, screens and states are replayed there. The default is the
    world of --world."""
    from sandbox.extensions.film.page import render_film

    name = name or far.world
    filmed = RemoteWorld(far.server if name == "default" else far.server.world(name), far.as_json)
    filmed.demand_world()
    text = render_film(filmed.controls, f"World {name}")
    write_file(output, text.encode())
    far.tell({"film": str(output)}, lambda: f"{output}: open it in a browser")
