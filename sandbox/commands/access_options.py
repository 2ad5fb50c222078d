"""Options of `serve` about certificates and access to the controls (choice 9, choice 12)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal

import click

from sandbox.commands.options import env_row, explain_errors
from sandbox.server_address import HOST, write_address

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust
    from sandbox.server.bounded_waitress import Bounds
    from sandbox.web.controls.lock import Lock
    from sandbox.worlds.beginning import Beginning
    from sandbox.worlds.registry import WorldRegistry

KEY_LENGTH_MIN = 16  # characters of a key, if the controls are open to a network


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
        """Ends the command if the controls would be open to a network without a key, or if an option is wrong."""
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
        """With --tls, sets `client_certificates` to `tls`, unless an option or the scenario sets it."""
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
        """Makes a server for the bank, which already listens. Returns its address, and the function that serves until
        the process ends."""
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
