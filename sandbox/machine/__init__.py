"""Reads the machine's clock, which no other package does. Reads it at each call, so that a test can freeze it."""

import time


def stopwatch() -> float:
    """Returns seconds since an arbitrary moment, to measure durations."""
    return time.perf_counter()


def machine_time() -> float:
    """Returns the machine's time in seconds since the epoch."""
    return time.time()


def seconds_passed() -> float:
    """Returns seconds since an arbitrary moment. No test freezes this clock: connections need it, as callers wait in
    real time."""
    if hasattr(time, "clock_gettime"):
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()  # Windows
