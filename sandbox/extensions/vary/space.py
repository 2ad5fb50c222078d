"""Axes and their values, as a space of variants: of the table of axes, or of some of its rows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from sandbox.contract.decision import Axis
from sandbox.contract.decisions import AXES
from sandbox.reader.tree import quote, suggestion

Choice = tuple[str, str]  # an axis and one of its values
DIGEST_BYTES = 5
# A server without --pki refuses every client here, so this is varied only where it is named.
APART = ("client_certificates",)
# Words for several topics.
TOGETHER = {"money": ("initiation", "settling", "standing orders", "files")}


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
            return "today"
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

    def only(self, names: Collection[str]) -> "Space":
        return Space({name: values for name, values in self.axes.items() if name in names}, self.excludes)

    def complete(self, variant: Variant) -> dict[str, str]:
        """A value for each axis: today's where the variant says nothing."""
        return {name: values[0] for name, values in self.axes.items()} | dict(variant.changes)

    def variant(self, values: Mapping[str, str]) -> Variant:
        """The variant of these values; those of today are left out."""
        return Variant.of((name, value) for name, value in values.items() if value != self.axes[name][0])

    def allows(self, choices: Collection[Choice]) -> bool:
        """Whether no two of the choices exclude each other."""
        return not any(self.rivals(choice) & set(choices) for choice in choices if choice in self._rivals)

    def allows_variant(self, variant: Variant) -> bool:
        return self.allows(set(self.complete(variant).items()))


def space_of(
    axes: Mapping[str, Axis], names: Collection[str] = (), topics: Collection[str] = (), within: bool = True
) -> Space:
    """The axes of these names and topics, or all. With `within` only the values that keep within the service's word,
    unless the axis is named: at others a right client refuses, which a test of success sees as a failure."""
    for name in names:
        if name not in axes:
            raise ValueError(unknown("axis", name, tuple(axes)))
    selection = {*names, *(name for topic in topics for name in of_topic(axes, topic))}
    found = {}
    for name, axis in axes.items():
        values = tuple(value.name for value in axis.values if value.within or not within or name in names)
        chosen = name in selection or not (names or topics)
        if chosen and len(values) > 1 and (name not in APART or name in names or not within):
            found[name] = values
    rivals = ({(axis.name, one.value), (one.axis, one.other)} for axis in axes.values() for one in axis.excludes)
    return Space(found, frozenset(map(frozenset, rivals)))


def of_topic(axes: Mapping[str, Axis], topic: str) -> list[str]:
    topics = tuple(dict.fromkeys(axis.topic for axis in axes.values()))
    if topic not in topics and topic not in TOGETHER:
        raise ValueError(unknown("topic", topic, (*topics, *TOGETHER)))
    return [name for name, axis in axes.items() if axis.topic in TOGETHER.get(topic, (topic,))]


def unknown(kind: str, name: str, names: Sequence[str]) -> str:
    """Says that a name is unknown, with the nearest one, or with all if they are few."""
    hint = suggestion(name, names)
    return f"no {kind} is called {quote(name)}" + (f" ({hint})" if hint else "")


def split_names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_variant(text: str, space: Space | None = None) -> Variant:
    """`AXIS=VALUE,AXIS=VALUE`, of a space or of all axes; raises ValueError with the nearest name."""
    space = space or space_of(AXES, within=False)
    chosen: dict[str, str] = {}
    for part in text.split(","):
        axis, sign, value = part.strip().partition("=")
        if axis not in space.axes:
            raise ValueError(unknown("axis", axis, tuple(space.axes)))
        if not sign or value not in space.axes[axis]:
            raise ValueError(unknown(f"value of {axis}", value, space.axes[axis]))
        chosen[axis] = value
    return space.variant(chosen)
