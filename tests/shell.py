"""A folder in which commands of the documents run as a user types them: with `bank-sandbox`, `python` and `pytest`."""

import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 120  # a guard against hanging, not a promise
PROGRAMS = {
    "bank-sandbox": ("-m", "sandbox"),
    "python": (),
    "python3": (),
    "pytest": ("-m", "pytest", "-p", "sandbox.pytest_plugin", "-p", "xdist", "-p", "no:cacheprovider"),
}


class Shell:
    """Runs scripts, each to its end; what they leave behind them runs on."""

    def __init__(self, folder: Path, told: dict[str, str]) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True)
        for name, words in PROGRAMS.items():
            write_program(self.programs / name, f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
        self.environment = self._environment() | told
        self.groups: list[int] = []

    def _environment(self) -> dict[str, str]:
        """With which those names are ours, whether or not the sandbox is installed."""
        bare = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SANDBOX_", "MAKE"))
        }
        paths = {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        return bare | paths | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}

    def run(self, script: str, **more: str) -> tuple[int, str]:
        """How it ended, and what it said; into a file, for what runs on would hold a pipe open."""
        said = self.folder / f"said-{len(self.groups)}"
        with said.open("w") as out:
            shell = subprocess.Popen(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
                cwd=self.folder,
                env=self.environment | more,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            self.groups.append(shell.pid)
            code = shell.wait(PATIENCE)
        return code, said.read_text()

    def end(self) -> None:
        for group in self.groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


@contextmanager
def shell_in(folder: Path, **told: str) -> Iterator[Shell]:
    shell = Shell(folder, told)
    try:
        yield shell
    finally:
        shell.end()


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
