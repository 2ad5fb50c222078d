"""Reports as JUnit XML: a suite for each scenario, a case for each step."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from sandbox.player.runs import Report
from sandbox.player.step_result import StepResult

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(reports: Sequence[Report]) -> bytes:
    """Renders the JUnit document."""
    top = Xml.Element("testsuites", _counts([count for report in reports for count in _cases(report)]))
    top.set("name", "scenarios")
    top.set("time", _seconds(sum(report.seconds for report in reports)))
    for report in reports:
        _suite(top, report)
    Xml.indent(top)
    return bytes(Xml.tostring(top, encoding="utf-8", xml_declaration=True))


def _cases(report: Report) -> list[str]:
    """Adds a case for each step, and one for an error of the scenario itself."""
    cases = ["skipped" if step.skipped else "held" if step.passed else "failed" for step in report.steps]
    return cases + (["error"] if report.trouble is not None else [])


def _counts(cases: list[str]) -> dict[str, str]:
    words = {"tests": len(cases), "failures": cases.count("failed"), "errors": cases.count("error")}
    return {name: str(count) for name, count in words.items()}


def _suite(top: Xml.Element, report: Report) -> None:
    cases = _cases(report)
    suite = Xml.SubElement(top, "testsuite", {"name": report.name, **_counts(cases)})
    suite.set("skipped", str(cases.count("skipped")))
    suite.set("time", _seconds(report.seconds))
    for index, step in enumerate(report.steps, 1):
        place = index if step.step.line is None else f"line {step.step.line}"
        _case(suite, report.name, f"{place}: {step.text}", step)
    if report.trouble is not None:
        case = _case(suite, report.name, "the scenario is played", None)
        Xml.SubElement(case, "error", {"message": _clean(report.trouble), "type": "trouble"})


def _case(suite: Xml.Element, name: str, text: str, step: StepResult | None) -> Xml.Element:
    case = Xml.SubElement(suite, "testcase", {"classname": name, "name": _clean(text)})
    case.set("time", _seconds(step.seconds if step else 0.0))
    if step is not None and step.skipped:
        Xml.SubElement(case, "skipped")
    elif step is not None and step.faults:
        failure = Xml.SubElement(case, "failure", {"message": _clean(step.faults[0]), "type": step.step.what})
        failure.text = _clean("\n".join([*step.faults, *(line for one in step.exchanges for line in one.lines())]))
    return case


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("?", text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
