"""What a scenario expects of the referee: `expect: {referee: clean}`."""

from collections.abc import Iterator
from typing import Any

from sandbox.player.orders import Content
from sandbox.player.stage import ScenarioContext, ScriptFault


def expect_findings(stage: ScenarioContext, wish: Any, rest: Content) -> Iterator[str]:
    """Checks for no findings (`clean`) or for findings of these rules; suppressed findings are ignored."""
    if wish != "clean" and not isinstance(wish, list):
        raise ScriptFault("of the referee one expects `clean`, or a list of rules")
    if rest:
        raise ScriptFault(f"of the referee one expects nothing else: {', '.join(rest)}")
    found = [row for row in stage.controls.call("GET", "/referee").body["findings"] if not row["waved_off"]]
    expected = [] if wish == "clean" else wish
    for row in found:
        if row["rule"] not in expected:
            call = f"{row['call']['method']} {row['call']['path']}"
            yield f"referee: {row['severity']} {row['rule']} in {call}: {row['what']}. {row['instead']}"
    for name in expected:
        if all(row["rule"] != name for row in found):
            yield f"referee: expected {name}, and it was not found"
