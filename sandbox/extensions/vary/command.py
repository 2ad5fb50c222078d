"""The command `bank-sandbox vary`: runs a test command against variants of the bank."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.options import env_row, explain_errors, option_row, options_of
from sandbox.commands.screen import meter
from sandbox.extensions.vary.command_options import VaryOptions, axes_row, only_row, warn_if_slow
from sandbox.machine import machine_time, stopwatch

if TYPE_CHECKING:
    from sandbox.extensions.vary.command_runs import CommandRuns
    from sandbox.extensions.vary.run_banks import Banks
    from sandbox.extensions.vary.runs import ResultsFile, Runs, VariantRun
    from sandbox.extensions.vary.space import Variant
    from sandbox.extensions.vary.verdict import Verdict

BREAKS, USAGE, FAILS_TODAY, STOPPED = 1, 2, 3, 130
STRENGTH = 2
RESULTS = ".bank-sandbox-vary.jsonl"
OUTPUT_LINES = 40  # of a command that fails today


FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class VaryCommandOptions(VaryOptions):
    """The options of `vary`."""

    command: tuple[str, ...]
    strength: int | None = option_row(
        "So many axes at once.  [default: 2; with --lies: no axes]", type=click.IntRange(1, 3), default=None
    )
    lies: bool = option_row(
        "Tell one lie at a time, and say which nobody notices. Axes are varied too if --strength, --axes or --only is "
        "given.",
        is_flag=True,
    )
    axes: str = axes_row()
    only: str = only_row()
    jobs: int = option_row(type=click.IntRange(1, 64), default=min(4, os.cpu_count() or 1), show_default=True)
    variants: str | None = option_row("Run the command once, against this variant only.", metavar="AXIS=VALUE,...")
    allow: Path | None = option_row("A file of known breaks.", type=FILE)
    allow_lies: Path | None = option_row("With --lies: a file of lies that a test may believe.", type=FILE)
    allow_write: bool = option_row(
        "Write what breaks now into the file of --allow, and what nobody notices into that of --allow-lies.",
        is_flag=True,
    )
    report: tuple[str, ...] = option_row(
        "Write .html, .xml (JUnit), .sarif or .json; repeatable.", multiple=True, metavar="FILE"
    )
    as_json: bool = option_row("The verdict as JSON.", "--json", is_flag=True)
    junit: Path | None = option_row("Where the command writes its JUnit.", type=FILE)
    timeout: float | None = option_row(
        "Seconds for each run. Default: 5 times today's, 60 at least.", type=click.FloatRange(0.1)
    )
    results: Path = option_row(type=FILE, default=RESULTS, show_default=True)
    fresh: bool = option_row("Do not go on with the results of a stopped run.", is_flag=True)
    scenario: str = option_row("What each world begins with: a name or a file.", default="default", show_default=True)
    seed: int = option_row("Of the variants and of the worlds.", type=click.IntRange(0), default=1, show_default=True)
    at: str | None = option_row("Start time of the clocks; default: now.", default=None)
    frozen: bool = option_row("Freeze the clocks until they are moved.", is_flag=True)
    url: str | None = env_row("A running sandbox; default: start a new one.", default=None)
    key: str | None = env_row("The key of that sandbox's controls.", default=None)

    @property
    def varies(self) -> bool:
        return not self.lies or self.strength is not None or bool(self.axes or self.only)

    @property
    def axes_at_once(self) -> int:
        return self.strength or STRENGTH

    @property
    def at_once(self) -> int:
        """Returns how many runs are made at once: 1 if all of them write to the same file."""
        return 1 if self.junit else self.jobs

    @cached_property
    def begin(self) -> dict[str, Any]:
        """Returns what each world begins with, except for its variants."""
        from sandbox.banking.durations import read_instant
        from sandbox.scenarios import ScenarioErrors, load
        from sandbox.testing.start import Start, scenario_content

        if self.at is not None:
            with explain_errors(ValueError, about=f"{self.at!r:.60}: ", option="--at"):
                read_instant(self.at)
        with explain_errors(ScenarioErrors, option="--scenario"):
            load(self.scenario)
            content = scenario_content(Start(self.scenario))
        clock = ({"at": self.at} if self.at is not None else {}) | ({"frozen": True} if self.frozen else {})
        body = {"seed": self.seed} | ({"clock": clock} if clock else {})
        return body if content == "default" else body | {"scenario": content}


@click.command()
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@options_of(VaryCommandOptions, "order")
def vary(order: VaryCommandOptions) -> None:
    """Runs a test command against banks that differ. The first is the bank of today, the others
    are the worlds of a covering set.

    The command finds its bank in SANDBOX_URL and BANK_BASE_URL, or where a word has {url}. Where it writes a JUnit
    file, to {junit} or to --junit FILE, each test gets a verdict of its own; else the command is one test.

    With --lies the bank says something that is not true, one lie in each run: another amount, a settled payment that is
    not settled, a line of another account. A test that reads it and passes is named.

    Exits with 0 when the client withstands every axis that it met or the breaks are allowed, 1 when something breaks
    or nobody notices a lie, 2 when the command line is wrong, 3 when the command fails against the bank of today
    already or meets no axis and no lie, 130 when it was stopped. A stopped run goes on where the same command is given
    again."""
    from sandbox.extensions.vary.runs import ResultsFile, fingerprint

    space, begin = order.space, order.begin
    if order.variants is not None:
        sys.exit(run_once(order, order.variants))
    if order.allow_lies is not None and not order.lies:
        raise click.UsageError("--allow-lies needs --lies")
    order.check_files()
    varied = dict(space.axes) if order.varies else {}
    parts = (order.command, order.axes_at_once, varied, order.lies, begin, str(order.junit), order.url)
    about = fingerprint(*parts)
    with explain_errors(OSError, about=f"{order.results} cannot be written: ", option="--results"):
        results_file = ResultsFile(order.results, about, order.fresh)
    verdict = find_verdict(order, results_file)
    results_file.end()
    sys.exit(BREAKS if order.print_verdict(verdict, order.as_json) else 0)


@contextmanager
def banks_of(order: VaryCommandOptions) -> Iterator["Banks"]:
    """Returns the banks of runs: at the sandbox of --url, or at a new one on a free port."""
    from sandbox.client import Controls
    from sandbox.extensions.vary.run_banks import RemoteBanks, local_banks

    if order.url is not None:
        with Controls(order.url, key=order.key) as server:
            yield RemoteBanks(server)
    else:
        with local_banks(machine_time, order.at_once, order.seed) as banks:
            yield banks


@contextmanager
def trial_of(order: VaryCommandOptions) -> Iterator["CommandRuns"]:
    """Returns the function that runs the command. Exits with an error if no program starts or no server answers."""
    import httpx

    from sandbox.client import Refused, Unreadable
    from sandbox.extensions.vary.command_runs import CommandRuns

    world_suffix = "" if order.url is None else f".{token_hex(3)}"
    with banks_of(order) as banks:
        trial = CommandRuns(order.command, banks, stopwatch, order.begin, order.junit, order.timeout, world_suffix)
        try:
            yield trial
        except KeyboardInterrupt:
            trial.stop()
            raise
        except (FileNotFoundError, PermissionError) as error:
            raise click.UsageError(f"{order.command[0]!r} cannot be started: {error.strerror}") from None
        except Refused as no:
            raise click.UsageError(f"the sandbox refuses a world: {no.status} {no.error_description}") from None
        except (Unreadable, httpx.TransportError, httpx.InvalidURL) as no:
            raise click.ClickException(f"no sandbox answers at {order.url}: {no}") from None


def run_once(order: VaryCommandOptions, variants: str) -> int:
    """Runs the command against one variant, in this terminal. Returns its exit code."""
    from sandbox.extensions.vary.command_runs import fill
    from sandbox.extensions.vary.run_banks import Looks
    from sandbox.extensions.vary.space import read_variant

    with explain_errors(ValueError, ends=click.UsageError):
        variant = read_variant(variants)
    with trial_of(order) as trial:
        name = f"{variant.name}{trial.world_suffix}"
        url = trial.banks.begin(name, order.begin, variant, Looks()).url
        words = [fill(word, {"url": url, "world": name, "junit": os.devnull}) for word in order.command]
        return subprocess.run(words, env=os.environ | trial.environment(url), check=False).returncode


def find_verdict(order: VaryCommandOptions, results_file: "ResultsFile") -> Any:
    from sandbox.extensions.vary.runs import FailsToday, NothingMet, Runs
    from sandbox.extensions.vary.space import LISTING, TODAY

    first = TODAY if order.varies else LISTING
    with trial_of(order) as trial, ThreadPoolExecutor(order.at_once) as pool:
        runs = Runs(trial, results_file, pool.map, order.at_once)
        if runs.count:
            click.echo(
                f"Going on with {results_file.path}: {runs.count} runs are done. --fresh begins again.", err=True
            )
        try:
            with progress_meter(runs):
                trial.use_as_reference(runs.of(first))
                return judge_all(runs, order)
        except FailsToday as failed:
            results_file.end()
            print_failure(failed.run, trial, first)
        except NothingMet:
            results_file.end()
            print_nothing_met(runs.of(first), order)
        except KeyboardInterrupt:
            trial.stop()
            pool.shutdown(cancel_futures=True)
            click.echo(
                f"\nStopped after {runs.count} runs. The same command goes on from {results_file.path}.", err=True
            )
            sys.exit(STOPPED)
    sys.exit(FAILS_TODAY)


def judge_all(runs: "Runs", order: VaryCommandOptions) -> "Verdict":
    """Judges axes and lies, as far as they were asked for. Raises FailsToday, and NothingMet if neither was met."""
    from sandbox.extensions.vary.lie_verdict import LieVerdict, judge_lies
    from sandbox.extensions.vary.runs import NothingMet
    from sandbox.extensions.vary.space import TODAY, Space
    from sandbox.extensions.vary.verdict import Verdict, judge

    verdict, lies = None, None
    if order.varies:
        warn_if_slow(order.axes_at_once, len(runs.of(TODAY).met & order.space.axes.keys()))
        with suppress(NothingMet) if order.lies else nullcontext():
            verdict = judge(runs, order.space, order.axes_at_once, order.seed)
    if order.lies:
        with suppress(NothingMet) if verdict is not None else nullcontext():
            lies = judge_lies(runs)
        lies = lies or LieVerdict()
    assert verdict is not None or lies is not None
    if verdict is None:
        verdict = Verdict(order.space if order.varies else Space({}), 0, runs.tests, frozenset())
    return replace(verdict, lies=lies, runs=runs.count)


@contextmanager
def progress_meter(runs: "Runs") -> Iterator[None]:
    """Shows how many runs are done, out of `runs.expected`."""
    shown = 0

    def report() -> None:
        nonlocal shown
        before, shown = shown, runs.count
        label = "running" if shown <= runs.expected else "looking for causes"
        step(shown - before, total=max(runs.expected, shown), label=label)

    with meter("today's bank", 1) as step:
        runs.report = report
        yield


def print_failure(run: "VariantRun", trial: "CommandRuns", first: "Variant") -> None:
    """Prints how the command fails against the bank of today."""
    click.echo("The command fails against the bank of today, so nothing can be said about other banks:", err=True)
    for name in run.failed:
        click.echo(f"  {name}: {run.tests[name].failure}", err=True)
    output = trial.outputs.get(first, "").splitlines()[-OUTPUT_LINES:]
    if output:
        click.echo("\n".join(["The end of its output:", *(f"  {line}" for line in output)]), err=True)


def print_nothing_met(run: "VariantRun", order: VaryCommandOptions) -> None:
    if run.calls:
        axes = [f"met one of these axes: {', '.join(order.space.axes)}"] if order.varies else []
        lies = ["could be answered with a lie"] if order.lies else []
        click.echo(f"The command made {run.calls} calls, and none {' or '.join(axes + lies)}", err=True)
        return
    click.echo(
        "The command passed, but made no call to its bank: it must call the address in SANDBOX_URL, or {url} in one of "
        "its words. Tests with the fixture `bank` begin banks of their own; for these there is `pytest --bank-vary`.",
        err=True,
    )
