"""The formats of reports: JUnit XML, SARIF 2.1.0, and a report as one HTML page."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from lxml.etree import Element, SubElement, tostring

from sandbox.storage.format import find_program_version
from sandbox.web.html.pages import KIT, draw_whole_page, make_environment, read_content

# JUnit

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Case(NamedTuple):
    """A test case. `outcome` is failure, error or skipped, or empty for a case that passed. It is system-out for a case
    that passed with a text."""

    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""
    type: str = ""
    seconds: float = 0.0


class Suite(NamedTuple):
    name: str
    cases: list[Case]
    classname: str
    seconds: float = 0.0
    properties: tuple[tuple[str, str], ...] = ()


def write_junit(suites: Iterable[Suite], **more: str) -> bytes:
    """Returns the XML document of all suites. `more` are further attributes of the root element."""
    rows = list(suites)
    counts = _count_cases([case for suite in rows for case in suite.cases])
    top = Element("testsuites", {key: counts[key] for key in ("tests", "failures", "errors")} | more)
    for suite in rows:
        facts = {"name": clean(suite.name), "time": f"{suite.seconds:.3f}"} | _count_cases(suite.cases)
        element = SubElement(top, "testsuite", facts)
        properties = SubElement(element, "properties") if suite.properties else element
        for name, value in suite.properties:
            SubElement(properties, "property", name=name, value=clean(value))
        for case in suite.cases:
            names = {"classname": suite.classname, "name": clean(case.name), "time": f"{case.seconds:.3f}"}
            inner = SubElement(element, "testcase", names)
            if case.outcome:
                words = (("message", clean(case.message)), ("type", case.type))
                reason = SubElement(inner, case.outcome, {name: word for name, word in words if word})
                reason.text = clean(case.text) or None
    return tostring(top, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _count_cases(cases: list[Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {"tests": str(len(cases))} | {key: str(outcomes.count(outcome)) for key, outcome in COUNTED.items()}


def clean(text: str) -> str:
    """Returns the text with a `?` in the place of each character that XML forbids."""
    return UNWRITABLE.sub("?", text)


# SARIF, for code hosts and editors

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Row = dict[str, Any]


def make_run(tool: str, rules: Iterable[Row], results: Iterable[Row], properties: Row) -> Row:
    driver = {"name": f"bank-sandbox {tool}", "version": find_program_version(), "rules": list(rules)}
    run = {"tool": {"driver": driver}, "results": list(results), "properties": properties}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def make_suppression(reason: str | None) -> Row:
    """Returns the fields by which SARIF marks a result as suppressed for this reason. Returns no fields if the reason
    is None."""
    if reason is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": reason}]}


# HTML

STYLE = "\n".join(read_content(KIT, name).decode() for name in ("tokens.css", "report.css"))


def draw_report(room: str, template: str, title: str, style: str = "", **facts: Any) -> str:
    """Returns a complete HTML page from a template of the package `room`. `style` is added to the style sheet that all
    reports have."""
    body = make_environment(room).get_template(template).render(facts, title=title)
    return draw_whole_page(clean(title), STYLE + style, clean(body))
