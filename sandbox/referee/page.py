"""The report as one self-contained HTML page."""

from base64 import b64encode
from hashlib import sha256
from html import escape

from sandbox.banking.durations import write_instant
from sandbox.referee.junit import clean
from sandbox.referee.report import Finding, Report
from sandbox.web.html.pages import page_headers
from sandbox.web.html.static_files import KIT, content_of

STYLE = (
    content_of(KIT, "tokens.css").decode()
    + """
body{font:15px/1.5 var(--sans);margin:2rem auto;max-width:60rem;padding:0 1rem;color:var(--ink);
background:var(--paper);overflow-wrap:anywhere}
article{border-left:4px solid;padding:.2rem 1rem;margin:1rem 0}h2{font-size:1rem;margin:.2rem 0}p{margin:.2rem 0}
.error{border-color:var(--bad)}.warning{border-color:var(--wait)}.advice{border-color:var(--move)}
.waved{border-left-style:dotted}code{font-size:.85em}small{color:var(--quiet)}
"""
)


def policy_of(style: str) -> str:
    """In the page itself, as it is kept as a file too: it asks nobody for anything, not even for an icon."""
    return (
        f"default-src 'none'; style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'; img-src data:"
    )


POLICY = policy_of(STYLE)

# Where a server gives it out. The policy repeats that of the page, with what only a header can say.
HEADERS = page_headers(f"{POLICY}; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")


def as_page(report: Report) -> str:
    standing, waved = len(report.unwaived()), len(report.findings) - len(report.unwaived())
    summary = (
        f"{standing} finding{'' if standing == 1 else 's'}, {waved} waved off." if report.findings else "No finding."
    )
    rows = "".join(map(_article, report.findings))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>Referee: {escape(report.world)}</title><style>{STYLE}</style></head>"
        f"<body><h1>Referee: world {escape(report.world)}</h1><p>{summary}</p>{rows}</body></html>\n"
    )


def _article(finding: Finding) -> str:
    rule, exchange = finding.found.rule, finding.found.exchange
    call = f"{exchange.method} {exchange.path}"
    waved = "" if finding.reason is None else f"<p>Waved off: {escape(finding.reason)}</p>"
    request_id = f"Request-ID <code>{escape(exchange.request_id)}</code>"
    return (
        f'<article class="{rule.severity.value}{" waved" if waved else ""}">'
        f"<h2>{escape(rule.title)}</h2><p>{escape(clean(finding.found.what))}.</p>"
        f"{_proof(finding)}<p>{escape(rule.instead)}</p>{waved}"
        f"<p><small>{rule.severity.value} <code>{rule.id}</code>, {rule.clause}; {write_instant(exchange.at)}, "
        f"{escape(exchange.operation or 'no operation')}, answered {exchange.status}, <code>"
        f"{escape(clean(call))}</code>, {request_id}</small></p></article>"
    )


def _proof(finding: Finding) -> str:
    """The earlier calls that prove it, and how the calls differ."""
    proof = finding.found.proof
    calls = "".join(f"<li>call <code>{escape(call.request_id)}</code></li>" for call in proof.calls)
    rows = "".join(f"<li><code>{escape(clean(line))}</code></li>" for line in proof.difference)
    return f"<ul>{calls}{rows}</ul>" if calls or rows else ""
