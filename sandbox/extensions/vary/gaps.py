"""The combinations of choices that no row had yet, as bits of integers."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Self

from sandbox.extensions.vary.space import Choice, Space

Bits = int  # a set of choices: bit n is the choice with number n


class Numbers:
    """The choices of a space by number."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.names = tuple(sorted(space.axes))
        self.choices = tuple((name, value) for name in self.names for value in space.axes[name])
        self.of = {choice: number for number, choice in enumerate(self.choices)}
        self.values = tuple(tuple(self.of[name, value] for value in space.axes[name]) for name in self.names)
        self.beside = tuple(self.bits(rival for rival in space.rivals(one) if rival in self.of) for one in self.choices)

    def bits(self, choices: Iterable[Choice]) -> Bits:
        return sum(1 << self.of[choice] for choice in choices)

    @cached_property
    def axis_bits(self) -> tuple[Bits, ...]:
        """For each choice: all choices of its axis."""
        found = (sum(1 << value for value in values) for values in self.values)
        return tuple(bits for bits, values in zip(found, self.values, strict=True) for _ in values)

    def row(self, numbers: Iterable[int]) -> dict[str, str]:
        return dict(self.choices[number] for number in numbers)


def numbers_in(bits: Bits) -> Iterator[int]:
    """The numbers of a set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class Gaps:
    """The combinations of so many choices that are still asked for.

    `open` has a set for each choice, of those that form an open pair with it (strength 1: of itself); at strength 3 for
    each two choices, in both orders, of those that form an open three with them.
    """

    def __init__(self, numbers: Numbers, strength: int, open_bits: Sequence[Bits] | None = None) -> None:
        self.numbers = numbers
        self.strength = strength
        self.open = list(
            open_bits if open_bits is not None else map(self._all, self._keys(range(len(numbers.choices))))
        )

    def _keys(self, row: Iterable[int]) -> Iterator[tuple[int, ...]]:
        """The choices of each set of `open` that a row has to do with."""
        return product(row, repeat=2) if self.strength == 3 else ((number,) for number in row)

    def _all(self, key: tuple[int, ...]) -> Bits:
        numbers, held = self.numbers, sum(1 << number for number in set(key))
        apart = 0
        for number in key:
            apart |= numbers.beside[number] | numbers.axis_bits[number]
        if self.strength == 1:
            return held
        lone = len(set(key)) == len(key) and not any(
            (numbers.axis_bits[number] | numbers.beside[number]) & held & ~(1 << number) for number in key
        )
        return (1 << len(numbers.choices)) - 1 & ~apart if lone else 0

    def __bool__(self) -> bool:
        return any(self.open)

    def copy(self) -> Self:
        return type(self)(self.numbers, self.strength, self.open)

    def close(self, row: Sequence[int]) -> None:
        """A row had all its combinations."""
        rest = ~sum(1 << number for number in row)
        starts = [number * len(self.numbers.choices) for number in row] if self.strength == 3 else [0]
        for start in starts:
            for number in row:
                self.open[start + number] &= rest

    def drop(self, part: Bits) -> None:
        """No combination that holds this part is asked for any more."""
        for place, key in enumerate(self._keys(range(len(self.numbers.choices)))):
            missing = part
            for number in key:
                missing &= ~(1 << number)
            if not missing:
                self.open[place] = 0
            elif not missing & (missing - 1):
                self.open[place] &= ~missing

    def counts(self) -> list[int]:
        """For each choice, how many combinations with it are open; each is counted as often as it has orders."""
        found = [bits.bit_count() for bits in self.open]
        if self.strength < 3:
            return found
        size = len(self.numbers.choices)
        return [sum(found[start : start + size]) for start in range(0, len(found), size)]

    def gain(self, number: int, row: Sequence[int], held: Bits) -> int:
        """The open combinations that a row would have with this choice too; `held` are the bits of the row."""
        if self.strength < 3:
            return (self.open[number] & (held | 1 << number)).bit_count()
        start = number * len(self.numbers.choices)
        return sum((self.open[start + other] & held).bit_count() for other in row) // 2

    def first(self) -> tuple[int, ...] | None:
        """An open combination."""
        place = next((place for place, bits in enumerate(self.open) if bits), None)
        if place is None:
            return None
        last = next(numbers_in(self.open[place]))
        key = divmod(place, len(self.numbers.choices)) if self.strength == 3 else (place,)
        return key if last in key else (*key, last)
