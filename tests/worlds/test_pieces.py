"""A long list in pieces is the list that it stands for, and lists that share pieces don't disturb each other."""

from random import Random

import pytest

from sandbox.storage import long_work, memory_log
from sandbox.storage.memory_log import PiecedList


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_log, "PIECE", 3)


def test_whatever_is_done_to_it_a_list_in_pieces_is_what_a_plain_list_would_be() -> None:
    chance, pairs = Random(15), [(PiecedList[int](), list[int]())]
    for number in range(2_000):
        pieced, plain = chance.choice(pairs)
        match chance.randrange(8):
            case 0:
                count = chance.randrange(-1, len(plain) + 2)
                pairs.append((pieced.first(count), plain[: max(count, 0)]))
                pairs = pairs[-6:]
            case 1:
                count = chance.randrange(len(plain) + 2)
                gone = [item for piece in pieced.drop_first(count) for item in piece]
                assert gone[:count] == plain[:count] and len(gone) < count + memory_log.PIECE
                del plain[:count]
            case _:
                pieced.append(number)
                plain.append(number)
        assert all(list(one) == other and len(one) == len(other) for one, other in pairs)


def test_full_pieces_are_shared_and_the_last_one_is_not() -> None:
    first = PiecedList(range(7))
    second = first.first(7)
    assert [one is other for one, other in zip(first.pieces, second.pieces, strict=True)] == [True, True, False]


def test_others_go_on_after_each_portion_and_every_item_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[int] = []
    taken: list[int] = []
    monkeypatch.setattr(long_work, "pause", lambda: pauses.append(len(taken)))
    for item in long_work.with_pauses(range(10), 4):
        taken.append(item)
    assert (taken, pauses) == (list(range(10)), [4, 8])
