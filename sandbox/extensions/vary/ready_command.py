"""The command `bank-sandbox ready`, which says whether a client may go live, and `ready verify`, which checks its
document."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.options import add_options, explain_errors, json_option, option_row
from sandbox.commands.screen import format_json
from sandbox.extensions.vary.command import open_session
from sandbox.extensions.vary.command_options import FILE, CommandRunOptions, make_results_row, make_strength_row

if TYPE_CHECKING:
    from sandbox.extensions.vary.command_runs import CommandRuns
    from sandbox.extensions.vary.readiness import Acceptance, Evidence
    from sandbox.extensions.vary.runs import Runs

NOT_READY, NOT_USABLE = 1, 2
RESULTS = ".bank-sandbox-ready.jsonl"
NO_CALL = "The command made no call that says anything: it must call the address in SANDBOX_URL."


class ReadyGroup(click.Group):
    """A command group whose words are either a subcommand, or `--` and a test command. The words after `--` become the
    parameter `command`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        command: tuple[str, ...] = ()
        if "--" in args:
            place = args.index("--")
            args, command = args[:place], tuple(args[place + 1 :])
        remaining_args = super().parse_args(ctx, args)
        ctx.params["command"] = command
        return remaining_args

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"a test command stands after --: bank-sandbox ready -- {' '.join(args)}", ctx)
        return super().resolve_command(ctx, args)


@dataclass(frozen=True)
class ReadyTaskOptions:
    """The options that say how much `ready` tries, and where it writes its results."""

    strength: int = make_strength_row(default=1)
    output: Path = option_row(
        "The folder of ready.json, ready.html, ready.svg and worlds.", "-o", "--output",
        type=click.Path(file_okay=False, path_type=Path), default=Path("ready"), show_default=True,
    )  # fmt: skip
    accept: Path | None = option_row("A file of accepted findings.  [default: ready.yaml, if there is one]", type=FILE)
    json: bool = option_row("The document as JSON.", "--json", is_flag=True)

    @cached_property
    def accepted(self) -> "Mapping[str, Acceptance]":
        from sandbox.extensions.vary.readiness import ACCEPTED, find_accepted
        from sandbox.reader.tree import ScenarioErrors

        about = f"{self.accept or ACCEPTED}: "
        with explain_errors(ValueError, ScenarioErrors, OSError, about=about, option="--accept"):
            return find_accepted(self.accept)


@dataclass(frozen=True)
class ReadyOptions(CommandRunOptions, ReadyTaskOptions):
    """The options of `ready`."""

    results: Path = make_results_row(RESULTS)


@click.group(cls=ReadyGroup, invoke_without_command=True, subcommand_metavar="-- COMMAND... | verify FILE")
@add_options(ReadyOptions, "options")
@click.pass_context
def ready(context: click.Context, options: ReadyOptions) -> None:
    """Says whether a client may go live. Gives a verdict on each of 12 items, the facts behind it, and what no test
    covers.

    First runs the test command with the referee and the coverage. Then runs it against each value on which a bank may
    differ, each lie that its calls can meet, a gateway that fails, and nights at which clocks change. Writes
    ready.json, ready.html and ready.svg.

    Exits with 0 if the client is ready, and with 1 if it is not. Exits with 2 if the command line is wrong, or if the
    command fails on the default bank.
    """
    if context.invoked_subcommand is not None:
        return
    if not options.command:
        raise click.UsageError("a test command is missing: bank-sandbox ready -- pytest --junitxml={junit}")
    assert options.accepted is not None
    with explain_errors(OSError, about=f"{options.output} cannot be written: ", option="--output"):
        options.output.mkdir(parents=True, exist_ok=True)
    from sandbox.extensions.vary.ready_page import write_files

    document = judge_command(options)
    try:
        write_files(options.output, document)
    except OSError as error:
        raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from None
    if options.json:
        click.echo(format_json(document))
    else:
        print_document(document, options.output)
    sys.exit(0 if document["ready"] else NOT_READY)


def judge_command(options: ReadyOptions) -> dict[str, Any]:
    """Makes all runs, and returns the readiness document. Also runs the command a few times more, and writes the worlds
    of these further runs into the folder of --output (see `export_worlds`). Exits if the command fails on the default
    bank, or if no axis and no lie makes a difference to its calls."""
    from sandbox.extensions.vary.readiness import make_document
    from sandbox.extensions.vary.runs import compute_fingerprint

    parts = (options.command, options.strength, options.begin, str(options.junit), options.url)
    with open_session(options, compute_fingerprint("ready", *parts), NOT_USABLE, lambda calls: NO_CALL) as (
        trial,
        runs,
    ):
        trial.referee = True
        evidence = collect(runs, trial, options)
        document = make_document(evidence, options.accepted)
        worlds = export_worlds(trial, runs, document, options.output)
    return make_document(evidence, options.accepted, worlds)


