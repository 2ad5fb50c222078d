"""The `settings` of a scenario: every field of settings.py, by its own name (choice 13)."""

from dataclasses import fields
from datetime import timedelta
from typing import Any

from sandbox.contract.settings import Settings
from sandbox.scenario.scalars import DURATION, FLAG, TEXT, at_most, number, one_of, text
from sandbox.scenario.shapes import Each, Shape, Table

WORDS = {
    "request_id_reuse": ("replay", "refuse", "allow"),
    "worlds": ("on_demand", "declared"),
    "signatures": ("off", "lenient", "strict"),
    "client_certificates": ("off", "proxy", "tls"),
    "certificate_clock": ("real", "bank"),
    "settled_status": ("ACSC", "ACSP"),
    "closed_days": ("ignore", "respect"),
    "life": ("on", "off"),
    "referee": ("on", "off"),
}
NUMBER_MAX = 1_000_000_000
# Fewer events than one advance may meet would stop the bank itself.
BOUNDS = {
    "page_size": (1, 50),
    "recycling_tries": (0, 1000),
    "rules_edition": (1, 2),
    "requests_per_minute": (0, NUMBER_MAX),
    "reads_per_day": (0, NUMBER_MAX),
    "contents_kept": (0, 10_000),
    "execution_days_ahead_max": (0, 3650),
    "due_events_max": (1_000_000, NUMBER_MAX),
}
NETWORK = text(r"[0-9.]{7,15}(/[0-9]{1,2})?|[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?", "10.0.0.0/8")
LONGEST = {"instant_settlement": timedelta(seconds=10)}  # choice 5: never over 10 s


def shape_of(name: str, default: Any) -> Shape:
    """The shape of a setting, derived from its default."""
    if name in WORDS:
        return one_of(WORDS[name], f"value of {name}")
    if name == "vendor":
        return text(r"[a-z0-9][a-z0-9.-]{0,60}", "service")
    if name == "certificate_header":
        return text(r"[A-Za-z0-9-]{1,64}", "X-Client-Cert")
    if name == "trusted_proxies":
        return Each(NETWORK)
    if isinstance(default, bool):
        return FLAG
    if isinstance(default, timedelta):
        return at_most(LONGEST[name]) if name in LONGEST else DURATION
    if isinstance(default, int):
        return number(*BOUNDS.get(name, (1, NUMBER_MAX)))
    if name == "referee_waives":
        return Each(text(r"[a-z0-9-]+ *: *\S.*", "paging-stopped: one page is all we show"))
    return Each(TEXT) if isinstance(default, tuple) else TEXT


SETTINGS = Table(
    {row.name: shape_of(row.name, row.default) for row in fields(Settings)}, called="a mapping of settings"
)
