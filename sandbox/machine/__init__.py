"""The machine's clock: the only place that reads it. Looked up late, so that a test's frozen time is respected."""

import time


def stopwatch() -> float:
    """Returns seconds since an arbitrary moment, to measure durations."""
    return time.perf_counter()


def machine_time() -> float:
    """Returns the machine's time in seconds since the epoch."""
    return time.time()


def seconds_passed() -> float:
    """Returns seconds since an arbitrary moment, which no test freezes. Connections use it, because their callers wait
    in real time."""
    if hasattr(time, "clock_gettime"):
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()  # Windows
