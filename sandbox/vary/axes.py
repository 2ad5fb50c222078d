"""The space of the table of axes, or of some of its rows."""

from collections.abc import Collection, Mapping

from sandbox.contract.axis import Axis
from sandbox.contract.variants import ALSO
from sandbox.vary.allowed import unknown
from sandbox.vary.space import Space

# A server without --pki refuses every client here, so this is varied only where it is named.
APART = ("client_certificates",)
# Words for several topics.
TOGETHER = {"money": ("initiation", "settling", "standing orders", "files")}


def space_of(
    axes: Mapping[str, Axis], names: Collection[str] = (), topics: Collection[str] = (), within: bool = True
) -> Space:
    """The axes of these names and topics, or all. With `within` only the values that keep within the service's word,
    unless the axis is named: at others a right client refuses, which a test of success sees as a failure."""
    names = [ALSO.get(name, name) for name in names]
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
    return Space(found, excludes_of(axes))


def of_topic(axes: Mapping[str, Axis], topic: str) -> list[str]:
    topics = tuple(dict.fromkeys(axis.topic for axis in axes.values()))
    if topic not in topics and topic not in TOGETHER:
        raise ValueError(unknown("topic", topic, (*topics, *TOGETHER)))
    return [name for name, axis in axes.items() if axis.topic in TOGETHER.get(topic, (topic,))]


def excludes_of(axes: Mapping[str, Axis]) -> frozenset[frozenset[tuple[str, str]]]:
    return frozenset(
        frozenset({(axis.name, one.value), (one.axis, one.other)}) for axis in axes.values() for one in axis.excludes
    )
