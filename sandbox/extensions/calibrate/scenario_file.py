"""The scenario that a calibration writes: the values that are proven, and as comments what is not."""

from collections.abc import Iterator
from datetime import timedelta

from sandbox.banking.durations import write_duration
from sandbox.extensions.calibrate.calibration import Calibration

KNOWN = "# known outside: "


def write_scenario(found: Calibration, title: str) -> str:
    return "\n".join(_lines(found, title)) + "\n"


def _lines(found: Calibration, title: str) -> Iterator[str]:
    yield f"scenario: {_quoted(title)}"
    yield f"about: {_quoted(f'Calibrated by {found.calls} calls: {len(found.decided)} axes are decided.')}"
    if found.settings or found.decided:
        yield "settings:"
    for name, value in sorted(found.settings.items()):
        yield f"  {name}: {write_duration(value) if isinstance(value, timedelta) else _quoted(str(value))}"
    if found.decided:
        yield "  variants:"
    for axis, row in found.decided.items():
        yield f"    {axis}: {_quoted(row.value)}"
    for axis, values in found.open.items():
        if axis not in found.unmet:
            yield f"# open: {axis} ({', '.join(values)})"
    for outside in found.outside:
        yield f"{KNOWN}{outside.key}"


def _quoted(text: str) -> str:
    """A text of YAML, in one line."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def known_outside(text: str) -> list[str]:
    """The replies that the calibration of a scenario could not explain either."""
    return [line.removeprefix(KNOWN) for line in text.splitlines() if line.startswith(KNOWN)]
