"""Waiting in the histories, on a machine that others use too."""

import time
from collections.abc import Callable

ENDS_WITHIN = 120  # seconds
ANSWERS_WITHIN = 120.0  # seconds


def wait_until(holds: Callable[[], bool], told: str) -> None:
    until = time.monotonic() + ANSWERS_WITHIN
    while not holds():
        assert time.monotonic() < until, told
        time.sleep(0.05)
