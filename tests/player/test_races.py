"""The shipped races come out the same each time. `make races` plays each a thousand times."""

import pytest

from bench.races import RACES, rounds

TIMES = 3


def test_there_are_ten_races_and_more() -> None:
    assert len(RACES) >= 10


@pytest.mark.parametrize("name", RACES)
def test_a_race_goes_the_same_way_each_time(name: str) -> None:
    first, *others = rounds(name, TIMES)
    assert [faults for _, faults in first if faults] == []
    assert len(others) == TIMES - 1 and set(others) == {first}
