"""Which tests passed, by the JUnit file that a test command wrote."""

import re
from pathlib import Path

from lxml import etree

from sandbox.vary.runs import FAILURE_MAX, Result

BYTES_MAX = 100_000_000
NAME_MAX = 300
FAILED = ("failure", "error")
# Of a Python test the line with the error begins so; of others the first line says most.
PYTEST_ERROR = re.compile(r"^E {2,}(?=\S)(.+)$", re.MULTILINE)


class UnreadableReport(Exception):
    """The file is no JUnit report."""


def read_report(path: Path) -> dict[str, Result]:
    """The tests of a JUnit file by name; skipped ones are left out. Of tests with one name, one that failed counts."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UnreadableReport(f"{path} is over {BYTES_MAX} bytes")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.fromstring(path.read_bytes(), parser)
    except (etree.XMLSyntaxError, OSError, ValueError) as error:
        raise UnreadableReport(f"{path} is no JUnit report: {error}") from None
    found: dict[str, Result] = {}
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            continue
        name = name_of(case.get("classname", ""), case.get("name", ""))
        failed = next((part for kind in FAILED if (part := case.find(kind)) is not None), None)
        if failed is not None:
            found[name] = Result(False, failure_in(failed.get("message", ""), failed.text or ""))
        else:
            found.setdefault(name, Result(True))
    return found


def name_of(group: str, name: str) -> str:
    return " ".join(f"{group}::{name}".strip(":").split())[:NAME_MAX] or "a test without a name"


def failure_in(message: str, text: str) -> str:
    """The error in one line, from the message or from the text below it."""
    message = " ".join(message.split())
    found = PYTEST_ERROR.search(text)
    first = message or (found[1] if found else next((line for line in text.splitlines() if line.strip()), ""))
    return first.strip()[:FAILURE_MAX]
