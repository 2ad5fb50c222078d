"""The options by which `bank-sandbox scenario run` plays each scenario again under variants of the bank."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import explain_errors, option_row
from sandbox.extensions.vary.command_options import FILE, VaryOptions, axes_row, only_row
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
    """The options of `scenario run` that vary the bank. `variants` changes the bank of every run. With `vary`, after
    all scenarios have passed, each is played again under a covering set of the axes that it met."""

    vary: bool = option_row("Play again where the bank differs, and say what breaks a scenario.", is_flag=True)
    variants: str | None = option_row("How the bank of each scenario differs.", metavar="AXIS=VALUE,...")
    strength: int = option_row("With --vary: so many axes at once.", type=click.IntRange(1, 3), default=2)
    lies: bool = option_row("With --vary: tell lies too, and say which no scenario notices.", is_flag=True)
    axes: str = axes_row()
    only: str = only_row()
    report: tuple[str, ...] = option_row(
        "Write .html, .xml, .sarif or .json; repeatable.", multiple=True, metavar="FILE"
    )
    allow: Path | None = option_row("A file of known breaks.", type=FILE)
    allow_lies: Path | None = option_row("With --lies: a file of lies that a scenario may believe.", type=FILE)
    allow_write: bool = option_row(
        "Write what breaks now into the file of --allow, and what nobody notices into that of --allow-lies.",
        is_flag=True,
    )

    def list_variants(self) -> Mapping[str, str]:
        from sandbox.extensions.vary.space import read_variant

        if self.vary:
            self.check_files()
        if (self.lies and not self.vary) or (self.allow_lies is not None and not self.lies):
            raise click.UsageError("--lies needs --vary" if self.lies else "--allow-lies needs --lies")
        if self.variants is None:
            return {}
        with explain_errors(ValueError, option="--variants"):
            return dict(read_variant(self.variants).changes)

    def judge(self, scripts: "list[Script]", order: "RunOptions", url: str, world_suffix: str) -> bool:
        from sandbox.extensions.vary.runs import FailsByDefault
        from sandbox.extensions.vary.verdict import merge

        if not self.vary:
            return False
        try:
            with ThreadPoolExecutor(order.jobs) as pool:
                judgements = pool.map(lambda script: self.judge_script(script, url, order.key, world_suffix), scripts)
                verdicts = [verdict for verdict in judgements if verdict is not None]
        except FailsByDefault as failed:
            raise click.ClickException(f"{failed} held once and failed once against the bank of today") from None
        if not verdicts:
            raise click.ClickException("no call of these scenarios met one of the axes or could be answered with a lie")
        return self.print_verdict(merge(verdicts))

    def judge_script(self, script: "Script", url: str, key: str | None, world_suffix: str) -> "Verdict | None":
        """Returns the verdict on a scenario that has passed on the default bank. Returns None if no axis and no lie
        makes a difference to its calls. Axes that the scenario sets by itself are not varied. Raises FailsByDefault if
        the scenario now fails on the default bank."""
        from sandbox.extensions.vary.command import judge_all
        from sandbox.extensions.vary.runs import NothingMet, Runs

        own_axes = {axis for axis, _ in script.scenario.settings.variants}
        space = self.space.select_axes(self.space.axes.keys() - own_axes)
        try:
            return judge_all(Runs(make_trial(script, url, key, world_suffix)), space, self.strength, 1, self.lies)
        except NothingMet:
            return None


def make_trial(script: "Script", url: str, key: str | None, world_suffix: str) -> "Callable[[Variant], VariantRun]":
    """Returns a function that plays the scenario under a variant and returns the run."""
    from sandbox.extensions.vary.call_comparison import RunCalls
    from sandbox.extensions.vary.run_banks import Looks, WorldNotes, look_at
    from sandbox.extensions.vary.runs import Result
    from sandbox.player.runs import SEED, Differing, make_world_name, run_one

    reference: Reference = ()

    def play_under(variant: "Variant") -> "VariantRun":
        nonlocal reference
        notes, last_call = WorldNotes(), ""

        def look(controls: "Controls") -> None:
            nonlocal notes, last_call, reference
            notes = look_at(controls, Looks(lies=bool(variant.extensions)))
            calls = RunCalls(controls, notes.rows, variant, reference)
            last_call, reference = calls.describe_last(), calls.reference

        world = make_world_name(script, f"{world_suffix}.{variant.name}")
        differing = Differing(variant.axes, look, SEED, variant.extensions)
        report = run_one(script, url, machine_time, key, world, differing)
        result = Result(True) if report.passed else Result(False, report.failure, last_call)
        return notes.make_run({script.scenario.name: result}, seconds=report.seconds)

    return play_under
