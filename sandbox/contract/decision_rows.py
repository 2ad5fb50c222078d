"""The types of the rows in `contract/decisions`: a setting, an axis, or both in one (choice 13).

A setting is a value that a scenario gives under `settings`. An axis is a point on which the real bank may have decided
otherwise: a few named values, which a scenario gives under `variants`, and which `vary` tries out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple


class Topic(StrEnum):
    """The headings under which the reference lists settings and axes."""

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
    "The first value is the default. `!`: the value breaks the service's text, so a right client refuses it or does "
    "without it. `+`: it is more lenient than the default, so no client that works with the default breaks."
)
NUMBER_MAX = 1_000_000_000
OWN_FIELD = ""  # among the fields of a value: stands for the field that declares the axis


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that a scenario may give. Its values are `words`, numbers within `bounds`, or texts of a `form`."""

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
    """A value of an axis, and the fields of `Decisions` that it sets."""

    name: str
    does: str
    within: bool = True  # agrees with the service's text; if False, a right client refuses the reply or callback
    lenient: bool = False  # accepts or grants more than the default, so no client that works with that one breaks
    fields: tuple[tuple[str, Any], ...] = ()
    unfelt: str = ""  # why a right client does not notice this value, though it notices others


class Exclusion(NamedTuple):
    """If the axis of this row has the value `value`, the value `other` of the axis `axis` has no effect."""

    value: str
    axis: str
    other: str


@dataclass(frozen=True)
class Axis:
    """A point where the service is silent, contradicts itself or permits much. The first value is the default."""

    name: str
    clause: str
    values: tuple[Value, ...]
    about: str  # what could be otherwise
    brings: str  # the mistake of a client that it brings to light
    topic: str
    excludes: tuple[Exclusion, ...] = ()
    shown_by: tuple[str, ...] = ()  # names of contract/reference_flows
    unfelt: str = ""  # why a right client does not notice the axis

    @property
    def default(self) -> str:
        return self.values[0].name

    @property
    def fields(self) -> frozenset[str]:
        """The fields of `Decisions` that its values set."""
        return frozenset(name for name, _ in self.values[0].fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    @property
    def marked(self) -> tuple[str, ...]:
        """The names of the values, each followed by its marks, which MARKS explains."""
        return tuple(
            f"{value.name}{'' if value.within else '!'}{'+' if value.lenient else ''}" for value in self.values
        )

    @property
    def lenient(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values if value.lenient)

    @property
    def within(self) -> bool:
        """Whether every value agrees with the text of the service."""
        return all(value.within for value in self.values)

    def value(self, name: str) -> Value:
        return {value.name: value for value in self.values}[name]

    def of_field(self, name: str, defaults: Mapping[str, Any]) -> "Axis":
        """Returns the axis under the name of its field. Each value then sets every field that any of its values names.

        If no value names a field, each value sets the axis's own field to the value's name.
        """
        default_fields = {other or name: defaults[other or name] for value in self.values for other, _ in value.fields}
        values = []
        for value in self.values:
            changes = (
                {other or name: content for other, content in value.fields} if default_fields else {name: value.name}
            )
            values.append(replace(value, fields=tuple(sorted((default_fields | changes).items()))))
        return replace(self, name=self.name or name, values=tuple(values))

    def described(self) -> dict[str, Any]:
        """Returns the axis as a JSON row of the list of axes."""
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


class AxisTopic:
    """Creates the axes of a topic.

    An axis has a clause, a sentence, the mistake of a client that it reveals, and values. A value is a name with marks,
    its effect, and its content if that is not the name.
    """

    def __init__(self, name: str) -> None:
        assert name in TOPICS
        self.name = name

    def __call__(self, clause: str, about: str, brings: str, *values: tuple[Any, ...], **more: Any) -> Any:
        """Returns a dataclass field that is an axis."""
        return field(default=values[0][0], metadata={"axis": self.row(clause, about, brings, *values, **more)})

    def row(
        self,
        clause: str,
        about: str,
        brings: str,
        *values: tuple[Any, ...],
        name: str = "",
        excludes: tuple[Exclusion, ...] = (),
        shown_by: str = "",
        unfelt: str = "",
        unfelt_values: Mapping[str, str] = MappingProxyType({}),
    ) -> Axis:
        """Returns the axis of a setting. `name` is given if it is not the setting's name. `shown_by` names the flows of
        contract/reference_flows that behave differently under its values. If no flow shows the axis, `unfelt` says why
        a correct client does not notice it."""
        rows = []
        for mark, does, *content in values:
            word = mark.rstrip("!+")
            changes = {} if not content else content[0] if isinstance(content[0], dict) else {OWN_FIELD: content[0]}
            unfelt_value = unfelt_values.get(word, "")
            rows.append(Value(word, does, "!" not in mark, "+" in mark, tuple(changes.items()), unfelt_value))
        return Axis(name, clause, tuple(rows), about, brings, self.name, excludes, tuple(shown_by.split()), unfelt)


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
    axis: Axis | None = None,
) -> Any:
    """Makes the dataclass field of a setting, or with `axis` of a setting that is also an axis. The annotation of the
    field gives the words that a scenario may use."""
    limits = {"bounds": (least, most), "longest": longest, "form": form}
    row = {"topic": topic, "clause": clause, "default": default, "about": about, **limits}
    return field(default=default, metadata={"setting": row, "axis": axis})
