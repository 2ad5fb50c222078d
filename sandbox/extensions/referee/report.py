"""The report of the referee as JSON, with suppressed findings."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.bank.state import Bank
from sandbox.extensions.referee.rule import Found, Proof, Severity
from sandbox.extensions.referee.stream import pack_observed, referee_of
from sandbox.extensions.referee.table import BY_ID, TABLE
from sandbox.storage.transfer.form import CarriedFinding, FindingsCarrier
from sandbox.worlds.calls import describe_call
from sandbox.worlds.world import World


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a client; `reason` is given where the finding is suppressed."""

    found: Found
    reason: str | None

    @property
    def severity(self) -> Severity:
        return self.found.rule.severity


@dataclass(frozen=True, slots=True)
class RefereeReport:
    """All findings of a world."""

    world: str
    findings: list[Finding]
    unlisted: dict[str, int]

    def unwaived(self, level: Severity = Severity.ADVICE) -> list[Finding]:
        """The findings at or above the level that are not suppressed."""
        return [row for row in self.findings if row.reason is None and row.severity.is_at_least(level)]


def read_waive(text: str) -> tuple[str, str]:
    """Reads `rule: reason`; raises ValueError."""
    name, _, reason = (part.strip() for part in text.partition(":"))
    if not name or not reason:
        raise ValueError("a finding is suppressed by `rule: reason`")
    if name not in BY_ID:
        raise ValueError(f"{name[:60]} is no rule of the referee")
    return name, reason


def report_of(world: World, waives: Iterable[str] = ()) -> RefereeReport:
    """The findings of a world up to now: the one function that a test plugin or a player needs."""

    def collect(bank: Bank) -> RefereeReport:
        referee = referee_of(world)
        reasons = dict(map(read_waive, (*check_waives(bank.settings.referee_waives), *waives)))
        found = referee.findings(bank)
        return RefereeReport(
            world.name, [Finding(row, reasons.get(row.rule.id)) for row in found], referee.unlisted_counts()
        )

    return world.ask(collect)


def check_waives(waives: Iterable[str]) -> list[str]:
    """The waives of a setting whose rules exist; other versions may have other rules."""
    return [text for text in waives if text.partition(":")[0].strip() in BY_ID]


def row_of(finding: Finding) -> dict[str, Any]:
    rule = finding.found.rule
    return {
        "rule": rule.id,
        "title": rule.title,
        "severity": rule.severity.value,
        "clause": rule.clause,
        "call": describe_call(finding.found.exchange),
        "what": finding.found.what,
        "proof": [describe_call(exchange) for exchange in finding.found.proof.calls],
        "difference": list(finding.found.proof.difference),
        "instead": rule.instead,
        "waved_off": finding.reason is not None,
        "reason": finding.reason,
    }


def as_json(report: RefereeReport) -> dict[str, Any]:
    counts = Counter(row.severity.value for row in report.unwaived())
    return {
        "world": report.world,
        "rules": len(TABLE),
        "counts": {level.value: counts[level.value] for level in Severity},
        "waved_off": len(report.findings) - len(report.unwaived()),
        "findings": [row_of(finding) for finding in report.findings],
        "not_listed": report.unlisted,
    }


def findings_to_carry(world: World) -> list[CarriedFinding]:
    """All findings up to now."""
    return [
        CarriedFinding(found.rule.id, found.what, found.exchange, found.proof.calls, found.proof.difference)
        for found in world.ask(lambda bank: referee_of(world).findings(bank))
    ]


def take_in(world: World, findings: tuple[CarriedFinding, ...]) -> None:
    """The findings of an imported world; those of rules that this program does not have are left out."""
    known = [found for found in findings if found.rule in BY_ID]
    rows = [Found(BY_ID[found.rule], found.call, Proof(found.what, found.proof, found.difference)) for found in known]
    if world.is_shared:
        world.observe(rows, pack_observed)
        return
    referee = referee_of(world)
    for row in rows:
        referee.take_in(row)


CARRIER = FindingsCarrier(findings_to_carry, take_in)
