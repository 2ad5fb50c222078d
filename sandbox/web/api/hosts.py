"""The names and addresses of this server.

Whoever calls chooses the header Host, so it proves nothing. Two things depend on which names are the server's own. The
controls answer under these names alone, as a page of another site may have its own name lead here (DNS rebinding). And
the sandbox's callback page counts as registered only at the server's own addresses: a code that goes there must not
reach another host.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

NAME = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d*)?|([^\[\]:/?#@\s,]+)(?::\d*)?")
LISTED = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*")
ANY = "*"
# No stranger can register a name below these (RFC 6761 and 6762, ICANN's list, Kubernetes).
PRIVATE = (".test", ".internal", ".local", ".svc")


PORTS = {"http": 80, "https": 443}


class HostOrigin(NamedTuple):
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    port: int

    @property
    def names(self) -> tuple[str, ...]:
        """How a header Host may spell it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (f"{host}:{self.port}", host) if self.port == PORTS[self.scheme] else (f"{host}:{self.port}",)


@dataclass(frozen=True, slots=True)
class Hosts:
    """`bound` is the address that the server listens on, empty where it is not known; `listed` is --allowed-hosts;
    `public` is --public-url."""

    bound: str = "127.0.0.1"
    listed: frozenset[str] = frozenset()
    public: HostOrigin | None = None

    def allow(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = name_of(host)
        if name is None:
            return False
        if ANY in self.listed or self.lists(name) or is_loopback(name) or name == self.bound.lower():
            return True
        if self.public is not None and name == self.public.host:
            return True
        return not is_loopback(self.bound) and is_private(name)

    def lists(self, name: str) -> bool:
        """Whether --allowed-hosts has this name. `*` is no name."""
        return name in self.listed or any(entry[0] == "." and name.endswith(entry) for entry in self.listed)

    def own(self, address: SplitResult, listens: tuple[str, ...]) -> bool:
        """Whether an http address leads to this server: to where it `listens`, to --public-url, or to a loopback or
        listed name. Of such a name the port is not compared, as a container or a proxy may publish another one."""
        origin = origin_of(address)
        if origin is None:
            return False
        if is_loopback(origin.host) or self.lists(origin.host) or origin == self.public:
            return True
        return any(origin == origin_of(urlsplit(one)) for one in listens)


def read_hosts(text: str) -> frozenset[str]:
    """`bank.example, .internal.example`: names without a port; a leading dot stands for all names below it."""
    names = frozenset(part.strip().lower().rstrip(".") for part in text.split(",") if part.strip())
    for name in names:
        if name != ANY and LISTED.fullmatch(name) is None and not is_address(name):
            raise ValueError(f"{name} is no name of a host; it stands without http:// and without a port")
    return names


def read_public_url(text: str) -> HostOrigin | None:
    """`https://bank.example`: scheme, host and perhaps a port; None where the text is empty."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        origin = origin_of(parts)
    except ValueError:
        origin = None
    if origin is None:
        raise ValueError(f"{text} is no address of a server; an example is https://bank.example:8443")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text} has more than scheme, host and port; an example is https://bank.example:8443")
    return origin


def origin_of(address: SplitResult) -> HostOrigin | None:
    """None where the address is not of http. Raises ValueError for a port that is none."""
    host = name_of(address.netloc)  # of the whole: the library reads http://[::1].evil.example/ as the host ::1
    if address.scheme not in PORTS or host is None:
        return None
    if is_address(host):
        ip = ip_address(host)
        host = str((isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip)
    return HostOrigin(address.scheme, host, PORTS[address.scheme] if address.port is None else address.port)


def name_of(host: str) -> str | None:
    """A host without its port, in small letters; None where it is none."""
    found = NAME.fullmatch(host)
    return None if found is None else (found[1] or found[2]).lower().rstrip(".") or None


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
    """What no site's own name can be: an address, a name without a dot such as a container's, a private name."""
    return is_address(name) or "." not in name or name.endswith(PRIVATE)
