"""The formats of reports: JUnit XML, SARIF 2.1.0, and the style and articles of a report in one HTML page."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

from lxml.etree import Element, SubElement, tostring

from sandbox.storage.format import find_program_version
from sandbox.web.html.pages import KIT, read_content

# JUnit

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


class Case(NamedTuple):
    """A test case. `outcome` is failure, error, skipped or system-out, or empty for a case that passed."""

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
    """Returns the text without characters that XML forbids."""
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

STYLE = (
    read_content(KIT, "tokens.css").decode()
    + """
*,*::before,*::after{box-sizing:border-box}
body{font:1rem/1.5 var(--sans);margin:0 auto;max-width:64rem;
padding:var(--space-huge) var(--space-large);color:var(--ink);
background:var(--ground);overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.0625rem;margin:.2rem 0}p{margin:.25rem 0}
article{border:1px solid var(--line);border-left:4px solid;border-radius:var(--radius);background:var(--paper);
padding:.5rem 1rem;margin:.75rem 0}
.error{border-left-color:var(--bad)}.warning{border-left-color:var(--wait)}.advice{border-left-color:var(--move)}
.waved{border-left-style:dotted}code{font:.8125rem var(--mono)}small{color:var(--quiet)}a{color:var(--accent)}
article>ul,details>ul{margin:.25rem 0;padding:0;list-style:none}summary{cursor:pointer;margin:.25rem 0}
article>ul>li,details>ul>li{border-top:1px solid var(--line);padding:.25rem 0}
.pass{border-left-color:var(--good)}
table{background:var(--paper);border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.35rem .75rem}tr{border-bottom:1px solid var(--line)}
@media(max-width:40rem){body{padding:var(--space-large)}
table,thead,tbody,tr,td{display:block}th{display:none}tr{padding:.5rem .75rem}td{padding:0}}
"""
)


def write_article(kind: str, title: str, content: str) -> str:
    return f'<article class="{kind}"><h2>{escape_text(title)}</h2>{content}</article>'


def escape_text(text: str) -> str:
    return escape(clean(text))
