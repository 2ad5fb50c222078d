"""Variants of the bank, and the space of axes and values from which they are chosen.

An axis is a point on which a real bank may differ from the default bank, together with the possible values. The default
bank has the first value of each axis; messages call it the bank of today. A choice is an axis with one of its values.
Some choices are not about an axis: a lie, a night, a gateway fault (see `OTHERS`) or a probe (see
`Variant.add_probe`). A variant is the list of choices in which a bank differs from the default bank. A call meets an
axis if its answer may depend on that axis."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from sandbox.contract.added_settings import load_added_settings
from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.conditions import FAULT, GATEWAY_FAULTS, NIGHT, NIGHTS, make_rules
from sandbox.reader.tree import quote, suggest

Choice = tuple[str, str]  # an axis and one of its values, or one of OTHERS with one of its values
LIE = "lie"  # a setting of this extension
PROBE = "probe"  # its value is an axis; replies to calls that meet this axis fail (see Variant.add_probe)
# What a choice may have in place of an axis, with its values.
OTHERS: dict[str, Callable[[], tuple[str, ...]]] = {
    LIE: lambda: load_added_settings()[LIE].words,
    NIGHT: lambda: tuple(NIGHTS),
    FAULT: lambda: tuple(GATEWAY_FAULTS),
}
DIGEST_BYTES = 5
# A server without --pki refuses every client here, so this axis is varied only if it is named.
ONLY_IF_NAMED = ("client_certificates",)
# Names for several topics together.
TOPIC_GROUPS = {"money": ("initiation", "settling", "standing orders", "files")}


@dataclass(frozen=True, slots=True, order=True)
class Variant:
    """A bank that differs from the default bank in `changes`. Each change is a pair of names: an axis and its value, or
    one of `lie`, `lie_as` (whether the lie is told or the reply fails), `night` and `fault` (see conditions.py) or
    `probe` (see `add_probe`), with its value. `Variant.of` sorts the changes by name."""

    changes: tuple[Choice, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Choice]) -> "Variant":
        return cls(tuple(sorted(changes)))

    @property
    def name(self) -> str:
        """A name for a world or a file. Equal variants have equal names. The default bank has the name `today`."""
        if not self.changes:
            return "today"
        return f"variant-{blake2b(str(self).encode(), digest_size=DIGEST_BYTES).hexdigest()}"

    def __str__(self) -> str:
        """Returns `AXIS=VALUE,AXIS=VALUE`, as `--variants` and the file of allowed breaks spell a variant."""
        return ",".join(f"{axis}={value}" for axis, value in self.changes)

    def holds(self, other: "Variant") -> bool:
        """Whether this variant contains all choices of the variant `other`."""
        return set(other.changes) <= set(self.changes)

    def add_probe(self, axis: str) -> "Variant":
        """Returns this variant with a probe for an axis. In a run under the returned variant, the bank answers 500 to
        each call that meets the axis. So a test that passes in such a run does not need any call that meets the axis.
        """
        return Variant((*self.changes, (PROBE, axis)))

    @property
    def probed_axis(self) -> str | None:
        """The axis for which this variant has a probe (see `add_probe`), or None."""
        return next((value for name, value in self.changes if name == PROBE), None)

    def without(self, changes: Collection[Choice]) -> "Variant":
        return Variant(tuple(choice for choice in self.changes if choice not in changes))

    @property
    def axes(self) -> dict[str, str]:
        return {name: value for name, value in self.changes if name in AXES}

    @property
    def extensions(self) -> list[str]:
        """The lines for the setting `extensions`: `lie: NAME`, and `lie_as: VALUE` if the variant has this choice too.
        Empty if the variant has no lie."""
        return [f"{name}: {value}" for name, value in self.changes if name.startswith(LIE)]

    @property
    def night(self) -> str | None:
        """The time at which the bank's clock starts if the variant has a night (see conditions.py), else None."""
        return next((NIGHTS[value].at for name, value in self.changes if name == NIGHT), None)

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The fault rules of the variant's gateway fault. Empty if the variant has no gateway fault."""
        return [rule for name, value in self.changes if name == FAULT for rule in make_rules(value)]

    def within(self, axes: Collection[str]) -> "Variant":
        """Returns this variant without the choices about axes that are not in `axes`."""
        return Variant(tuple(choice for choice in self.changes if choice[0] in axes))


DEFAULT_BANK = Variant()
LISTED = "listed"  # no lie is told, but the world lists the replies that each lie would change
LISTING = Variant(((LIE, LISTED),))


