"""Long work in the server's process without a long stop of every thread: with short pauses in which others go on, and
memory that is freed in slices.

Work that changes nothing before it is whole (a replay for an import or a fork) also ends early: once
its caller has hung up or the server ends, nobody waits for it. The thread that works asks this itself between two
pieces, as Python stops no thread from outside. A move of a clock stops between two instants. All other work that
changes a world is never ended so.

The garbage collector stops every thread, too. It finds nothing in a bank, as the objects of a bank form no circles and
are freed by reference counts. But a full collection searches all of them, and a payment is 14 objects: 103 ms of CPU
with 20,000 payments, and 824 ms with 200,000. So a server sets objects aside (`gc.freeze`) after a full collection that
took long. The longest one then takes 23 ms and 41 ms. A copy of a bank is made without collections: 0.25 s instead of
0.86 s with 200,000 payments. Objects that were set aside are still freed by reference counts, but a circle among them
never is. So a short collection sets nothing aside: each call leaves a small circle, and those of the calls under way
would stay for ever. Full collections cannot be switched off for the same reason.
"""

import gc
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import ref

from sandbox.contract.errors import Error, Refusal

T = TypeVar("T")
PAUSE = 0.0005  # seconds
Register = dict[Any, Any] | list[Any]
AT_ONCE = 500  # entries
SMALL = 2_000  # entries of all registers: to give them back takes no longer than a slice
LOOKS = 1_000  # at an owner that a caller still uses
LOOK_PAUSE = 0.01  # seconds between two looks
LONG_COLLECTION = 0.002  # seconds
SWITCH_SECONDS = 0.001  # between threads: a call waits for the interpreter several times, by default 5 ms each

_pausing = threading.Event()
_caller = threading.local()
_sets_aside = threading.Event()  # this program serves


class AbandonedError(Refusal):
    """Nobody waits for the work any more."""

    def __init__(self) -> None:
        super().__init__(Error.UNAVAILABLE)


@contextmanager
def for_caller(is_gone: Callable[[], bool]) -> Iterator[None]:
    """Within the block, this thread works for a caller. `is_gone` says whether the caller has hung up."""
    before = getattr(_caller, "is_gone", None)
    _caller.is_gone = is_gone
    try:
        yield
    finally:
        _caller.is_gone = before


def is_caller_gone() -> bool:
    """Returns False for work that no caller waits for."""
    is_gone = getattr(_caller, "is_gone", None)
    return is_gone is not None and bool(is_gone())


def demand_caller() -> None:
    if is_caller_gone():
        raise AbandonedError


def pause() -> None:
    _pausing.wait(PAUSE)


def with_pauses(items: Iterable[T], every: int) -> Generator[T]:
    """Yields the items, and pauses after each `every` of them."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            pause()


def while_waited_for(items: Iterable[T], every: int) -> Iterator[T]:
    """As `with_pauses`. Raises AbandonedError once the caller is gone."""
    for item in with_pauses(items, every):
        demand_caller()
        yield item


def release(owner: object, registers: list[Register]) -> None:
    """Frees the registers of an owner, such as a bank, in slices, once nobody holds the owner.

    To free an object, Python frees all that it alone holds without letting another thread run: 0.9 s for a bank of
    200,000 payments, and 30 ms for one of 20,000.
    """
    if sum(map(len, registers)) > SMALL:
        threading.Thread(target=_release, args=(ref(owner), registers), name="release", daemon=True).start()


def _release(owner: Callable[[], object], registers: list[Register]) -> None:
    for _ in range(LOOKS):
        if owner() is None:  # the registers are only held here now
            break
        _pausing.wait(LOOK_PAUSE)
    else:
        return
    for register in registers:
        while register:
            if isinstance(register, dict):
                for _ in range(min(AT_ONCE, len(register))):  # other threads go on between any two
                    register.popitem()
            else:
                del register[-AT_ONCE:]


def keep_pauses_short(stopwatch: Callable[[], float]) -> None:
    """Tunes the garbage collector and the switches between threads of a program that only serves. Called once."""
    began = 0.0

    def set_aside_after_long(phase: str, details: dict[str, Any]) -> None:
        nonlocal began
        if details["generation"] < 2:
            return
        if phase == "start":
            began = stopwatch()
        elif stopwatch() - began > LONG_COLLECTION:
            gc.freeze()

    _sets_aside.set()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # what the start made stays
    gc.callbacks.append(set_aside_after_long)


@contextmanager
def without_collections() -> Iterator[None]:
    """For the copy of a bank. A server sets the copy aside at once; another program sets nothing aside."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if _sets_aside.is_set():
            gc.freeze()
        if was_enabled:
            gc.enable()
