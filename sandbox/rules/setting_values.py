"""Settings as people write them (choice 13)."""

import re
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from sandbox.rules.durations import read_duration
from sandbox.settings import Settings

WORDS = {
    "request_id_reuse": ("replay", "refuse", "allow"),
    "worlds": ("on_demand", "declared"),
    "settled_status": ("ACSC", "ACSP"),
    "closed_days": ("ignore", "respect"),
    "signatures": ("off", "lenient", "strict"),
    "client_certificates": ("off", "proxy", "tls"),
    "certificate_clock": ("real", "bank"),
}
HEADER = re.compile(r"[A-Za-z0-9-]{1,64}\Z")
PAGE_SIZE_MAX = 50  # service 4.10


def read_setting(name: str, value: Any) -> Any:
    """A setting's value as people write it; a ValueError says what it must be."""
    default = getattr(Settings, name)
    if isinstance(default, timedelta):
        return read_duration(value)
    if isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            raise ValueError("it must be a whole number of 0 or more")
        if name == "page_size" and not 1 <= value <= PAGE_SIZE_MAX:
            raise ValueError(f"it must be from 1 to {PAGE_SIZE_MAX}")
        return value
    if isinstance(default, tuple):
        return _networks(value)
    if name == "certificate_header" and not (isinstance(value, str) and HEADER.match(value)):
        raise ValueError("it must be the name of a header")
    if not isinstance(value, str) or (name in WORDS and value not in WORDS[name]):
        raise ValueError(f"it must be one of {', '.join(WORDS[name])}" if name in WORDS else "it must be a text")
    return value


def _networks(value: Any) -> tuple[str, ...]:
    """Addresses or networks, as a list."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError("it must be a list of addresses or networks")
    try:
        return tuple(str(ip_network(item)) for item in value)
    except ValueError:
        raise ValueError("each must be an address or a network such as 10.0.0.0/8") from None
