"""Readiness: makes one document of all runs of a suite. It has a verdict on each item (see ready_items.py) and a
digest.

The facts in the document are from five sources: one run on the default bank with the referee (which finds mistakes in
calls) and the coverage, runs under other values of the axes, runs under lies, runs with a gateway that fails, and runs
in nights at which clocks change. Each finding has a name that stays the same from run to run, so that a team can accept
it with a reason and a date in `ready.yaml`:

accepted:
- finding: lie/token_lasts
  reason: the library renews by the reply alone
  date: 2027-03-01

The digest is the SHA-256 of the document without the digest, as JSON with sorted keys and no blanks. So the digest of a
document is the same on each machine. `ready verify` refuses a file with a wrong digest, and a file whose text is not
exactly what this module writes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.conditions import GATEWAY_FAULTS, NIGHT, NIGHTS
from sandbox.extensions.vary.lie_report import describe_lie, describe_values
from sandbox.extensions.vary.lie_verdict import LieVerdict
from sandbox.extensions.vary.lies import BY_NAME
from sandbox.extensions.vary.ready_items import (
    ERRORS,
    ITEMS,
    LIMITS,
    OF_OPERATION,
    RETRIES,
    SIGNING,
    TIME,
    Item,
    find_item_of_axis,
    find_item_of_lie,
    find_item_of_rule,
)
from sandbox.extensions.vary.report import describe_variant
from sandbox.extensions.vary.runs import Runs
from sandbox.extensions.vary.space import Variant
from sandbox.extensions.vary.verdict import Verdict
from sandbox.reader.tree import read_yaml

PASS, FAIL, NOT_COVERED = "pass", "fail", "not_covered"
FAILING = ("error", "warning")  # severities of the referee; advice is shown and fails no item
FORMAT = "bank-sandbox ready 1"
ACCEPTED = "ready.yaml"
NOT_COVERED_MAX = 20  # that an item lists
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The reason why a finding is accepted, and the date on which it was accepted."""

    reason: str
    date: str


@dataclass(frozen=True, slots=True)
class ConditionRun:
    """A run under a night or a gateway fault (see conditions.py), with the errors of the failed tests. `was_met` is
    False if the condition changed nothing: there was no call, or by the bank's clock the first call was on a day before
    that night."""

    name: str
    was_met: bool
    failures: Mapping[str, str] = field(default_factory=dict)


def run_condition(runs: Runs, kind: str, name: str) -> ConditionRun:
    """Runs the tests under a condition: a gateway fault, or a night such as the one in which summer time begins (see
    conditions.py). Returns whether the calls met the condition, and which tests fail. If any test fails, all tests run
    a second time, and only a test that fails again counts."""
    variant = Variant(((kind, name),))
    run = runs.find_run(variant)
    failures = {test: run.tests[test].failure for test in run.failed}
    if failures:
        again = runs.find_run(variant, 1)
        failures = {test: failure for test, failure in failures.items() if not again.find_result(test).passed}
    was_met = bool(run.calls) and (kind != NIGHT or run.began[:10] >= NIGHTS[name].at[:10])
    return ConditionRun(name, was_met, failures)


@dataclass(frozen=True)
class Evidence:
    """The facts that all runs of a suite found."""

    verdict: Verdict
    findings: Sequence[Mapping[str, Any]]  # of the referee
    coverage: Sequence[Mapping[str, Any]]  # of each world
    nights: Sequence[ConditionRun]
    faults: Sequence[ConditionRun]
    command: str
    seed: int

    @property
    def lies(self) -> LieVerdict:
        return self.verdict.lies or LieVerdict()

    def merge_cells(self, kind: str) -> dict[str, bool]:
        """Joins the coverage of all worlds. A cell of the coverage is one thing that a client can reach, such as an
        operation. Returns for each cell of the given kind whether any world has reached it."""
        reached: dict[str, bool] = {}
        for part in self.coverage:
            for cell, is_met in part["cells"][kind].items():
                reached[cell] = reached.get(cell, False) or is_met
        return reached


def make_document(evidence: Evidence, accepted: Mapping[str, Acceptance], worlds: Sequence[Row] = ()) -> Row:
    """Returns the readiness document with its digest. `worlds` are its rows about the exported worlds. The client is
    ready if no item fails, at least one item passes, and no test is flaky."""
    findings = list(list_findings(evidence, accepted))
    items = [describe_item(item, evidence, [row for row in findings if row["item"] == item.name]) for item in ITEMS]
    flaky = [{"test": test, "seen": text} for test, text in sorted(evidence.verdict.flaky.items())]
    verdicts = [item["verdict"] for item in items]
    names = {row["name"] for row in findings}
    document = {
        "format": FORMAT,
        "ready": FAIL not in verdicts and PASS in verdicts and not flaky,
        "items": items,
        "flaky": flaky,
        "ended": sorted(accepted.keys() - names),
        "command": evidence.command,
        "tests": len(evidence.verdict.tests),
        "strength": evidence.verdict.strength,
        "scores": {
            "axes": {"withstood": len(evidence.verdict.withstood), "met": len(evidence.verdict.met)},
            "lies": {"noticed": len(evidence.lies.noticed), "met": len(evidence.lies.met)},
        },
        "worlds": list(worlds),
        "versions": {"bank_sandbox": version("bank-sandbox"), "python": python_version()},
        "seed": evidence.seed,
    }
    return document | {"digest": compute_digest(document)}


