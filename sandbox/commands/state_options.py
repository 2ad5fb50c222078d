"""Options of `serve` about where worlds are kept (choice 12)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.options import Span
from sandbox.machine import machine_time, seconds_since_boot, stopwatch

if TYPE_CHECKING:
    from sandbox.world.beginning import Beginning
    from sandbox.world.log.opening import Sync
    from sandbox.world.log.state_store import StateStore
    from sandbox.world.registry import Room, Worlds

Option = Callable[..., Any]
LEASE_MIN, LEASE_MAX = timedelta(seconds=1), timedelta(minutes=5)


class Lease(Span):
    """A span in which a server may be silent before others take its worlds."""

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        found = super().convert(value, param, ctx)
        if not LEASE_MIN <= found <= LEASE_MAX:
            self.fail(f"{value!r} is not between 1s and 5m", param, ctx)
        return found


@dataclass(frozen=True)
class StateOptions:
    """The values of the options of the same names."""

    state: str | None
    sync: "Sync"
    lease: timedelta
    advertise: str | None

    def open(self, beginning: "Beginning", room: "Room", guarded: bool) -> "tuple[Worlds, Callable[[], None]]":
        """All worlds, with those that are kept, and how that is closed; what can't be used is left as it is."""
        from sandbox.world.log.format import StateFileError
        from sandbox.world.registry import Worlds

        if self.state is None:
            return Worlds(beginning, machine_time, room=room, guarded=guarded), lambda: None
        try:
            store = self._store(self.state)
            try:
                worlds = Worlds(beginning, machine_time, store, room, guarded)
                for note in store.connection.notes:
                    click.echo(f"{store.kind} {store.path}: {note}.", err=True)
                return worlds, store.close
            except BaseException:
                store.close()
                raise
        except StateFileError as error:
            raise click.BadParameter(str(error), param_hint="--state") from None

    def _store(self, state: str) -> "StateStore":
        from sandbox.world.log.stores import is_address, open_store

        if is_address(state):
            where = self.advertise or ""
            return open_store(state, seconds_since_boot, advertised=where, lease=self.lease.total_seconds())
        return open_store(Path(state), stopwatch, self.sync)

    def advertise_at(self, worlds: "Worlds", address: str) -> None:
        """Where other servers reach this one, once it is known: its own address, unless another was given."""
        if worlds.store is not None:
            worlds.store.advertise(self.advertise or address)


def state_options(option: Option) -> Callable[[Any], Any]:
    rows = (
        option(
            "--state",
            metavar="FILE|URL",
            help="Keep all worlds in this file, or in PostgreSQL: postgresql://USER@HOST/DATABASE, which any number of "
            "servers may share (extra postgres).",
        ),
        option(
            "--sync",
            default="normal",
            type=click.Choice(["normal", "full"]),
            help="With --state FILE: wait for the disk before each reply (full), or for the operating system only "
            "(normal). A database decides it by synchronous_commit.",
        ),
        option(
            "--lease",
            default="5s",
            type=Lease(),
            help="With --state URL: others take the worlds of a server that is silent for this long.",
        ),
        option(
            "--advertise",
            metavar="URL",
            help="With --state URL: where other servers reach this one; default: the address it listens on.",
        ),
    )

    def decorate(command: Any) -> Any:
        for row in reversed(rows):
            command = row(command)
        return command

    return decorate
