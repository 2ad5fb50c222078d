"""A project that uses the fixture, run as a pytest of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
# No other plugin is loaded by itself; ours is taken from here, also where the sandbox is installed.
QUIET = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PLUGIN = ("-p", "sandbox.pytest_plugin", "-p", "no:cacheprovider", "-W", "error")
XDIST = ("-p", "xdist", "-n2")
PATIENCE = 120  # a guard against hanging, not a promise

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the tests of a text in an empty folder, with options."""

    def ran(tests: str, *options: str) -> pytest.RunResult:
        (tmp_path / "test_project.py").write_text(dedent(tests))
        (tmp_path / "conftest.py").touch()
        return result_of([sys.executable, "-m", "pytest", *PLUGIN, *options], tmp_path, QUIET)

    return ran


def result_of(command: list[str], folder: Path, more: dict[str, str]) -> pytest.RunResult:
    """What a pytest in a folder said; nothing that this one was told reaches it."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "SANDBOX_"))}
    if not (folder / "pytest.ini").exists():
        (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(command, cwd=folder, env=bare | more, capture_output=True, text=True, timeout=PATIENCE)
    sys.stdout.write(done.stdout + done.stderr)
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)
