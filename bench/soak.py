"""A soak: a served bank under a mixed load for minutes, whose memory must be flat in the end. `make soak`.

Payments, signatures, polls, consents and their tokens, worlds that are made, left and dropped, clocks that move: all
that a test suite on a shared server does, for as long as is asked. A world's own books may grow, so each is begun
again after so many rounds. What is compared is the memory of the served process: the medians of the second and of the
last third of the time. It is flat when the last is at most ALLOWED above the second.
"""

import argparse
import random
import statistics
import sys
import threading
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from bench.servers import Server
from sandbox.client import Client, Controls, Refused

ALLOWED = 0.03  # of the memory in the second third
LOOKS = 60  # at the memory, in all
ROUNDS = 40  # of a world, then it begins again
MONEY = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "1.00"}


class Crowd:
    """One thread: a tester with worlds of their own, and one that all testers share."""

    def __init__(self, port: int, number: int, until: float) -> None:
        self.number = number
        self.until = until
        self.server = Controls(f"http://127.0.0.1:{port}")
        self.root = f"http://127.0.0.1:{port}"
        self.random = random.Random(number)
        self.done: Counter[str] = Counter()
        self.failed: list[str] = []

    def run(self) -> None:
        lap = 0
        try:
            while monotonic() < self.until:
                lap += 1
                self.live(f"soak-{self.number}-{lap}" if lap % 2 else f"soak-{self.number}", drops=lap % 4 == 1)
        except Exception as error:  # told at the end, and the soak fails
            self.failed.append(f"{type(error).__name__}: {error}")

    def live(self, name: str, drops: bool) -> None:
        """A world from its first call until it begins again, is dropped or is left to itself."""
        world = self.server.world(name)
        with Client(f"{self.root}/worlds/{name}") as tpp:
            for number in range(ROUNDS):
                if monotonic() > self.until:
                    break
                self.round(world, tpp, number)
        if drops:
            self.server.drop_world(name)
            self.done["worlds dropped"] += 1
        else:
            world.reset()
            self.done["worlds begun again"] += 1

    def round(self, world: Controls, tpp: Client, number: int) -> None:
        payment = tpp.pay(**MONEY)
        self.done["payments"] += 1
        for _ in range(5):
            tpp.status(payment)
            self.done["polls"] += 1
        if self.random.random() < 0.5:
            assert payment.sca_address is not None
            callback = world.psu.approve(payment.sca_address, customer="alice")
            tpp.tokens_from(callback, payment.flow)
            self.done["signatures"] += 1
        try:
            tpp.pay(creditor_iban="BE00", creditor_name="Nobody", amount="-1")
        except Refused:
            self.done["refusals"] += 1
        world.clock.advance(self.random.choice(("1s", "61s", "2h")))
        self.done["clock moves"] += 1
        if number % 10 == 0:
            consent = tpp.consent_addresses()
            callback = world.psu.approve(consent.address, customer="alice")
            tokens = tpp.tokens_from(callback, consent.flow)
            for account in tpp.accounts(tokens):
                tpp.account(account.logical_id, tokens)
            self.done["consents"] += 1


def soaked(seconds: float, testers: int, options: tuple[str, ...]) -> tuple[list[int], Counter[str], list[str]]:
    """Memory over time, in bytes; what was done, and what failed."""
    with Server("bank", "-m", "sandbox", "serve", "--port", "0", "--frozen", "--log", "off", *options) as server:
        began = monotonic()
        crowds = [Crowd(server.port, number, began + seconds) for number in range(testers)]
        threads = [threading.Thread(target=crowd.run) for crowd in crowds]
        for thread in threads:
            thread.start()
        looks: list[int] = []
        for number in range(1, LOOKS + 1):
            sleep(max(0.0, began + seconds * number / LOOKS - monotonic()))
            looks.append(server.memory() or 0)
            if number % (LOOKS // 12) == 0:
                print(f"{monotonic() - began:6.0f} s  {looks[-1] / 1e6:7.1f} MB", flush=True)
        for thread in threads:
            thread.join()
    done = sum((crowd.done for crowd in crowds), Counter[str]())
    return looks, done, [one for crowd in crowds for one in crowd.failed]


def verdict(looks: list[int]) -> tuple[bool, str]:
    """Whether the memory is flat, and in which words."""
    third = len(looks) // 3
    second, last = statistics.median(looks[third : 2 * third]), statistics.median(looks[2 * third :])
    grown = last / second - 1
    flat = grown <= ALLOWED
    told = f"median of the second third {second / 1e6:.1f} MB, of the last {last / 1e6:.1f} MB: {grown:+.1%}"
    return flat, f"{told}, {'flat' if flat else f'not flat: {ALLOWED:.0%} is allowed'}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0, help="the first third warms up")
    parser.add_argument("--testers", type=int, default=4, help="threads, each with worlds of its own")
    parser.add_argument("--memory", action="store_true", help="without a state file: worlds are only dropped or kept")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        kept = ("--state", str(Path(folder, "bank.state")), "--put-away-after", "10s", "--worlds-max", "50")
        looks, done, failed = soaked(asked.seconds, asked.testers, () if asked.memory else kept)
    print(", ".join(f"{count:,} {name}" for name, count in sorted(done.items())))
    flat, told = verdict(looks)
    print(told)
    for one in failed:
        print(f"a tester stopped: {one}")
    sys.exit(0 if flat and not failed else 1)


if __name__ == "__main__":
    main()
