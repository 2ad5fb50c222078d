"""The options by which `bank-sandbox scenario run` also plays scenarios where the bank differs."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import explain_errors, option_row
from sandbox.extensions.vary.command_options import VaryOptions, axes_row, only_row
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.client import Controls
    from sandbox.commands.scenario import RunOptions
    from sandbox.extensions.vary.runs import Reference, VariantRun
    from sandbox.extensions.vary.space import Variant
    from sandbox.extensions.vary.verdict import Verdict
    from sandbox.player.runs import Script


@dataclass(frozen=True)
class ScenarioVarying(VaryOptions):
    """Options to play each scenario again under a covering set of the axes that it met, after all have passed."""

    vary: bool = option_row("Play again where the bank differs, and say what breaks a scenario.", is_flag=True)
    variants: str | None = option_row("How the bank of each scenario differs.", metavar="AXIS=VALUE,...")
    strength: int = option_row("With --vary: so many axes at once.", type=click.IntRange(1, 3), default=2)
    axes: str = axes_row()
    only: str = only_row()
    report: tuple[str, ...] = option_row(
        "Write .html, .xml, .sarif or .json; repeatable.", multiple=True, metavar="FILE"
    )
    allow: Path | None = option_row("A file of known breaks.", type=click.Path(dir_okay=False, path_type=Path))
    allow_write: bool = option_row("Write what breaks now into the file of --allow.", is_flag=True)

    def variants_of(self) -> Mapping[str, str]:
        from sandbox.extensions.vary.space import read_variant

        if self.vary:
            self.check_files()
        if self.variants is None:
            return {}
        with explain_errors(ValueError, option="--variants"):
            return dict(read_variant(self.variants).changes)

    def judge(self, scripts: "list[Script]", order: "RunOptions", url: str, world_suffix: str) -> bool:
        from sandbox.extensions.vary.runs import FailsToday
        from sandbox.extensions.vary.verdict import merge

        if not self.vary:
            return False
        try:
            with ThreadPoolExecutor(order.jobs) as pool:
                verdicts = pool.map(lambda script: self.judge_script(script, url, order.key, world_suffix), scripts)
                met = [verdict for verdict in verdicts if verdict is not None]
        except FailsToday as failed:
            raise click.ClickException(f"{failed} held once and failed once against the bank of today") from None
        if not met:
            raise click.ClickException("no call of these scenarios met one of the axes")
        return self.print_verdict(merge(met))

    def judge_script(self, script: "Script", url: str, key: str | None, world_suffix: str) -> "Verdict | None":
        """Returns the verdict on a scenario that passes today, or None if it meets no axis. Its own variants stay."""
        from sandbox.extensions.vary.runs import NothingMet, Runs
        from sandbox.extensions.vary.verdict import judge

        own_axes = {axis for axis, _ in script.scenario.settings.variants}
        space = self.space.only(self.space.axes.keys() - own_axes)
        try:
            return judge(Runs(trial_of(script, url, key, world_suffix)), space, self.strength, 1)
        except NothingMet:
            return None


def trial_of(script: "Script", url: str, key: str | None, world_suffix: str) -> "Callable[[Variant], VariantRun]":
    """Returns the function that plays a scenario under a variant."""
    from sandbox.extensions.vary.call_comparison import RunCalls, axes_met
    from sandbox.extensions.vary.runs import Result, VariantRun
    from sandbox.player.runs import SEED, Differing, run_one, world_name

    reference: Reference = ()

    def trial(variant: "Variant") -> "VariantRun":
        nonlocal reference
        met, last_call = frozenset[str](), ""

        def look(controls: "Controls") -> None:
            nonlocal met, last_call, reference
            rows = controls.listed("requests")
            calls = RunCalls(controls, rows, variant, reference)
            met, last_call, reference = axes_met(controls, rows), calls.describe_last(), calls.reference

        world = world_name(script, f"{world_suffix}.{variant.name}")
        report = run_one(script, url, machine_time, key, world, Differing(dict(variant.changes), look, seed=SEED))
        result = Result(True) if report.passed else Result(False, report.failure, last_call)
        return VariantRun({script.scenario.name: result}, met, report.seconds)

    return trial
