"""The verdict in sentences, for the terminal and for every report."""

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.extensions.vary.axes import Axis
from sandbox.extensions.vary.causes import Break
from sandbox.extensions.vary.space import Choice, Variant
from sandbox.extensions.vary.verdict import Verdict

Axes = Mapping[str, Axis]


def describe_choice(choice: Choice, axes: Axes) -> str:
    """`final_status is ACSP: it ends at ACSP (service 3.1)`."""
    axis = axes[choice[0]]
    does = axis.value(choice[1]).does.strip().rstrip(".")
    if does[1:2].islower() or does[1:2] == " ":
        does = does[:1].lower() + does[1:]
    return f"{choice[0]} is {choice[1]}: {does} ({axis.clause})"


def describe_break(found: Break, axes: Axes) -> str:
    """`test_pay breaks when final_status is ACSP: it ends at ACSP (service 3.1)`."""
    return f"{found.test} breaks when {describe_variant(found.variant, axes)}"


def describe_variant(variant: Variant, axes: Axes) -> str:
    return ", and ".join(describe_choice(choice, axes) for choice in variant.changes)


def describe_cause(variant: Variant, axes: Axes) -> Iterator[str]:
    """Returns what each axis brings to light."""
    for axis, _ in variant.changes:
        yield f"{axis}: {axes[axis].about.rstrip('.')}. It brings to light: {axes[axis].brings.rstrip('.')}."


def describe_details(found: Break, axes: Axes, again: str = "--variants") -> Iterator[str]:
    """Returns the error, the last call, what the axes bring to light, and how to run the test again."""
    if found.result.failure:
        yield f"Seen: {found.result.failure}"
    if found.result.call:
        yield f"Call: {found.result.call}"
    yield from describe_cause(found.variant, axes)
    yield f"Again: {again} {found.variant}"
    if found.allowed is not None:
        yield f"Allowed: {found.allowed}"


def describe_verdict(verdict: Verdict, axes: Axes) -> Iterator[str]:
    """Returns the verdict in lines."""
    for found in sorted(verdict.breaks, key=lambda one: one.allowed is not None):
        yield f"{'allowed  ' if found.allowed is not None else 'BREAKS  '}{describe_break(found, axes)}."
        yield from (f"        {line}" for line in "\n".join(describe_details(found, axes)).splitlines())
    yield from describe_rest(verdict, axes)


def describe_rest(verdict: Verdict, axes: Axes) -> Iterator[str]:
    """Returns the lines of the verdict without the breaks."""
    for test, text in verdict.flaky.items():
        yield f"FLAKY  {test} {text}"
        yield "        Nothing is blamed for it: mend the test, then run again."
    for line in verdict.ended:
        yield f"ended  {line}"
        yield "        It breaks no longer: take this line out of the file of allowed breaks."
    if verdict.never_met:
        yield f"No call met {count(verdict.never_met, 'axis', 'axes')}, so nothing is known about them:"
        yield f"        {', '.join(verdict.never_met)}"
    yield summary(verdict)


def summary(verdict: Verdict) -> str:
    """Returns one line with the score and the numbers behind it."""
    return f"{verdict.score}, {rest_of_summary(verdict)}"


def rest_of_summary(verdict: Verdict) -> str:
    """Returns the numbers behind the score."""
    allowed = len(verdict.breaks) - len(verdict.new_breaks)
    parts = [
        f"{len(verdict.never_met)} not met",
        f"{count(verdict.new_breaks, 'break')}{f' and {allowed} allowed' if allowed else ''}",
        *([f"{len(verdict.flaky)} flaky"] if verdict.flaky else []),
        f"{count(verdict.tests, 'test')}, strength {verdict.strength}",
        f"{verdict.variants} variants, {verdict.runs} runs",
    ]
    return "; ".join(parts) + "."


def count(things: Any, one: str, more: str = "") -> str:
    number = len(things)
    return f"{number} {one if number == 1 else more or one + 's'}"
