"""The result of one step of a script."""

from dataclasses import dataclass

from sandbox.player.line_log import Exchange
from sandbox.scenario import Step


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step: its text and its failed expectations."""

    step: Step
    text: str
    faults: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    skipped: bool = False
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.faults and not self.skipped
