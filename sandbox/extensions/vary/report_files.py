"""The verdict as files: one self-contained HTML page, JUnit, SARIF or JSON, by the end of the file's name."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sandbox.extensions.vary.causes import Break
from sandbox.extensions.vary.sentences import (
    Axes,
    count,
    describe_break,
    describe_cause,
    describe_details,
    describe_variant,
    rest_of_summary,
    summary,
)
from sandbox.extensions.vary.space import Variant
from sandbox.extensions.vary.verdict import Verdict
from sandbox.web.html.pages import whole_page
from sandbox.web.html.reports import STYLE as REPORT_STYLE
from sandbox.web.html.reports import (
    Case,
    Suite,
    article,
    clean,
    escape_text,
    one_run,
    suppressed_for,
    write_junit,
)

STYLE = (
    REPORT_STYLE
    + """
h1{line-height:1.2}h2{font-size:1.1rem;margin:.2rem 0}section{margin:2.5rem 0}summary{cursor:pointer;padding:.15rem 0}
pre{font:13px/1.45 var(--mono);white-space:pre-wrap;margin:.3rem 0 .8rem;padding:.5rem .7rem;background:var(--ground)}
dl{columns:22rem;column-gap:2rem}dl div{break-inside:avoid;margin:0 0 .5rem}dt{font-weight:600}dd{margin:0}
a{color:var(--move)}nav a{margin-right:1.2rem;white-space:nowrap}
"""
)


def as_junit(verdict: Verdict, axes: Axes) -> bytes:
    """Returns a JUnit case for each test. A break that is not allowed is a failure."""
    properties = (("score", verdict.score), ("never_met", ", ".join(verdict.never_met)))
    cases = [_case(test, verdict, axes) for test in verdict.tests]
    return write_junit([Suite("vary", cases, "vary", properties=properties)])


def _case(test: str, verdict: Verdict, axes: Axes) -> Case:
    found = [one for one in verdict.breaks if one.test == test]
    text = "\n\n".join(_lines(one, axes, verdict.again) for one in found)
    if new := [describe_break(one, axes) for one in found if one.allowed is None]:
        return Case(test, "failure", "; ".join(new), text, "break")
    if test in verdict.flaky:
        return Case(test, "skipped", f"flaky: {verdict.flaky[test]}")
    return Case(test, "system-out", text=text) if found else Case(test)


def _lines(found: Break, axes: Axes, again: str) -> str:
    return "\n".join([describe_break(found, axes), *describe_details(found, axes, again)])


def as_sarif(verdict: Verdict, axes: Axes) -> dict[str, Any]:
    """Returns SARIF 2.1.0 with a rule for each axis and a result for each break."""
    names = tuple(verdict.space.axes)
    rules = [
        {
            "id": name,
            "shortDescription": {"text": axes[name].about},
            "help": {"text": f"It brings to light: {axes[name].brings} ({axes[name].clause})"},
            "properties": {"clause": axes[name].clause, "met": name in verdict.met},
        }
        for name in names
    ]
    results = (_result(one, axes, names, verdict.again) for one in verdict.breaks)
    return one_run("vary", rules, results, {"summary": summary(verdict)})


def _result(found: Break, axes: Axes, names: tuple[str, ...], again: str) -> dict[str, Any]:
    axis = found.variant.changes[0][0]
    return {
        "ruleId": axis,
        "ruleIndex": names.index(axis),
        "level": "error",
        "message": {"text": clean(_lines(found, axes, again))},
        "locations": [{"logicalLocations": [{"name": found.test, "fullyQualifiedName": found.test}]}],
        "properties": {"variants": dict(found.variant.changes), "call": found.result.call},
    } | suppressed_for(found.allowed)


def as_page(verdict: Verdict, axes: Axes) -> str:
    met, unmet = (count(names, "axis", "axes") for names in (verdict.withstood, verdict.never_met))
    causes = causes_of(verdict.breaks)
    ended = (f"<p>{escape_text(line)}</p>" for line in verdict.ended)
    flaky = (article("warning", test, f"<p>{escape_text(text)}</p>") for test, text in verdict.flaky.items())
    parts = [
        f"<h1>{escape_text(verdict.score)}</h1><p>{escape_text(rest_of_summary(verdict))}</p>",
        _contents(causes, verdict),
        _section("breaks", "What breaks", (_cause(found, axes, verdict.again) for found in causes)),
        _section("flaky", "Flaky tests, for which nothing is blamed", flaky),
        _section("ended", "Allowed breaks that break no longer", ended),
        _section("withstood", f"Withstood: {met}", _axes(verdict.withstood, axes)),
        _section("unmet", f"Met by no call, so nothing is known: {unmet}", _axes(verdict.never_met, axes)),
    ]
    return whole_page(clean(verdict.score), STYLE, "".join(parts))


def causes_of(breaks: Iterable[Break]) -> list[list[Break]]:
    """Groups the breaks by cause: first those that are not allowed, then those that break most tests."""
    found: dict[tuple[Variant, bool], list[Break]] = {}
    for one in breaks:
        found.setdefault((one.variant, one.allowed is not None), []).append(one)
    return sorted(found.values(), key=lambda rows: (rows[0].allowed is not None, -len(rows), str(rows[0].variant)))


def _contents(causes: Sequence[object], verdict: Verdict) -> str:
    places = (
        ("breaks", "causes of breaks", len(causes)),
        ("flaky", "flaky", len(verdict.flaky)),
        ("withstood", "withstood", len(verdict.withstood)),
        ("unmet", "never met", len(verdict.never_met)),
    )
    links = "".join(f'<a href="#{place}">{number} {words}</a>' for place, words, number in places if number)
    return f'<nav aria-label="On this page">{links}</nav>'


def _cause(found: list[Break], axes: Axes, again: str) -> str:
    """Returns the article of one cause, with all tests that it breaks."""
    first = found[0]
    kind = "error" if first.allowed is None else "advice waved"
    title = describe_break(first, axes)
    if len(found) > 1:
        title = f"{len(found)} tests break when {describe_variant(first.variant, axes)}"
    lines = "".join(f"<p>{escape_text(line)}</p>" for line in describe_cause(first.variant, axes))
    tests = "".join(_test(one, alone=len(found) == 1) for one in found)
    command = f"<p>Again: <code>{again} {escape_text(str(first.variant))}</code></p>"
    return article(kind, title, f"{lines}{command}{tests}")


def _test(found: Break, alone: bool) -> str:
    """Returns the error of a test and its last call."""
    said = f"<p>Seen: {escape_text(found.result.failure)}</p>" if found.result.failure else ""
    call = f"<pre>Call: {escape_text(found.result.call)}</pre>" if found.result.call else ""
    reason = f"<p>Allowed: {escape_text(found.allowed)}</p>" if found.allowed is not None else ""
    if alone:
        return said + call + reason
    return f"<details><summary>{escape_text(found.test)}</summary>{said}{call}{reason}</details>"


def _axes(names: Sequence[str], axes: Axes) -> list[str]:
    about = {name: escape_text(f"{axes[name].about} ({axes[name].clause})") for name in names}
    items = "".join(f"<div><dt><code>{escape_text(name)}</code></dt><dd>{about[name]}</dd></div>" for name in names)
    return [f"<dl>{items}</dl>"] if items else []


def _section(place: str, title: str, parts: Iterable[str]) -> str:
    content = "".join(parts)
    return f'<section id="{place}"><h2>{title}</h2>{content}</section>' if content else ""


def as_json(verdict: Verdict, axes: Axes) -> dict[str, Any]:
    return {
        "score": {"withstood": len(verdict.withstood), "met": len(verdict.met), "axes": len(verdict.space.axes)},
        "summary": summary(verdict),
        "strength": verdict.strength,
        "variants": verdict.variants,
        "runs": verdict.runs,
        "tests": list(verdict.tests),
        "breaks": [_break_as_json(found, axes) for found in verdict.breaks],
        "flaky": [{"test": test, "seen": text} for test, text in verdict.flaky.items()],
        "withstood": list(verdict.withstood),
        "never_met": list(verdict.never_met),
        "ended": list(verdict.ended),
    }


def _break_as_json(found: Break, axes: Axes) -> dict[str, Any]:
    rows = [
        {
            "axis": name,
            "value": value,
            "does": axes[name].value(value).does,
            "about": axes[name].about,
            "brings_to_light": axes[name].brings,
            "clause": axes[name].clause,
        }
        for name, value in found.variant.changes
    ]
    return {
        "test": found.test,
        "text": describe_break(found, axes),
        "variants": dict(found.variant.changes),
        "axes": rows,
        "seen": found.result.failure,
        "call": found.result.call,
        "allowed": found.allowed,
    }


def _json_bytes(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


FORMATS: dict[str, Callable[[Verdict, Axes], bytes]] = {
    ".html": lambda verdict, axes: as_page(verdict, axes).encode(),
    ".xml": as_junit,
    ".sarif": lambda verdict, axes: _json_bytes(as_sarif(verdict, axes)),
    ".json": lambda verdict, axes: _json_bytes(as_json(verdict, axes)),
}


def demand_format(name: str) -> Path:
    """Returns the path of a report. Raises ValueError if the format or the folder does not exist."""
    path = Path(name)
    if path.suffix not in FORMATS:
        raise ValueError(f"{name!r:.200}: a report ends with {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise ValueError(f"{name!r:.200}: there is no folder {path.parent}")
    return path


def write_report(path: Path, verdict: Verdict, axes: Axes) -> None:
    path.write_bytes(FORMATS[path.suffix](verdict, axes))
