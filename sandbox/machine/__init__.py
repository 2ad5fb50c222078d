"""Functions that read the machine's clock. No other package reads the time of day. The functions look up `time` at each
call, so a test that replaces the functions of `time` freezes the clock."""

import time


def stopwatch() -> float:
    """Returns seconds since an arbitrary moment, to measure durations."""
    return time.perf_counter()


def machine_time() -> float:
    """Returns the machine's time in seconds since the epoch."""
    return time.time()


def seconds_passed() -> float:
    """Returns seconds since an arbitrary moment, for the time limits of connections. A test that freezes the clock does
    not freeze this one, because callers wait in real time."""
    if hasattr(time, "clock_gettime"):
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()  # Windows
