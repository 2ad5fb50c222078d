"""A hundred hidden banks with random values, each recorded by the flows of the reference client: `make calibrate`.

Says how many values were decided, whether a wrong one was, and how many axes stayed open although a call met them and
a flow shows them. Whether this recording shows their values is not computed."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from time import process_time

import click

from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.calibration import Calibration, calibrate_calls
from sandbox.extensions.vary.space import space_of
from sandbox.recordings.reading import read_recording
from tests.calibrate.recorder import har, record, without_customers
from tests.vary.flows import FLOWS

THIRD = tuple(FLOWS)[::3]


def random_variants(chance: Random) -> dict[str, str]:
    """A value for each axis that a right client can be at; pairs that exclude each other are drawn again."""
    space = space_of()
    while True:
        variants = {axis: chance.choice(values) for axis, values in space.axes.items()}
        if space.allows(list(variants.items())):
            return variants


def calibrated(variants: Mapping[str, str], flows: Sequence[str], seed: int, *, alone: bool) -> Calibration:
    entries = record(variants, flows, seed)
    return calibrate_calls(read_recording(har(without_customers(entries) if alone else entries)).calls)


def main(first: int, last: int, kind: str) -> int:
    wrong_total, decided_total, open_axes = 0, 0, Counter[str]()
    for number in range(first, last):
        variants = random_variants(Random(number))
        true = DEFAULTS | variants
        began = process_time()
        found = calibrated(variants, THIRD if kind == "third" else tuple(FLOWS), number, alone=kind == "alone")
        wrong = {axis: row.value for axis, row in found.decided.items() if row.value != true[axis]}
        excluded = [axis for axis, values in found.excluded.items() if true[axis] in values]
        shown_open = [axis for axis in found.open if axis not in found.unmet and AXES[axis].shown_by]
        open_axes.update(shown_open)
        wrong_total += len(wrong)
        decided_total += len(found.decided)
        click.echo(
            f"{number}: {len(found.decided)} decided, {len(found.open)} open, {len(shown_open)} of them met and shown "
            f"by a flow, {len(found.outside)} outside, {process_time() - began:.0f} s of CPU; "
            f"wrong: {wrong or 'none'}; true but excluded: {excluded or 'none'}"
        )
    click.echo(f"{decided_total} decided, {wrong_total} wrong; most often open: {open_axes.most_common(12)}")
    return 1 if wrong_total else 0


if __name__ == "__main__":
    BOUNDS = [int(word) for word in sys.argv[1:3]] or [0, 100]
    sys.exit(main(BOUNDS[0], BOUNDS[1], sys.argv[3] if len(sys.argv) > 3 else "all"))
