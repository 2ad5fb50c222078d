"""The report as one page that needs nothing else."""

from html import escape

from sandbox.referee.junit import clean
from sandbox.referee.report import Finding, Report
from sandbox.rules.durations import write_instant

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1b1f24;background:#fff}
article{border-left:4px solid;padding:.2rem 1rem;margin:1rem 0}h2{font-size:1rem;margin:.2rem 0}p{margin:.2rem 0}
.error{border-color:#b3261e}.warning{border-color:#8a5a00}.advice{border-color:#3b6ea5}.waved{opacity:.65}
code{font-size:.85em}small{color:#57606a}
"""


def as_page(report: Report) -> str:
    standing = len(report.standing())
    told = (
        "No finding." if not report.findings else f"{standing} findings, {len(report.findings) - standing} waved off."
    )
    rows = "".join(map(_article, report.findings))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Referee: {escape(report.world)}</title><style>{STYLE}</style></head>"
        f"<body><h1>Referee: world {escape(report.world)}</h1><p>{told}</p>{rows}</body></html>\n"
    )


def _article(finding: Finding) -> str:
    rule, exchange = finding.found.rule, finding.found.exchange
    call = f"{exchange.method} {exchange.path}"
    waved = "" if finding.reason is None else f"<p>Waved off: {escape(finding.reason)}</p>"
    request_id = f"Request-ID <code>{escape(exchange.request_id)}</code>"
    return (
        f'<article class="{rule.severity.value}{" waved" if waved else ""}">'
        f"<h2>{escape(rule.title)}</h2><p>{escape(clean(finding.found.what))}.</p><p>{escape(rule.instead)}</p>{waved}"
        f"<p><small>{rule.severity.value} <code>{rule.id}</code>, {rule.clause}; {write_instant(exchange.at)}, "
        f"{escape(exchange.operation or 'no operation')}, answered {exchange.status}, <code>"
        f"{escape(clean(call))}</code>, {request_id}</small></p></article>"
    )
