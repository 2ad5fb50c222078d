"""The verdict as one self-contained HTML page."""

from collections.abc import Iterable
from html import escape

from sandbox.referee.junit import clean
from sandbox.referee.page import POLICY, STYLE
from sandbox.vary.sentences import Axes, describe_break, describe_details, summary
from sandbox.vary.verdict import Break, Verdict


def as_page(verdict: Verdict, axes: Axes) -> str:
    parts = [
        f"<h1>{_text(verdict.score)}</h1><p>{_text(summary(verdict))}</p>",
        *(_article(one, axes) for one in sorted(verdict.breaks, key=lambda one: one.allowed is not None)),
        *(_flaky(test, text) for test, text in verdict.flaky.items()),
        _list("Allowed breaks that break no longer", verdict.ended),
        _list("Withstood", (f"{name}: {axes[name].about} ({axes[name].clause})" for name in verdict.withstood)),
        _list("Met by no call, so nothing is known", (f"{name}: {axes[name].about}" for name in verdict.never_met)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{_text(verdict.score)}</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _article(found: Break, axes: Axes) -> str:
    kind = "error" if found.allowed is None else "advice waved"
    lines = "".join(f"<p>{_text(line)}</p>" for line in describe_details(found, axes))
    return f'<article class="{kind}"><h2>{_text(describe_break(found, axes))}</h2>{lines}</article>'


def _flaky(test: str, text: str) -> str:
    return f'<article class="warning"><h2>Flaky: {_text(test)}</h2><p>{_text(text)}</p></article>'


def _list(title: str, rows: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(row)}</li>" for row in rows)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _text(text: str) -> str:
    return escape(clean(text))
