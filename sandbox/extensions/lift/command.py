"""The command `bank-sandbox lift`."""

from pathlib import Path

import click

from sandbox.commands.options import explain_errors, write_file

SOURCE, TARGET = (click.Path(exists=exists, dir_okay=False, path_type=Path) for exists in (True, False))


@click.command()
@click.argument("file", type=SOURCE)
@click.option("-o", "target", type=TARGET, help="Write the scenario there.")
def lift(file: Path, target: Path | None) -> None:
    """Makes a scenario of the recording FILE. It has other names, IBANs and communications.

    FILE is a recording of a client's calls: a HAR, mitmproxy flows, a file of WireMock or Hoverfly. An export of a
    world is played again by `bank-sandbox import`.

    What could not be explained is listed, on stderr and at the end of the scenario."""
    from sandbox.extensions.lift.lifting import lift_recording, read_liftable
    from sandbox.recordings import RecordingError
    from sandbox.scenarios import ScenarioErrors

    with explain_errors(RecordingError, ScenarioErrors, about=f"{file}: "):
        recording = read_liftable(file.read_bytes())
        text, unexplained = lift_recording(recording, f"Lifted from {file.name}")
    for line in recording.notes:
        click.echo(line, err=True)
    for line in unexplained:
        click.echo(f"not explained: {line}", err=True)
    if target is None:
        click.echo(text, nl=False)
    else:
        write_file(target, text.encode())
