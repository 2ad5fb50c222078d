"""The command `bank-sandbox clock`."""

from typing import Any

import click

from sandbox.commands.remote import RemoteWorld, remote


@click.group(invoke_without_command=True)
@click.pass_context
@remote
def clock(far: RemoteWorld, context: click.Context) -> None:
    """Shows the bank's clock; the words below move it."""
    if context.invoked_subcommand is None:
        _show(far, far.control("clock"))


@clock.command()
@click.argument("span")
@remote
def advance(far: RemoteWorld, span: str) -> None:
    """Moves it on by SPAN, such as 61m, 2h30m or 5d; all that falls due on the way happens."""
    _show(far, far.control("clock advance", {"advance": span}))


@clock.command("set")
@click.argument("time")
@remote
def set_to(far: RemoteWorld, time: str) -> None:
    """Moves it on to TIME, such as 2027-01-02T06:00 (Brussels time)."""
    _show(far, far.control("clock set", {"set": time}))


@clock.command()
@remote
def freeze(far: RemoteWorld) -> None:
    """Lets it stand."""
    _show(far, far.control("clock freeze", {"mode": "frozen"}))


@clock.command()
@click.option("--rate", type=float, default=1, show_default=True, help="Seconds of bank time per real second.")
@remote
def run(far: RemoteWorld, rate: float) -> None:
    """Lets it run."""
    _show(far, far.control("clock run", {"mode": "running", "rate": rate}))


def _show(far: RemoteWorld, face: Any) -> None:
    far.tell(face, lambda: face_of(face))


def face_of(face: Any) -> str:
    pace = "frozen" if face["mode"] == "frozen" else f"running, {face['rate']} s a second"
    ahead = f"; next is due at {face['due_next']}" if face["due_next"] else ""
    return f"{face['now']}, {pace}{ahead}"
