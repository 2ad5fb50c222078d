"""The command `bank-sandbox vary`: runs a test command against variants of the bank."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import add_options, explain_errors, option_row
from sandbox.commands.screen import draw_progress
from sandbox.extensions.vary.command_options import (
    FILE,
    CommandRunOptions,
    VaryOptions,
    axes_row,
    only_row,
    warn_if_slow,
)
from sandbox.machine import machine_time, stopwatch

if TYPE_CHECKING:
    from sandbox.extensions.vary.command_runs import CommandRuns
    from sandbox.extensions.vary.run_banks import Banks
    from sandbox.extensions.vary.runs import Runs, VariantRun
    from sandbox.extensions.vary.space import Space
    from sandbox.extensions.vary.verdict import Verdict

BREAKS, USAGE, FAILS_TODAY, STOPPED = 1, 2, 3, 130
STRENGTH = 2
OUTPUT_LINES = 40  # of a command that fails on the default bank


@dataclass(frozen=True)
class VaryTaskOptions(VaryOptions):
    """The options that say what `vary` tries out, and what it reports."""

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

    @property
    def varied(self) -> "Space | None":
        """The space of the axes to vary, or None if only lies are tried."""
        varies = not self.lies or self.strength is not None or bool(self.axes or self.only)
        return self.space if varies else None

    @property
    def axes_at_once(self) -> int:
        return self.strength or STRENGTH


@dataclass(frozen=True)
class VaryCommandOptions(CommandRunOptions, VaryTaskOptions):
    """The options of `vary`."""


@click.command()
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
@add_options(VaryCommandOptions, "order")
def vary(order: VaryCommandOptions) -> None:
    """Runs a test command against banks that differ. The first is the default bank, the others are a covering set.

    The command finds its bank in SANDBOX_URL and BANK_BASE_URL, or where a word has {url}. If it writes a JUnit file,
    to {junit} or to --junit FILE, each test gets its own verdict. Otherwise the command is one test.

    With --lies, the bank also lies, with one lie in each run: another amount, a settled payment that is not settled, a
    line of another account. The verdict names each test that reads a lie and passes.

    Exits with 0 if the client withstands every axis that it met, or if its breaks are allowed. Exits with 1 if
    something breaks or nobody notices a lie, and with 2 if the command line is wrong. Exits with 3 if the command fails
    on the default bank, or meets no axis and no lie, and with 130 if it was stopped. The same command continues a
    stopped run.
    """
    from sandbox.extensions.vary.runs import compute_fingerprint
    from sandbox.extensions.vary.space import DEFAULT_BANK, LISTING

    varied, begin = order.varied, order.begin
    if order.variants is not None:
        sys.exit(run_once(order, order.variants))
    if order.allow_lies is not None and not order.lies:
        raise click.UsageError("--allow-lies needs --lies")
    order.check_files()
    axes = {} if varied is None else dict(varied.axes)
    about = compute_fingerprint(order.command, order.axes_at_once, axes, order.lies, begin, str(order.junit), order.url)
    with open_session(order, about, FAILS_TODAY, partial(describe_nothing_met, order)) as (trial, runs):
        trial.use_as_reference(runs.find_run(LISTING if varied is None else DEFAULT_BANK))
        verdict = judge_all(runs, varied, order.axes_at_once, order.seed, order.lies)
    sys.exit(BREAKS if order.print_verdict(verdict, order.as_json) else 0)


@contextmanager
def open_session(
    order: CommandRunOptions, about: str, failure_code: int, describe_nothing_met: Callable[[int], str]
) -> Iterator[tuple["CommandRuns", "Runs"]]:
    """Yields the object that runs the command, and the cache of its runs. While the block runs, shows how many runs are
    done. The runs are stored in the file of --results, from which a stopped session continues.

    Deletes this file at the end of the block, also if the block raises FailsByDefault or NothingMet. For these two,
    exits with `failure_code`. For NothingMet, first prints the sentence that `describe_nothing_met` returns for the
    number of calls that the command made. If the user interrupts the block, keeps the file and exits with STOPPED.
    """
    from sandbox.extensions.vary.runs import FailsByDefault, NothingMet, ResultsFile, Runs

    with explain_errors(OSError, about=f"{order.results} cannot be written: ", option="--results"):
        results_file = ResultsFile(order.results, about, order.fresh)
    with open_trial(order) as trial, ThreadPoolExecutor(order.at_once) as pool:
        runs = Runs(trial, results_file, pool.map, order.at_once, probes=order.url is None)
        if runs.count:
            click.echo(f"Going on with {order.results}: {runs.count} runs are done. --fresh begins again.", err=True)
        try:
            with show_progress(runs):
                yield trial, runs
        except FailsByDefault as failed:
            results_file.end()
            print_failure(failed.run, trial.default_output)
            sys.exit(failure_code)
        except NothingMet:
            results_file.end()
            click.echo(describe_nothing_met(runs.find_run(runs.variants[0]).calls), err=True)
            sys.exit(failure_code)
        except KeyboardInterrupt:
            trial.stop()
            pool.shutdown(cancel_futures=True)
            click.echo(f"\nStopped after {runs.count} runs. The same command goes on from {order.results}.", err=True)
            sys.exit(STOPPED)
    results_file.end()


@contextmanager
def open_banks(order: CommandRunOptions) -> Iterator["Banks"]:
    """Yields the object that makes a bank for each run: at the sandbox of --url, or at a new sandbox on a free port."""
    from sandbox.client import Controls
    from sandbox.extensions.vary.run_banks import RemoteBanks, start_local_banks

    if order.url is not None:
        with Controls(order.url, key=order.key) as server:
            yield RemoteBanks(server)
    else:
        with start_local_banks(machine_time, order.at_once, order.seed) as banks:
            yield banks


@contextmanager
def open_trial(order: CommandRunOptions) -> Iterator["CommandRuns"]:
    """Yields the object that runs the command under a variant. Exits with an error if the command cannot be started, or
    if the sandbox refuses a world or does not answer."""
    import httpx

    from sandbox.client import Refused, Unreadable
    from sandbox.extensions.vary.command_runs import CommandRuns

    world_suffix = "" if order.url is None else f".{token_hex(3)}"
    with open_banks(order) as banks:
        trial = CommandRuns(order.command, banks, stopwatch, order.begin, order.junit, order.timeout, world_suffix)
        try:
            yield trial
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
    with open_trial(order) as trial:
        name = f"{variant.name}{trial.world_suffix}"
        url = trial.banks.begin(name, order.begin, variant, Looks()).url
        words = [fill(word, {"url": url, "world": name, "junit": os.devnull}) for word in order.command]
        return subprocess.run(words, env=os.environ | trial.make_environment(url), check=False).returncode


def judge_all(runs: "Runs", space: "Space | None", strength: int, seed: int, tells_lies: bool) -> "Verdict":
    """Returns the verdict on the axes of the space, and with `tells_lies` also on the lies. If the space is None, the
    verdict is only on the lies.

    The axes can be judged if the calls of the tests meet one. The lies can be judged if one of them could change a
    reply. If both are asked for and only one can be judged, the verdict on the other is empty. Raises NothingMet if
    nothing that is asked for can be judged, and FailsByDefault if a test fails on the default bank.
    """
    from sandbox.extensions.vary.lie_verdict import LieVerdict, judge_lies
    from sandbox.extensions.vary.runs import NothingMet
    from sandbox.extensions.vary.space import DEFAULT_BANK, Space
    from sandbox.extensions.vary.verdict import Verdict, judge

    verdict, lies = None, None
    if space is not None:
        warn_if_slow(strength, len(runs.find_run(DEFAULT_BANK).met & space.axes.keys()))
        with suppress(NothingMet) if tells_lies else nullcontext():
            verdict = judge(runs, space, strength, seed)
    if tells_lies:
        with suppress(NothingMet) if verdict is not None else nullcontext():
            lies = judge_lies(runs)
        lies = lies or LieVerdict()
    assert verdict is not None or lies is not None
    if verdict is None:
        verdict = Verdict(space or Space({}), 0, runs.tests, frozenset())
    return replace(verdict, lies=lies, runs=runs.count)


@contextmanager
def show_progress(runs: "Runs") -> Iterator[None]:
    """Shows how many runs are done, out of `runs.expected`."""
    runs_shown = 0

    def report() -> None:
        nonlocal runs_shown
        before, runs_shown = runs_shown, runs.count
        label = "running" if runs_shown <= runs.expected else "looking for causes"
        step(runs_shown - before, total=max(runs.expected, runs_shown), label=label)

    with draw_progress("today's bank", 1) as step:
        runs.report = report
        yield


def print_failure(run: "VariantRun", output: str) -> None:
    """Prints which tests fail on the default bank, with their errors, and the last lines of the command's output. `run`
    is the run on the default bank."""
    click.echo("The command fails against the bank of today, so nothing can be said about other banks:", err=True)
    for name in run.failed:
        click.echo(f"  {name}: {run.tests[name].failure}", err=True)
    lines = output.splitlines()[-OUTPUT_LINES:]
    if lines:
        click.echo("\n".join(["The end of its output:", *(f"  {line}" for line in lines)]), err=True)


def describe_nothing_met(order: VaryCommandOptions, calls: int) -> str:
    if not calls:
        return (
            "The command passed, but made no call to its bank: it must call the address in SANDBOX_URL, or {url} in "
            "one of its words."
        )
    axes = [] if order.varied is None else [f"met one of these axes: {', '.join(order.varied.axes)}"]
    lies = ["could be answered with a lie"] if order.lies else []
    return f"The command made {calls} calls, and none {' or '.join(axes + lies)}"
