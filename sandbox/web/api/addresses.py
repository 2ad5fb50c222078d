"""The names and addresses of this server, and absolute addresses in replies (choice 1).

The header Host proves nothing, because every caller chooses it. So the server must know its own names, for two
decisions. The controls answer only under these names, because another site can make its own name lead to this server
(DNS rebinding). And the sandbox's callback page counts as registered only at the server's own addresses, because a code
that is sent there must not reach another host.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from flask import Request, current_app
from werkzeug.sansio.utils import get_host

from sandbox.bank.records import RegisteredClient
from sandbox.banking.names import fits_redirect
from sandbox.server_address import write_address

NAME = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d*)?|([^\[\]:/?#@\s,]+)(?::\d*)?")
LISTED = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*")
ANY = "*"
# No stranger can register a name below these (RFC 6761 and 6762, ICANN's list, Kubernetes).
PRIVATE = (".test", ".internal", ".local", ".svc")
PORTS = {"http": 80, "https": 443}
EVERY_INTERFACE = ("0.0.0.0", "::", "*")  # a server that listens there is reached by any address of the machine
CACHED_MAX = 300  # characters; a longer header Host is not cached

# Settings of an app
BANK = "BANK"  # the address of the bank, if it is not the app's own
HOSTS = "HOSTS"  # the names of this server
CONTROLS = "CONTROLS"  # the address of the controls, if they have a port of their own

CALLBACK = "/_sandbox/callback"  # of each world, registered for the demo client (choice 10)
DEMO_CLIENT = "demo-tpp"
FROM_CONSOLE = "console"  # in the query of an address that a tester opens: the client's state is not known there


class HostOrigin(NamedTuple):
    scheme: str
    host: str
    port: int

    @property
    def names(self) -> tuple[str, ...]:
        """The ways in which a header Host can name this host: with its port and, if that is the usual port of the
        scheme, also without a port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (f"{host}:{self.port}", host) if self.port == PORTS[self.scheme] else (f"{host}:{self.port}",)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names of this server. `bound` is the address that the server listens on, or empty if it is not known.
    `listed` is --allowed-hosts, and `public` is --public-url."""

    bound: str = "127.0.0.1"
    listed: frozenset[str] = frozenset()
    public: HostOrigin | None = None

    def is_own_name(self, host: str) -> bool:
        """Whether a Host header names this server. Its names are those of --allowed-hosts (every name, if that has `*`)
        and --public-url, the address that it listens on, and loopback names. If it does not listen on a loopback
        address, private names (`is_private`) count too."""
        name = find_name(host)
        if name is None:
            return False
        if ANY in self.listed or self.is_listed(name) or is_loopback(name) or name == self.bound.lower():
            return True
        if self.public is not None and name == self.public.host:
            return True
        return not is_loopback(self.bound) and is_private(name)

    def is_listed(self, name: str) -> bool:
        """Whether --allowed-hosts has this name, or an entry such as `.example` that covers it. The entry `*` does not
        count."""
        return name in self.listed or any(entry[0] == "." and name.endswith(entry) for entry in self.listed)

    def lead_here(self, address: SplitResult, listens: tuple[str, ...]) -> bool:
        """Whether an address of http or https leads to this server. It does if it is --public-url or one of the
        addresses in `listens`. A loopback name or a listed name also leads here, at any port, because a container or a
        proxy may publish another port. Raises ValueError if the port is not a number."""
        origin = find_origin(address)
        if origin is None:
            return False
        if is_loopback(origin.host) or self.is_listed(origin.host) or origin == self.public:
            return True
        return any(origin == find_origin(urlsplit(listened)) for listened in listens)


# Names


def read_hosts(text: str) -> frozenset[str]:
    """Reads a list of host names such as `bank.example, .internal.example`. A leading dot stands for all names below
    that domain, and `*` stands for every name. Raises ValueError if an entry is not a host name, for example because it
    has a port."""
    names = frozenset(part.strip().lower().rstrip(".") for part in text.split(",") if part.strip())
    for name in names:
        if name != ANY and LISTED.fullmatch(name) is None and not is_address(name):
            raise ValueError(f"{name} is no name of a host; it stands without http:// and without a port")
    return names


def read_public_url(text: str) -> HostOrigin | None:
    """Reads an address such as `https://bank.example`, with a scheme, a host and perhaps a port. Returns None if the
    text is empty. Raises ValueError for any other text."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        origin = find_origin(parts)
    except ValueError:
        origin = None
    if origin is None:
        raise ValueError(f"{text} is no address of a server; an example is https://bank.example:8443")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text} has more than scheme, host and port; an example is https://bank.example:8443")
    return origin


