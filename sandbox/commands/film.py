"""The command `bank-sandbox film`: a world as one HTML file (choice 12)."""

from pathlib import Path

import click

from sandbox.commands.options import write_file
from sandbox.commands.remote import RemoteWorld, remote

TARGET = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("name", metavar="WORLD")
@click.option("--output", "-o", type=TARGET, required=True, help="The file to write.")
@remote
def film(far: RemoteWorld, name: str, output: Path) -> None:
    """Writes the film of WORLD: an HTML file in which its calls, screens and states are replayed."""
    from sandbox.client import Controls
    from sandbox.film import render_film

    desk = far.controls.desk
    server = Controls(desk.base_url.partition("/worlds/")[0], desk.http, desk.key)
    filmed = RemoteWorld(server if name == "default" else server.world(name), far.as_json)
    with far.kindly():
        filmed.demand_world()
        text = render_film(filmed.controls, f"World {name}")
    write_file(output, text.encode())
    far.tell({"film": str(output)}, lambda: f"{output}: open it in a browser")
