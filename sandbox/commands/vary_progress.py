"""The progress of `vary` on a terminal: runs done, and the time left. Elsewhere nothing is shown."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.vary.runs import Run, Runs
    from sandbox.vary.space import Variant


@contextmanager
def progress(runs: "Runs") -> Iterator[None]:
    """Counts the runs while the block lasts; `runs.expected` says how many are known to come."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("today's bank", total=None)

        def tell(variant: "Variant", run: "Run") -> None:
            done = runs.count
            stage = "covering" if done <= runs.expected else "looking for causes"
            shown.update(task, description=stage, completed=done, total=max(runs.expected, done) or None)

        runs.tell = tell
        yield
