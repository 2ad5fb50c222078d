"""Long work stops no thread for long: the garbage collector is kept away from banks, and memory is freed in slices."""

import gc
from weakref import finalize

import pytest

from sandbox.banking.durations import read_instant
from sandbox.world.log.memory_log import Act, PiecedList
from sandbox.world.long_work import SHORT, Tended, collector_at_rest, release_pieces
from tests.conftest import MORNING
from tests.threads import wait_for_threads


class Circle:
    """Garbage as a call leaves it: only the collector finds it."""

    own: "Circle"


def test_acts_that_are_dropped_give_their_memory_back() -> None:
    acts = PiecedList(Act(read_instant(MORNING), "verb", (number,)) for number in range(2_500))
    shared = acts.first(1_000)
    release_pieces(acts.pieces)
    wait_for_threads("release")
    assert acts.pieces == [] and [act.arguments for act in shared] == [(number,) for number in range(1_000)]


def test_garbage_of_calls_does_not_pile_up_while_memory_is_given_back() -> None:
    gone = list[int]()
    was = gc.isenabled()
    gc.disable()  # what is freed outweighs what calls make, so that the collector rests
    try:
        circle = Circle()
        circle.own = circle
        finalize(circle, gone.append, 1)
        del circle
        release_pieces([list(range(500)) for _ in range(5)])
        wait_for_threads("release")
        assert gone == [1]
    finally:
        if was:
            gc.enable()


def test_the_collector_sets_aside_only_what_takes_it_long(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = list[int]()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    times = iter([0.0, SHORT / 2, 1.0, 1.0 + 2 * SHORT])
    tended = Tended(lambda: next(times))
    for generation in (0, 1, 2, 2):
        for phase in ("start", "stop"):
            tended(phase, {"generation": generation})
    assert frozen == [1]


def test_a_program_of_somebody_else_keeps_its_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("what it holds is none of our business"))
    with collector_at_rest():
        assert not gc.isenabled()
    assert gc.isenabled()
