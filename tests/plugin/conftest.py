"""A project that uses the fixture, run as a pytest of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.warm import PYTEST, ROOT, Warm, warm

# No other plugin is loaded by itself; ours is taken from here, also where the sandbox is installed.
QUIET = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PLUGIN = ("-p", "sandbox.pytest_plugin", "-p", "no:cacheprovider", "-W", "error")
XDIST = ("-p", "xdist", "-n2")
PATIENCE = 120  # a guard against hanging, not a promise

Run = Callable[..., pytest.RunResult]
Program = Callable[[list[str], Path, dict[str, str]], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def python() -> Iterator[Warm]:
    """A Python that has imported what the server of a run needs."""
    with warm(*PYTEST, path=[ROOT]) as made:
        yield made


@pytest.fixture
def run(tmp_path: Path, python: Warm) -> Run:
    """Runs the tests of a text in an empty folder, with options."""
    return runner(
        tmp_path, ["pytest"], lambda words, folder, environment: python.run(words, folder, environment, PATIENCE)
    )


@pytest.fixture
def run_cold(tmp_path: Path) -> Run:
    """The same in a Python that has imported nothing."""
    return runner(tmp_path, [sys.executable, "-m", "pytest"], started)


def runner(folder: Path, command: list[str], program: Program) -> Run:
    def ran(tests: str, *options: str) -> pytest.RunResult:
        (folder / "test_project.py").write_text(dedent(tests))
        (folder / "conftest.py").touch()
        return result_of([*command, *PLUGIN, *options], folder, QUIET, program)

    return ran


def started(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)


def result_of(command: list[str], folder: Path, more: dict[str, str], program: Program = started) -> pytest.RunResult:
    """What a pytest in a folder said; nothing that this one was told reaches it."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "SANDBOX_"))}
    if not (folder / "pytest.ini").exists():
        (folder / "pytest.ini").write_text("[pytest]\n")
    done = program(command, folder, bare | more)
    sys.stdout.write(done.stdout + done.stderr)
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)
