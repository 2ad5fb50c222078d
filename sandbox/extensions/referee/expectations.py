"""The step `expect` of a scenario for the referee: `expect: {referee: clean}`, or a list of rules instead of
`clean`."""

from collections.abc import Iterator
from typing import Any

from sandbox.player.orders import Content
from sandbox.player.stage import ScenarioContext, ScriptFault


def expect_findings(context: ScenarioContext, wish: Any, conditions: Content) -> Iterator[str]:
    """Yields a sentence for each finding whose rule was not expected, and for each expected rule without a finding.
    Ignores waived findings. `wish` is `clean` or a list of rules. Raises ScriptFault for another wish, and if there are
    further conditions."""
    if wish != "clean" and not isinstance(wish, list):
        raise ScriptFault("of the referee one expects `clean`, or a list of rules")
    if conditions:
        raise ScriptFault(f"of the referee one expects nothing else: {', '.join(conditions)}")
    rules = [] if wish == "clean" else wish
    findings = [row for row in context.controls.call("GET", "/referee").body["findings"] if not row["waved_off"]]
    for row in findings:
        if row["rule"] not in rules:
            call = f"{row['call']['method']} {row['call']['path']}"
            yield f"referee: {row['severity']} {row['rule']} in {call}: {row['what']}. {row['instead']}"
    for name in rules:
        if all(row["rule"] != name for row in findings):
            yield f"referee: expected {name}, and it was not found"
