"""Plays a scenario under variants of the bank, and judges it."""

from collections.abc import Callable

from sandbox.client import Controls
from sandbox.extensions.vary.call_comparison import look_at
from sandbox.extensions.vary.runs import Reference, Result, Runs, VariantRun
from sandbox.extensions.vary.space import Space, Variant
from sandbox.extensions.vary.verdict import NothingMet, Verdict, judge
from sandbox.player.runs import SEED, Differing, MachineTime, ScenarioReport, Script, run_one, world_name


def judge_script(
    script: Script, space: Space, strength: int, url: str, machine_time: MachineTime, key: str | None, world_suffix: str
) -> Verdict | None:
    """Returns the verdict on a scenario that passes today, or None if it meets no axis. Its own variants stay."""
    own_axes = {axis for axis, _ in script.scenario.settings.variants}
    left = space.only(space.axes.keys() - own_axes)
    try:
        return judge(Runs(trial_of(script, url, machine_time, key, world_suffix)), left, strength, 1)
    except NothingMet:
        return None


def trial_of(
    script: Script, url: str, machine_time: MachineTime, key: str | None, world_suffix: str
) -> Callable[[Variant], VariantRun]:
    reference: Reference = ()

    def trial(variant: Variant) -> VariantRun:
        nonlocal reference
        met, call = frozenset[str](), ""

        def look(controls: Controls) -> None:
            nonlocal met, call, reference
            met, call, reference = look_at(controls, variant, reference)

        world = world_name(script, f"{world_suffix}.{variant.name}")
        report = run_one(script, url, machine_time, key, world, Differing(dict(variant.changes), look, seed=SEED))
        result = Result(True) if report.passed else Result(False, failure_of(report), call)
        return VariantRun({script.scenario.name: result}, met, report.seconds)

    return trial


def failure_of(report: ScenarioReport) -> str:
    """Returns the first step that failed, and why."""
    failed = next((step for step in report.steps if step.faults), None)
    return (
        report.trouble or "it was not played" if failed is None else f"{failed.place}{failed.text}: {failed.faults[0]}"
    )
