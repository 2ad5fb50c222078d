"""The scenario that a calibration writes. It has the proven values as settings, and comments about the open axes and
the unexplained differences."""

from collections.abc import Iterator
from datetime import timedelta

from sandbox.banking.durations import write_duration
from sandbox.extensions.calibrate.calibration import Calibration

KNOWN = "# known outside: "


def write_scenario(calibration: Calibration, title: str) -> str:
    return "\n".join(_write_lines(calibration, title)) + "\n"


def _write_lines(calibration: Calibration, title: str) -> Iterator[str]:
    yield f"scenario: {_quote(title)}"
    yield f"about: {_quote(f'Calibrated by {calibration.calls} calls: {len(calibration.decided)} axes are decided.')}"
    if calibration.settings or calibration.decided:
        yield "settings:"
    for name, value in sorted(calibration.settings.items()):
        yield f"  {name}: {write_duration(value) if isinstance(value, timedelta) else _quote(str(value))}"
    if calibration.decided:
        yield "  variants:"
    for axis, row in calibration.decided.items():
        yield f"    {axis}: {_quote(row.value)}"
    for axis, values in calibration.open.items():
        if axis not in calibration.unmet:
            yield f"# open: {axis} ({', '.join(values)})"
    for outside in calibration.outside:
        yield f"{KNOWN}{outside.key}"


def _quote(text: str) -> str:
    """Returns the text as a quoted YAML string in one line."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def read_known_outside(text: str) -> list[str]:
    """Returns the keys of the differences in the comments of a scenario. These are the differences that no value
    explained when the scenario was written."""
    return [line.removeprefix(KNOWN) for line in text.splitlines() if line.startswith(KNOWN)]
