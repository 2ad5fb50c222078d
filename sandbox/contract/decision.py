"""What a row of the record of decisions is: a setting, an axis, or a setting that is an axis too (choice 13).

A setting is a value that a scenario gives under `settings`. An axis is a point on which the real bank may have decided
otherwise: a few named values, which a scenario gives under `variants`, and which `vary` tries out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple


class Topic(StrEnum):
    """The headings below which people find the settings."""

    INTERFACE = "Interface"
    SIGNATURES = "Signatures and certificates"
    PAYMENTS = "Payments and their times"
    FILES = "Bulk files"
    SIGNING = "Signing by the customer"
    CONSENTS = "Consents and tokens"
    ACCOUNTS = "Accounts"
    LIMITS = "Limits of a client"
    REFEREE = "Referee"
    MEMORY = "What the sandbox keeps"
    VARIANTS = "How this bank differs"
    EXTENSIONS = "Extensions"


# The topics of axes, in the order of the reference.
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
NUMBER_MAX = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scenario may write under `settings`; its words or bounds, or the form of its text with an example."""

    name: str
    topic: Topic
    clause: str
    default: Any
    about: str
    words: tuple[str, ...] = ()
    bounds: tuple[int, int] = (1, NUMBER_MAX)
    longest: timedelta | None = None
    form: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an axis, and the fields of the record that it sets."""

    name: str
    does: str
    within: bool = True  # within the service's word; where False, a right client refuses what it gets
    lenient: bool = False  # takes or grants more: no client breaks there that works with the default
    fields: tuple[tuple[str, Any], ...] = ()


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
    def fields(self) -> frozenset[str]:
        """The fields of the record that its values set."""
        return frozenset(name for name, _ in self.values[0].fields)

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

    def value(self, name: str) -> Value:
        return {value.name: value for value in self.values}[name]

    def described(self) -> dict[str, Any]:
        """A row of the table, as JSON has it."""
        return {
            "name": self.name,
            "topic": self.topic,
            "clause": self.clause,
            "about": self.about,
            "values": list(self.names),
            "does": {value.name: value.does for value in self.values},
            "brings": self.brings,
            "within": self.within,
            "outside": [value.name for value in self.values if not value.within],
            "lenient": list(self.lenient),
            "excludes": [row._asdict() for row in self.excludes],
        }


class AxisRow(NamedTuple):
    """An axis as it is written beside its field, which gives the name and the fields where the row has none."""

    topic: str
    clause: str
    about: str
    brings: str
    values: tuple[tuple[Any, ...], ...]
    name: str
    excludes: tuple[Exclusion, ...]

    def of_field(self, name: str, defaults: Mapping[str, Any]) -> Axis:
        """The axis of that field. A value may set several fields; the first one leaves them at their defaults."""
        words = [row[0].rstrip("!+") for row in self.values]
        given = [row[2] if len(row) > 2 else None for row in self.values]
        changes = [one if isinstance(one, dict) else {name: one} for one in given if one is not None]
        if not changes:  # the field holds the names themselves
            changed = [{name: word} for word in words]
        else:
            usual = {one: defaults[one] for change in changes for one in change}
            changed = [usual | (one if isinstance(one, dict) else {} if one is None else {name: one}) for one in given]
        values = tuple(
            Value(word, row[1], "!" not in row[0], "+" in row[0], tuple(sorted(change.items())))
            for word, row, change in zip(words, self.values, changed, strict=True)
        )
        return Axis(self.name or name, self.clause, values, self.about, self.brings, self.topic, self.excludes)


class AxisTopic:
    """Makes the axes of a topic: clause, what could be otherwise, what it brings to light, the values.

    A value is a name with its marks, what it does, and where the field holds no names, what the field is then.
    """

    def __init__(self, name: str) -> None:
        assert name in TOPICS
        self.name = name

    def __call__(
        self, clause: str, about: str, brings: str, *values: tuple[Any, ...], excludes: tuple[Exclusion, ...] = ()
    ) -> Any:
        """A field that is an axis."""
        row = self.row(clause, about, brings, *values, excludes=excludes)
        return field(default=values[0][0], metadata={"axis": row})

    def row(
        self,
        clause: str,
        about: str,
        brings: str,
        *values: tuple[Any, ...],
        name: str = "",
        excludes: tuple[Exclusion, ...] = (),
    ) -> AxisRow:
        """The axis of a setting; by a name of its own where that is not the setting's."""
        return AxisRow(self.name, clause, about, brings, values, name, excludes)


def setting(
    topic: Topic,
    clause: str,
    default: Any,
    about: str,
    *,
    least: int = 1,
    most: int = NUMBER_MAX,
    longest: timedelta | None = None,
    form: tuple[str, str] | None = None,
    axis: AxisRow | None = None,
) -> Any:
    """A field that is a setting, and an axis where one is given. Its words are those of its type."""
    limits = {"bounds": (least, most), "longest": longest, "form": form}
    row = {"topic": topic, "clause": clause, "default": default, "about": about, **limits}
    return field(default=default, metadata={"setting": row, "axis": axis})
