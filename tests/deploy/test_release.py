"""A release: one version in three places, the same bytes twice, a workflow that is one."""

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.tools.schemas import check_file

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def version() -> str:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config["metadata"]["version"]


def notes(root: Path, tag: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(root / ".ci" / "notes"), tag], capture_output=True, text=True)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    for name in (".ci/notes", "setup.cfg"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


def test_the_notes_of_a_tag_are_those_of_its_heading(copied: Path) -> None:
    heading = f"## [{version()}] - 2027-01-01"
    (copied / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{heading}\n\n- A thing.\n\n## [0.0.1]\n")
    assert notes(copied, f"v{version()}").stdout == "- A thing.\n"


def test_a_tag_of_another_version_and_one_without_a_heading_are_refused(copied: Path) -> None:
    (copied / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    other, unnamed = notes(copied, "v99.0.0"), notes(copied, f"v{version()}")
    assert (other.returncode, unnamed.returncode) == (1, 1)
    assert "setup.cfg has version" in other.stderr and "has no heading" in unnamed.stderr


def test_the_workflow_is_one(tmp_path: Path) -> None:
    assert check_file("github-workflows", WORKFLOW).exit_code == 0
    (tmp_path / "wrong.yml").write_text(WORKFLOW.read_text().replace("runs-on:", "runs:"))
    assert check_file("github-workflows", tmp_path / "wrong.yml").exit_code == 1


def test_every_command_of_the_workflow_is_there() -> None:
    text = WORKFLOW.read_text()
    targets = (ROOT / "Makefile").read_text()
    assert ".ci/notes" in text and (ROOT / ".ci" / "notes").stat().st_mode & 0o100
    assert all(f"\n{name}: " in targets for name in ("check", "dist") if f"make {name}" in text)
