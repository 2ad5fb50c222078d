"""A calibration as sentences for the terminal, and as one self-contained HTML page."""

from collections.abc import Iterable, Iterator, Sequence

from sandbox.contract.decisions import AXES
from sandbox.extensions.calibrate.calibration import Calibration, Drift, Outside
from sandbox.web.html.pages import draw_whole_page
from sandbox.web.html.reports import STYLE as REPORT_STYLE
from sandbox.web.html.reports import clean, escape_text, write_article

STYLE = (
    REPORT_STYLE
    + """
h1{line-height:1.2}h2{font-size:1.1rem;margin:.2rem 0}section{margin:2.5rem 0}nav a{margin-right:1.2rem}
td:first-child{overflow-wrap:normal}pre{font:13px/1.45 var(--mono);
white-space:pre-wrap;margin:.3rem 0;padding:.5rem .7rem;background:var(--gone-tint)}
"""
)
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
    met = [axis for axis in calibration.open if axis not in calibration.unmet]
    unmet = [axis for axis in calibration.open if axis in calibration.unmet]
    sections = [
        ("changed", "What the recording contradicts", _write_drift(drift)),
        ("outside", "Outside: what no value explains", _write_outside(calibration.outside)),
        ("next", "The calls that would decide most", _write_next(calibration)),
        ("decided", "Decided", _write_decided(calibration)),
        ("excluded", "Excluded, of axes that are open", _write_excluded(calibration)),
        ("open", "Open, though a call met the axis", _write_open(calibration, met)),
        ("unmet", "Open: met by no call", _write_open(calibration, unmet)),
    ]
    links = "".join(f'<a href="#{place}">{heading}</a>' for place, heading, content in sections if content)
    notes = "".join(f"<p>{escape_text(note)}.</p>" for note in calibration.notes)
    parts = "".join(
        f'<section id="{place}"><h2>{heading}</h2>{content}</section>'
        for place, heading, content in sections
        if content
    )
    head = f"<h1>Calibrated by {escape_text(title)}</h1><p>{escape_text(write_summary(calibration))}.</p>{notes}"
    return draw_whole_page(
        clean(f"Calibrated by {title}"), STYLE, f'{head}<nav aria-label="On this page">{links}</nav>{parts}'
    )


def _write_drift(drift: Drift | None) -> str:
    return "" if drift is None else "".join(f"<p>{escape_text(line)}</p>" for line in describe_drift(drift))


def _write_outside(rows: Sequence[Outside]) -> str:
    return "".join(
        write_article(
            "error",
            f"{row.operation}: {row.what}",
            f"<p>{escape_text(row.call)}, replies like this: {row.times}. {row.clause}</p>",
        )
        for row in rows
    )


def _write_next(calibration: Calibration) -> str:
    return "".join(
        write_article(
            "advice",
            f"Decides {', '.join(row.decides)}",
            f"<pre>{escape_text(row.curl)}</pre><pre>{escape_text(row.python)}</pre>",
        )
        for row in calibration.next
    )


def _write_decided(calibration: Calibration) -> str:
    rows = (
        (f"<code>{axis}</code>",
         f"<code>{escape_text(row.value)}</code>: {escape_text(describe_value(axis, row.value))}",
         escape_text("; ".join(row.calls)), escape_text(", ".join(row.places)))
        for axis, row in calibration.decided.items()
    )  # fmt: skip
    return _write_table(("axis", "value", "proven by", "places"), rows)


def _write_excluded(calibration: Calibration) -> str:
    rows = (
        (f"<code>{axis}</code>", escape_text(", ".join(values)))
        for axis, values in calibration.excluded.items()
        if axis not in calibration.decided
    )
    return _write_table(("axis", "cannot be"), rows)


def _write_open(calibration: Calibration, axes: Sequence[str]) -> str:
    rows = (
        (f"<code>{axis}</code>",
         escape_text(" or ".join(calibration.open[axis]) + explain_open_axis(calibration, axis)),
         escape_text(f"{AXES[axis].about} ({AXES[axis].clause})"))
        for axis in axes
    )  # fmt: skip
    return _write_table(("axis", "values", "what could be otherwise"), rows)


def _write_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>" if cells else ""
