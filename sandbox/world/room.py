"""How much a server holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """Bounds of one server."""

    worlds_max: int = 10_000  # in memory; without a state file there are no more than these
    put_away_after: float = 1800.0  # seconds without a call, by the machine's clock; needs a state file
    history_max: int = 500_000_000  # bytes that memory keeps beside money: calls, acts, files that wait


USUAL = Room()
