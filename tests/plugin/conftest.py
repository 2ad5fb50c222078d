"""A project that uses the fixture, run by another pytest: within this process, or in a process of its own.

A new process needs a second of CPU to import the bank. So a run is within this process, unless it has workers or is
about what a process imports, prints or reads from its environment.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
# No other plugin is loaded by itself; ours is taken from here, also where the sandbox is installed.
QUIET = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PLUGIN = ("-p", "sandbox.pytest_plugin", "-p", "no:cacheprovider", "-W", "error")
# Faults that the pytest of these tests notices itself. If the inner one looks for them too, it collects the garbage of
# all tests five times.
NOTICED_OUTSIDE = ("-p", "no:unraisableexception", "-p", "no:threadexception", "-p", "no:faulthandler")
XDIST = ("-p", "xdist", "-n2")
ONE_WORKER = ("-p", "xdist", "-n1")
PATIENCE = 120  # a guard against hanging, not a promise

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the tests of a text in an empty folder, with options, within this process."""

    def ran(tests: str, *options: str) -> pytest.RunResult:
        write_project(tmp_path, tests)
        with monkeypatch.context() as patch:
            for name in filter(is_ours, tuple(os.environ)):
                patch.delenv(name)
            for name, value in (QUIET | {"COLUMNS": "80"}).items():
                patch.setenv(name, value)
            patch.chdir(tmp_path)
            patch.setattr(sys, "path", sys.path.copy())
            return result_within([*PLUGIN, *NOTICED_OUTSIDE, *options], tmp_path)

    return ran


@pytest.fixture
def run_apart(tmp_path: Path) -> Run:
    """Runs the tests of a text in an empty folder, with options, in a process of its own."""

    def ran(tests: str, *options: str) -> pytest.RunResult:
        write_project(tmp_path, tests)
        return result_of([sys.executable, "-m", "pytest", *PLUGIN, *options], tmp_path, QUIET)

    return ran


def write_project(folder: Path, tests: str) -> None:
    (folder / "test_project.py").write_text(dedent(tests))
    (folder / "conftest.py").touch()
    if not (folder / "pytest.ini").exists():
        (folder / "pytest.ini").write_text("[pytest]\n")


def is_ours(name: str) -> bool:
    """Whether a variable of the environment is for the tests of the sandbox. The project must not see it."""
    return name.startswith(("PYTEST", "PYTHON", "SANDBOX_"))


def result_within(words: list[str], folder: Path) -> pytest.RunResult:
    """Returns what a pytest within this process said. Forgets the modules of the folder, so that the next run imports
    them again."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = pytest.main(words)
    for name, module in tuple(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "").parent == folder:
            del sys.modules[name]
    sys.stdout.write(out.getvalue() + err.getvalue())
    return pytest.RunResult(code, out.getvalue().splitlines(), err.getvalue().splitlines(), 0)


def result_of(command: list[str], folder: Path, more: dict[str, str]) -> pytest.RunResult:
    """What a pytest in a folder said; nothing that this one was told reaches it."""
    bare = {name: value for name, value in os.environ.items() if not is_ours(name)}
    if not (folder / "pytest.ini").exists():
        (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(command, cwd=folder, env=bare | more, capture_output=True, text=True, timeout=PATIENCE)
    sys.stdout.write(done.stdout + done.stderr)
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)
