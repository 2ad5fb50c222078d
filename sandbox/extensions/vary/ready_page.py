"""Writes the document of `ready` as JSON, as a page that needs no other files, and as a badge."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.extensions.vary.readiness import write_document
from sandbox.extensions.vary.report import STYLE
from sandbox.web.html.reports import draw_report

FILES = ("ready.json", "ready.html", "ready.svg")
WORDS = {"pass": "pass", "fail": "fail", "not_covered": "not covered"}
KINDS = {"pass": "pass", "fail": "error", "not_covered": "warning"}
COLOURS = {True: "#1a7f37", False: "#b42318"}
TABLE = """
td:nth-child(-n+2){white-space:nowrap;overflow-wrap:normal}
.verdict{font-weight:600}.t-pass{color:var(--good)}.t-fail{color:var(--bad)}.t-not_covered{color:var(--wait)}
"""
BADGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="bank: {word}">'
    '<rect width="{width}" height="20" rx="3" fill="#444"/><rect x="44" width="{right}" height="20" rx="3" '
    'fill="{colour}"/><g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">'
    '<text x="22" y="14">bank</text><text x="{middle}" y="14">{word}</text></g></svg>\n'
)


def write_files(folder: Path, document: Mapping[str, Any]) -> None:
    """Writes the document, its page and its badge into the folder. Raises OSError if a file cannot be written."""
    contents = (write_document(document), as_page(document), as_badge(document))
    for name, content in zip(FILES, contents, strict=True):
        (folder / name).write_bytes(content)


def as_page(document: Mapping[str, Any]) -> bytes:
    verdicts = Counter(item["verdict"] for item in document["items"])
    page = draw_report(
        "sandbox.extensions.vary",
        "ready_report.html",
        "Ready" if document["ready"] else "Not ready",
        STYLE + TABLE,
        document=document,
        verdicts=", ".join(f"{verdicts[name]} {word}" for name, word in WORDS.items() if verdicts[name]),
        axes=document["scores"]["axes"],
        lies=document["scores"]["lies"],
        versions=", ".join(f"{name} {value}" for name, value in document["versions"].items()),
        flaky_lines=[f"{row['test']}: {row['seen']}" for row in document["flaky"]],
        world_lines=[f"{row['file']} {row['variant']}" for row in document["worlds"]],
        WORDS=WORDS,
        KINDS=KINDS,
    )
    return page.encode()


def as_badge(document: Mapping[str, Any]) -> bytes:
    word = "ready" if document["ready"] else "not ready"
    right = 8 * len(word) + 6
    return BADGE.format(width=44 + right, right=right, middle=44 + right / 2, word=word,
                        colour=COLOURS[document["ready"]]).encode()  # fmt: skip
