"""Doing again what was done, and seeing at once where it does not go as it went."""

from collections.abc import Iterable

from sandbox.bank import timeline
from sandbox.bank.state import Bank
from sandbox.bank.verbs import VERBS
from sandbox.contract.errors import Refusal
from sandbox.world.log.memory_log import Act


class Astray(Exception):
    """An act that went one way does not go that way now."""


def play(bank: Bank, acts: Iterable[Act], done: int = 0) -> int:
    """Does each act at its own time; the answer is how many there are now, with those that were done before."""
    for act in acts:
        done += 1
        timeline.advance(bank, act.at)
        try:
            VERBS[act.verb](bank, *act.arguments)
        except Refusal as refusal:
            if not refusal.lasting:
                raise Astray(f"act {done} ({act.verb}) was taken once and is refused now: {refusal}") from None
        except KeyError as missing:
            if act.verb in VERBS:
                raise
            raise Astray(f"act {done} is {missing}, which this program does not know") from None
        if act.made and act.made != bank.made:
            raise Astray(f"act {done} ({act.verb}) goes another way than it went: {bank.made} and not {act.made}")
    return done
