"""The commands `bank-sandbox referee` and `coverage`: what a running sandbox noticed about its clients."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

LEVELS = ("error", "warning", "advice")


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Which running sandbox, and which world of it."""
    for option in (
        click.option("--key", envvar="SANDBOX_KEY", help="The key of its controls, where they have one."),
        click.option("--world", envvar="SANDBOX_WORLD", default="default", show_default=True),
        click.option("--url", envvar="SANDBOX_URL", default="http://127.0.0.1:8080", show_default=True),
    ):
        command = option(command)
    return command


def ask(url: str, world: str, key: str | None, path: str, query: Mapping[str, str | Sequence[str]]) -> Any:
    """The answer of a control; what goes wrong is told without a traceback."""
    import httpx

    root = url.rstrip("/") if world == "default" else f"{url.rstrip('/')}/worlds/{world}"
    headers = {} if key is None else {"X-Sandbox-Key": key}
    try:
        with httpx.Client(trust_env=False, timeout=30) as line:
            answer = line.get(f"{root}/_sandbox/{path}", params=query, headers=headers)
    except httpx.HTTPError as error:
        raise click.ClickException(f"no answer from {url}: {error}") from None
    if not answer.is_success:
        raise click.ClickException(f"{answer.status_code} {answer.text}")
    return answer


@click.command()
@click.option("--fail-on", type=click.Choice(LEVELS), help="Ends with 1 when a finding is as grave as this.")
@click.option("--waive", multiple=True, metavar="RULE:REASON", help="Waves a rule's findings off; may be repeated.")
@click.option("--format", "kind", type=click.Choice(["text", "json", "junit", "sarif", "html"]), default="text")
@options
def referee(fail_on: str | None, waive: tuple[str, ...], kind: str, url: str, world: str, key: str | None) -> None:
    """Says what the clients of a running sandbox did wrong."""
    query: dict[str, str | Sequence[str]] = {"waive": waive}
    report = ask(url, world, key, "referee", query).json()
    if kind == "text":
        click.echo("\n".join(lines(report)))
    else:
        more = query | {"format": kind, "level": fail_on or "error"}
        click.echo(ask(url, world, key, "referee", more).text)
    if fail_on is not None and any(report["counts"][level] for level in LEVELS[: LEVELS.index(fail_on) + 1]):
        sys.exit(1)


def lines(report: dict[str, Any]) -> list[str]:
    """The findings for a person, and how many there are."""
    told = []
    for row in report["findings"]:
        waved = f" (waved off: {row['reason']})" if row["waved_off"] else ""
        call = row["call"]
        told += [
            f"{row['severity']:8}{row['rule']}: {row['title']}{waved}",
            f"        {row['what']}; {call['at']} {call['method']} {call['path']} {call['request_id']}".rstrip(),
            f"        {row['instead']} ({row['clause']})",
        ]
    counts = ", ".join(f"{count} {level}" for level, count in report["counts"].items())
    return [*told, f"{counts}; {report['waved_off']} waved off; {report['rules']} rules"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The whole table, cell by cell.")
@options
def coverage(as_json: bool, url: str, world: str, key: str | None) -> None:
    """Says what of the bank the clients of a running sandbox have met, and what to try next."""
    answer = ask(url, world, key, "coverage", {})
    if as_json:
        click.echo(answer.text)
        return
    found = answer.json()
    for row in found["table"]:
        click.echo(f"{row['kind']:10} {row['met']:4} of {row['all']:4} {row['percent']:6.1f} %")
    click.echo(f"{'all':10} {'':12} {found['percent']:6.1f} %")
    click.echo("\nnot met yet, most useful first:")
    for text in found["most_useful_not_met"]:
        click.echo(f"  {text}")
