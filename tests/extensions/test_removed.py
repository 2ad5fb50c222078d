"""The core knows no extension: it works with each one removed, and with all of them."""

from pathlib import Path

import pytest

from tests.extensions.copies import PATIENCE, ROOT, SHIPPED, copy_without, run_in

# Tests of the core that need no extension, of rooms from the inside out.
CORE_TESTS = (
    "tests/banking/test_iban.py",
    "tests/bank/test_rules.py",
    "tests/scenarios/test_reading.py",
    "tests/controls/test_time_travel.py",
    "tests/console/test_refused_forms.py",
)


def test_all_that_is_left_works_with_each_one_removed_and_with_all(tmp_path: Path) -> None:
    """In one test, as its programs share the imports of the libraries."""
    copies = {(*removed,): tmp_path / "-".join(removed) for removed in [*((name,) for name in SHIPPED), SHIPPED]}
    for removed, folder in copies.items():
        copy_without(removed, folder)
    words = ("-m", "tests.extensions.forks", *map(str, copies.values()))
    done = run_in(ROOT, *words, patience=PATIENCE * len(copies))
    assert done.returncode == 0, done.stderr
    for removed, folder in copies.items():
        left = [name for name in SHIPPED if name not in removed]
        told = (folder / "output").read_text()
        assert told == " ".join(["extensions:", *left]) + "\n", f"without {' '.join(removed)}: {told}"


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
