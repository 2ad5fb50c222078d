"""What the fixture `bank` costs a test: pytest with and without it, on many tests and on one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.table import Figure

TESTS = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing({fixture}, number):
    pass
"""
ROOT = Path(__file__).parents[1]
PYTEST = ("-m", "pytest", "-q", "-p", "sandbox.pytest_plugin", "-p", "no:cacheprovider", "-c", "pytest.ini")


def seconds(count: int, fixture: str) -> float:
    """Of a run of that many tests, in a process of its own."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "pytest.ini").write_text("[pytest]\n")
        (place / "test_nothing.py").write_text(TESTS.format(count=count, fixture=fixture))
        quiet = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        began = perf_counter()
        subprocess.run([sys.executable, *PYTEST], cwd=place, env=quiet, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - began


def cost(count: int = 200, rounds: int = 3) -> Iterator[Figure]:
    """The server's start stands in both runs, and so falls out."""

    def one(fixture: str) -> float:
        return (seconds(count + 1, fixture) - seconds(1, fixture)) / count * 1000

    pairs = [(one("bank"), one("request")) for _ in range(rounds)]
    yield Figure("the fixture bank, a test", median(ours - bare for ours, bare in pairs), "ms", most=30)
