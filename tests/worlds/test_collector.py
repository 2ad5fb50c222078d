"""The garbage collector of a server looks at no bank for long; that of another program is left as it is."""

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from sandbox.storage import long_work
from sandbox.storage.long_work import LONG_COLLECTION, keep_pauses_short, stop_collections

GROWS = """
import gc
from itertools import count
from sandbox.storage.long_work import keep_pauses_short

sizes, ticks = [], count()
young, middle, old = gc.get_threshold()  # they differ among versions of Python
between_two = young * (middle + 1) * (old + 2)  # full collections, in objects
if {tuned}:
    keep_pauses_short(lambda: float(next(ticks)))  # each full collection takes long
gc.callbacks.append(
    lambda phase, details: phase == "start" and details["generation"] == 2 and sizes.append(len(gc.get_objects()))
)
bank = [[number] for number in range(4 * between_two)]
print(max(sizes) / between_two)
"""


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """One item for each time that objects were set aside."""
    times = list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: times.append(1))
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    monkeypatch.setattr(long_work, "_sets_aside", threading.Event())
    before = list(gc.callbacks)
    yield times
    gc.callbacks[:] = before


def test_only_a_full_collection_that_took_long_sets_objects_aside(frozen: list[int]) -> None:
    times = iter([0.0, LONG_COLLECTION / 2, 1.0, 1.0 + 2 * LONG_COLLECTION])
    keep_pauses_short(lambda: next(times))
    frozen.clear()
    after_collection = gc.callbacks.pop()
    for generation in (0, 1, 2, 2):
        for phase in ("start", "stop"):
            after_collection(phase, {"generation": generation})
    assert frozen == [1]


@pytest.mark.parametrize("tuned", [True, False])
def test_full_collections_of_a_server_stay_small_while_a_bank_grows(tuned: bool) -> None:
    grown = subprocess.run([sys.executable, "-c", GROWS.format(tuned=tuned)], capture_output=True, check=True)
    assert (float(grown.stdout) < 1.5) is tuned


def test_a_copy_of_a_bank_is_made_without_collections_and_set_aside(frozen: list[int]) -> None:
    keep_pauses_short(lambda: 0.0)
    frozen.clear()
    with stop_collections():
        assert not gc.isenabled()
    assert gc.isenabled() and frozen == [1]


def test_another_program_keeps_its_objects(frozen: list[int]) -> None:
    with stop_collections():
        assert not gc.isenabled()
    assert gc.isenabled() and not frozen
