"""Plays the branches of a `parallel` step. Only one branch runs at a time, so that a script always gives the same
order.

A branch runs until it ends or until its call is held at a barrier. Then the next branch runs. When a branch releases a
barrier, it pauses, and the branch whose call was held there runs until it ends or is held again. Then the releasing
branch continues.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from sandbox.client import Refused
from sandbox.player.stage import ScenarioContext
from sandbox.player.step_result import StepResult
from sandbox.scenarios import ScriptStep

# Real seconds between two questions whether a barrier holds a call. They double each time, up to the maximum.
LOOK_SECONDS = 0.002
LOOK_SECONDS_MAX = 0.1

Play = Callable[[ScenarioContext], Iterator[StepResult]]


class Branch(threading.Thread):
    """A branch in its own thread. The thread waits for `turn`, and sets `rests` when it pauses or ends."""

    def __init__(self, number: int, play: Play, turns: "Turns") -> None:
        super().__init__(daemon=True)
        self.number = number
        self.stage = turns.stage.make_branch(turns.let_go)
        self.turn = threading.Event()
        self.rests = threading.Event()
        self.held_at: str | None = None
        self.has_ended = False
        self.failure: BaseException | None = None
        self._play = play
        self._turns = turns

    def run(self) -> None:
        try:
            self.turn.wait()
            for result in self._play(self.stage):
                self._turns.results.append((self.number, result))
                self.turn.wait()
        except BaseException as failure:  # `play_branches` raises it in the thread that plays the step
            self.failure = failure
        finally:
            self.has_ended = True
            self.rests.set()


class Turns:
    """Runs the branches, one at a time, and collects their results."""

    def __init__(self, stage: ScenarioContext, plays: Sequence[Play]) -> None:
        self.stage = stage
        self.results: list[tuple[int, StepResult]] = []
        self.branches = [Branch(number, play, self) for number, play in enumerate(plays, 1)]
        self._queue = list(self.branches)
        self._met: set[str] = set()  # barriers that are known to hold a call

    def let_go(self, hold: str) -> None:
        """Called by a branch after it released the barrier `hold`. If this barrier held the call of another branch,
        pauses the releasing branch until the other one ends or is held again."""
        releasing = next(branch for branch in self.branches if branch is threading.current_thread())
        self._met.discard(hold)
        freed = next((branch for branch in self.branches if branch.held_at == hold), None)
        if freed is None:
            return
        freed.held_at = None
        self._queue[:0] = [freed, releasing]
        releasing.turn.clear()
        releasing.rests.set()
        releasing.turn.wait()

    def run(self) -> list[str]:
        """Plays all branches. If barriers hold the calls of all branches that have not ended, removes the barriers so
        that the branches end. Returns a sentence for each branch that was held then."""
        self._met = {hold["name"] for hold in self.stage.controls.listed("holds") if hold["state"] == "held"}
        for branch in self.branches:
            branch.start()
        faults: list[str] = []
        while True:
            if self._queue:
                self._go_on(self._queue.pop(0))
                continue
            stuck = [branch for branch in self.branches if not branch.has_ended]
            if not stuck:
                return faults
            with suppress(Refused):  # if the world does not exist any more, its barriers do not either
                self.stage.controls.call("DELETE", "/holds")
            for branch in stuck:
                faults.append(f"branch {branch.number} is held at {branch.held_at}, and no step releases it")
                branch.held_at = None
            self._queue += stuck

    def _go_on(self, branch: Branch) -> None:
        """Runs a branch until it pauses, ends, or its call is held."""
        branch.rests.clear()
        if branch.has_ended:
            return
        branch.turn.set()
        seconds = LOOK_SECONDS
        while not branch.rests.wait(seconds):
            seconds = min(2 * seconds, LOOK_SECONDS_MAX)
            hold = self._find_newly_held()
            if hold is not None:
                # so that it does not begin another step, even if the barrier lets the call continue
                branch.turn.clear()
                branch.held_at = hold
                return

    def _find_newly_held(self) -> str | None:
        for hold in self.stage.controls.listed("holds"):
            if hold["state"] == "held" and hold["name"] not in self._met:
                self._met.add(hold["name"])
                return str(hold["name"])
        return None


def play_branches(stage: ScenarioContext, step: ScriptStep, plays: Sequence[Play]) -> Iterator[StepResult]:
    """Plays the branches of a `parallel` step. Yields the results of their steps in the order in which they ended, and
    then the result of the `parallel` step itself. If a branch raised an error, raises it in place of that last result.
    For the next step, the last reply and the latest tokens are those of the last branch."""
    turns = Turns(stage, plays)
    try:
        faults = turns.run()
    finally:
        for branch in turns.branches:
            branch.stage.controls.http.close()
    for number, result in turns.results:
        yield replace(result, text=f"branch {number}: {result.text}")
    failure = next((branch.failure for branch in turns.branches if branch.failure is not None), None)
    if failure is not None:
        raise failure
    last = turns.branches[-1].stage
    stage.keys, stage.reply = last.keys or stage.keys, last.reply
    yield StepResult(step, f"parallel: {len(plays)} branches ended", tuple(faults))
