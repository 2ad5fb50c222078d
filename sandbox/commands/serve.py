"""The command `bank-sandbox serve`, and the text that it prints at its start: addresses and a next step (choice 12)."""

import secrets
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.docs import write_commands_page
from sandbox.commands.options import INSTANT, SEED, Seed, add_options, explain_errors, option
from sandbox.commands.serve_options import AccessOptions, CapacityOptions, StateOptions
from sandbox.machine import machine_time, stopwatch
from sandbox.server_address import HOST, PORT, URL, make_openable
from sandbox.storage.long_work import keep_pauses_short

if TYPE_CHECKING:
    from sandbox.worlds.beginning import Beginning
    from sandbox.worlds.registry import PlayedStep, WorldRegistry


# More threads do not make short calls faster, because Python runs one thread at a time. Measured on 2 cores with 8
# connections: 1 thread answered 3,520 status calls a second, 2 threads 3,280, and 4 threads 3,140. But with one thread
# a long call, such as a large file or a reset, would delay all others.
THREADS = 4
PROGRAM = "bank-sandbox"


@click.command()
@option("--host", default=HOST, help="The address to listen on.")
@option("--port", default=PORT, type=click.IntRange(0, 65535), help="The port; 0 for a free one.")
@option("--scenario", default="default", help="A shipped scenario by its name, or a file.")
@option(
    "--seed",
    type=SEED,
    default=None,
    help="Same seed, same bytes. Left out, one is drawn; on a network its secret part is not shown.",
)
@option("--at", type=INSTANT, default=None, help="Start time of the bank's clock, such as 2027-03-01T09:00.")
@option("--frozen", is_flag=True, help="Freeze the bank's clock until it is moved.")
@option(
    "--threads",
    default=THREADS,
    type=click.IntRange(1, 64),
    help="Calls handled at once. More threads are not faster, but a long call blocks fewer others.",
)
@option("--log", default="text", type=click.Choice(["text", "json", "off"]), help="A line per call, on stderr.")
@add_options(StateOptions, "storage")
@add_options(CapacityOptions, "capacity")
@add_options(AccessOptions, "access")
@click.pass_context
def serve(
    context: click.Context,
    /,
    scenario: str,
    seed: Seed | None,
    at: datetime | None,
    frozen: bool,
    log: str,
    storage: StateOptions,
    capacity: CapacityOptions,
    access: AccessOptions,
) -> None:
    """Serves the bank until it is told to stop."""
    from sandbox.app import assemble
    from sandbox.server.access_log import make_announcer
    from sandbox.web.docs.document_row import ADDED_PAGES

    if context.obj is not None:
        context.obj()
    access.demand_closed()
    signal.signal(signal.SIGTERM, _stop)
    guarded = seed is None and access.is_on_a_network

    def apply_options(beginning: "Beginning") -> "Beginning":
        return capacity.apply_to(access.apply_to(beginning))

    beginning = apply_options(make_server_beginning(scenario, seed, at, frozen, guarded))
    worlds, close = storage.open(beginning, capacity.room, guarded)
    worlds.adapt = apply_options  # also to scenarios that are loaded later
    worlds.play = partial(play, worlds)
    ADDED_PAGES["commands"] = lambda: write_commands_page(context.find_root().command)
    app = assemble(worlds, make_announcer(log, machine_time), access.trust, access.lock)
    address, run = access.open_bank(app)
    controls = access.open_controls(app, worlds, address) or (address if access.lock.here else None)
    keep_pauses_short(stopwatch)
    click.echo(write_greeting(address, controls, worlds, access.lock.key is not None), err=True)
    click.echo(f"listening on {make_openable(address)}")
    sys.stdout.flush()
    try:
        run()
    finally:
        close()


