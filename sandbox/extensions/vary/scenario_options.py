"""The options by which `bank-sandbox scenario run` also plays scenarios where the bank differs."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import explain_errors, option_row
from sandbox.extensions.vary.command_options import VaryOptions, axes_row, only_row
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.commands.scenario import RunOptions
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

    def judge(self, scripts: "list[Script]", order: "RunOptions", url: str, apart: str) -> bool:
        from sandbox.extensions.vary.scenarios import judge_script
        from sandbox.extensions.vary.verdict import FailsToday, merge

        if not self.vary:
            return False

        def judged(script: "Script") -> "Verdict | None":
            return judge_script(script, self.space, self.strength, url, machine_time, order.key, apart)

        try:
            with ThreadPoolExecutor(order.jobs) as pool:
                found = [one for one in pool.map(judged, scripts) if one is not None]
        except FailsToday as failed:
            raise click.ClickException(f"{failed} held once and failed once against the bank of today") from None
        if not found:
            raise click.ClickException("no call of these scenarios met one of the axes")
        return self.print_verdict(merge(found))
