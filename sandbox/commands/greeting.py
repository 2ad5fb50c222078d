"""What `serve` says at its start: where everything is, and what to type next (choice 12)."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from sandbox.commands.options import URL, Seed

PROGRAM = "bank-sandbox"
EVERYWHERE = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:"}  # listens there; nobody can open that


def opened(address: str) -> str:
    """An address that a browser on this machine can open."""
    for listens, here in EVERYWHERE.items():
        address = address.replace(listens, here)
    return address


def seed_shown(worlds: Any) -> str:
    """As `--seed` takes it, to begin again with the same bytes. On a network its secret is shown to nobody."""
    server, began, expected = worlds.beginning, worlds.get("default").beginning, worlds.beginning_of("default")
    if (began.seed, began.secret) != (expected.seed, expected.secret):
        return f"{began.seed} of the state file"
    if worlds.guarded:
        return f"{server.seed} and a secret that is not shown"
    return str(Seed(server.seed, server.secret))


def program() -> str:
    """How to call the command: by its path where the shell does not find it."""
    if shutil.which(PROGRAM):
        return PROGRAM
    beside = Path(sys.executable).with_name(PROGRAM)
    return shlex.quote(str(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m sandbox"


def greeting(bank: str, controls: str | None, worlds: Any, keyed: bool = False) -> str:
    from sandbox.banking.durations import write_instant

    world = worlds.get("default")
    lines = [
        f"The sandbox bank: no money moves here. Seed {seed_shown(worlds)}; the bank's time is "
        f"{write_instant(world.opening)}{', frozen' if world.pace.frozen else ''}.",
        "Client demo-tpp, secret demo-secret. "
        f"Controls: {f'{opened(controls)}/_sandbox/clock and beside it' if controls else 'off'}.",
        "",
        place("bank", opened(bank)),
    ]
    if controls is None:
        return "\n".join([*lines, ""])
    there = opened(controls)
    lines += [place("console", f"{there}/_sandbox/"), place("documentation", f"{there}/_sandbox/docs"), ""]
    where = "" if there == URL else f" --url {there}"
    key = " --key ..." if keyed else ""
    if bank == controls:
        lines += [f"Next: {bold(f'{program()} pay{where}{key}')}, or New in the console."]
    return "\n".join(lines)


def place(name: str, address: str) -> str:
    return f"  {name:15}{bold(address)}"


def bold(text: str) -> str:
    """On a terminal."""
    import click

    return click.style(text, fg="cyan", bold=True) if sys.stderr.isatty() else text
