"""Every pair of values of every two axes, for the reference client and the demo shop: `make withstand`."""

import sys
from time import process_time

import click

from sandbox.extensions.vary.verdict import Verdict
from tests.vary.flows import FLOWS
from tests.vary.line import bank_here
from tests.vary.shopping import JOURNEYS
from tests.vary.trying import Stage

STRENGTH = 2
ALL = {f"client_{name}": flow for name, flow in FLOWS.items()} | {
    f"shop_{name}": flow for name, flow in JOURNEYS.items()
}


def main(names: list[str]) -> int:
    broken = 0
    with bank_here() as (bank, way):
        for name in names or ALL:
            began = process_time()
            verdict = Stage(bank, way).verdict(ALL[name], STRENGTH)
            found = breaks_of(verdict)
            broken += len(found)
            click.echo(
                "\n".join(
                    [f"{name}: {verdict.score}, {verdict.runs} runs, {process_time() - began:.0f} s of CPU", *found]
                )
            )
    return 1 if broken else 0


def breaks_of(verdict: Verdict) -> list[str]:
    flaky = [f"flaky: {text}" for text in verdict.flaky.values()]
    return [f"{one.variant}: {one.result.failure}" for one in verdict.breaks] + flaky


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
