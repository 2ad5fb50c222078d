"""Delta debugging: finds the few choices of a failing variant that suffice to make a test fail.

The problem: a variant of a covering set differs from the default bank in some 80 choices. One or two of them make the
test fail, and are called the cause. Each trial of a part of the choices is a run, which takes seconds.

The design: the algorithm ddmin as published by Zeller and Hildebrandt ("Simplifying and Isolating Failure-Inducing
Input", IEEE Transactions on Software Engineering 28, 2002). Split the choices into n parts, at first 2. If the test
fails under one part alone, go on with that part. Else, if it fails under all choices except one part, go on without
that part. Else split into twice as many parts. A variant that was run before is not run again, because its result is in
the cache.

The invariant: the test fails under the choices that are left. At the end it passes if any single one of them is left
out, so each is needed. Among 80 choices, a cause of 1 choice takes at most 14 runs, and a cause of 2 choices takes some
45. If the variant contains several causes, this search finds one, and other variants of the covering set show the
others.

Why not try the likeliest causes first: that saves up to half of the runs, but rests on guesses about clients.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from sandbox.extensions.vary.runs import Runs
from sandbox.extensions.vary.space import Variant

RUNS_MAX = 200  # for one cause
# Returns one of these variants under which the test fails, or None if it passes under all.
FindFailing = Callable[[Sequence[Variant]], Variant | None]


def minimize(failing: Variant, find_failing: FindFailing) -> Variant:
    """Returns a part of a failing variant under which the test still fails. The test passes if any one choice of this
    part is left out. `find_failing` gets several variants, and returns one of them under which the test fails, or None
    if it finds none. If it gave up because of a limit of runs, the part may have choices that are not needed."""
    parts = 2
    while len(failing.changes) > 1:
        subsets = split(failing, parts)
        if subset := find_failing(subsets):
            failing, parts = subset, 2
        elif complement := find_failing([failing.without(subset.changes) for subset in subsets]):
            failing, parts = complement, max(parts - 1, 2)
        elif parts < len(failing.changes):
            parts = min(2 * parts, len(failing.changes))
        else:
            break
    return failing


def split(variant: Variant, parts: int) -> list[Variant]:
    """Splits the choices of a variant into `parts` variants, whose sizes differ by 1 at most."""
    changes = variant.changes
    ends = [len(changes) * number // parts for number in range(parts + 1)]
    return [Variant(changes[start:end]) for start, end in zip(ends, ends[1:], strict=False)]


class FailureQuery:
    """Finds variants under which a test fails: first among the cached runs, then by at most `RUNS_MAX` new runs.

    After that limit it makes no new runs. Delta debugging then ends with the smallest variant that has failed so far.
    """

    def __init__(self, test: str, runs: Runs) -> None:
        self.test = test
        self.runs = runs
        self.left = RUNS_MAX

    def __call__(self, variants: Sequence[Variant]) -> Variant | None:
        return next(
            (variant for variant in self._split_in_batches(variants) if self.runs.fails(variant, self.test)), None
        )

    def _split_in_batches(self, variants: Sequence[Variant]) -> Iterator[Variant]:
        yield from filter(self.runs.has, variants)
        missing = (variant for variant in variants if not self.runs.has(variant))
        while batch := list(islice(missing, min(self.runs.jobs, self.left))):
            self.left -= len(batch)
            self.runs.run_all((variant, 0) for variant in batch)
            yield from batch
