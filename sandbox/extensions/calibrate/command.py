"""The command `bank-sandbox calibrate`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sandbox.commands.options import write_file

SOURCE, TARGET = (click.Path(exists=exists, dir_okay=False, path_type=Path) for exists in (True, False))


class UnreadableInput(click.ClickException):
    exit_code = 2  # the exit status of click for a wrong option


@click.command()
@click.argument("recordings", metavar="RECORDING...", type=SOURCE, nargs=-1, required=True)
@click.option("--base", default="", metavar="URL", help="The address of the bank; without it, it is recognised.")
@click.option("-o", "target", type=TARGET, help="Write a scenario with the values that are proven.")
@click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")
@click.option("--html", "page", type=TARGET, help="Write the report as one HTML file.")
@click.option("--check", "baseline", type=SOURCE, metavar="SCENARIO", help="Say what no longer holds of a calibration.")
@click.option("--payments", is_flag=True, help="Propose payments too, not reads alone.")
def calibrate(
    recordings: tuple[Path, ...],
    base: str,
    target: Path | None,
    as_json: bool,
    page: Path | None,
    baseline: Path | None,
    payments: bool,
) -> None:
    """Learns from recordings which axis values a bank has.

    A RECORDING is a HAR, a file of mitmproxy, WireMock or Hoverfly, or the sandbox's own list of calls. With --check
    the exit status is 1 if the recording contradicts the SCENARIO.
    """
    from sandbox.extensions.calibrate.calibration import calibrate_calls, find_drift, merge_recordings
    from sandbox.extensions.calibrate.report import as_page, describe
    from sandbox.extensions.calibrate.scenario_file import read_known_outside, write_scenario
    from sandbox.recordings.reading import read_recording
    from sandbox.recordings.recorded_calls import RecordingError
    from sandbox.scenarios import ScenarioErrors
    from sandbox.scenarios.reading import read_scenario

    variants: dict[str, str] = {}
    known_outside: list[str] = []
    if baseline is not None:
        with explain_unreadable(baseline, ScenarioErrors, UnicodeDecodeError):
            text = baseline.read_text(encoding="utf-8-sig")
            scenario = read_scenario(text, baseline.stem)
        variants, known_outside = read_given_variants(text), read_known_outside(text)
        variants = dict(scenario.settings.variants) | variants
    recorded = []
    notes = []
    for path in recordings:
        with explain_unreadable(path, RecordingError):
            recording = read_recording(path.read_bytes(), base)
        recorded.append(recording.calls)
        notes += [f"{path.name}: {note}" for note in recording.notes]
    calibration = calibrate_calls(merge_recordings(recorded), variants, payments=payments)
    calibration.notes[:0] = notes
    drift = None if baseline is None else find_drift(calibration, variants, known_outside)
    title = ", ".join(path.name for path in recordings)
    if target is not None:
        write_file(target, write_scenario(calibration, f"Calibrated by {title}").encode())
    if page is not None:
        write_file(page, as_page(calibration, title, drift).encode())
    if as_json:
        click.echo(json.dumps(calibration.as_json(), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(describe(calibration, drift)))
    sys.exit(1 if drift is not None and drift.is_there else 0)


@contextmanager
def explain_unreadable(path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Turns these errors within the block into a click error that names the file. The command then ends with exit
    status 2."""
    try:
        yield
    except errors as error:
        raise UnreadableInput(f"{path}: {error}") from None


def read_given_variants(text: str) -> dict[str, str]:
    """Returns the axes and values that the text of a scenario names. The settings of the loaded scenario do not suffice
    for this, because they leave out values that are the default."""
    from sandbox.reader.tree import read_yaml

    content = read_yaml(text, "scenario").to_python()
    settings = content.get("settings") if isinstance(content, dict) else None
    variants = settings.get("variants") if isinstance(settings, dict) else None
    return {str(axis): str(value) for axis, value in variants.items()} if isinstance(variants, dict) else {}
