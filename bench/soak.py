"""A soak: a served bank under a mixed load for minutes, whose memory must be flat in the end. `make soak`.

Payments, signatures, polls, consents and their tokens, worlds that are made, left and dropped, clocks that move: all
that a test suite on a shared server does, for as long as is asked. A world's own books may grow, so each is begun
again after so many rounds. What is compared is the memory of the served process: the medians of the second and of the
last third of the time. It is flat when the last is at most ALLOWED above the second.

With `--hostile 4` as many callers send as much as they may beside them: long headers, paths and addresses, noise and
nests. Then the memory must stay below a line (bench.hostile.MOST) at all times.
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
from typing import Any

from bench import hostile
from bench.servers import Server
from sandbox.client import Client, Controls, Refused

ALLOWED = 0.03  # of the memory in the second third
LOOKS = 60  # at the memory, in all
ROUNDS = 40  # of a world, then it begins again
MONEY: Any = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "1.00"}


class Attacker(threading.Thread):
    """A hostile caller in a world of its own, whose bank goes on in time so that its files do not wait for ever."""

    def __init__(self, port: int, number: int, until: float) -> None:
        super().__init__()
        self.caller = hostile.Caller(port, number, f"hostile-{number}")
        self.world = Controls(f"http://127.0.0.1:{port}").world(f"hostile-{number}")
        self.number, self.until = number, until
        self.done: Counter[str] = Counter()
        self.failed: list[str] = []

    def run(self) -> None:
        chance = random.Random(self.number)
        try:
            while monotonic() < self.until:
                attack = chance.choice(hostile.SHORT)
                for _ in range(50):
                    attack(self.caller)
                self.done["hostile calls"] += 50
                self.caller.noise()
                self.caller.nest()
                self.done["hostile files"] += 2
                self.world.clock.advance("1m")
        except Exception as error:  # told at the end, and the soak fails
            self.failed.append(f"{type(error).__name__}: {error}")


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


def soaked(
    seconds: float, testers: int, attackers: int, options: tuple[str, ...]
) -> tuple[list[int], Counter[str], list[str]]:
    """Memory over time, in bytes, and at the most; what was done, and what failed."""
    with Server("bank", "-m", "sandbox", "serve", "--port", "0", "--frozen", "--log", "off", *options) as server:
        began = monotonic()
        crowds = [Crowd(server.port, number, began + seconds) for number in range(testers)]
        attacks = [Attacker(server.port, number, began + seconds) for number in range(attackers)]
        threads = [*(threading.Thread(target=crowd.run) for crowd in crowds), *attacks]
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
        looks.append(server.memory("VmHWM") or 0)
    everybody: list[Crowd | Attacker] = [*crowds, *attacks]
    done = sum((one.done for one in everybody), Counter[str]())
    return looks, done, [fault for one in everybody for fault in one.failed]


def verdict(looks: list[int]) -> tuple[bool, str]:
    """Whether the memory is flat, and in which words."""
    third = len(looks) // 3
    second, last = statistics.median(looks[third : 2 * third]), statistics.median(looks[2 * third :])
    grown = last / second - 1
    flat = grown <= ALLOWED
    told = f"median of the second third {second / 1e6:.1f} MB, of the last {last / 1e6:.1f} MB: {grown:+.1%}"
    return flat, f"{told}, {'flat' if flat else f'not flat: {ALLOWED:.0%} is allowed'}"


def below(looks: list[int]) -> tuple[bool, str]:
    """Whether the memory stayed below the line."""
    peak = max(looks) / hostile.MEGABYTE
    return peak <= hostile.MOST, f"at the most {peak:.1f} MB; {hostile.MOST} MB are allowed"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0, help="the first third warms up")
    parser.add_argument("--testers", type=int, default=4, help="threads, each with worlds of its own")
    parser.add_argument("--hostile", type=int, default=0, help="threads of hostile callers beside them")
    parser.add_argument("--memory", action="store_true", help="without a state file: worlds are only dropped or kept")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        kept = ("--state", str(Path(folder, "bank.state")), "--put-away-after", "10s", "--worlds-max", "50")
        looks, done, failed = soaked(asked.seconds, asked.testers, asked.hostile, () if asked.memory else kept)
    print(", ".join(f"{count:,} {name}" for name, count in sorted(done.items())))
    flat, told = below(looks) if asked.hostile else verdict(looks[:LOOKS])
    print(told)
    for one in failed:
        print(f"a tester stopped: {one}")
    sys.exit(0 if flat and not failed else 1)


if __name__ == "__main__":
    main()
