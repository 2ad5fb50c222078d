"""The core knows no extension: it works with each one removed, and with all of them."""

from pathlib import Path

import pytest

from tests.extensions.copies import SHIPPED, copy_without, run_in

# Tests of the core that need no extension, of rooms from the inside out.
CORE_TESTS = (
    "tests/banking/test_iban.py",
    "tests/bank/test_rules.py",
    "tests/scenarios/test_reading.py",
    "tests/controls/test_time_travel.py",
    "tests/console/test_refused_forms.py",
)


@pytest.mark.parametrize("removed", [*((name,) for name in SHIPPED), SHIPPED], ids=" ".join)
def test_all_that_is_left_works(removed: tuple[str, ...], tmp_path: Path) -> None:
    folder = copy_without(removed, tmp_path / "copy")
    done = run_in(folder, "-m", "tests.extensions.probe")
    left = [name for name in SHIPPED if name not in removed]
    assert done.stdout == " ".join(["extensions:", *left]) + "\n", done.stderr


def test_the_tests_of_the_core_pass_without_any(tmp_path: Path) -> None:
    folder = copy_without(SHIPPED, tmp_path / "copy")
    done = run_in(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CORE_TESTS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "words",
    [("vary", "--", "true"), ("scenario", "run", "--vary", "default"), ("tables", "referee")],
    ids=" ".join,
)
def test_what_an_extension_adds_is_gone_with_it(words: tuple[str, ...], tmp_path: Path) -> None:
    folder = copy_without(SHIPPED, tmp_path / "copy")
    done = run_in(folder, "-m", "sandbox", *words)
    assert done.returncode == 2 and "No such" in done.stderr or "is not one of" in done.stderr
