"""The well-known values of a scenario as a table of values and outcomes (choice 13)."""

from collections.abc import Iterator

from sandbox.bank.rules import Rule, Then
from sandbox.banking.durations import write_duration
from sandbox.contract.errors import Error
from sandbox.contract.kinds import KINDS
from sandbox.scenario.model import Scenario

HEAD = ("write", "as the", "of a", "and", "which gives")
KIND_WORDS = {name: kind.label for name, kind in KINDS.items()} | {"consent": "consent"}
ANY = "payment or standing order"  # where a rule names no kind


def markdown(scenario: Scenario) -> str:
    """A table in Markdown, a row for each rule that looks at a name or a reference."""
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    return "\n".join([*lines, *(_line(row) for row in rows(scenario))])


def rows(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    for rule in scenario.rules:
        when = rule.when
        value = when.creditor_name or when.endtoend_identification
        if value is None:
            continue
        place = "`creditor_name`" if when.creditor_name else "reference"
        kind = ANY if when.kind is None else KIND_WORDS[when.kind]
        product = f" ({when.product})" if when.product else ""
        yield f"`{value}`", place, f"{kind}{product}", _lower(rule.title), _outcome(rule)


def _outcome(rule: Rule) -> str:
    """The outcome of a rule as a status, reason or error code."""
    if rule.refuse is not None:
        row = Error[rule.refuse].value
        return f"{row.status} `{row.error}` `{row.code}`"
    if rule.then:
        return ", ".join(map(_then, rule.then))
    if rule.validation:
        return ", ".join(
            f"`RJCT` {'' if not found.bulk else f'of bulk {found.bulk}'}".strip() for found in rule.validation
        )
    return ", ".join(f"`{name}` {write_duration(span)}" for name, span in rule.timings)


def _then(then: Then) -> str:
    """A move, or money that comes back while the status stays."""
    if then.back:
        return f"`{then.on}`, then a {then.back} `{then.reason}`"
    return f"`{then.move}` {f'`{then.reason}`' if then.reason else ''}".strip()


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"
