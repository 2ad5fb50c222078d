"""`bank-sandbox scenario run --vary`: scenarios played again where the bank differs."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.cover import axes_options, read_space
from sandbox.commands.vary_reports import demand_reports, read_allow_file, tell_verdict
from sandbox.machine import machine_time

if TYPE_CHECKING:
    from sandbox.player.runs import Differing, Script
    from sandbox.vary.allowed import Allowed
    from sandbox.vary.space import Space


def vary_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a run that is varied."""
    for add in (
        click.option("--allow-write", is_flag=True, help="Write what breaks now into the file of --allow."),
        click.option("--allow", type=click.Path(dir_okay=False, path_type=Path), help="A file of known breaks."),
        click.option("--report", multiple=True, metavar="FILE", help="Write .html, .xml, .sarif or .json; repeatable."),
        axes_options,
        click.option("--strength", type=click.IntRange(1, 3), default=2, help="With --vary: so many axes at once."),
        click.option("--variants", metavar="AXIS=VALUE,...", help="How the bank of each scenario differs."),
        click.option("--vary", is_flag=True, help="Play again where the bank differs, and say what breaks a scenario."),
    ):
        command = add(command)
    return command


@dataclass(frozen=True)
class VaryOrder:
    """What the options ask for."""

    space: "Space"
    strength: int
    allowed: "list[Allowed]"
    allow_file: Path | None
    reports: list[Path]


def read_order(
    vary: bool, strength: int, axes: str, only: str, allow: Path | None, allow_write: bool, report: tuple[str, ...]
) -> VaryOrder | None:
    """The order of --vary; None without it."""
    if not vary:
        return None
    allowed = read_allow_file(allow, allow_write)
    space = read_space(axes, only, within=True)
    return VaryOrder(space, strength, allowed, allow if allow_write else None, demand_reports(report))


def read_differing(variants: str | None) -> "Differing":
    from sandbox.contract.variants import AXES
    from sandbox.player.runs import Differing
    from sandbox.vary.allowed import read_variant
    from sandbox.vary.space import space_of

    if variants is None:
        return Differing()
    try:
        return Differing(dict(read_variant(variants, space_of(AXES, within=False)).changes))
    except ValueError as wrong:
        raise click.BadParameter(str(wrong), param_hint="--variants") from None


def vary_scripts(
    order: VaryOrder, scripts: "Sequence[Script]", url: str, key: str | None, jobs: int, apart: str
) -> bool:
    """Plays each scenario under a covering set of what it meets, and prints the verdict; gives whether one breaks."""
    from sandbox.player.varied import judge_script
    from sandbox.vary.verdict import FailsToday, Verdict, merge

    def judged(script: "Script") -> Verdict | None:
        return judge_script(script, order.space, order.strength, url, machine_time, key, apart)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            found = [one for one in pool.map(judged, scripts) if one is not None]
    except FailsToday as failed:
        raise click.ClickException(f"{failed} held once and failed once against the bank of today") from None
    if not found:
        raise click.ClickException("no call of these scenarios met one of the axes")
    return tell_verdict(merge(found), order.allowed, order.allow_file, order.reports, as_json=False)
