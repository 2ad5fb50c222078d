"""A document of `ready` as one self-contained page, and as a badge."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandbox.extensions.vary.readiness import write_document
from sandbox.extensions.vary.report import STYLE
from sandbox.web.html.pages import draw_whole_page
from sandbox.web.html.reports import clean, escape_text, write_article

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
    """Writes the document, its page and its badge. Raises OSError."""
    contents = (write_document(document), as_page(document), as_badge(document))
    for name, content in zip(FILES, contents, strict=True):
        (folder / name).write_bytes(content)


def as_page(document: Mapping[str, Any]) -> bytes:
    ready = "Ready" if document["ready"] else "Not ready"
    scores = document["scores"]
    axes, lies = scores["axes"], scores["lies"]
    verdicts = Counter(item["verdict"] for item in document["items"])
    items = ", ".join(f"{verdicts[name]} {word}" for name, word in WORDS.items() if verdicts[name])
    numbers = (
        f"Command: {document['command']}. Tests: {document['tests']}. Strength: {document['strength']}. "
        f"{axes['withstood']} of {axes['met']} axes withstood; {lies['noticed']} of {lies['met']} lies noticed."
    )
    rows = "".join(map(_write_row, document["items"]))
    head = "<thead><tr><th>Verdict</th><th>Item</th><th>Rests on</th></tr></thead>"
    versions = ", ".join(f"{name} {value}" for name, value in document["versions"].items())
    parts = [
        f'<h1 class="t-{"pass" if document["ready"] else "fail"}">{ready}</h1>'
        f"<p><b>Of {len(document['items'])} items: {items}.</b></p><p>{escape_text(numbers)}</p>",
        f"<table>{head}<tbody>{rows}</tbody></table>",
        *map(_write_item, document["items"]),
        *_list(
            "Flaky tests: run again when they are mended",
            (f"{row['test']}: {row['seen']}" for row in document["flaky"]),
        ),
        *_list("Accepted findings that were not found", document["ended"]),
        *_list(
            "Worlds, which `bank-sandbox ready verify` plays again",
            (f"{row['file']} {row['variant']}" for row in document["worlds"]),
        ),
        f"<p>Versions: {escape_text(versions)}. Seed: {document['seed']}. "
        f"Digest: <code>{document['digest']}</code></p>",
    ]
    return draw_whole_page(ready, STYLE + TABLE, "".join(parts)).encode()


def _write_row(item: Mapping[str, Any]) -> str:
    rests = "; ".join(item["rests_on"]) or "nothing: no call of the tests is about it"
    word = WORDS[item["verdict"]]
    return (
        f'<tr><td class="verdict t-{item["verdict"]}">{word}</td><td><a href="#{item["name"]}">{item["name"]}</a></td>'
        f"<td>{escape_text(rests)}</td></tr>"
    )


def _write_item(item: Mapping[str, Any]) -> str:
    findings = "".join(map(_write_finding, item["findings"]))
    lacks = f"<p>Not covered: {escape_text(', '.join(item['not_covered']))}.</p>" if item["not_covered"] else ""
    title = f"{item['name']}: {WORDS[item['verdict']]}"
    content = f"<p>{escape_text(item['about'])}</p>{findings}{lacks}"
    return f'<section id="{item["name"]}">{write_article(KINDS[item["verdict"]], title, content)}</section>'


def _write_finding(row: Mapping[str, Any]) -> str:
    accepted = row["accepted"]
    lines = [f"{row['harm']} ({row['clause']})"]
    if row["tests"]:
        lines.append(f"In {', '.join(row['tests'])}.")
    if accepted:
        when = f" on {accepted['date']}" if accepted["date"] else ""
        lines.append(f"Accepted{when}: {accepted['reason']}")
    call = f"<pre>{escape_text(row['call'])}</pre>" if row["call"] else ""
    text = "".join(f"<p>{escape_text(line)}</p>" for line in lines)
    mark = "accepted" if accepted else row["severity"]
    title = escape_text(f"{row['name']}: {row['text']}")
    return f"<details><summary><b>{mark}</b> {title}</summary>{text}{call}</details>"


def _list(title: str, lines: Iterable[str]) -> list[str]:
    items = "".join(f"<li>{escape_text(line)}</li>" for line in lines)
    return [f"<h2>{escape_text(clean(title))}</h2><ul>{items}</ul>"] if items else []


def as_badge(document: Mapping[str, Any]) -> bytes:
    word = "ready" if document["ready"] else "not ready"
    right = 8 * len(word) + 6
    return BADGE.format(width=44 + right, right=right, middle=44 + right / 2, word=word,
                        colour=COLOURS[document["ready"]]).encode()  # fmt: skip
