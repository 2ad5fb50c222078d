"""The report of the referee: its findings. A user can waive a rule, that is, accept its findings for a reason. The
findings of a waived rule have this reason."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.bank.state import Bank
from sandbox.extensions.referee.rule import Finding, Proof, RefereeRule, Severity
from sandbox.extensions.referee.stream import find_referee, judge_in
from sandbox.extensions.referee.table import BY_ID, TABLE
from sandbox.storage.transfer.form import CarriedFinding, FindingsCarrier
from sandbox.worlds.calls import describe_call
from sandbox.worlds.world import World

SHOWN = 5  # findings of a rule that are shown at once


@dataclass(frozen=True, slots=True)
class RefereeReport:
    """The findings of a world, and for each rule the number of further findings that were counted but not stored."""

    world: str
    findings: list[Finding]
    unlisted: dict[str, int]  # findings of which only the number is kept, by rule

    def list_unwaived(self, level: Severity = Severity.ADVICE) -> list[Finding]:
        """Returns the findings at or above the level that are not waived."""
        return [row for row in self.findings if row.reason is None and row.rule.severity.is_at_least(level)]


@dataclass(slots=True)
class BrokenRule:
    """A rule with its stored findings, the newest first. `unlisted` is the number of later findings, which were counted
    but not stored. `reason` says why the rule is waived, and is None if it is not."""

    rule: RefereeRule
    reason: str | None
    unlisted: int
    findings: list[Finding] = field(default_factory=list)

    @property
    def times(self) -> int:
        return len(self.findings) + self.unlisted


def list_broken_rules(report: RefereeReport) -> list[BrokenRule]:
    """Returns the broken rules, the gravest first. Among equally grave rules, the rule with the newest stored finding
    comes first."""
    rows: dict[str, BrokenRule] = {}
    for finding in reversed(report.findings):
        rule = finding.rule
        row = rows.setdefault(rule.id, BrokenRule(rule, finding.reason, report.unlisted.get(rule.id, 0)))
        row.findings.append(finding)
    return sorted(rows.values(), key=lambda row: list(Severity).index(row.rule.severity))


def read_waive(text: str) -> tuple[str, str]:
    """Returns the id of a rule and the reason from a text such as `rule: reason`, which waives the rule. Raises
    ValueError if one of them is missing or no such rule exists."""
    name, _, reason = (part.strip() for part in text.partition(":"))
    if not name or not reason:
        raise ValueError("a finding is suppressed by `rule: reason`")
    if name not in BY_ID:
        raise ValueError(f"{name[:60]} is no rule of the referee")
    return name, reason


def read_setting(waives: Iterable[str]) -> dict[str, str]:
    """Reads the setting `referee_waives`. Returns the reason for each waived rule by the id of the rule. Ignores rules
    that this version does not have."""
    return dict(read_waive(text) for text in waives if text.partition(":")[0].strip() in BY_ID)


def make_report(world: World, waives: Iterable[str] = ()) -> RefereeReport:
    """Returns the findings of a world up to now. The setting `referee_waives` and the given `waives` together decide
    which findings are waived. Raises ValueError if one of `waives` is not written as `rule: reason` or names an unknown
    rule."""

    def collect(bank: Bank) -> RefereeReport:
        referee = find_referee(world)
        reasons = read_setting(bank.settings.referee_waives) | dict(map(read_waive, waives))
        findings = [replace(row, reason=reasons.get(row.rule.id)) for row in referee.list_findings(bank)]
        return RefereeReport(world.name, findings, referee.count_unlisted())

    return world.ask(collect)


def describe_finding(finding: Finding) -> dict[str, Any]:
    rule = finding.rule
    return {
        "rule": rule.id,
        "title": rule.title,
        "severity": rule.severity.value,
        "clause": rule.clause,
        "call": describe_call(finding.exchange),
        "what": finding.what,
        "proof": [describe_call(exchange) for exchange in finding.proof.calls],
        "difference": list(finding.proof.difference),
        "instead": rule.instead,
        "waved_off": finding.reason is not None,
        "reason": finding.reason,
    }


def as_json(report: RefereeReport) -> dict[str, Any]:
    counts = Counter(row.rule.severity.value for row in report.list_unwaived())
    return {
        "world": report.world,
        "rules": len(TABLE),
        "counts": {level.value: counts[level.value] for level in Severity},
        "waved_off": len(report.findings) - len(report.list_unwaived()),
        "findings": [describe_finding(finding) for finding in report.findings],
        "not_listed": report.unlisted,
    }


def list_findings_to_carry(world: World) -> list[CarriedFinding]:
    return [
        CarriedFinding(finding.rule.id, finding.what, finding.exchange, finding.proof.calls, finding.proof.difference)
        for finding in make_report(world).findings
    ]


def take_in(world: World, carried: tuple[CarriedFinding, ...]) -> None:
    """Adds the findings of an imported world. Ignores findings of rules that this version does not have."""
    known_findings = [row for row in carried if row.rule in BY_ID]
    judge_in(
        world,
        [Finding(BY_ID[row.rule], row.call, Proof(row.what, row.proof, row.difference)) for row in known_findings],
    )


CARRIER = FindingsCarrier(list_findings_to_carry, take_in)
