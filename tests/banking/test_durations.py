"""Spans and instants as people write them: choice 10."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.banking.durations import (
    LONGEST,
    bound_instant,
    read_duration,
    read_instant,
    write_duration,
    write_instant,
)

SPANS = {
    "0s": timedelta(),
    "90s": timedelta(seconds=90),
    "1.5s": timedelta(seconds=1.5),
    "61m": timedelta(minutes=61),
    "2h": timedelta(hours=2),
    "5d": timedelta(days=5),
    "1w": timedelta(weeks=1),
    "1h30m": timedelta(minutes=90),
    "1d12h": timedelta(hours=36),
    "PT61M": timedelta(minutes=61),
    "P1D": timedelta(days=1),
    "P2W": timedelta(weeks=2),
    "P1DT2H3M4.5S": timedelta(days=1, hours=2, minutes=3, seconds=4.5),
    "73000d": timedelta(days=73000),
}
NO_SPANS = (
    "", " ", "1", "s", "-1s", "+1s", "1 s", " 1s", "1s ", "1s\n", "1S", "1M", "1y", "1e3s", "0x1s", ".5s", "1.s",
    "1,5s", "١s", "P", "PT", "P1", "PT1", "P1H", "PT1D", "P1M", "P1Y", "pt1m", "P-1D", "infs", "nans",
    "1.0000001s", "1000000000s", "999999999w", "P999999999W", "999999999d", "73201d", "73200d1s",
    "999999999w" * 100,
)  # fmt: skip


@pytest.mark.parametrize("text", SPANS)
def test_a_duration_is_read(text: str) -> None:
    assert read_duration(text) == SPANS[text]


@pytest.mark.parametrize("text", NO_SPANS)
def test_what_is_no_duration_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        read_duration(text)


@pytest.mark.parametrize("content", [None, 1, 1.5, True, [], {}, ["1s"], b"1s"])
def test_a_duration_is_a_text(content: object) -> None:
    with pytest.raises(ValueError, match="a text"):
        read_duration(content)


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert timedelta() <= read_duration(text) <= LONGEST


@pytest.mark.parametrize(
    "span, text",
    [
        (timedelta(), "0s"),
        (timedelta(seconds=1), "1s"),
        (timedelta(seconds=90), "90s"),
        (timedelta(minutes=60), "1h"),
        (timedelta(minutes=61), "61m"),
        (timedelta(days=1), "1d"),
        (timedelta(days=14), "2w"),
        (timedelta(milliseconds=1500), "1.5s"),
        (timedelta(seconds=1_234_567.5), "1234567.5s"),
    ],
)
def test_a_duration_is_written_in_the_largest_unit_that_fits(span: timedelta, text: str) -> None:
    assert write_duration(span) == text


@given(st.integers(0, 999_999_999))
def test_a_written_duration_is_read_again(seconds: int) -> None:
    span = timedelta(seconds=seconds)
    assert read_duration(write_duration(span)) == span


INSTANTS = {
    "2027-01-02T06:00:00+01:00": datetime(2027, 1, 2, 5, tzinfo=UTC),
    "2027-01-02T05:00:00Z": datetime(2027, 1, 2, 5, tzinfo=UTC),
    "2027-03-01T09:00": datetime(2027, 3, 1, 8, tzinfo=UTC),
    "2027-07-01T09:00": datetime(2027, 7, 1, 7, tzinfo=UTC),  # summer time
    "2027-03-01": datetime(2027, 2, 28, 23, tzinfo=UTC),
}
NO_INSTANTS = (
    "", "now", "2027", "2027-13-01", "2027-02-29", "2027-01-01T25:00", "1999-12-31T23:59:59Z", "2200-01-01T00:00Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2027-01-01T00:00:00+99:00", "2027-01-01 ",
)  # fmt: skip


@pytest.mark.parametrize("text", INSTANTS)
def test_an_instant_is_read_in_brussels_time_unless_it_has_an_offset(text: str) -> None:
    assert read_instant(text) == INSTANTS[text]


@pytest.mark.parametrize("text", [*NO_INSTANTS, None, 1, 1.5, [], {}], ids=repr)
def test_what_is_no_instant_is_a_value_error(text: object) -> None:
    with pytest.raises(ValueError):
        read_instant(text)


@given(st.text(max_size=30))
def test_any_text_is_an_instant_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert 2000 <= read_instant(text).year < 2200


@given(st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC)))
def test_a_written_instant_is_read_again(instant: datetime) -> None:
    assert read_instant(write_instant(instant)) == instant


def test_an_instant_is_written_in_brussels_time_with_its_offset() -> None:
    assert write_instant(datetime(2027, 1, 1, tzinfo=UTC)) == "2027-01-01T01:00:00+01:00"
    assert write_instant(datetime(2027, 7, 1, tzinfo=UTC)) == "2027-07-01T02:00:00+02:00"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_an_instant_at_an_end_of_the_calendar_is_written_too(text: str) -> None:
    instant = datetime.fromisoformat(text)
    assert datetime.fromisoformat(write_instant(instant)) == instant
    with pytest.raises(ValueError, match="between the years 2000 and 2200"):
        bound_instant(instant)


@given(st.datetimes(timezones=st.timezones() | st.just(UTC)))
def test_writing_any_instant_raises_nothing(instant: datetime) -> None:
    assert write_instant(instant)