def compute_digest(document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != "digest"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(canonical.encode()).hexdigest()


def write_document(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def describe_document(document: Mapping[str, Any]) -> Iterator[str]:
    """Yields the document in lines. An indented line belongs to the verdict above it."""
    for item in document["items"]:
        word = item["verdict"].replace("_", " ")
        yield f"{word:12}{item['name']:13}{'; '.join(item['rests_on'])}".rstrip()
        for row in item["findings"]:
            mark = "accepted" if row["accepted"] else row["severity"]
            yield f"            {mark:9}{row['name']}: {row['text']}"
    for row in document["flaky"]:
        yield f"flaky       {row['test']}: {row['seen']}"
    for name in document["ended"]:
        yield f"ended       {name} is accepted and was not found"


# Findings


def list_findings(evidence: Evidence, accepted: Mapping[str, Acceptance]) -> Iterator[Row]:
    """Yields a row for each finding, with the name of its item. Findings with the same name share a row that lists all
    their tests. If the name is in `accepted`, the row has the reason and the date from there."""
    rows: dict[str, Row] = {}
    for row in (
        *list_referee_rows(evidence),
        *list_axis_rows(evidence),
        *list_lie_rows(evidence),
        *list_condition_rows(evidence),
    ):
        finding = rows.setdefault(row["name"], row)
        finding["tests"] = list(dict.fromkeys((*finding["tests"], *row["tests"])))
    for row in rows.values():
        acceptance = accepted.get(row["name"])
        reason = None if acceptance is None else {"reason": acceptance.reason, "date": acceptance.date}
        yield {"accepted": None} | row | ({} if reason is None else {"accepted": reason})


def list_referee_rows(evidence: Evidence) -> Iterator[Row]:
    """Yields a row for each finding of the referee. If the world's settings waive a finding, its row is accepted, with
    the reason from the settings.

    Waived findings come last. Several findings may have the same name, and then `list_findings` takes `accepted` from
    the first one. So such a name is accepted only if all its findings are waived.
    """
    for finding in sorted(evidence.findings, key=lambda finding: bool(finding["waved_off"])):
        call = finding["call"]
        yield {
            "name": f"referee/{finding['rule']}",
            "item": find_item_of_rule(finding["rule"], call["operation"]),
            "severity": finding["severity"],
            "text": f"{finding['title'].rstrip('.')}: {finding['what']}",
            "harm": finding["instead"],
            "clause": finding["clause"],
            "tests": [],
            "call": f"{call['method']} {call['path']}, Request-ID {call['request_id']}",
            "accepted": {"reason": finding["reason"], "date": None} if finding["waved_off"] else None,
        }


def list_axis_rows(evidence: Evidence) -> Iterator[Row]:
    for broken in evidence.verdict.breaks:
        axis = broken.variant.changes[0][0]
        yield {
            "name": f"axis/{broken.variant}",
            "item": find_item_of_axis(axis),
            "severity": "error",
            "text": f"It breaks when {describe_variant(broken.variant)}",
            "harm": AXES[axis].brings,
            "clause": AXES[axis].clause,
            "tests": [broken.test],
            "call": broken.result.call,
        }


def list_lie_rows(evidence: Evidence) -> Iterator[Row]:
    for row in evidence.lies.unnoticed:
        if not evidence.lies.list_noticing_tests(row.lie):
            lie = BY_NAME[row.lie]
            yield {
                "name": f"lie/{row.lie}",
                "item": find_item_of_lie(row.lie),
                "severity": "error",
                "text": f"Nobody notices {describe_lie(row.lie)}",
                "harm": lie.harm,
                "clause": lie.clause,
                "tests": [row.test],
                "call": describe_values(row),
            }


def list_condition_rows(evidence: Evidence) -> Iterator[Row]:
    abouts = {f"night/{name}": row.about for name, row in NIGHTS.items()}
    abouts |= {f"fault/{name}": row.about for name, row in GATEWAY_FAULTS.items()}
    for kind, item, runs in (("night", TIME, evidence.nights), ("fault", RETRIES, evidence.faults)):
        for run in runs:
            for test, failure in run.failures.items():
                name = f"{kind}/{run.name}"
                yield {
                    "name": name,
                    "item": item,
                    "severity": "error",
                    "text": f"It breaks: {abouts[name]}",
                    "harm": failure,
                    "clause": "choice 13",
                    "tests": [test],
                    "call": "",
                }


# Items


def describe_item(item: Item, evidence: Evidence, findings: Sequence[Row]) -> Row:
    """Returns the verdict on an item, the facts behind it, its findings, and what no test covers. The verdict is FAIL
    if a finding with a severity in FAILING is not accepted. Otherwise it is PASS if there are facts, else NOT_COVERED.
    """
    rests, lacks = list(describe_evidence(item, evidence)), list(describe_lacks(item, evidence))
    fails = any(row["accepted"] is None and row["severity"] in FAILING for row in findings)
    return {
        "name": item.name,
        "verdict": FAIL if fails else PASS if rests else NOT_COVERED,
        "about": item.about,
        "rests_on": rests,
        "not_covered": lacks,
        "findings": [{name: value for name, value in row.items() if name != "item"} for row in findings],
    }


def describe_evidence(item: Item, evidence: Evidence) -> Iterator[str]:
    called = [
        name
        for name, is_met in evidence.merge_cells("operation").items()
        if is_met and OF_OPERATION.get(name) == item.name
    ]
    if item.operations and not called:
        return
    if called:
        yield f"calls of {', '.join(called)}"
    if item.name == SIGNING and not any(evidence.merge_cells("operation").get(name) for name in ("token",)):
        return
    axes_met = [axis for axis in evidence.verdict.met if find_item_of_axis(axis) == item.name]
    withstood = [axis for axis in evidence.verdict.withstood if find_item_of_axis(axis) == item.name]
    if axes_met:
        yield f"{len(withstood)} of {len(axes_met)} axes withstood"
    lies = [lie for lie in evidence.lies.met if find_item_of_lie(lie) == item.name]
    if lies:
        yield f"{sum(lie in evidence.lies.noticed for lie in lies)} of {len(lies)} lies noticed"
    if item.name == ERRORS and (errors := sum(evidence.merge_cells("error").values())):
        yield f"{errors} errors met"
    for name, runs in ((RETRIES, evidence.faults), (TIME, evidence.nights)):
        if item.name == name and (run_names := [run.name for run in runs if run.was_met]):
            yield f"runs under {', '.join(run_names)}"


def describe_lacks(item: Item, evidence: Evidence) -> Iterator[str]:
    reached = evidence.merge_cells("operation")
    yield from (f"operation {name}" for name in item.operations if not reached.get(name))
    lies = [f"lie/{lie}" for lie in evidence.lies.unseen if find_item_of_lie(lie) == item.name]
    axes = [f"axis/{axis}" for axis in evidence.verdict.never_met if find_item_of_axis(axis) == item.name]
    runs = {RETRIES: evidence.faults, TIME: evidence.nights}.get(item.name, ())
    kind = {RETRIES: "fault", TIME: "night"}.get(item.name, "")
    conditions = [f"{kind}/{run.name}" for run in runs if not run.was_met]
    errors = [name for name, is_met in evidence.merge_cells("error").items() if not is_met]
    more = [f"error {name}" for name in errors] if item.name == ERRORS else []
    if item.name == LIMITS and not evidence.merge_cells("error").get("TOO_MANY_REQUESTS"):
        more = ["error TOO_MANY_REQUESTS"]
    yield from limit_names([*conditions, *lies, *axes, *more])


def limit_names(names: Sequence[str]) -> Iterable[str]:
    if len(names) <= NOT_COVERED_MAX:
        return names
    return [*names[:NOT_COVERED_MAX], f"and {len(names) - NOT_COVERED_MAX} more"]


# The file of accepted findings


def find_accepted(path: Path | str | None) -> dict[str, Acceptance]:
    """Returns the accepted findings of the file, or of `ready.yaml` if `path` is None. Returns an empty dictionary if
    `path` is None and there is no `ready.yaml`. Raises the same errors as `read_accepted`."""
    if path is None and not Path(ACCEPTED).exists():
        return {}
    return read_accepted(Path(path or ACCEPTED))


def read_accepted(path: Path) -> dict[str, Acceptance]:
    """Returns the accepted findings of a file such as ready.yaml, by their names. Raises ValueError or ScenarioErrors
    if its content is wrong, and OSError if the file cannot be read."""
    content = read_yaml(path.read_text(encoding="utf-8-sig"), str(path)).to_python()
    rows = content.get("accepted") if isinstance(content, dict) else None
    if content is None:
        return {}
    if not isinstance(rows, list) or set(content) != {"accepted"}:
        raise ValueError("expected `accepted:` with a list of finding, reason and date")
    accepted = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or set(row) != {"finding", "reason", "date"} or not all(row.values()):
            raise ValueError(f"entry {number}: expected finding, reason and date, and nothing else")
        try:
            since = date.fromisoformat(str(row["date"]))
        except ValueError:
            raise ValueError(f"entry {number}: {row['date']!r:.40} is no date; an example is 2027-03-01") from None
        if "/" not in str(row["finding"]):
            raise ValueError(f"entry {number}: {row['finding']!r:.60} is no name of a finding, such as lie/token_lasts")
        accepted[str(row["finding"])] = Acceptance(str(row["reason"]), since.isoformat())
    return accepted
