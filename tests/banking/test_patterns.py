"""Patterns of texts: as the standard library reads them, and nothing of a long one is kept."""

import fnmatch
from random import Random

import pytest

from sandbox.banking.patterns import SHORT, fits, short_pieces
from sandbox.scenarios.matching import PATTERN_MAX, matches


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("INVOICE-*", ["INVOICE-", "INVOICE-1"], ["invoice-1", "AN INVOICE-1"]),
        ("*-2027", ["-2027", "a-2027"], ["a-20270"]),
        ("a*b*a", ["aba", "axxbxxa"], ["aa", "ab", "abab"]),
        ("a*a", ["aa", "aba"], ["a"]),
        ("SBX-040?", ["SBX-0401"], ["SBX-04011", "SBX-040"]),
        ("[ab]?[!c-e]*", ["axf", "bxzz"], ["axd", "cxf", "ax"]),
        ("[ab", ["[ab"], ["a"]),
        ("*", ["", "a"], []),
        ("a", ["a"], ["", "aa"]),
    ],
)
def test_what_fits_a_pattern_and_what_does_not(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [fits(text, pattern) for text in fitting] == [True] * len(fitting)
    assert [fits(text, pattern) for text in others] == [False] * len(others)


def test_a_pattern_is_read_as_the_standard_library_reads_it() -> None:
    chance = Random(15)
    for _ in range(20_000):
        pattern = "".join(chance.choices("ab*?[]!", k=chance.randrange(9)))
        text = "".join(chance.choices("abc]![", k=chance.randrange(8)))
        assert fits(text, pattern) == fnmatch.fnmatchcase(text, pattern), (pattern, text)


def test_long_patterns_are_not_remembered_and_cost_no_more_than_their_length() -> None:
    before = short_pieces.cache_info().currsize
    for number in range(5):
        assert not fits("a" * 20_000, "*a" * SHORT + f"{number}b")
        assert fits("a" * 20_000, "*a" * SHORT + "*" * number)
    assert short_pieces.cache_info().currsize == before
    assert short_pieces.cache_info().maxsize is not None


def test_a_text_of_a_matcher_that_is_too_long_for_a_pattern_is_compared_as_it_is() -> None:
    long = "a" * PATTERN_MAX + "*"
    assert matches(long, long) and not matches(long, "a" * PATTERN_MAX)
    assert matches(long[2:], "a" * PATTERN_MAX) and not matches(long[2:], "b")
