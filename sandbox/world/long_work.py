"""Long work in the server's process, without a long stop of every thread: with short pauses in which others go on, the
garbage collector kept from looking at all that a large bank holds, and memory given back in slices.

Work that changes nothing before it is whole (a replay for an import or a fork) also ends early: once
its caller has hung up or the server ends, nobody waits for it. The thread that works asks this itself between two
pieces, as Python stops no thread from outside. A move of a clock stops between two instants. All other work that
changes a world is never ended so.
"""

import gc
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import ref

from sandbox.contract.errors import Error, Refusal

T = TypeVar("T")
PAUSE = 0.0005  # seconds
# New objects before the youngest are looked at, and how many such looks before the next older ones are. Whatever was
# kept is looked at three times in small portions, and then no more.
THRESHOLDS = (2_000, 2, 1)
SHORT = 0.002  # seconds
SWITCH = 0.001  # seconds after which a thread that computes lets another go on; a call gives way a few times
Register = dict[Any, Any] | list[Any]
AT_ONCE = 500  # entries
SMALL = 2_000  # entries of all registers: to give them back takes no longer than a slice
LOOKS = 1_000  # at an owner that a caller still uses
LOOK_PAUSE = 0.01  # seconds between two looks

_pausing = threading.Event()
_caller = threading.local()


class AbandonedError(Refusal):
    """Nobody waits for the work any more."""

    def __init__(self) -> None:
        super().__init__(Error.UNAVAILABLE)


@contextmanager
def for_caller(is_gone: Callable[[], bool]) -> Iterator[None]:
    """What this thread does in the block, it does for a caller of whom that function says whether they are gone."""
    before = getattr(_caller, "is_gone", None)
    _caller.is_gone = is_gone
    try:
        yield
    finally:
        _caller.is_gone = before


def is_caller_gone() -> bool:
    """Never, of work that no caller waits for."""
    is_gone = getattr(_caller, "is_gone", None)
    return is_gone is not None and bool(is_gone())


def demand_caller() -> None:
    if is_caller_gone():
        raise AbandonedError


def pause() -> None:
    _pausing.wait(PAUSE)


def with_pauses(items: Iterable[T], every: int) -> Iterator[T]:
    """The items, with a pause after so many of them."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            pause()


def while_waited_for(items: Iterable[T], every: int) -> Iterator[T]:
    """The same; raises AbandonedError once the caller is gone."""
    for item in with_pauses(items, every):
        demand_caller()
        yield item


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


def release(owner: object, registers: list[Register]) -> None:
    """The registers of an owner that nobody will look at again."""
    if sum(map(len, registers)) > SMALL:
        _begin(ref(owner), registers, AT_ONCE)


def release_pieces(pieces: list[list[Any]], owner: object = None) -> None:
    """A list of lists, some of which others may hold too. Without an owner nobody else has it."""
    if sum(map(len, pieces)) > SMALL:
        _begin((lambda: None) if owner is None else ref(owner), [pieces], 1)


def _begin(*given: Any) -> None:
    threading.Thread(target=_release, args=given, name="release", daemon=True).start()


def _release(owner: Callable[[], object], registers: list[Register], at_once: int) -> None:
    """Registers that are held here outlast their owner; then nobody else has them."""
    for _ in range(LOOKS):
        if owner() is None:
            break
        _pausing.wait(LOOK_PAUSE)
    else:
        return
    for register in registers:
        while register:
            if isinstance(register, dict):
                for _ in range(min(at_once, len(register))):  # other threads go on between any two
                    register.popitem()
            else:
                del register[-at_once:]
            gc.collect(0)  # Python counts what is freed against what calls make, and would leave their garbage for long
