"""The command `bank-sandbox variants cover`: few worlds in which every pair of values of every two axes occurs."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.options import URL, option
from sandbox.commands.remote import RemoteWorld

if TYPE_CHECKING:
    from sandbox.vary.cover import Cover
    from sandbox.vary.space import Space

WIDTH = 118


def axes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which axes: by name, by topic, or all."""
    for name, details in (
        ("--only", "Only the axes of these topics, such as tokens or money; a comma between."),
        ("--axes", "Only these axes; a comma between."),
    ):
        command = click.option(name, default="", metavar="A,B", help=details)(command)
    return command


def read_space(axes: str, only: str, within: bool) -> "Space":
    """The axes that the options name; an unknown name ends the command."""
    from sandbox.contract.variants import AXES
    from sandbox.vary.space import space_of

    for option_name, text in (("--axes", axes), ("--only", only)):
        if text and not split_names(text):
            raise click.BadParameter(f"{text!r:.60} names nothing", param_hint=option_name)
    try:
        found = space_of(AXES, split_names(axes), split_names(only), within)
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from None
    if not found.axes:
        raise click.UsageError("these axes have no 2 values within the service's word")
    return found


def split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def demand_patience(strength: int, axes: int) -> None:
    """Says that it takes long before it does."""
    from sandbox.vary.cover import SLOW_AXES

    if strength == 3 and axes > SLOW_AXES:
        click.echo(f"Strength 3 over {axes} axes takes minutes. Fewer: --axes A,B or --only money", err=True)


@click.command()
@click.option("--strength", type=click.IntRange(1, 3), default=2, show_default=True, help="So many axes at once.")
@axes_options
@click.option("--within", is_flag=True, help="Without the values at which a client must refuse.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Same seed, same variants; with --begin the seed of the worlds too.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Write a scenario of each there."
)
@click.option("--begin", is_flag=True, help="Begin a world of each at a running sandbox.")
@click.option("--replace", is_flag=True, help="With --begin: in the place of worlds that have these names.")
@option("--url", default=URL, help="The address of that sandbox.")
@option("--key", default=None, help="The key of its controls.")
def cover(
    strength: int,
    axes: str,
    only: str,
    within: bool,
    seed: int,
    as_json: bool,
    output: Path | None,
    begin: bool,
    replace: bool,
    url: str,
    key: str | None,
) -> None:
    """Lists few worlds in which every combination of so many values of different axes occurs.

    The first is the bank of today. Each has a name that follows from its content."""
    from sandbox.vary.cover import find_cover

    space = read_space(axes, only, within)
    demand_patience(strength, len(space.axes))
    found = find_cover(space, strength, seed)
    if output is not None:
        write_scenarios(found, output)
    if begin:
        begin_worlds(found, url, key, replace, seed)
    if as_json:
        click.echo(json.dumps(described(found, seed), ensure_ascii=False, indent=2))
        return
    for variant in found.variants:
        text = ", ".join(f"{axis}={value}" for axis, value in variant.changes) or "every axis at its first value"
        click.echo(textwrap.fill(f"{variant.name}  {text}", WIDTH, subsequent_indent="    ", break_on_hyphens=False))
    impossible = f", {len(found.impossible)} combinations cannot occur" if found.impossible else ""
    click.echo(f"{len(found.variants)} variants of {len(space.axes)} axes at strength {found.strength}{impossible}")


def described(found: "Cover", seed: int) -> dict[str, Any]:
    """The cover as JSON: each world with a value for every axis."""
    space = found.space
    return {
        "strength": found.strength,
        "seed": seed,
        "axes": {name: list(values) for name, values in space.axes.items()},
        "worlds": [{"name": one.name, "variants": space.complete(one)} for one in found.variants],
        "impossible": [dict(row) for row in sorted(found.impossible)],
    }


def write_scenarios(found: "Cover", folder: Path) -> None:
    """A file for each variant, to serve or to play."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for variant in found.variants:
            lines = "".join(f"    {axis}: {json.dumps(value)}\n" for axis, value in variant.changes)
            settings = f"settings:\n  variants:\n{lines}" if lines else ""
            title = f"Variant {variant.name}: {len(variant.changes)} axes differ from the bank of today"
            (folder / f"{variant.name}.yaml").write_text(f"scenario: {json.dumps(title)}\n{settings}", encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"{folder} cannot be written: {error.strerror}", param_hint="--output") from None
    click.echo(f"{len(found.variants)} scenarios written to {folder}", err=True)


def begin_worlds(found: "Cover", url: str, key: str | None, replace: bool, seed: int) -> None:
    """All of one seed, so that they differ by their variants only."""
    from sandbox.client import Controls

    with Controls(url, key=key) as server:
        far = RemoteWorld(server, False)
        for variant in found.variants:
            body = {"variants": dict(variant.changes), "seed": seed, "replace": replace}
            far.call("PUT", f"/worlds/{variant.name}", body)
    click.echo(f"{len(found.variants)} worlds begun at {url.rstrip('/')}/worlds/NAME", err=True)
