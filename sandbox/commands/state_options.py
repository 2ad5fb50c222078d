"""Options of `serve` about worlds: where they are kept (choice 12), how many and how large (choice 10)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox.commands.access_options import KEY_LENGTH_MIN
from sandbox.commands.options import SPAN, Read, env_row, explain_errors
from sandbox.machine import machine_time, seconds_since_boot, stopwatch

if TYPE_CHECKING:
    from sandbox.serve.peers import Peers
    from sandbox.world.beginning import Beginning
    from sandbox.world.history import Room
    from sandbox.world.log.opening import Sync
    from sandbox.world.registry import Worlds


PLAIN = re.compile(r"[!-~]+")
LEASE_MIN, LEASE_MAX = timedelta(seconds=1), timedelta(minutes=5)


def read_lease(text: object) -> timedelta:
    """A span in which a server may be silent before others take its worlds."""
    from sandbox.banking.durations import read_duration

    found = read_duration(text)
    if not LEASE_MIN <= found <= LEASE_MAX:
        raise ValueError(f"{text!r} is not between 1s and 5m")
    return found


LEASE = Read("duration", "sandbox.commands.state_options:read_lease")


@dataclass(frozen=True)
class StateOptions:
    """Where worlds are kept, and how servers share them."""

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
    lease: timedelta = env_row(
        "With --state URL: others take the worlds of a server that is silent for this long.", default="5s", type=LEASE
    )
    advertise: str | None = env_row(
        "With --state URL: where other servers reach this one; default: the address it listens on.", metavar="URL"
    )
    peers_key: str | None = env_row(
        "With --state URL: the key by which the servers of one database know each other; better set as "
        "SANDBOX_PEERS_KEY. With it any of them answers any call.",
    )

    def open(self, beginning: "Beginning", room: "Room", guarded: bool) -> "tuple[Worlds, Callable[[], None]]":
        """All worlds, with those that are kept, and how that is closed; what can't be used is left as it is."""
        from sandbox.world.log.format import StateFileError
        from sandbox.world.registry import Worlds

        if self.state is None:
            return Worlds(beginning, machine_time, room=room, guarded=guarded), lambda: None
        from sandbox.world.log.store import is_address, open_store

        with explain_errors(StateFileError, option="--state"):
            elapsed = seconds_since_boot if is_address(self.state) else stopwatch
            store = open_store(self.state, elapsed, self.sync, self.advertise or "", self.lease.total_seconds())
            try:
                worlds = Worlds(beginning, machine_time, store, room, guarded)
                for note in store.connection.notes:
                    click.echo(f"{store.kind} {store.path}: {note}.", err=True)
                return worlds, store.close
            except BaseException:
                store.close()
                raise

    def demand_key(self) -> None:
        """Refuses a key that can be guessed: its holder can act for every caller."""
        if self.peers_key is not None and (len(self.peers_key) < KEY_LENGTH_MIN or not PLAIN.fullmatch(self.peers_key)):
            raise click.BadParameter(
                f"it has at least {KEY_LENGTH_MIN} letters, digits and signs, without a space; `openssl rand -hex 16` "
                "makes one",
                param_hint="--peers-key",
            )

    def join(self, worlds: "Worlds", address: str, trusted: Path | None) -> "Peers | None":
        """Says where other servers reach this one, once it is known: its own address, unless another was given. From
        then on calls of their worlds are handed on."""
        store = worlds.store
        if store is None or store.ownership is None:
            return None
        store.advertise((self.advertise or address).rstrip("/"))
        from sandbox.serve.peers import Peers
        from sandbox.serve.relay import Relay, tls_context
        from sandbox.world.placement import Placement

        if self.peers_key is None:
            click.echo("Without --peers-key, this server hands no call on to the others on its database.", err=True)
        placement = Placement(worlds, store, store.ownership, seconds_since_boot)
        placement.hands_on = self.peers_key is not None
        placement.start()
        return Peers(placement, Relay(seconds_since_boot, tls_context(trusted)), self.peers_key, seconds_since_boot)


@dataclass(frozen=True)
class CapacityOptions:
    """How many worlds there are in memory, and how large they are."""

    worlds_max: int = env_row(
        "Most worlds in memory. With --state the longest idle one is unloaded, else a new one is refused.",
        default=10_000,
        type=click.IntRange(1, 1_000_000),
    )
    put_away_after: timedelta = env_row("With --state: unload a world after this idle time.", default="30m", type=SPAN)
    history_mb: int = env_row(
        "Megabytes of calls, acts and waiting files in memory; the oldest are dropped, payments never.",
        default=500,
        type=click.IntRange(1, 1_000_000),
    )
    acts_kept: int | None = env_row(
        "Acts of a world kept in memory for forks; default: the scenario's value, or 100000.",
        type=click.IntRange(1, 1_000_000_000),
    )

    @property
    def room(self) -> "Room":
        from sandbox.world.history import Room

        return Room(self.worlds_max, self.put_away_after.total_seconds(), self.history_mb * 1_000_000)

    def apply_to(self, beginning: "Beginning") -> "Beginning":
        """Sets the settings of the given options; others stay those of the scenario."""
        if self.acts_kept is None:
            return beginning
        return replace(beginning, settings=replace(beginning.settings, acts_kept=self.acts_kept))
