"""The commands about what the clients did wrong and have met: `referee` and `coverage`."""

import sys
from typing import Any
from urllib.parse import urlencode

import click

from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import table

LEVELS = ("error", "warning", "advice")
FORMATS = ("sarif", "junit", "html")


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
        click.echo(fetch_text(far, f"/referee?{query}"), nl=False)
    if fail_on is not None and any(report["counts"][level] for level in LEVELS[: LEVELS.index(fail_on) + 1]):
        sys.exit(1)


def fetch_text(far: RemoteWorld, path: str) -> str:
    """Fetches a reply as text."""
    far.demand_world()
    return far.controls.http.get(f"{far.controls.base_url}/_sandbox{path}", headers=far.controls.headers).text


def render_findings(report: dict[str, Any]) -> list[str]:
    """The findings as lines of text, with their number."""
    lines = []
    for row in report["findings"]:
        waved = f" (waved off: {row['reason']})" if row["waved_off"] else ""
        call = row["call"]
        lines += [
            f"{row['severity']:8}{row['rule']}: {row['title']}{waved}",
            f"        {row['what']}; {call['at']} {call['method']} {call['path']} {call['request_id']}".rstrip(),
            f"        {row['instead']} ({row['clause']})",
        ]
    counts = ", ".join(f"{count} {level}" for level, count in report["counts"].items())
    return [*lines, f"{counts}; {report['waved_off']} waved off; {report['rules']} rules"]


@click.command()
@remote
def coverage(far: RemoteWorld) -> None:
    """Shows which of the bank's operations, replies and moves the clients have reached, and what to try next."""
    found = far.control("GET /coverage")
    far.tell(found, lambda: render_coverage(found))


def render_coverage(found: dict[str, Any]) -> str:
    """The coverage as text: the table, the total and the most useful cells not met."""
    from sandbox.extensions.referee.coverage import describe_cell

    rows = [[row["kind"], str(row["met"]), str(row["all"]), f"{row['percent']} %"] for row in found["table"]]
    missing = "\n".join(f"  {describe_cell(cell)}" for cell in found["most_useful_not_met"])
    head = table(rows, ("kind", "met", "all", "percent"))
    return f"{head}\n\n{found['percent']} % of everything. Not met yet, most useful first:\n{missing}"
