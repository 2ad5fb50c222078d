"""The commands `referee` and `coverage`."""

import sys
from typing import Any
from urllib.parse import urlencode

import click

from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import format_table

LEVELS = ("error", "warning", "advice")
FORMATS = ("sarif", "junit", "html")
SHOWN = 5  # findings of a rule
INDENT = " " * 8


@click.command()
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 on findings of this severity or above.")
@click.option("--waive", multiple=True, metavar="RULE:REASON", help="Suppress the findings of a rule; may be repeated.")
@click.option("--format", "kind", type=click.Choice(["text", *FORMATS]), default="text", show_default=True)
@remote
def referee(far: RemoteWorld, fail_on: str | None, waive: tuple[str, ...], kind: str) -> None:
    """Lists the mistakes of the clients of a running sandbox."""
    waived = [("waive", text) for text in waive]
    report = far.call("GET", f"/referee?{urlencode(waived)}")
    if kind == "text":
        far.tell(report, lambda: "\n".join(render_findings(report)))
    else:
        query = urlencode([*waived, ("format", kind), ("level", fail_on or "error")])
        address = f"{far.controls.base_url}/_sandbox/referee?{query}"
        click.echo(far.controls.http.get(address, headers=far.controls.headers).text, nl=False)
    if fail_on is not None and any(report["counts"][level] for level in LEVELS[: LEVELS.index(fail_on) + 1]):
        sys.exit(1)


def render_findings(report: dict[str, Any]) -> list[str]:
    """Returns the lines of the report: each broken rule with its first SHOWN findings, then one line with the number of
    findings of each severity."""
    broken: dict[str, list[dict[str, Any]]] = {}
    for finding in report["findings"]:
        broken.setdefault(finding["rule"], []).append(finding)
    lines = []
    for name, findings in broken.items():
        first, more = findings[0], len(findings) - SHOWN
        waived = f" (accepted: {first['reason']})" if first["waved_off"] else ""
        times = f", {len(findings):,} times" if len(findings) > 1 else ""
        lines.append(f"{first['severity']:8}{name}: {first['title']}{times}{waived}")
        lines.append(f"{INDENT}{first['instead']} ({first['clause']})")
        for finding in findings[:SHOWN]:
            call = finding["call"]
            lines.append(f"{INDENT}{finding['what']}")
            lines.append(f"{INDENT}  {call['at']} {call['method']} {call['path']} {call['request_id']}".rstrip())
        if more > 0:
            lines.append(f"{INDENT}and {more:,} more (--json lists all)")
    counts = ", ".join(f"{count} {level}" for level, count in report["counts"].items())
    return [*lines, f"{counts}; {report['waved_off']} accepted; {report['rules']} rules"]


@click.command()
@remote
def coverage(far: RemoteWorld) -> None:
    """Shows what the clients have reached, and what to try next. Counts operations, versions, replies, statuses,
    errors, and moves from one status to another."""
    summary = far.control("GET /coverage")
    far.tell(summary, lambda: render_coverage(summary))


def render_coverage(summary: dict[str, Any]) -> str:
    """Returns the coverage as text. It has a row for each kind of cell (a thing that a client can meet, such as an
    error), with the number of reached cells, the number of all cells and the percentage. Below are the percentage of
    all kinds together, and the unreached cells that are most useful to try next."""
    from sandbox.extensions.referee.coverage import describe_cell

    rows = [[row["kind"], str(row["met"]), str(row["all"]), f"{row['percent']} %"] for row in summary["table"]]
    missing = "\n".join(f"  {describe_cell(cell)}" for cell in summary["most_useful_not_met"])
    head = format_table(rows, ("kind", "reached", "all", "percent"))
    return f"{head}\n\n{summary['percent']} % of everything. Not reached yet, most useful first:\n{missing}"
