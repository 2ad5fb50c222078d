"""Calls that went on at the same time become branches of a step `parallel`; barriers of the record keep their order."""

from collections.abc import Callable, Iterator, Sequence

from sandbox.lift.har import Recorded
from sandbox.lift.lifted import Lift, Step

Branches = list[list[Recorded]]


def together(calls: Sequence[Recorded]) -> Iterator[list[Recorded]]:
    """The calls in groups: within a group each call overlaps one that began before it."""
    group: list[Recorded] = []
    for call in calls:
        if group and not any(earlier.overlaps(call) for earlier in group):
            yield group
            group = []
        group.append(call)
    if group:
        yield group


def branches_of(group: Sequence[Recorded]) -> Branches:
    """Each call in the first branch whose last call was answered before it began."""
    branches: Branches = []
    for call in group:
        free = next((branch for branch in branches if not branch[-1].overlaps(call)), None)
        if free is None:
            branches.append([call])
        else:
            free.append(call)
    return branches


def lift_group(found: Lift, group: Sequence[Recorded], lift_call: Callable[[Recorded], None]) -> None:
    """The steps of a group: one after the other, or side by side where a barrier held a call."""
    branches = branches_of(group)
    is_race = len(branches) > 1 and found.has_barriers
    if not is_race:
        if len(branches) > 1 and any(call.method != "GET" for call in group):
            found.unexplained.append(f"{group[0]} and {len(group) - 1} more went on at once: no record of their order")
        for call in group:
            lift_call(call)
        return
    written: dict[int, list[Step]] = {at: [] for at in range(len(branches))}
    outer = found.steps
    for call in group:  # in the order of the record, so that names are known to the calls that follow
        found.steps = written[next(at for at, branch in enumerate(branches) if call in branch)]
        lift_call(call)
    found.steps = outer
    filled = [steps for steps in written.values() if steps]
    if len(filled) > 1:
        found.steps.append({"parallel": filled})
    else:
        found.steps += filled[0] if filled else []
