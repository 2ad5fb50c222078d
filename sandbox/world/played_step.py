"""A step of a scenario, as it was played."""

from typing import NamedTuple


class PlayedStep(NamedTuple):
    """A step of a scenario that is played: `holds`, `fails` or `skipped`; `world` names the world it is played in."""

    word: str
    text: str
    faults: tuple[str, ...] = ()
