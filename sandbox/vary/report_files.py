"""The verdict as files: one HTML page, JUnit, SARIF or JSON, by the end of the file's name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.referee.junit import Case, Suite, clean, write_junit
from sandbox.referee.sarif import one_run, suppressed_for
from sandbox.vary.causes import Break
from sandbox.vary.page import as_page
from sandbox.vary.sentences import Axes, as_json, describe_break, describe_details, summary
from sandbox.vary.verdict import Verdict


def as_junit(verdict: Verdict, axes: Axes) -> bytes:
    """A case for each test; a break that is not allowed fails it."""
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
    """SARIF 2.1.0: a rule for each axis, a result for each break."""
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


def _json_bytes(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


FORMATS: dict[str, Callable[[Verdict, Axes], bytes]] = {
    ".html": lambda verdict, axes: as_page(verdict, axes).encode(),
    ".xml": as_junit,
    ".sarif": lambda verdict, axes: _json_bytes(as_sarif(verdict, axes)),
    ".json": lambda verdict, axes: _json_bytes(as_json(verdict, axes)),
}


def demand_format(name: str) -> Path:
    """The path of a report that can be written; raises ValueError."""
    path = Path(name)
    if path.suffix not in FORMATS:
        raise ValueError(f"{name!r:.200}: a report ends with {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise ValueError(f"{name!r:.200}: there is no folder {path.parent}")
    return path


def write_report(path: Path, verdict: Verdict, axes: Axes) -> None:
    path.write_bytes(FORMATS[path.suffix](verdict, axes))
