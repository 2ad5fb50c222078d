"""Every pair of values of every two axes, for the reference client and the demo shop: `make withstand`."""

import sys
from time import process_time

import click

import sandbox
from tests.vary.flows import FLOWS, breaks_of, verdict_on
from tests.vary.shopping import JOURNEYS

STRENGTH = 2
ALL = {f"client_{name}": flow for name, flow in FLOWS.items()} | {
    f"shop_{name}": flow for name, flow in JOURNEYS.items()
}


def main(names: list[str]) -> int:
    broken = 0
    with sandbox.running() as bank:
        for name in names or ALL:
            began = process_time()
            verdict = verdict_on(bank, ALL[name], STRENGTH)
            found = breaks_of(verdict)
            broken += len(found)
            click.echo(
                "\n".join(
                    [f"{name}: {verdict.score}, {verdict.runs} runs, {process_time() - began:.0f} s of CPU", *found]
                )
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
