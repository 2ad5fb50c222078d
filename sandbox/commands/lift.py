"""The command `bank-sandbox lift`: a scenario made of recorded traffic."""

from pathlib import Path

import click

from sandbox.commands.options import write_file


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write the scenario there.")
def lift(file: Path, target: Path | None) -> None:
    """Makes a scenario of FILE, with other names, IBANs and communications.

    FILE is a HAR of a client's calls, or an export of a world (`bank-sandbox export`).

    What could not be explained is listed, on stderr and at the end of the scenario."""
    from sandbox.lift.har import HarError
    from sandbox.lift.scenario_text import lift_file
    from sandbox.scenario import ScenarioErrors
    from sandbox.world.transfer.form import ParcelError

    try:
        text, unexplained = lift_file(file.read_bytes(), f"Lifted from {file.name}")
    except (HarError, ParcelError, ScenarioErrors) as fault:
        raise click.ClickException(f"{file}: {fault}") from None
    for line in unexplained:
        click.echo(f"not explained: {line}", err=True)
    if target is None:
        click.echo(text, nl=False)
    else:
        write_file(target, text.encode())
