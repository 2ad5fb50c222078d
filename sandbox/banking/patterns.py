"""Matches texts with patterns. In a pattern, * stands for any characters and ? for one character. [a-z] stands for one
character of a set, and [!a-z] for one that is not in the set.

The module `fnmatch` has the same patterns. It is not used, because it caches 32,768 patterns of any length, and each
cached pattern takes a hundred times its own size.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

CharacterMatcher = str | Callable[[str], bool]  # a character, or a function that accepts it
SHORT = 200  # characters of a pattern that is remembered


def is_pattern(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text


def fits(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern. Searches the pieces between the stars from left to right, each only once. So no
    pattern can make the search very slow."""
    if not is_pattern(pattern):
        return text == pattern
    first, *other_pieces = (short_pieces if len(pattern) <= SHORT else split_pattern)(pattern)
    if not other_pieces:
        return len(first) == len(text) and matches_at(first, text, 0)
    *middle, last = other_pieces
    at, end = len(first), len(text) - len(last)
    if at > end or not matches_at(first, text, 0) or not matches_at(last, text, end):
        return False
    for piece in middle:
        at = find(piece, text, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def split_pattern(pattern: str) -> list[list[CharacterMatcher]]:
    pieces: list[list[CharacterMatcher]] = [[]]
    for sign in list_signs(pattern):
        if sign == "*":
            pieces.append([])
        else:
            pieces[-1].append(sign[1] if isinstance(sign, tuple) else (lambda _: True) if sign == "?" else sign)
    return pieces


short_pieces = lru_cache(maxsize=1024)(split_pattern)


def list_signs(pattern: str) -> Iterator[str | tuple[str, Callable[[str], bool]]]:
    """Yields the signs of a pattern: a character, or for a set in brackets a pair of `[` and a function that accepts
    its characters. A `[` without a closing bracket is a plain character."""
    at = 0
    while at < len(pattern):
        end = pattern.find("]", at + (3 if pattern[at + 1 : at + 2] == "!" else 2)) if pattern[at] == "[" else -1
        if end < 0:
            yield pattern[at]
            at += 1
        else:
            yield "[", make_matcher(pattern[at + 1 : end])
            at = end + 1


def make_matcher(inside: str) -> Callable[[str], bool]:
    includes = not inside.startswith("!")
    inside = inside.removeprefix("!")
    single, ranges, at = set[str](), list[tuple[str, str]](), 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            ranges.append((inside[at], inside[at + 2]))
            at += 3
        else:
            single.add(inside[at])
            at += 1
    return lambda letter: (letter in single or any(low <= letter <= high for low, high in ranges)) is includes


def matches_at(piece: list[CharacterMatcher], text: str, at: int) -> bool:
    return all(
        sign == text[at + place] if isinstance(sign, str) else sign(text[at + place])
        for place, sign in enumerate(piece)
    )


def find(piece: list[CharacterMatcher], text: str, at: int, end: int) -> int:
    """Returns the first position, from `at` on, at which the whole piece matches and ends no later than `end`. Returns
    -1 if there is none."""
    if all(isinstance(sign, str) for sign in piece):
        return text.find("".join(map(str, piece)), at, end)
    return next((place for place in range(at, end - len(piece) + 1) if matches_at(piece, text, place)), -1)
