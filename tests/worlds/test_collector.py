"""The garbage collector of a server looks at no bank for long; that of another program is left as it is."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from sandbox.storage.collector import LONG, SlowCollectionFreezer, without_collections

MOST = 40_000  # objects: some times what comes between two full collections
GROWS = """
import gc
from itertools import count
from sandbox.storage.collector import keep_pauses_short

sizes, ticks = [], count()
if {tuned}:
    keep_pauses_short(lambda: float(next(ticks)))  # each full collection takes long
gc.callbacks.append(
    lambda phase, details: phase == "start" and details["generation"] == 2 and sizes.append(len(gc.get_objects()))
)
bank = [[number] for number in range(300_000)]
print(max(sizes))
"""


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """One item for each time that objects were set aside."""
    times = list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: times.append(1))
    before = list(gc.callbacks)
    yield times
    gc.callbacks[:] = before


def test_only_a_full_collection_that_took_long_sets_objects_aside(frozen: list[int]) -> None:
    times = iter([0.0, LONG / 2, 1.0, 1.0 + 2 * LONG])
    freezer = SlowCollectionFreezer(lambda: next(times))
    for generation in (0, 1, 2, 2):
        for phase in ("start", "stop"):
            freezer(phase, {"generation": generation})
    assert frozen == [1]


@pytest.mark.parametrize("tuned", [True, False])
def test_full_collections_of_a_server_stay_small_while_a_bank_grows(tuned: bool) -> None:
    told = subprocess.run([sys.executable, "-c", GROWS.format(tuned=tuned)], capture_output=True, check=True)
    assert (int(told.stdout) < MOST) is tuned


def test_a_copy_of_a_bank_is_made_without_collections_and_set_aside(frozen: list[int]) -> None:
    gc.callbacks.append(SlowCollectionFreezer(lambda: 0.0))
    with without_collections():
        assert not gc.isenabled()
    assert gc.isenabled() and frozen == [1]


def test_another_program_keeps_its_objects(frozen: list[int]) -> None:
    with without_collections():
        assert not gc.isenabled()
    assert gc.isenabled() and not frozen