def collect(runs: "Runs", trial: "CommandRuns", options: ReadyOptions) -> "Evidence":
    """Runs the command with the referee, and under axes, lies, nights and gateway faults (see conditions.py). Returns
    what these runs found. Raises FailsByDefault if a test fails on the default bank, and NothingMet if no axis and no
    lie makes a difference."""
    from sandbox.extensions.vary.command import judge_all
    from sandbox.extensions.vary.command_options import read_space
    from sandbox.extensions.vary.conditions import FAULT, GATEWAY_FAULTS, NIGHT, NIGHTS
    from sandbox.extensions.vary.readiness import Evidence, run_condition
    from sandbox.extensions.vary.runs import FailsByDefault
    from sandbox.extensions.vary.space import DEFAULT_BANK, LISTING

    listing = runs.find_run(LISTING)
    if listing.failed:
        raise FailsByDefault(listing)
    trial.use_as_reference(runs.find_run(DEFAULT_BANK))
    space = read_space("", "", within=True)
    verdict = judge_all(runs, space, options.strength, options.seed, tells_lies=True)
    nights = [run_condition(runs, NIGHT, name) for name in NIGHTS]
    faults = [run_condition(runs, FAULT, name) for name in GATEWAY_FAULTS]
    return Evidence(
        replace(verdict, runs=runs.count),
        listing.findings,
        listing.coverage,
        nights,
        faults,
        " ".join(options.command),
        options.seed,
    )


# Worlds


def export_worlds(
    trial: "CommandRuns", runs: "Runs", document: Mapping[str, Any], folder: Path
) -> list[dict[str, Any]]:
    """Runs the command once more on the default bank and under the variants of the first findings, at most WORLDS_MAX
    variants in all. Writes the worlds of these runs into the folder, and returns a row of the document for each world.
    """
    from sandbox.extensions.vary.ready_worlds import WORLDS_MAX, write_worlds
    from sandbox.extensions.vary.space import DEFAULT_BANK

    variants = list(dict.fromkeys([DEFAULT_BANK, *filter(None, map(find_variant, list_names(document)))]))[:WORLDS_MAX]
    exported = runs.spread(lambda variant: trial.run(variant, export=True)[1], variants)
    return write_worlds(
        folder, [(variant, text) for variant, texts in zip(variants, exported, strict=True) for text in texts]
    )


def list_names(document: Mapping[str, Any]) -> Iterable[str]:
    return (row["name"] for item in document["items"] for row in item["findings"])


def find_variant(name: str) -> Any:
    """Returns the variant under which a finding was made. Reads it from the name of the finding, such as
    `lie/token_lasts`. Returns None for a finding of the referee, because the run on the default bank shows it."""
    from sandbox.extensions.vary.space import read_variant

    kind, _, variant_text = name.partition("/")
    if kind == "referee":
        return None
    return read_variant(variant_text if kind == "axis" else f"{kind}={variant_text}")


# Output


COLOURS = {"pass": "green", "fail": "red", "not covered": "yellow"}


def print_document(document: Mapping[str, Any], folder: Path) -> None:
    from sandbox.extensions.vary.readiness import describe_document

    for line in describe_document(document):
        word = line[:12].strip()
        if word in COLOURS and sys.stdout.isatty():
            line = click.style(line[:12], fg=COLOURS[word]) + line[12:]
        click.echo(line)
    click.echo(f"{'READY' if document['ready'] else 'NOT READY'}: {folder / 'ready.html'}; digest {document['digest']}")


@ready.command("verify")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def verify_document(file: Path, as_json: bool) -> None:
    """Checks that a ready.json and its worlds were not changed.

    Also replays each world in a bank of this machine. Exits with 0 if every replay ends as the ready.json says. Exits
    with 1 if a byte was changed, or if a replay ends in another way."""
    from sandbox.extensions.vary.ready_worlds import list_problems

    problems: Sequence[str] = list_problems(file)
    if as_json:
        click.echo(format_json({"file": str(file), "problems": problems}))
    for problem in problems if not as_json else ():
        click.echo(problem, err=True)
    if problems:
        sys.exit(NOT_READY)
    if not as_json:
        click.echo(f"Unchanged, and each replay ends as before: {file}")
