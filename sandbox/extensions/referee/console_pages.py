"""What the referee of a world found, rule by rule, and what its clients have met so far (choice 10)."""

from dataclasses import dataclass, field

from markupsafe import Markup

from sandbox.extensions.referee.coverage import coverage_of, describe_cell
from sandbox.extensions.referee.report import Finding, RefereeReport, check_waives, read_waive, report_of
from sandbox.extensions.referee.rule import RefereeRule, Severity
from sandbox.extensions.referee.stream import referee_of
from sandbox.extensions.referee.table import BY_ID, TABLE
from sandbox.web.console.templating import templates
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.worlds.world import World

SHOWN = 5  # findings of a rule, until one asks for all of it
KIND_NAMES = {
    "operation": "operations",
    "status": "statuses told",
    "error": "errors",
    "move": "moves",
    "answer": "answers of an operation",
    "version": "versions",
}


@dataclass(slots=True)
class Broken:
    """A rule that was broken: the calls, newest first, and how many more there were."""

    rule: RefereeRule
    reason: str | None
    found: list[Finding] = field(default_factory=list)
    untold: int = 0

    @property
    def times(self) -> int:
        return len(self.found) + self.untold


def broken_of(report: RefereeReport) -> list[Broken]:
    """The gravest first, and of those the one that was broken last."""
    rows: dict[str, Broken] = {}
    for finding in reversed(report.findings):
        rule = finding.found.rule
        row = rows.setdefault(rule.id, Broken(rule, finding.reason, untold=report.unlisted.get(rule.id, 0)))
        row.found.append(finding)
    order = list(Severity)
    return sorted(rows.values(), key=lambda row: order.index(row.rule.severity))


def referee(visit: ConsoleVisit) -> Facts:
    """All rules that were broken, or one of them with all its calls."""
    asked = BY_ID.get(visit.request.args.get("rule", ""))
    broken = [row for row in broken_of(report_of(visit.world)) if asked in (None, row.rule)]
    settings = visit.world.ask(lambda bank: bank.settings)
    return {
        "asked": asked,
        "standing": [row for row in broken if row.reason is None],
        "waived": [row for row in broken if row.reason is not None],
        "counts": counts_of(broken),
        "shown": None if asked else SHOWN,
        "last": max((call.seq for call in visit.world.exchanges), default=0),
        "watching": settings.referee == "on",
        "waives": "\n".join(settings.referee_waives),
        "reasons": dict(map(read_waive, check_waives(settings.referee_waives))),
        "rules": len(TABLE),
        "coverage": coverage_of(visit.world),
        "in_words": describe_cell,
        "kind_names": KIND_NAMES,
    }


def counts_of(broken: list[Broken]) -> list[tuple[str, int]]:
    """How many findings stand, by severity."""
    return [
        (level.value, sum(row.times for row in broken if row.rule.severity is level and row.reason is None))
        for level in Severity
    ]


def call_panel(visit: ConsoleVisit, facts: Facts) -> Markup:
    """The findings about one call, on the page of the call."""
    seq = facts["call"].seq
    findings = [one for one in report_of(visit.world).findings if one.found.exchange.seq == seq]
    template = templates().get_template("sandbox.extensions.referee/call_panel.html")
    return Markup(template.render(findings=findings, to=visit.to)) if findings else Markup()


def count_findings(world: World) -> int:
    """The findings that are not suppressed, for the menu."""
    report = report_of(world)
    waived = {row.found.rule.id for row in report.findings if row.reason is not None}
    return len(report.unwaived()) + sum(count for name, count in report.unlisted.items() if name not in waived)


def count_all(world: World) -> int:
    return referee_of(world).counts.total()
