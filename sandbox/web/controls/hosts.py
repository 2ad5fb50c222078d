"""The names under which the controls answer: a page of another site may have its own name lead here (DNS rebinding)."""

import re
from dataclasses import dataclass
from ipaddress import ip_address

NAME = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d*)?|([^\[\]:/?#@\s,]+)(?::\d*)?")
LISTED = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*")
ANY = "*"
# No stranger can register a name below these (RFC 6761 and 6762, ICANN's list, Kubernetes).
PRIVATE = (".test", ".internal", ".local", ".svc")


@dataclass(frozen=True, slots=True)
class Hosts:
    """`bound` is the address that the server listens on, empty where it is not known; `listed` is --allowed-hosts."""

    bound: str = "127.0.0.1"
    listed: frozenset[str] = frozenset()

    def allow(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = name_of(host)
        if name is None:
            return False
        if ANY in self.listed or name in self.listed or is_loopback(name) or name == self.bound.lower():
            return True
        if any(entry[0] == "." and name.endswith(entry) for entry in self.listed):
            return True
        return not is_loopback(self.bound) and is_private(name)


def read_hosts(text: str) -> frozenset[str]:
    """`bank.example, .internal.example`: names without a port; a leading dot stands for all names below it."""
    names = frozenset(part.strip().lower().rstrip(".") for part in text.split(",") if part.strip())
    for name in names:
        if name != ANY and LISTED.fullmatch(name) is None and not is_address(name):
            raise ValueError(f"{name} is no name of a host; it stands without http:// and without a port")
    return names


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
