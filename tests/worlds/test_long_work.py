"""Memory of long work is freed in slices."""

from sandbox.banking.durations import read_instant
from sandbox.storage.long_work import release_pieces
from sandbox.storage.memory_log import Act, PiecedList
from tests.conftest import MORNING
from tests.threads import wait_for_threads


def test_acts_that_are_dropped_give_their_memory_back() -> None:
    acts = PiecedList(Act(read_instant(MORNING), "verb", (number,)) for number in range(2_500))
    shared = acts.first(1_000)
    release_pieces(acts.pieces)
    wait_for_threads("release")
    assert acts.pieces == [] and [act.arguments for act in shared] == [(number,) for number in range(1_000)]
