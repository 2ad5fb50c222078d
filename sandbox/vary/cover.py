"""Covering sets: few variants in which every pair of values of every two axes occurs.

The library is allpairspy: for 90 axes it needs 2 s where covertable needs 97 s, and both find about as few variants.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from allpairspy import AllPairs

from sandbox.vary.space import TODAY, Choice, Space, Variant

STRENGTHS = (1, 2, 3)
SLOW_AXES = 30  # axes from which strength 3 takes more than a minute
Tuple = tuple[Choice, ...]


@dataclass(frozen=True)
class Cover:
    """The variants, today's bank among them, and the combinations that no variant can have."""

    space: Space
    strength: int
    variants: tuple[Variant, ...]
    impossible: frozenset[Tuple] = frozenset()


def find_cover(space: Space, strength: int, seed: int = 1, done: Sequence[Variant] = (TODAY,)) -> Cover:
    """Covers the space; `done` are variants that count already, and come first."""
    rows = [space.complete(variant) for variant in done]
    strength = min(strength, len(space.axes))
    if strength > 0:
        rows += _library_rows(space, strength, seed, rows)
    missing = _missing(space, strength, rows)
    impossible = set()
    while missing:
        first = min(missing)
        row = _fill(space, first, missing)
        if row is None:
            impossible.add(first)
            missing.discard(first)
        else:
            rows.append(row)
            missing.difference_update(_tuples(row, strength))
    variants = dict.fromkeys(space.variant(row) for row in rows)
    return Cover(space, strength, tuple(variants), frozenset(impossible))


def _library_rows(space: Space, strength: int, seed: int, done: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The rows of the library. The seed decides in which order it meets axes and values."""
    chance = Random(seed)
    names = sorted(space.axes)
    chance.shuffle(names)
    if len(names) == 1:
        yield from ({names[0]: value} for value in space.axes[names[0]])
        return
    columns = [chance.sample(space.axes[name], len(space.axes[name])) for name in names]

    def fits(values: list[str]) -> bool:
        """Whether the last value suits those before it."""
        choices = set(zip(names, values, strict=False))
        last = names[len(values) - 1], values[-1]
        return not space.rivals(last) & choices

    before = [[row[name] for name in names] for row in done]
    for values in AllPairs(columns, filter_func=fits, previously_tested=before, n=strength):
        yield dict(zip(names, values, strict=True))


def tuples_of(space: Space, strength: int) -> Iterator[Tuple]:
    """Each combination of so many values of different axes whose choices do not exclude each other."""
    for names in combinations(sorted(space.axes), strength):
        for values in product(*(space.axes[name] for name in names)):
            found = tuple(zip(names, values, strict=True))
            if space.allows(found):
                yield found


def _tuples(row: dict[str, str], strength: int) -> Iterator[Tuple]:
    return combinations(sorted(row.items()), strength)


def _missing(space: Space, strength: int, rows: Iterable[dict[str, str]]) -> set[Tuple]:
    """What no row has. The library stops at its first row without a new combination, which constraints may bring."""
    found = set(tuples_of(space, strength)) if strength else set()
    for row in rows:
        found.difference_update(_tuples(row, strength))
    return found


def _fill(space: Space, start: Tuple, missing: set[Tuple]) -> dict[str, str] | None:
    """A row that has the start and as many of the missing as fit; None where the start fits into no row."""
    row = _complete(space, dict(start))
    for more in sorted(missing) if row is not None else ():
        fixed = dict(start)
        if all(fixed.get(name, value) == value for name, value in more):
            longer = _complete(space, fixed | dict(more))
            if longer is not None:
                start, row = tuple((fixed | dict(more)).items()), longer
    return row


def _complete(space: Space, fixed: dict[str, str]) -> dict[str, str] | None:
    """Adds a value for every other axis, today's if it may be; None where that is impossible.

    Goes through the axes in order, and back where one has no value left.
    """
    row = dict(fixed)
    names = [name for name in space.axes if name not in row]
    chosen = [0] * len(names)
    place = 0 if space.allows(set(row.items())) else -1
    while 0 <= place < len(names):
        name = names[place]
        row.pop(name, None)
        for number in range(chosen[place], len(space.axes[name])):
            choice = name, space.axes[name][number]
            if not space.rivals(choice) & row.items():
                chosen[place], row[name] = number, choice[1]
                place += 1
                break
        else:
            chosen[place] = 0
            place -= 1
            if place >= 0:
                chosen[place] += 1
    return None if place < 0 else row