@dataclass(frozen=True)
class Space:
    """The values of each axis, its default value first, and the pairs of choices that exclude each other."""

    axes: Mapping[str, tuple[str, ...]]
    excludes: frozenset[frozenset[Choice]] = frozenset()

    @cached_property
    def _exclusions(self) -> dict[Choice, frozenset[Choice]]:
        choices = frozenset[Choice]().union(*self.excludes)
        return {
            choice: frozenset[Choice]().union(*(pair - {choice} for pair in self.excludes if choice in pair))
            for choice in choices
        }

    def find_excluded_by(self, choice: Choice) -> frozenset[Choice]:
        return self._exclusions.get(choice, frozenset())

    def list_choices(self, axis: str) -> list[Choice]:
        return [(axis, value) for value in self.axes[axis]]

    def select_axes(self, names: Collection[str]) -> "Space":
        return Space({name: values for name, values in self.axes.items() if name in names}, self.excludes)

    def complete(self, variant: Variant) -> dict[str, str]:
        """Returns a value for each axis of the space: the variant's value, or else the default."""
        return {name: values[0] for name, values in self.axes.items()} | dict(variant.changes)

    def make_variant(self, values: Mapping[str, str]) -> Variant:
        """Returns the variant with these values. Default values are left out."""
        return Variant.of((name, value) for name, value in values.items() if value != self.axes[name][0])

    def allows(self, choices: Collection[Choice]) -> bool:
        """Whether no two of the choices exclude each other."""
        return all(self.find_excluded_by(choice).isdisjoint(choices) for choice in choices)


def make_space(names: Collection[str] = (), topics: Collection[str] = (), within: bool = True) -> Space:
    """Returns a space with the axes of these names and topics, or with all axes if both are empty. Raises ValueError
    for an unknown name or topic.

    With `within`, an axis has only the values that the service allows, unless `names` has the axis. A correct client
    refuses the other values, so its tests fail there. Axes that then have fewer than 2 values are left out. The axes in
    ONLY_IF_NAMED are left out too, unless `names` has them or `within` is False.
    """
    for name in names:
        if name not in AXES:
            raise ValueError(describe_unknown("axis", name, tuple(AXES)))
    selection = {*names, *(name for topic in topics for name in list_axes_of_topic(topic))}
    values_by_axis = {}
    for name, axis in AXES.items():
        values = tuple(value.name for value in axis.values if value.within or not within or name in names)
        is_chosen = name in selection or not (names or topics)
        if is_chosen and len(values) > 1 and (name not in ONLY_IF_NAMED or name in names or not within):
            values_by_axis[name] = values
    pairs = ({(axis.name, row.value), (row.axis, row.other)} for axis in AXES.values() for row in axis.excludes)
    return Space(values_by_axis, frozenset(map(frozenset, pairs)))


def list_axes_of_topic(topic: str) -> list[str]:
    topics = tuple(dict.fromkeys(axis.topic for axis in AXES.values()))
    if topic not in topics and topic not in TOPIC_GROUPS:
        raise ValueError(describe_unknown("topic", topic, (*topics, *TOPIC_GROUPS)))
    return [name for name, axis in AXES.items() if axis.topic in TOPIC_GROUPS.get(topic, (topic,))]


def describe_unknown(kind: str, name: str, names: Sequence[str]) -> str:
    """Returns an error text with the most similar name. If no name is similar, the text has all names if they are few,
    else no hint."""
    hint = suggest(name, names)
    return f"no {kind} is called {quote(name)}" + (f" ({hint})" if hint else "")


def split_names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_variant(text: str, space: Space | None = None) -> Variant:
    """Reads a variant such as `final_status=ACSP,night=leap_day`. Each name is `lie`, `night`, `fault` or an axis of
    the space (without `space`, any axis). Leaves out axes at their default value. Raises ValueError for an unknown name
    or value. The text of the error suggests the most similar name or value."""
    space = space or make_space(within=False)
    values_by_axis: dict[str, str] = {}
    other_changes: list[Choice] = []
    for part in text.split(","):
        axis, sign, value = part.strip().partition("=")
        if axis in OTHERS:
            names = OTHERS[axis]()
            if value not in names:
                raise ValueError(describe_unknown(axis, value, names))
            other_changes.append((axis, value))
            continue
        if axis not in space.axes:
            raise ValueError(describe_unknown("axis", axis, tuple(space.axes)))
        if not sign or value not in space.axes[axis]:
            raise ValueError(describe_unknown(f"value of {axis}", value, space.axes[axis]))
        values_by_axis[axis] = value
    return Variant.of([*space.make_variant(values_by_axis).changes, *other_changes])
