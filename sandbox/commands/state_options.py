"""Options of `serve` about worlds: where they are stored (choice 12), how many there may be, and how large
(choice 10)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import SPAN, env_row, explain_errors
from sandbox.machine import machine_time, seconds_passed, stopwatch

if TYPE_CHECKING:
    from sandbox.storage.sqlite_database import Sync
    from sandbox.storage.store import Store
    from sandbox.worlds.beginning import Beginning
    from sandbox.worlds.registry import Room, WorldRegistry


GONE = "any server on one database answers any call, so this option is not needed any more"


class OldOptionError(click.ClickException):
    """Raised for an option of an earlier version. It is shown as one line, without the usage of the command."""

    exit_code = 2


@dataclass(frozen=True)
class StateOptions:
    """Options about where worlds are stored, and how servers share them."""

    state: str | None = env_row(
        "Keep all worlds in this file, or in PostgreSQL: postgresql://USER@HOST/DATABASE, which any number of servers "
        "may share (extra postgres).",
        metavar="FILE|URL",
    )
    sync: "Sync" = env_row(
        "With --state FILE: wait for the disk before each reply (full), or for the operating system only (normal). A "
        "database decides it by synchronous_commit.",
        default="normal",
        type=click.Choice(["normal", "full"]),
    )
    wait_for_state: timedelta = env_row(
        "With --state URL: wait so long for a database that cannot be reached yet.", default="0s", type=SPAN
    )
    lease: str | None = env_row("Not needed any more.", hidden=True)
    advertise: str | None = env_row("Not needed any more.", hidden=True)
    peers_key: str | None = env_row("Not needed any more.", hidden=True)

    def open(self, beginning: "Beginning", room: "Room", guarded: bool) -> "tuple[WorldRegistry, Callable[[], None]]":
        """Returns the registry of worlds, and the function that closes its store. If the state cannot be used, ends the
        command and leaves the state unchanged."""
        from sandbox.storage.format import StateFileError
        from sandbox.worlds.registry import WorldRegistry

        def begin(store: "Store | None") -> "WorldRegistry":
            return WorldRegistry(beginning, machine_time, store, room, guarded)

        if self.state is None:
            return begin(None), lambda: None
        with explain_errors(StateFileError, option="--state"):
            worlds, store = self._begin_with_store(begin)
        for note in store.notes:
            click.echo(f"State {store.path}: {note}.", err=True)
        return worlds, store.close

    def _begin_with_store(self, begin: "Callable[[Store], WorldRegistry]") -> "tuple[WorldRegistry, Store]":
        """Opens the store and loads its worlds. If the database cannot be reached, tries again for `wait_for_state`."""
        from sandbox.storage.database import UnreachableError
        from sandbox.storage.store import open_store

        until = seconds_passed() + self.wait_for_state.total_seconds()
        while True:
            store = None
            try:
                store = open_store(str(self.state), self.sync, stopwatch=stopwatch)
                return begin(store), store
            except BaseException as error:
                if store is not None:
                    store.close()
                if not isinstance(error, UnreachableError) or seconds_passed() >= until:
                    raise
            threading.Event().wait(0.5)

    def refuse_old_options(self) -> None:
        """Refuses options of earlier versions."""
        for name in ("lease", "advertise", "peers_key"):
            if getattr(self, name) is not None:
                raise OldOptionError(f"--{name.replace('_', '-')}: {GONE}")


@dataclass(frozen=True)
class CapacityOptions:
    """Options about how many worlds are in memory, and how large they may be."""

    worlds_max: int = env_row(
        "Most worlds in memory. With --state the longest idle one is unloaded, else a new one is refused.",
        default=10_000,
        type=click.IntRange(1, 1_000_000),
    )
    put_away_after: timedelta = env_row("With --state: unload a world after this idle time.", default="30m", type=SPAN)
    worlds_expire: timedelta | None = env_row(
        "With --state: delete worlds that nobody called for this long, such as 30d. Default: none is deleted.",
        type=SPAN,
    )
    history_mb: int = env_row(
        "Megabytes of calls, acts and waiting files in memory; the oldest are dropped, payments never.",
        default=500,
        type=click.IntRange(1, 1_000_000),
    )
    acts_kept: int | None = env_row(
        "Acts of a world kept for forks. With --state, earlier ones are deleted only if this is given; "
        "in memory the default is the scenario's value, or 400000.",
        type=click.IntRange(1, 1_000_000_000),
    )

    @property
    def room(self) -> "Room":
        from sandbox.worlds.registry import Room

        expire = None if self.worlds_expire is None else self.worlds_expire.total_seconds()
        return Room(
            self.worlds_max, self.put_away_after.total_seconds(), self.history_mb * 1_000_000, expire, self.acts_kept
        )

    def apply_to(self, beginning: "Beginning") -> "Beginning":
        """Returns the beginning with the setting `acts_kept` of the option. Without the option, the scenario's value
        stays."""
        if self.acts_kept is None:
            return beginning
        return replace(beginning, settings=replace(beginning.settings, acts_kept=self.acts_kept))
