"""Toy axes and toy tests: each breaks under exactly the choices that it names."""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from sandbox.extensions.vary.runs import Result, Runs, VariantRun
from sandbox.extensions.vary.space import Choice, Space, Variant

Breaks = Callable[[Variant], bool]


def space_of(*sizes: int, excludes: Iterable[tuple[Choice, Choice]] = ()) -> Space:
    """Axes a, b, c, ... of so many values each: 0 is today's."""
    names = [f"{chr(ord('a') + number % 26)}{number // 26 or ''}" for number in range(len(sizes))]
    axes = {name: tuple(map(str, range(size))) for name, size in zip(names, sizes, strict=True)}
    return Space(axes, frozenset(frozenset(pair) for pair in excludes))


def variant(text: str) -> Variant:
    """`a=1,b=2`."""
    pairs = (part.split("=") for part in text.split(",") if part)
    return Variant.of((axis, value) for axis, value in pairs)


def breaking(text: str) -> Breaks:
    """Fails wherever all these choices are."""
    cause = variant(text)
    return lambda found: found.holds(cause)


class Toys:
    """Tests that say when they break; each axis is met unless `met` says otherwise."""

    def __init__(
        self, space: Space, tests: Mapping[str, Breaks], met: Callable[[Variant], Iterable[str]] | None = None
    ) -> None:
        self.tests = tests
        self.met = met or (lambda found: space.axes)
        self.asked: list[Variant] = []
        self.runs = Runs(self.trial)

    def trial(self, found: Variant) -> VariantRun:
        self.asked.append(found)
        text = str(found)
        results = {name: Result(not breaks(found), f"{name} saw {text}") for name, breaks in self.tests.items()}
        return VariantRun(results, frozenset(self.met(found)))


def pairs_of(space: Space, rows: Iterable[Variant]) -> set[frozenset[Choice]]:
    """Each pair of choices that occurs in a row."""
    return {frozenset(pair) for row in rows for pair in combinations(space.complete(row).items(), 2)}


def all_pairs(space: Space) -> set[frozenset[Choice]]:
    """Counted apart from the code that covers them."""
    choices = [(axis, value) for axis, values in space.axes.items() for value in values]
    return {
        frozenset({one, other})
        for one, other in combinations(choices, 2)
        if one[0] != other[0] and frozenset({one, other}) not in space.excludes
    }