def describe_seed(worlds: Any) -> str:
    """Returns the seed as text. A user can give this text to `--seed`, unless its secret part is hidden or the seed
    comes from the state file."""
    server, began, default_beginning = worlds.beginning, worlds.default.beginning, worlds.make_beginning("default")
    if (began.seed, began.secret) != (default_beginning.seed, default_beginning.secret):
        return f"{began.seed} of the state file"
    if worlds.guarded:
        return f"{server.seed} and a secret that is not shown"
    return str(Seed(server.seed, server.secret))


def find_program_name() -> str:
    """Returns the text that calls this program in a shell: its name, or its path if the shell does not find the
    name."""
    if shutil.which(PROGRAM):
        return PROGRAM
    if getattr(sys, "frozen", False):  # a packaged executable, which its user may have renamed
        return shlex.quote(sys.executable)
    beside = Path(sys.executable).with_name(PROGRAM)
    return shlex.quote(str(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m sandbox"


def write_greeting(bank: str, controls: str | None, worlds: Any, keyed: bool = False) -> str:
    from sandbox.banking.durations import write_instant

    world = worlds.default
    lines = [
        f"The sandbox bank: no money moves here. Seed {describe_seed(worlds)}; the bank's time is "
        f"{write_instant(world.opening)}{', frozen' if world.clock.pace.frozen else ''}.",
        "Client demo-tpp, secret demo-secret. "
        f"Controls: {f'{make_openable(controls)}/_sandbox/clock and beside it' if controls else 'off'}.",
        "",
        format_address("bank", make_openable(bank)),
    ]
    if controls is None:
        return "\n".join([*lines, ""])
    there = make_openable(controls)
    lines += [
        format_address("console", f"{there}/_sandbox/"),
        format_address("documentation", f"{there}/_sandbox/docs"),
        "",
    ]
    url_option = "" if there == URL else f" --url {there}"
    key = " --key ..." if keyed else ""
    if bank == controls:
        lines += [f"Next: {make_bold(f'{find_program_name()} pay{url_option}{key}')}, or New in the console."]
    return "\n".join(lines)


def format_address(name: str, address: str) -> str:
    return f"  {name:15}{make_bold(address)}"


def make_bold(text: str) -> str:
    """Returns the text, in bold if the output is a terminal."""
    return click.style(text, fg="cyan", bold=True) if sys.stderr.isatty() else text


def play(worlds: "WorldRegistry", name: str) -> "Iterator[PlayedStep]":
    """Plays a scenario for the console. Imports the player only now, because its import would delay the start."""
    from sandbox.player.runs import play_within

    return play_within(worlds, machine_time, name)


def make_server_beginning(
    scenario: str, seed: Seed | None, at: datetime | None, frozen: bool, guarded: bool
) -> "Beginning":
    """Returns the beginning of the default world. Options override the scenario. If `seed` is None, the scenario's seed
    counts, or a random one if the scenario has none. A random seed gets a secret. The scenario's seed gets one only if
    `guarded` is true, because then other machines can reach the server."""
    from sandbox.app import make_first_beginning
    from sandbox.people.life import PEOPLE_SEEDS
    from sandbox.reader.tree import ScenarioErrors
    from sandbox.scenarios.reading import load
    from sandbox.worlds.beginning import SECRET_BYTES

    with explain_errors(ScenarioErrors, about="it cannot be read:\n", option="--scenario"):
        content = load(scenario)
    if seed is None:
        number = secrets.randbelow(PEOPLE_SEEDS) if content.seed is None else content.seed
        seed = Seed(number, secrets.token_hex(SECRET_BYTES) if content.seed is None or guarded else "")
    beginning = replace(make_first_beginning(scenario=content, life="on"), seed=seed.number, secret=seed.secret)
    if at is not None:
        beginning = replace(beginning, at=at)
    return replace(beginning, rate=0.0) if frozen else beginning


def _stop(number: int, frame: Any) -> None:
    """Ends the process. Linux ignores SIGTERM for the first process of a container if it has no handler."""
    raise SystemExit(0)
