"""The types of the rows in `contract/decisions`: a setting, an axis, or both in one (choice 13).

A setting is a value that a scenario gives under `settings`. An axis is a point on which the real bank may differ from
the sandbox's default. It has a few named values, which a scenario gives under `variants`, and which `vary` tries out.
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


# The topics of axes, in the order in which the reference lists them.
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
OWN_FIELD = ""  # as a field name of a value: the field that declares the axis


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that a scenario may give. Its values are `words`, numbers within `bounds`, durations up to `longest`,
    or texts of a `form`."""

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
    within: bool = (
        True  # the value agrees with the service's text; if not, a right client refuses the reply or callback
    )
    lenient: bool = False  # the bank accepts or grants more than by default, so no client breaks that works by default
    fields: tuple[tuple[str, Any], ...] = ()
    unfelt: str = ""  # why a right client does not notice this value, though it notices other values of the axis


class Exclusion(NamedTuple):
    """A row in the field `excludes` of an axis. If that axis has the value `value`, then the value `other` of the axis
    `axis` has no effect."""

    value: str
    axis: str
    other: str


@dataclass(frozen=True)
class Axis:
    """A point that the service's text leaves open, so banks may differ in it. The first value is the default."""

    name: str
    clause: str
    values: tuple[Value, ...]
    about: str  # the question that the service leaves open
    brings: str  # the mistake of a client that the axis reveals
    topic: str
    excludes: tuple[Exclusion, ...] = ()
    shown_by: tuple[str, ...] = ()  # names of flows in contract/reference_flows
    unfelt: str = ""  # why a right client does not notice the axis

    @property
    def default(self) -> str:
        return self.values[0].name

    @property
    def fields(self) -> frozenset[str]:
        """The fields of `Decisions` that the values of the axis set. Each value sets all of them."""
        return frozenset(name for name, _ in self.values[0].fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    @property
    def marked(self) -> tuple[str, ...]:
        """The names of the values, each followed by its marks `!` and `+`. MARKS explains them."""
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

    def find_value(self, name: str) -> Value:
        return {value.name: value for value in self.values}[name]

    def complete(self, name: str, defaults: Mapping[str, Any]) -> "Axis":
        """Returns a copy of the axis for the field `name` of `Decisions`, which declares it. In the copy, each value
        has all fields that it sets.

        If no value lists fields, each value sets the field `name` to the value's own name. If a value lists fields,
        each value sets all fields that any of the values lists. A field that a value does not list itself gets its
        default. An empty field name in a list stands for the field `name`."""
        default_fields = {other or name: defaults[other or name] for value in self.values for other, _ in value.fields}
        values = []
        for value in self.values:
            changes = (
                {other or name: content for other, content in value.fields} if default_fields else {name: value.name}
            )
            values.append(replace(value, fields=tuple(sorted((default_fields | changes).items()))))
        return replace(self, name=self.name or name, values=tuple(values))

    def describe(self) -> dict[str, Any]:
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
    """Creates the axes of a topic. A call of this object declares one axis. Its arguments are the clause, the question
    that the service leaves open, the mistake of a client that the axis reveals, and the values.

    Each value is a tuple: its name, its effect, and optionally its content. The name may end with `!` (the value breaks
    the service's text) and `+` (the value is more lenient than the default). The content is what the field of
    `Decisions` that declares the axis is set to, or a dict with what each of several fields is set to. A field that
    another value of the axis sets, but this value does not, gets its default. If no value has content, each value sets
    the declaring field to the value's own name."""

    def __init__(self, name: str) -> None:
        assert name in TOPICS
        self.name = name

    def __call__(self, clause: str, about: str, brings: str, *values: tuple[Any, ...], **more: Any) -> Any:
        """Returns a dataclass field that is an axis."""
        return field(default=values[0][0], metadata={"axis": self.make_axis(clause, about, brings, *values, **more)})

    def make_axis(
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
        """Returns an axis. If `name` is empty, the axis gets the name of the field that declares it. `shown_by` names
        the flows of contract/reference_flows that behave differently under the values of the axis. If there is no such
        flow, `unfelt` says why a correct client does not notice the axis. `unfelt_values` says the same of single
        values."""
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
    """Makes a dataclass field that is a setting. `least`, `most`, `longest` and `form` limit its values. If the field's
    annotation is a Literal, the words of the Literal are the setting's values. With `axis`, the field also declares
    this axis."""
    limits = {"bounds": (least, most), "longest": longest, "form": form}
    row = {"topic": topic, "clause": clause, "default": default, "about": about, **limits}
    return field(default=default, metadata={"setting": row, "axis": axis})
