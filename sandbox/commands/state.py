"""The commands `bank-sandbox state`: copy all worlds between files and databases, and check them (choice 12)."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from sandbox.commands.options import json_option
from sandbox.commands.screen import draw_progress, format_json
from sandbox.machine.operating_system import lock_file

PLACE = "a file, or postgresql://USER@HOST/DATABASE"


@click.group()
def state() -> None:
    """Copies or checks the worlds that --state stores."""


@state.command()
@click.argument("origin", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def copy(origin: str, target: str, as_json: bool) -> None:
    """Copies every world from a file or database to a new file or an empty database."""
    from sandbox.storage.format import StateFileError
    from sandbox.storage.sqlite_database import WHOLE
    from sandbox.storage.store import is_address, open_store
    from sandbox.worlds.whole_stores import copy_banks

    is_new = not is_address(target) and not Path(target).exists()
    try:
        with copy_state_file(origin) as place, closing(open_store(place, makes=False)) as source:
            total = source.count_acts()
            with closing(open_store(target)) as store, draw_progress("copying", total) as step:
                worlds, acts = copy_banks(source, store, step)
    except BaseException as error:
        if is_new:
            for end in WHOLE:
                Path(f"{target}{end}").unlink(missing_ok=True)
        if isinstance(error, StateFileError):
            raise click.UsageError(str(error)) from None
        raise
    text = f"Copied {worlds:,} worlds with {acts:,} acts."
    click.echo(format_json({"worlds": worlds, "acts": acts}) if as_json else text)


@state.command()
@click.argument("place", metavar="FILE_OR_URL")
@json_option
def check(place: str, as_json: bool) -> None:
    """Checks that a file or database of worlds is whole.

    Compares checksums and counts, and makes each world again from its acts. Changes nothing. Exits with 1 if anything
    is wrong."""
    from sandbox.storage.format import DamageError, StateFileError
    from sandbox.storage.store import open_store
    from sandbox.worlds.whole_stores import check_worlds

    acts, worlds, faults = 0, 0, []
    try:
        with copy_state_file(place) as there, closing(open_store(there, makes=False)) as store:
            with draw_progress("checking", store.count_acts()) as step:
                for world in check_worlds(store, step):
                    acts, worlds = acts + world.acts, worlds + 1
                    faults += [f"World {world.name}: {world.fault}."] if world.fault else []
            faults += [f"{note}." for note in store.notes]
            faults = [fault.replace(str(there), place) for fault in faults]
    except DamageError as error:
        faults = [f"{str(error).replace(str(there), place)}."]
    except StateFileError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(format_json({"worlds": worlds, "acts": acts, "faults": faults}))
    for fault in faults if not as_json else ():
        click.echo(fault, err=True)
    if faults:
        raise SystemExit(1)
    if not as_json:
        click.echo(f"Whole: {worlds:,} worlds with {acts:,} acts, each played again.")


@contextmanager
def copy_state_file(place: str) -> Iterator[Path | str]:
    """For a state file, yields the path of a temporary copy, because opening a file of an earlier format would change
    it. For a database, yields its address. Raises StateFileError if the file cannot be read, or if another sandbox uses
    it."""
    from sandbox.storage.format import StateFileError
    from sandbox.storage.sqlite_database import copy_into
    from sandbox.storage.store import is_address

    if is_address(place):
        yield place
        return
    path = Path(place)
    try:
        with path.open("rb") as file, TemporaryDirectory() as folder:
            try:
                lock_file(file.fileno(), is_shared=True)
            except OSError:
                raise StateFileError(f"{path} is in use by another sandbox: stop it first") from None
            yield copy_into(folder, path)
    except OSError as error:
        raise StateFileError(f"{path} cannot be read: {error.strerror}") from None
