"""A bank full of monthly standing orders through a year: `python -m bench.regular 10000`, a process of its own."""

import resource
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from time import process_time

from bench.bare import heap_seconds
from sandbox.app import make_first_beginning
from sandbox.bank import psu_actions, standing_orders, timeline
from sandbox.bank.initiations import RequestKey
from sandbox.bank.ledger import OUTSIDE, LedgerEntry, Posting
from sandbox.bank.records import Debtor, Origin, StandingOrderRequest
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency
from sandbox.people import open_bank

BELGIAN = "BE68539007547034"
CALLBACK = "http://127.0.0.1:9000/callback"
SECOND = timedelta(seconds=1)


def filled(count: int) -> Bank:
    """Active orders of three rich customers, on every day of a month."""
    begun = make_first_beginning(seed=1)
    bank = open_bank(begun.fixtures, 1, read_instant("2027-01-01T09:00:00+01:00"), begun.settings)
    payers = [begun.fixtures.names[name] for name in ("alice-current", "bram-current", "bakkerij-current")]
    funds = Money(Decimal(100_000_000), "EUR")
    for iban in payers:
        sides = Posting(iban, funds), Posting(OUTSIDE, -funds)
        bank.ledger.post(LedgerEntry("funds", bank.clock.today, bank.clock.today, sides))
    for number in range(count):
        contract = StandingOrderRequest(
            BELGIAN,
            "Jan Peeters",
            f"REGULAR-{number}",
            Frequency.MONTHLY,
            date(2027, 1, 2) + timedelta(days=number % 30),
            Debtor(payers[number % len(payers)]),
            Money(Decimal("12.50"), "EUR"),
            unstructured=f"Regular {number}",
        )
        asked = RequestKey("demo-tpp", str(number), str(number).encode())
        initiated = standing_orders.initiate(bank, contract, Origin("demo-tpp", CALLBACK), asked)
        psu_actions.approve(bank, initiated.sca_token, None, None, (), None)
    timeline.advance(bank, bank.clock.now + SECOND)
    return bank


def main(count: int) -> None:
    """Prints how long a core was busy with the year in seconds, the most real memory of this program in KiB, and how
    long a bare heap takes over the same events."""
    bank = filled(count)
    began = process_time()
    timeline.advance(bank, read_instant("2028-01-02T09:00:00+01:00"))
    seconds = process_time() - began
    executed = sum(run.amount is not None for order in bank.standing_orders.values() for run in order.runs)
    assert executed == 12 * count, f"{executed} executions of {count} orders"
    print(seconds, most_memory(), heap_seconds(count, 12))


def most_memory() -> int:
    """Linux hands a child the peak of the process that began it, but for the line that is of this program alone."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(int(sys.argv[1]))
