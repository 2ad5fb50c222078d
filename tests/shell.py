"""A folder in which commands of the documents run as a user types them: with `bank-sandbox`, `python` and `pytest`."""

import os
import shlex
import stat
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = {
    "bank-sandbox": ("-m", "sandbox"),
    "python": (),
    "python3": (),
    "pytest": ("-m", "pytest", "-p", "sandbox.pytest_plugin", "-p", "xdist", "-p", "no:cacheprovider"),
}


def programs(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """The environment with which those names are ours, whether or not the sandbox is installed."""
    folder.mkdir(parents=True)
    for name, words in PROGRAMS.items():
        write_program(folder / name, f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
    ours = {name: value for name, value in environment.items() if not name.startswith(("PYTEST", "SANDBOX_"))}
    paths = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return ours | paths | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
