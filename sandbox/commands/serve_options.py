"""Options of `serve`: where worlds are stored (choice 12), how many there may be and how large (choice 10), its
certificates (choice 9), and access to the controls (choice 12)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal

import click

from sandbox.commands.options import SPAN, env_row, explain_errors
from sandbox.machine import machine_time, seconds_passed, stopwatch
from sandbox.server_address import HOST, write_address

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust
    from sandbox.server.bounded_waitress import Bounds
    from sandbox.storage.sqlite_database import Sync
    from sandbox.storage.store import Store
    from sandbox.web.controls.lock import Lock
    from sandbox.worlds.beginning import Beginning
    from sandbox.worlds.registry import Room, WorldRegistry

KEY_LENGTH_MIN = 16  # characters of a key, if the controls are open to a network


class OldOptionError(click.ClickException):
    """Raised for an option of an earlier version. It is shown as one line, without the usage of the command."""

    exit_code = 2


def refuse_old_option(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        reason = "any server on one database answers any call, so this option is not needed any more"
        raise OldOptionError(f"{parameter.opts[0]}: {reason}")


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
        "With --state URL: wait so long for a database that cannot be reached yet, or is too slow.",
        default="0s",
        type=SPAN,
    )
    lease: str | None = env_row(hidden=True, callback=refuse_old_option)
    advertise: str | None = env_row(hidden=True, callback=refuse_old_option)
    peers_key: str | None = env_row(hidden=True, callback=refuse_old_option)

    def open(self, beginning: "Beginning", room: "Room", guarded: bool) -> "tuple[WorldRegistry, Callable[[], None]]":
        """Returns the registry of worlds, and the function that closes its store. Without --state, the worlds are only
        in memory, and the function does nothing. If the state cannot be used, ends the command and leaves the state
        unchanged."""
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
        """Opens the store and loads its worlds. If the database cannot be reached, is too slow, or loses a connection,
        tries again for `wait_for_state`."""
        from sandbox.storage.database import AgainError, CommitUnknownError, UnreachableError
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
                is_passing = isinstance(error, UnreachableError | AgainError | CommitUnknownError)
                if not is_passing or seconds_passed() >= until:
                    raise
            threading.Event().wait(0.5)


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
        """Returns the beginning with the option's value as its setting `acts_kept`. Without the option, the scenario's
        value stays."""
        if self.acts_kept is None:
            return beginning
        return replace(beginning, settings=replace(beginning.settings, acts_kept=self.acts_kept))


@dataclass(frozen=True)
class AccessOptions:
    """Options about who may reach the bank and its controls, and at which addresses."""

    host: str
    port: int
    threads: int
    pki: Path | None = env_row(
        "The PKI folder whose certificates are trusted.", type=click.Path(file_okay=False, path_type=Path)
    )
    tls: bool = env_row("Serve TLS and ask for client certificates; needs the extra [tls].", is_flag=True)
    client_certificates: Literal["off", "proxy", "tls"] | None = env_row(
        "Where client certificates come from.", type=click.Choice(["off", "proxy", "tls"])
    )
    key: str | None = env_row("The key that the controls require as X-Sandbox-Key; better set as SANDBOX_KEY.")
    controls: str = env_row("The controls below /_sandbox.", default="on", type=click.Choice(["on", "off"]))
    controls_port: int | None = env_row("Serve the controls on a separate port.", type=click.IntRange(0, 65535))
    controls_host: str = env_row("The address of that port.", default=HOST)
    connections: int | None = env_row(
        "Most open connections; one more closes the longest idle. Default: 4000, or the system's limit.",
        type=click.IntRange(1, 100_000),
    )
    allowed_hosts: str = env_row(
        "Further names under which the controls may be called, by commas; .x is all below x, * any. Loopback names and "
        "the address listened on are allowed; on a network also addresses, private names and this machine's.",
        default="",
    )
    public_url: str = env_row(
        "The address at which callers reach this server, such as https://bank.example: the sandbox's own callback page "
        "is registered there, and the controls answer under its name.",
        default="",
    )
    open: bool = env_row("Leave the controls open to anyone who can reach the server.", is_flag=True)

    @property
    def lock(self) -> "Lock":
        from sandbox.web.api.addresses import Hosts, read_hosts, read_public_url
        from sandbox.web.controls.lock import Lock

        with explain_errors(ValueError, option="--allowed-hosts"):
            names = read_hosts(self.allowed_hosts)
        with explain_errors(ValueError, option="--public-url"):
            public = read_public_url(self.public_url)
        here = self.controls == "on" and self.controls_port is None
        return Lock(self.key, here, Hosts(self.exposed, names | {gethostname().lower()}, public))

    @property
    def exposed(self) -> str:
        """The host on which the controls listen."""
        return self.host if self.controls_port is None else self.controls_host

    @property
    def bounds(self) -> "Bounds":
        """The bounds of connections. Reading them raises the process's limit of open files if it is too low."""
        from sandbox.server.bounded_waitress import CONNECTIONS_MAX, Bounds
        from sandbox.server.server import raise_files

        most = self.connections or CONNECTIONS_MAX
        raise_files(most)
        return Bounds(most)

    @property
    def trust(self) -> "Trust | None":
        if self.pki is None:
            return None
        from sandbox.pki.trust import Trust  # with the cryptography that most banks never need

        with explain_errors(ValueError, OSError, option="--pki"):
            return Trust(self.pki)

    def demand_closed(self) -> None:
        """Ends the command if an option is wrong, or if the controls would be open to a network without a key or with a
        short one. With --open they may be open without a key."""
        if self.key == "":
            raise click.BadParameter("an empty key protects nothing", param_hint="--key")
        if self.tls and self.pki is None:
            raise click.UsageError("--tls needs --pki, a folder that `bank-sandbox pki init` makes.")
        assert self.lock  # reads --allowed-hosts and --public-url
        if self.controls == "off" or is_loopback(self.exposed):
            return
        if self.key is not None and len(self.key) < KEY_LENGTH_MIN:
            raise click.BadParameter(
                f"on {self.exposed} it has at least {KEY_LENGTH_MIN} characters; `openssl rand -hex 16` makes one",
                param_hint="--key",
            )
        if self.key is None and not self.open:
            raise click.UsageError(
                f"anyone who reaches {self.exposed} could move this bank by its controls. Guard them with --key (or "
                "SANDBOX_KEY), put them elsewhere with --controls-port, switch them off with --controls off, "
                "or say --open (SANDBOX_OPEN=1)."
            )

    @property
    def is_on_a_network(self) -> bool:
        """Whether other machines can reach the bank or its controls."""
        apart = self.controls == "on" and self.controls_port is not None
        return not is_loopback(self.host) or (apart and not is_loopback(self.controls_host))

    def apply_to(self, beginning: "Beginning") -> "Beginning":
        """Returns the beginning with the value of --client-certificates as its setting `client_certificates`. Without
        this option, sets it to `tls` if --tls is given and the setting is `off`, and otherwise changes nothing."""
        certificates_mode = self.client_certificates
        if certificates_mode is None and self.tls and beginning.settings.client_certificates == "off":
            certificates_mode = "tls"
        if certificates_mode is None:
            return beginning
        return replace(beginning, settings=replace(beginning.settings, client_certificates=certificates_mode))

    def open_controls(self, app: Any, worlds: "WorldRegistry", bank: str) -> str | None:
        """If the controls have a separate port, serves them there and returns the address. Otherwise returns None."""
        from sandbox.app import assemble_controls
        from sandbox.server.server import find_port, make_server
        from sandbox.web.api.addresses import CONTROLS

        if self.controls == "off" or self.controls_port is None:
            return None
        controls = assemble_controls(worlds, replace(self.lock, here=True), bank)
        server = listen(
            lambda: make_server(controls, self.controls_host, self.controls_port or 0, 2), self.controls_host
        )
        threading.Thread(target=server.run, daemon=True).start()
        address = app.config[CONTROLS] = write_address("http", self.controls_host, find_port(server))
        return address

    def open_bank(self, app: Any) -> tuple[str, Callable[[], None]]:
        """Makes a server for the bank. The server listens at once, but answers no call yet. Returns its address, and
        the function that answers calls until the process ends."""
        from sandbox.server.server import find_port

        server = listen(lambda: self._make_server(app), f"{self.host}:{self.port}")
        return write_address("https" if self.tls else "http", self.host, find_port(server)), server.run

    def _make_server(self, app: Any) -> Any:
        from sandbox.server.server import make_server

        if not self.tls:
            return make_server(app, self.host, self.port, self.threads, self.bounds)
        try:
            from sandbox.server.tls import make_tls_server
        except ModuleNotFoundError as missing:
            raise click.UsageError(f"--tls needs {missing.name}: pip install 'bank-sandbox[tls]'") from None
        assert self.pki is not None
        return make_tls_server(app, self.host, self.port, self.threads, self.pki, self.bounds)


def listen(make: Callable[[], Any], address: str) -> Any:
    """Calls `make`, which makes a server. Ends the command if the server cannot listen."""
    try:
        return make()
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {address}: {error.strerror or error}. Is another sandbox running? "
            "Choose a port with --port, or --port 0 for a free one."
        ) from None


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
