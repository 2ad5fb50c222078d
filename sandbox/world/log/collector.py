"""Python's garbage collector, kept from looking at all that a large bank holds: each look would stop every call."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# New objects before the youngest are looked at, and how many such looks before the next older ones are. Whatever was
# kept is looked at three times in small portions, and then no more.
THRESHOLDS = (2_000, 2, 1)
SHORT = 0.002  # seconds
SWITCH = 0.001  # seconds after which a thread that computes lets another go on; a call gives way a few times


class Tended:
    """Sets what a collection left aside once looking at it took a while: it belongs to a bank, and stays.

    Garbage with circles comes from single calls and dies young; a world that is dropped or begins again has none.
    """

    def __init__(self, stopwatch: Callable[[], float]) -> None:
        self._stopwatch = stopwatch
        self._began = 0.0

    def __call__(self, phase: str, details: dict[str, Any]) -> None:
        if details["generation"] < 2:
            return
        if phase == "start":
            self._began = self._stopwatch()
        elif self._stopwatch() - self._began > SHORT:
            gc.freeze()


def tend(stopwatch: Callable[[], float]) -> None:
    """For a program that serves until it ends. Its start leaves next to no garbage, so all of it stays unsearched."""
    sys.setswitchinterval(SWITCH)
    gc.freeze()
    gc.collect()  # nothing, which the collector then counts from
    gc.set_threshold(*THRESHOLDS)
    if not is_tended():
        gc.callbacks.append(Tended(stopwatch))


def is_tended() -> bool:
    return any(isinstance(callback, Tended) for callback in gc.callbacks)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """While a bank grows from a log nothing dies, and looking for what died takes longer than the rest."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_tended():
            gc.freeze()
        if was:
            gc.enable()
