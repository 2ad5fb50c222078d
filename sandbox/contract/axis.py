"""What a row of the table of axes is: one point on which the real bank may have decided otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

# The topics, in the order of the reference.
TOPICS = (
    "headers",
    "initiation",
    "settling",
    "standing orders",
    "files",
    "tokens",
    "accounts",
    "proof",
    "surprises",
    "callback",
)


MARKS = (
    "The first value is the default. A client must refuse what is marked !, or do without it; "
    "no client that works with the default breaks on what is marked +."
)


@dataclass(frozen=True, slots=True)
class Value:
    """One way to decide; `settings` names the settings that do it, where no line of code asks for the axis."""

    name: str
    does: str
    within: bool = True  # within the service's word; where False, a right client refuses what it gets
    settings: tuple[tuple[str, Any], ...] = ()


class Exclusion(NamedTuple):
    """A value of this axis that leaves a value of another one without effect."""

    value: str
    axis: str
    other: str


@dataclass(frozen=True)
class Axis:
    """A point where the service is silent, contradicts itself or allows much; the first value is the default."""

    name: str
    clause: str
    values: tuple[Value, ...]
    about: str  # what could be otherwise
    brings: str  # the mistake of a client that it brings to light
    topic: str
    excludes: tuple[Exclusion, ...] = ()
    lenient: tuple[str, ...] = ()  # values that take or grant more: no client breaks there that works today

    @property
    def default(self) -> str:
        return self.values[0].name

    @property
    def names(self) -> tuple[str, ...]:
        """Of the values."""
        return tuple(value.name for value in self.values)

    @property
    def marked(self) -> tuple[str, ...]:
        """The names with ! where a right client refuses, and + where no client breaks that works today."""
        marks = {value.name: "" if value.within else "!" for value in self.values}
        return tuple(f"{name}{mark}{'+' if name in self.lenient else ''}" for name, mark in marks.items())

    @property
    def within(self) -> bool:
        """Whether every value keeps within the service's word."""
        return all(value.within for value in self.values)

    @property
    def by_settings(self) -> bool:
        """Whether settings decide, and no line of code asks for the axis."""
        return any(value.settings for value in self.values)

    def value(self, name: str) -> Value:
        return next(value for value in self.values if value.name == name)


def axes_of(topic: str) -> Callable[..., Axis]:
    """A maker of the rows of a topic: name, clause, what could be otherwise, what it brings to light, the values."""

    def make(
        name: str,
        clause: str,
        about: str,
        brings: str,
        *values: tuple[Any, ...],
        excludes: tuple[Exclusion, ...] = (),
        lenient: tuple[str, ...] = (),
    ) -> Axis:
        return Axis(name, clause, tuple(Value(*value) for value in values), about, brings, topic, excludes, lenient)

    return make


def described(axis: Axis) -> dict[str, Any]:
    """A row of the table, as JSON has it."""
    return {
        "name": axis.name,
        "topic": axis.topic,
        "clause": axis.clause,
        "about": axis.about,
        "values": list(axis.names),
        "does": {value.name: value.does for value in axis.values},
        "brings": axis.brings,
        "within": axis.within,
        "outside": [value.name for value in axis.values if not value.within],
        "lenient": list(axis.lenient),
        "excludes": [row._asdict() for row in axis.excludes],
    }
