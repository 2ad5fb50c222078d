"""Delta debugging over axes: from a variant under which a test fails to the few choices that suffice."""

from collections.abc import Callable, Sequence

from sandbox.vary.space import Choice, Variant

Fails = Callable[[Variant], bool]


def shrink(variant: Variant, fails: Fails, passed: Sequence[Variant] = ()) -> Variant:
    """The smallest part of a failing variant that still fails and of which each choice is needed.

    Each step finds the shortest row of choices that fails together with those that are known to be needed; its last
    choice is needed too. So n choices of which k matter take about 2k log n runs.
    """
    open_choices = by_suspicion(variant, passed)
    needed: list[Choice] = []
    while open_choices:
        length = _shortest(open_choices, lambda part: _fails(needed, part, fails, passed))
        if length == 0:
            break
        needed.append(open_choices[length - 1])
        open_choices = open_choices[: length - 1]
    return _leave_out(Variant.of(needed), fails)


def by_suspicion(variant: Variant, passed: Sequence[Variant]) -> list[Choice]:
    """First what was in the fewest variants that passed, then what formed the most pairs that were in none of them."""
    rows = [frozenset(row.changes).intersection(variant.changes) for row in passed]
    counts, fresh = {}, {}
    for choice in variant.changes:
        beside = [row for row in rows if choice in row]
        counts[choice] = len(beside)
        fresh[choice] = len(variant.changes) - len(frozenset([choice]).union(*beside))
    return sorted(variant.changes, key=lambda choice: (counts[choice], -fresh[choice], choice))


def _fails(needed: list[Choice], part: list[Choice], fails: Fails, passed: Sequence[Variant]) -> bool:
    """What a variant that passed holds is taken to pass, without a run of its own; the end result is run."""
    variant = Variant.of([*needed, *part])
    return not any(row.holds(variant) for row in passed) and fails(variant)


def _shortest(choices: list[Choice], fails: Callable[[list[Choice]], bool]) -> int:
    """The length of the shortest beginning that fails; all of it is known to fail. Few are tried before many."""
    passing, failing = -1, len(choices)
    step = 0
    while step < failing and not fails(choices[:step]):
        passing, step = step, max(1, 2 * step)
    failing = min(step, failing)
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if fails(choices[:middle]):
            failing = middle
        else:
            passing = middle
    return failing


def _leave_out(variant: Variant, fails: Fails) -> Variant:
    """Leaves out each choice without which it fails all the same; every one of these is run."""
    for choice in variant.changes:
        rest = variant.without({choice})
        if rest.changes and fails(rest):
            variant = rest
    return variant