def find_origin(address: SplitResult) -> HostOrigin | None:
    """Returns the scheme, host and port of an address. Returns None if it is not an address of http or https. An
    IPv4-mapped IPv6 address becomes an IPv4 address. Raises ValueError if the port is not a number."""
    host = find_name(address.netloc)  # of the whole: the library reads http://[::1].evil.example/ as the host ::1
    if address.scheme not in PORTS or host is None:
        return None
    if is_address(host):
        ip = ip_address(host)
        host = str((isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip)
    return HostOrigin(address.scheme, host, PORTS[address.scheme] if address.port is None else address.port)


def find_name(host: str) -> str | None:
    """Returns the host of a text such as `Bank.example:8443`, in small letters and without the port. Returns None if
    the text is not a host."""
    match = NAME.fullmatch(host)
    return None if match is None else (match[1] or match[2]).lower().rstrip(".") or None


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(name: str) -> bool:
    if is_address(name):
        return ip_address(name).is_loopback
    return name == "localhost" or name.endswith(".localhost")


def is_private(name: str) -> bool:
    """Whether the name cannot belong to a public site: it is an IP address, has no dot, or ends in a private domain."""
    return is_address(name) or "." not in name or name.endswith(PRIVATE)


# Addresses


def find_host(request: Request) -> str:
    """Returns the host that the caller used, or an empty text if the header Host is not a host."""
    header = request.environ.get("HTTP_HOST")
    if not header:
        return request.host
    return (_cached_host if len(header) <= CACHED_MAX else _read_host)(request.scheme, header)


def _read_host(scheme: str, header: str) -> str:
    """Returns the host without the usual port of the scheme, as `Request.host` does. Unlike that property, accepts an
    underscore, because a container's name may have one."""
    host = get_host(scheme, header.replace("_", "-"))
    return header[: len(host)]


_cached_host = lru_cache(maxsize=64)(_read_host)


def find_server(request: Request) -> str:
    """Returns the scheme and host of a request in small letters, such as `http://bank.example:8443`. Does not use the
    framework's `host_url`. That property decodes an internationalized name, and fails for a text that is not a host."""
    return f"{request.scheme}://{find_host(request).lower()}"


def find_world_prefix(request: Request) -> str:
    return str(request.environ.get("SCRIPT_NAME", ""))


def find_root(request: Request) -> str:
    return find_server(request) + find_world_prefix(request)


def find_bank_root(request: Request) -> str:
    """Returns the address of the bank's interface for the world of the request. If the controls have a port of their
    own (choice 10), this is the address in the setting BANK. If the bank listens on every interface, this address gets
    the host of the request. If the controls have no port of their own, this is the address to which the request was
    sent."""
    bank: str | None = current_app.config.get(BANK)
    if bank is None:
        return find_root(request)
    parts = urlsplit(bank)
    request_host = urlsplit(f"//{find_host(request)}").hostname
    if parts.hostname in EVERY_INTERFACE and request_host:
        bank = write_address(parts.scheme, request_host, parts.port or PORTS[parts.scheme])
    return bank + find_world_prefix(request)


def make_consent_address(request: Request, token: str) -> str:
    return f"{find_root(request)}/psu/consent/{token}"


def find_callback(request: Request) -> str:
    """Returns the address of the world's own callback page, with the host that the caller used."""
    return find_root(request) + CALLBACK


# Redirect-URIs


def is_registered(request: Request, client: RegisteredClient, uri: str) -> bool:
    """Whether the client may use this callback address. The client must have registered the address. As an exception,
    the demo client may also use this world's own callback page."""
    return any(fits_redirect(pattern, uri) for pattern in client.redirect_uris) or (
        client.id == DEMO_CLIENT and is_own_callback(request, uri)
    )


def is_own_callback(request: Request, uri: str) -> bool:
    """Whether the address is this world's callback page at an address of this server."""
    hosts: Hosts = current_app.config.get(HOSTS, Hosts())
    try:
        return is_callback_page(request, uri) and hosts.lead_here(urlsplit(uri), list_own_addresses(request, hosts))
    except ValueError:  # the port is not a number
        return False


def explain_unregistered(request: Request, client: RegisteredClient, uri: str) -> str:
    reason = "the client has not registered it"
    if client.id != DEMO_CLIENT or not is_callback_page(request, uri):
        return reason
    return (
        f"{reason}; the sandbox's own callback page counts only at the addresses that the server listens on or was "
        "told: serve --public-url, --allowed-hosts"
    )


def is_callback_page(request: Request, uri: str) -> bool:
    """Whether the address has the path of this world's callback page, on any host. False for an address with a query, a
    fragment, a user name, or characters that are not printable ASCII."""
    if not uri.isascii() or not uri.isprintable() or set(uri) & set("\\@?# "):
        return False
    try:
        return urlsplit(uri).path == f"{find_world_prefix(request)}{CALLBACK}"
    except ValueError:  # such as https://[/
        return False


def list_own_addresses(request: Request, hosts: Hosts) -> tuple[str, ...]:
    """Returns the known addresses of this server: the address to which the caller connected, the address that the
    server listens on if it is a single one, and the address of the controls if they have a port of their own. Returns
    an empty tuple if the call did not come through the server's own socket."""
    connected_to: str = request.environ.get("sandbox.listens", str)()
    if not connected_to:
        return ()
    parts = urlsplit(connected_to)
    addresses = [connected_to]
    if hosts.bound and hosts.bound not in EVERY_INTERFACE:
        addresses.append(write_address(parts.scheme, hosts.bound, parts.port or PORTS[parts.scheme]))
    controls: str | None = current_app.config.get(CONTROLS)
    if controls is not None:
        there = urlsplit(controls)
        host = parts.hostname if there.hostname in EVERY_INTERFACE else there.hostname
        addresses.append(write_address(there.scheme, host or "", there.port or PORTS[there.scheme]))
    return tuple(addresses)
