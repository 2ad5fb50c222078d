"""Programs of their own, each forked from a process that has imported the sandbox: a start takes a second less.

Each has its own memory, lines and signals, as one that is started anew. What is about the start itself, about what a
program imports or about its environment starts one anew."""

import os
import runpy
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

STARTS = get_context("forkserver")
STARTS.set_forkserver_preload(["sandbox.commands.serve", "sandbox.app", "sandbox.server.server", __name__])
PATIENCE = 120  # seconds; a guard against hanging, not a promise


def run(module: str, words: Sequence[str], output: Connection | None, errors: Path) -> None:
    """Runs a module as the program of this process."""
    with open(errors, "ab") as file, open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno() if output is None else output.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if output is not None:
        output.close()
    sys.argv = [module, *words]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    runpy.run_module(module, run_name="__main__")


class Forked:
    """`bank-sandbox` with these words, and what it prints."""

    def __init__(self, *words: str, errors: Path = Path(os.devnull)) -> None:
        ours, theirs = STARTS.Pipe(duplex=False)
        self.process = STARTS.Process(target=run, args=("sandbox", words, theirs, errors), daemon=True)
        self.process.start()
        theirs.close()
        with ours:
            self.stdout: TextIOWrapper = os.fdopen(os.dup(ours.fileno()), encoding="utf-8")

    def wait(self) -> int:
        """Returns how it ended."""
        self.process.join(PATIENCE)
        self.stdout.close()
        assert self.process.exitcode is not None, "the program does not end"
        return self.process.exitcode

    def end(self) -> int:
        self.process.terminate()
        return self.wait()

    def kill(self) -> int:
        self.process.kill()
        return self.wait()
