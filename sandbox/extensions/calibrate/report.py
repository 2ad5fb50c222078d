"""A calibration as sentences for the terminal, and as one self-contained HTML page."""

from collections.abc import Iterator

from sandbox.contract.decisions import AXES
from sandbox.extensions.calibrate.calibration import Calibration, Drift, Outside
from sandbox.web.html.reports import draw_report

STYLE = """
h1{line-height:1.2}h2{font-size:1.1rem;margin:.2rem 0}section{margin:2.5rem 0}nav a{margin-right:1.2rem}
td:first-child{overflow-wrap:normal}pre{font:13px/1.45 var(--mono);
white-space:pre-wrap;margin:.3rem 0;padding:.5rem .7rem;background:var(--gone-tint)}
"""
SHOWN_MAX = 30  # open axes that the terminal lists


def write_summary(calibration: Calibration) -> str:
    return (
        f"{len(calibration.decided)} of {len(AXES)} axes decided by {calibration.calls:,} calls; "
        f"{len(calibration.open)} open, "
        f"{len(calibration.unmet & calibration.open.keys())} of which no call met; {len(calibration.outside)} outside"
    )


def describe(calibration: Calibration, drift: Drift | None) -> Iterator[str]:
    for note in calibration.notes:
        yield f"note     {note}."
    if drift is not None:
        yield from describe_drift(drift)
        yield f"{write_summary(calibration)}."
        return
    for axis, row in calibration.decided.items():
        yield f"decided  {axis} is {row.value}: {describe_value(axis, row.value)} ({AXES[axis].clause})"
        yield f"         proven by {'; '.join(row.calls[:2])}"
    met = [axis for axis in calibration.open if axis not in calibration.unmet]
    for axis in met[:SHOWN_MAX]:
        yield f"open     {axis}: {' or '.join(calibration.open[axis])}{explain_open_axis(calibration, axis)}"
    if len(met) > SHOWN_MAX:
        yield f"open     and {len(met) - SHOWN_MAX} more, which --json and --html list"
    for outside in calibration.outside:
        yield f"OUTSIDE  {describe_outside(outside)}"
    for proposal in calibration.next:
        yield f"next     decides {', '.join(proposal.decides)}:"
        yield f"         {proposal.curl}"
    yield f"{write_summary(calibration)}."


def describe_drift(drift: Drift) -> Iterator[str]:
    for axis, (value, left, calls) in drift.axes.items():
        yield f"CHANGED  {axis} was {value}, and the recording shows {' or '.join(left)} ({AXES[axis].clause})"
        if calls:
            yield f"         shown by {'; '.join(calls[:2])}"
    for outside in drift.replies:
        yield f"CHANGED  {describe_outside(outside)}"
    if not drift.is_there:
        yield "The recording contradicts nothing."


def describe_outside(outside: Outside) -> str:
    more = f", and {outside.times - 1} more" if outside.times > 1 else ""
    return f"{outside.operation}, {outside.what} ({outside.clause}; {outside.call}{more})"


def describe_value(axis: str, value: str) -> str:
    return AXES[axis].find_value(value).does.rstrip(".")


def explain_open_axis(calibration: Calibration, axis: str) -> str:
    partner = calibration.partners.get(axis)
    return "" if partner is None else f" (with {partner[0]} {partner[1]} another value explains the calls too)"


# The page


def as_page(calibration: Calibration, title: str, drift: Drift | None) -> str:
    return draw_report(
        "sandbox.extensions.calibrate",
        "calibration.html",
        f"Calibrated by {title}",
        STYLE,
        calibration=calibration,
        summary=write_summary(calibration),
        drift_lines=[] if drift is None else list(describe_drift(drift)),
        excluded={axis: row for axis, row in calibration.excluded.items() if axis not in calibration.decided},
        met=[axis for axis in calibration.open if axis not in calibration.unmet],
        unmet=[axis for axis in calibration.open if axis in calibration.unmet],
        AXES=AXES,
        does=describe_value,
        why_open=explain_open_axis,
    )
