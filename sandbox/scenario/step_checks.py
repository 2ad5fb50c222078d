"""Checks the values of all steps of a script, with the step after each in sight (choice 13)."""

from collections.abc import Sequence
from typing import Any

from sandbox.reader.shapes import Notes
from sandbox.reader.tree import Node
from sandbox.scenario.step_rows import STEPS
from sandbox.scenario.step_values import REFUSED, VALUES, WHOLE, check_added, check_expected, check_value, is_open


def check_steps(steps: Sequence[Node], notes: Notes) -> None:
    """Adds an error for each value that no step can mean."""
    for index, step in enumerate(steps):
        name = next((name for name in step.rows if name in STEPS), None)
        if name is None:
            continue
        content = step.rows[name].value
        following = steps[index + 1] if index + 1 < len(steps) else None
        if name == "parallel":
            for branch in content.items:
                check_steps(branch.items or (branch,), notes)
        elif name == "repeat":
            inner = content.rows["steps"].value if "steps" in content.rows else None
            check_steps((inner.items or (inner,)) if inner is not None else (), notes)
        else:
            _check_step(name, content, following, notes)


def _check_step(name: str, content: Node, following: Node | None, notes: Notes) -> None:
    if name == "add":
        check_added(content, notes)
    if name == "expect":
        check_expected(content, notes)
        return
    if "refused" in content.rows:
        check_value(REFUSED, content.rows["refused"].value, notes)
    if name != "call" and "expect" in content.rows:
        check_expected(content.rows["expect"].value, notes)
    judges = following if following is not None and len(following.rows) == 1 else None
    if _expects_refusal(content) or _expects_refusal(judges):
        return
    if name in WHOLE and not _has_open(content):
        check_value(WHOLE[name], content, notes)
    bare = STEPS[name].bare
    for key, shape in VALUES.get(name, {}).items():
        if key in content.rows:
            check_value(shape, content.rows[key].value, notes)
        elif key == bare and not content.rows:
            check_value(shape, content, notes)


def _expects_refusal(node: Node | None) -> bool:
    """Of a step by the keys of its content, or of a step `expect` that follows."""
    content = node.plain() if node is not None and node.rows else {}
    expected = content.get("expect")
    return "refused" in content or "lost" in content or (isinstance(expected, dict) and is_refusal(expected))


def is_refusal(expected: dict[str, Any]) -> bool:
    """Whether what a step expects of a reply is a refusal."""
    status = expected.get("status")
    return "error" in expected or "error_code" in expected or (isinstance(status, int) and status >= 400)


def _has_open(node: Node) -> bool:
    inner = [entry.value for entry in node.rows.values()] + list(node.items)
    return (is_open(node) and isinstance(node.value, str)) or any(map(_has_open, inner))
