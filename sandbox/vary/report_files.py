"""The verdict as files: one HTML page, JUnit, SARIF or JSON, by the end of the file's name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml.etree import Element, SubElement, tostring

from sandbox.referee.junit import clean
from sandbox.referee.sarif import SCHEMA
from sandbox.vary.page import as_page
from sandbox.vary.sentences import Axes, as_json, describe_break, describe_details, summary
from sandbox.vary.verdict import Break, Verdict
from sandbox.world.log.format import program


def as_junit(verdict: Verdict, axes: Axes) -> bytes:
    """A case for each test; a break that is not allowed fails it."""
    failing = {one.test for one in verdict.new_breaks}
    flaky = {test for test in verdict.flaky if test not in failing}
    counts = {"tests": str(len(verdict.tests)), "failures": str(len(failing)), "errors": "0"}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": "vary", **counts, "skipped": str(len(flaky)), "time": "0"})
    properties = SubElement(suite, "properties")
    for name, value in (("score", verdict.score), ("never_met", ", ".join(verdict.never_met))):
        SubElement(properties, "property", name=name, value=clean(value))
    for test in verdict.tests:
        case = SubElement(suite, "testcase", classname="vary", name=clean(test), time="0")
        found = [one for one in verdict.breaks if one.test == test]
        text = clean("\n\n".join(_lines(one, axes, verdict.again) for one in found))
        new = [one for one in found if one.allowed is None]
        if new:
            message = clean("; ".join(describe_break(one, axes) for one in new))
            SubElement(case, "failure", message=message, type="break").text = text
        elif test in flaky:
            SubElement(case, "skipped", message=clean(f"flaky: {verdict.flaky[test]}"))
        elif found:
            SubElement(case, "system-out").text = text
    xml: bytes = tostring(suites, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return xml


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
    results = [_result(one, axes, names, verdict.again) for one in verdict.breaks]
    driver = {"name": "bank-sandbox vary", "version": program(), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "properties": {"summary": summary(verdict)}}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(found: Break, axes: Axes, names: tuple[str, ...], again: str) -> dict[str, Any]:
    axis = found.variant.changes[0][0]
    result: dict[str, Any] = {
        "ruleId": axis,
        "ruleIndex": names.index(axis),
        "level": "error",
        "message": {"text": clean(_lines(found, axes, again))},
        "locations": [{"logicalLocations": [{"name": found.test, "fullyQualifiedName": found.test}]}],
        "properties": {"variants": dict(found.variant.changes), "call": found.result.call},
    }
    if found.allowed is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": found.allowed}]
    return result


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
