"""What the README shows of the fixture runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.plugin.conftest import QUIET, Run
from tests.readme import README, TEXT
from tests.shell import ROOT

EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def examples() -> tuple[str, str]:
    section = TEXT.partition("\n## In your tests\n")[2].partition("\n## ")[0]
    with_pytest, without = EXAMPLE.findall(section)
    return with_pytest, without


def test_the_tests_of_the_readme_pass(run_apart: Run) -> None:
    run_apart(examples()[0]).assert_outcomes(passed=5)


def test_the_ten_lines_of_the_first_page_pass(run: Run) -> None:
    (shown,) = EXAMPLE.findall(README)
    run(shown).assert_outcomes(passed=2)


def test_the_test_of_a_copy_passes(run: Run) -> None:
    (shown,) = EXAMPLE.findall((ROOT / "docs" / "account-copy.md").read_text())
    run(shown).assert_outcomes(passed=1)


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", examples()[1]], cwd=tmp_path, env=QUIET, capture_output=True, text=True
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("http://127.0.0.1:") and "2027-03-01 09:00" in told.stdout
