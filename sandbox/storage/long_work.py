"""Keeps long work in the server's process from stopping other threads for long: it pauses often, and memory is freed in
slices.

A replay for an import or a fork changes nothing before it is complete. So it ends early once its caller has hung up or
the server ends. Its thread itself checks this again and again, because Python cannot stop a thread from outside. A move
of a clock can end early too, but only between two instants. All other work that changes a world is never ended early.

The garbage collector stops every thread, too. It finds nothing in a bank, because the objects of a bank form no
reference cycles and are freed by reference counts. But a full collection searches all of them, and a payment is 14
objects. The longest collection takes 103 ms of CPU with 20,000 payments, and 824 ms with 200,000. So a server excludes
all objects from later collections (`gc.freeze`) after a full collection that took long. The longest collection then
takes 23 ms with 20,000 payments, and 41 ms with 200,000. A copy of a bank is made without collections: 0.25 s instead
of 0.86 s with 200,000 payments.

Frozen objects are still freed by reference counts, but a cycle among them never is. So a short collection freezes
nothing: each call leaves a small cycle, and the cycles of the present calls would stay for ever. Full collections
cannot be switched off for the same reason.
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
PAUSE = 0.0005  # seconds of one pause
Register = dict[Any, Any] | list[Any]
AT_ONCE = 500  # entries that are handled between two pauses
SMALL = 2_000  # entries of all registers; a bank with fewer is freed at once, because that takes no longer than a slice
LOOKS = 1_000  # checks whether a caller still uses the owner, before its registers are freed
LOOK_PAUSE = 0.01  # seconds between two such checks
LONG_COLLECTION = 0.002  # seconds from which a full collection counts as long
# Seconds after which Python switches threads. A call waits for the interpreter several times, by default 5 ms each.
SWITCH_SECONDS = 0.001

_pausing = threading.Event()
_caller = threading.local()
_sets_aside = threading.Event()  # set if this program is a server, which excludes objects from collections


class AbandonedError(Refusal):
    """The caller that waited for the work has hung up, or the server ends."""

    def __init__(self) -> None:
        super().__init__(Error.UNAVAILABLE)


@contextmanager
def work_for_caller(is_gone: Callable[[], bool]) -> Iterator[None]:
    """Within the block, this thread works for a caller. `is_gone` returns whether the caller has hung up."""
    before = getattr(_caller, "is_gone", None)
    _caller.is_gone = is_gone
    try:
        yield
    finally:
        _caller.is_gone = before


def is_caller_gone() -> bool:
    """Whether the caller of this thread's work has hung up. False for work without a caller."""
    is_gone = getattr(_caller, "is_gone", None)
    return is_gone is not None and bool(is_gone())


def demand_caller() -> None:
    if is_caller_gone():
        raise AbandonedError


def pause() -> None:
    _pausing.wait(PAUSE)


def pause_between(items: Iterable[T], every: int) -> Generator[T]:
    """Yields the items. Each time `every` items were yielded, pauses before the next one."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            pause()


def stop_when_abandoned(items: Iterable[T], every: int) -> Iterator[T]:
    """Yields the items, and pauses as `pause_between` does. Raises AbandonedError once the caller of this thread's work
    has hung up."""
    for item in pause_between(items, every):
        demand_caller()
        yield item


def release(owner: object, registers: list[Register]) -> None:
    """Frees the registers of an owner, such as a bank, in slices in the background, as soon as nobody refers to the
    owner any more. Leaves the registers to Python if they are small, or if somebody still refers to the owner after 10
    seconds.

    When Python frees an object, it also frees everything that only this object refers to. Meanwhile no other thread
    runs: for 0.9 s with a bank of 200,000 payments, and for 30 ms with a bank of 20,000.
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
    """Shortens the pauses of a server process. Excludes all present objects from garbage collections, now and after
    each full collection that takes longer than LONG_COLLECTION. Lets Python switch threads every SWITCH_SECONDS. Must
    be called once, at the start."""
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
    gc.freeze()  # the objects that the start made stay until the end
    gc.callbacks.append(set_aside_after_long)


@contextmanager
def stop_collections() -> Iterator[None]:
    """Within the block, there are no garbage collections. At its end, if `keep_pauses_short` was called, excludes all
    objects from later collections. Used while a bank is copied."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if _sets_aside.is_set():
            gc.freeze()
        if was_enabled:
            gc.enable()
