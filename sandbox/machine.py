"""The machine's clock: the only place that reads it. Looked up late, so that a test's frozen time is respected."""

import time


def stopwatch() -> float:
    """Seconds since whenever, for what took how long."""
    return time.perf_counter()


def machine_time() -> float:
    """Seconds since the epoch, as the machine has them now."""
    return time.time()


def seconds_passed() -> float:
    """Seconds since whenever, which no test freezes: for connections, whose callers wait in real time."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def seconds_since_boot() -> float:
    """Seconds that go on while the machine sleeps: for a lease, which others count meanwhile."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
