"""What a row of the table of axes is: one point on which the real bank may have decided otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sandbox.contract.settings import Settings

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
    lenient: bool = False  # takes or grants more: no client breaks there that works with the default
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

    @property
    def default(self) -> str:
        return self.values[0].name

    @property
    def names(self) -> tuple[str, ...]:
        """Of the values."""
        return tuple(value.name for value in self.values)

    @property
    def marked(self) -> tuple[str, ...]:
        """The names with their marks."""
        return tuple(f"{one.name}{'' if one.within else '!'}{'+' if one.lenient else ''}" for one in self.values)

    @property
    def lenient(self) -> tuple[str, ...]:
        """The names of the lenient values."""
        return tuple(value.name for value in self.values if value.lenient)

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


DEFAULT_SETTINGS = vars(Settings())


def axes_of(topic: str) -> Callable[..., Axis]:
    """A maker of the rows of a topic: name, clause, what could be otherwise, what it brings to light, the values.

    A value is a name with its marks, what it does, and the settings that do it, where no line of code asks for it.
    The first one leaves these settings at their defaults. An axis of the name of a setting has that setting's words.
    """

    def make(
        name: str, clause: str, about: str, brings: str, *rows: tuple[Any, ...], excludes: tuple[Exclusion, ...] = ()
    ) -> Axis:
        words = [row[0].rstrip("!+") for row in rows]
        changes: list[dict[str, Any]] = [dict(*row[2:]) for row in rows]
        if name in DEFAULT_SETTINGS and not any(changes):
            changes = [{name: word} for word in words]
        unchanged = {setting: DEFAULT_SETTINGS[setting] for change in changes for setting in change}
        values = tuple(
            Value(word, row[1], "!" not in row[0], "+" in row[0], tuple(sorted((unchanged | change).items())))
            for word, row, change in zip(words, rows, changes, strict=True)
        )
        return Axis(name, clause, values, about, brings, topic, excludes)

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
