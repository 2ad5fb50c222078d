"""What the fixture `bank` costs a test: a pytest whose every test is timed, with and without it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from bench.table import Figure

TESTS = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing({fixture}, number):
    pass
"""
TIMED = """
import json
from pathlib import Path
from time import perf_counter

import pytest

TIMES = []

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    began = perf_counter()
    outcome = yield
    TIMES.append((perf_counter() - began) * 1000)
    return outcome

def pytest_sessionfinish():
    Path("times").write_text(json.dumps(TIMES))
"""
ROOT = Path(__file__).parents[1]
PYTEST = ("-m", "pytest", "-q", "-p", "sandbox.pytest_plugin", "-p", "no:cacheprovider", "-c", "pytest.ini")


def times(count: int, name: str) -> list[float]:
    """Milliseconds of each test from set-up to tear-down, in a process of its own; the first starts the server."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "pytest.ini").write_text("[pytest]\n")
        (place / "conftest.py").write_text(TIMED)
        (place / "test_nothing.py").write_text(TESTS.format(count=count + 1, fixture=name))
        quiet = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, *PYTEST], cwd=place, env=quiet, check=True, stdout=subprocess.DEVNULL)
        found: list[float] = json.loads((place / "times").read_text())
        return found[1:]


def cost(count: int = 300) -> Iterator[Figure]:
    """Beside a test that asks for nothing of ours."""
    ours, bare = times(count, "bank"), times(count, "request")
    most = quantiles(ours, n=100)[98]
    yield Figure("the fixture bank, a test", median(ours) - median(bare), "ms", p50=median(ours), p99=most, most=30)
