"""Axes and their values, as a space of variants."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

Choice = tuple[str, str]  # an axis and one of its values
TODAY_NAME = "today"
DIGEST_BYTES = 5


@dataclass(frozen=True, slots=True, order=True)
class Variant:
    """How a bank differs from today's: only the axes that do, sorted by name."""

    changes: tuple[Choice, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Choice]) -> "Variant":
        return cls(tuple(sorted(changes)))

    @property
    def name(self) -> str:
        """The same for the same content; fits as the name of a world and of a file."""
        if not self.changes:
            return TODAY_NAME
        return f"variant-{blake2b(str(self).encode(), digest_size=DIGEST_BYTES).hexdigest()}"

    def __str__(self) -> str:
        """As `--variants` and the file of allowed breaks have it."""
        return ",".join(f"{axis}={value}" for axis, value in self.changes)

    def holds(self, other: "Variant") -> bool:
        return set(other.changes) <= set(self.changes)

    def without(self, changes: Collection[Choice]) -> "Variant":
        return Variant(tuple(choice for choice in self.changes if choice not in changes))

    def within(self, axes: Collection[str]) -> "Variant":
        """The variant with these axes only."""
        return Variant(tuple(choice for choice in self.changes if choice[0] in axes))


TODAY = Variant()


@dataclass(frozen=True)
class Space:
    """The values of each axis, today's first, and the choices that exclude each other."""

    axes: Mapping[str, tuple[str, ...]]
    excludes: frozenset[frozenset[Choice]] = frozenset()

    @cached_property
    def _rivals(self) -> dict[Choice, frozenset[Choice]]:
        found: dict[Choice, set[Choice]] = {}
        for pair in self.excludes:
            for choice in pair:
                found.setdefault(choice, set()).update(pair - {choice})
        return {choice: frozenset(rivals) for choice, rivals in found.items()}

    def rivals(self, choice: Choice) -> frozenset[Choice]:
        return self._rivals.get(choice, frozenset())

    def today(self, axis: str) -> str:
        return self.axes[axis][0]

    def only(self, names: Collection[str]) -> "Space":
        return Space({name: values for name, values in self.axes.items() if name in names}, self.excludes)

    def complete(self, variant: Variant) -> dict[str, str]:
        """A value for each axis: today's where the variant says nothing."""
        return {name: values[0] for name, values in self.axes.items()} | dict(variant.changes)

    def variant(self, values: Mapping[str, str]) -> Variant:
        """The variant of these values; those of today are left out."""
        return Variant.of((name, value) for name, value in values.items() if value != self.today(name))

    def allows(self, choices: Collection[Choice]) -> bool:
        """Whether no two of the choices exclude each other."""
        return not any(self.rivals(choice) & set(choices) for choice in choices if choice in self._rivals)

    def allows_variant(self, variant: Variant) -> bool:
        return self.allows(set(self.complete(variant).items()))
