"""Settings as people write them (choice 13)."""

from datetime import timedelta
from typing import Any

from sandbox.rules.durations import read_duration
from sandbox.settings import Settings

WORDS = {
    "request_id_reuse": ("replay", "refuse", "allow"),
    "worlds": ("on_demand", "declared"),
    "settled_status": ("ACSC", "ACSP"),
    "closed_days": ("ignore", "respect"),
    "referee": ("on", "off"),
}
PAGE_SIZE_MAX = 50  # service 4.10


def read_setting(name: str, value: Any) -> Any:
    """A setting's value as people write it; a ValueError says what it must be."""
    default = getattr(Settings, name)
    if name == "referee_waives":
        return read_waives(value)
    if isinstance(default, timedelta):
        return read_duration(value)
    if isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            raise ValueError("it must be a whole number of 0 or more")
        if name == "page_size" and not 1 <= value <= PAGE_SIZE_MAX:
            raise ValueError(f"it must be from 1 to {PAGE_SIZE_MAX}")
        return value
    if not isinstance(value, str) or (name in WORDS and value not in WORDS[name]):
        raise ValueError(f"it must be one of {', '.join(WORDS[name])}" if name in WORDS else "it must be a text")
    return value


def read_waives(value: Any) -> tuple[str, ...]:
    """Findings that are waved off: a list of `rule: reason`."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and is_waive(item) for item in value):
        raise ValueError("it must be a list of texts, each a rule's id, a colon and the reason")
    return tuple(value)


def is_waive(text: str) -> bool:
    """Whether it names a rule and says why."""
    name, _, reason = text.partition(":")
    return bool(name.strip() and reason.strip())
