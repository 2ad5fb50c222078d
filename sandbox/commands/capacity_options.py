"""Options of `serve` about the number and size of worlds (choice 10)."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from sandbox.commands.options import Span, all_of, option

if TYPE_CHECKING:
    from sandbox.world.beginning import Beginning
    from sandbox.world.room import Room


@dataclass(frozen=True)
class CapacityOptions:
    """The values of the options of the same names."""

    worlds_max: int
    put_away_after: timedelta
    acts_kept: int | None
    history_mb: int

    @property
    def room(self) -> "Room":
        from sandbox.world.room import Room

        return Room(self.worlds_max, self.put_away_after.total_seconds(), self.history_mb * 1_000_000)

    def apply_to(self, beginning: "Beginning") -> "Beginning":
        """Sets the settings of the given options; others stay those of the scenario."""
        if self.acts_kept is None:
            return beginning
        return replace(beginning, settings=replace(beginning.settings, acts_kept=self.acts_kept))


capacity_options = all_of(
    option(
        "--worlds-max",
        default=10_000,
        type=click.IntRange(1, 1_000_000),
        help="Most worlds in memory. With --state the longest idle one is unloaded, else a new one is refused.",
    ),
    option("--put-away-after", default="30m", type=Span(), help="With --state: unload a world after this idle time."),
    option(
        "--history-mb",
        default=500,
        type=click.IntRange(1, 1_000_000),
        help="Megabytes of calls, acts and waiting files in memory; the oldest are dropped, payments never.",
    ),
    option(
        "--acts-kept",
        type=click.IntRange(1, 1_000_000_000),
        help="Acts of a world kept in memory for forks; default: the scenario's value, or 100000.",
    ),
)
