"""The report as one self-contained HTML page."""

from html import escape

from sandbox.banking.durations import write_instant
from sandbox.referee.junit import clean
from sandbox.referee.report import Finding, Report
from sandbox.web.html.pages import page_headers, policy_of, source_of, whole_page
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


# Where a server gives it out: the policy repeats that of the page, with what only a header can say.
HEADERS = page_headers(policy_of(style=source_of(STYLE), img="data:"))


def as_page(report: Report) -> str:
    standing, waved = len(report.unwaived()), len(report.findings) - len(report.unwaived())
    summary = (
        f"{standing} finding{'' if standing == 1 else 's'}, {waved} waved off." if report.findings else "No finding."
    )
    rows = "".join(map(_article, report.findings))
    body = f"<h1>Referee: world {escape(report.world)}</h1><p>{summary}</p>{rows}"
    return whole_page(f"Referee: {report.world}", STYLE, body)


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
