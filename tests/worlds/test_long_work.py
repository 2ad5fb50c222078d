"""Long work lets others go on."""

import pytest

from sandbox.storage import long_work


def test_others_go_on_after_each_portion_and_every_item_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[int] = []
    taken: list[int] = []
    monkeypatch.setattr(long_work, "pause", lambda: pauses.append(len(taken)))
    for item in long_work.pause_between(range(10), 4):
        taken.append(item)
    assert (taken, pauses) == (list(range(10)), [4, 8])
