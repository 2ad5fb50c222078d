"""Python's garbage collector while tests run: it looks at what the tests make, and seldom.

Modules and collected tests stay until the end; to look at them for every 700 new objects took a third of the time.
"""

import gc

THRESHOLDS = (10_000, 10, 10)  # new objects before the youngest are looked at, and such looks before the next older


def rest() -> None:
    """Until all tests are collected."""
    gc.disable()


def begin() -> None:
    """Whatever is there now stays, and is left aside."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
