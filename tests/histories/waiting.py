"""Waiting in the histories, on a machine that others use too."""

import time
from collections.abc import Callable

ENDS_WITHIN = 120  # seconds
ANSWERS_WITHIN = 120.0  # seconds


def wait_until(holds: Callable[[], bool], told: str, describe: Callable[[], str] = str) -> None:
    """`describe` returns more about what is there, for the message of the failure."""
    until = time.monotonic() + ANSWERS_WITHIN
    while not holds():
        assert time.monotonic() < until, f"{told} {describe()}"
        time.sleep(0.05)
