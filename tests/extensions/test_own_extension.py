"""An extension in a package of its own: the example of the documentation is installed and used, and broken ones."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions.copies import PATIENCE, ROOT, copy_without, run_in

EXAMPLE = ROOT / "examples/extension"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-index")


def test_the_example_is_installed_and_its_rule_control_and_command_are_used(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    options = ("--no-deps", "--no-build-isolation", "--target", str(tmp_path / "packages"))
    subprocess.run([*PIP, *options, str(tmp_path / "source")], check=True, timeout=PATIENCE)
    done = run_in(ROOT, "-m", "tests.extensions.company_probe", path=[tmp_path / "packages"])
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_the_page_shows_the_files_of_the_example_and_they_are_short() -> None:
    page = (ROOT / "docs/extend.md").read_text()
    files = sorted([*EXAMPLE.glob("company_bank/*.py"), EXAMPLE / "setup.cfg"])
    assert len(files) == 5
    for file in files:
        assert file.read_text().strip() in page, file.name
    assert sum(bool(line.strip()) for file in files for line in file.read_text().splitlines()) <= 60


def install(folder: Path, name: str, module: str) -> Path:
    """A package as pip leaves it: one module, and its entry point."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[bank_sandbox.extensions]\n{name} = {name}_module:EXTENSION\n")
    (folder / f"{name}_module.py").write_text(module)
    return folder


IMPORT = "from sandbox.extension_registry import Extension\n"
ROWS = """
from sandbox.web.controls.control_row import Button, get
ROWS = (get("/clock", "acme_module:view", "Mine."),)
BUTTONS = (get("/acme", "acme_module:view", "Mine.", buttons=(Button("advance", "Done."),)),)
"""
BROKEN = {
    "import nowhere": "ModuleNotFoundError: No module named 'nowhere'",
    "EXTENSION = 1": "acme_module:EXTENSION is no Extension",
    "EXTENSION = Extension(name='acme', commands={'pay': 'acme_module:x'})": "'pay' in its commands is taken",
    "EXTENSION = Extension(name='acme', commands={'worlds': 'acme_module:x'})": "'worlds' in its commands is taken",
    "EXTENSION = Extension(name='acme', controls='acme_module:NOWHERE')": "has no attribute 'NOWHERE'",
    "EXTENSION = Extension(name='acme', controls='acme_module:ROWS')": "'GET /clock' in its controls is taken",
    "EXTENSION = Extension(name='acme', controls='acme_module:BUTTONS')": "'button advance' in its controls is taken",
    "EXTENSION = Extension(name='acme', listener='acme_module:NOWHERE')": "has no attribute 'NOWHERE'",
    "EXTENSION = Extension(name='film')": "has an extension of that name too",
}


@pytest.mark.parametrize("module", BROKEN, ids=BROKEN.values())
def test_a_broken_extension_is_one_line_that_names_its_package(module: str, tmp_path: Path) -> None:
    folder = install(tmp_path, "acme", f"{IMPORT}{ROWS}{module}")
    done = run_in(ROOT, "-m", "sandbox", "serve", "--port", "0", path=[folder])
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and done.stdout == ""
    assert line.startswith("Error: The extension ") and BROKEN[module] in line


def test_a_run_of_pytest_is_told_of_a_broken_extension_in_one_line(tmp_path: Path) -> None:
    folder = install(tmp_path, "acme", "import nowhere")
    done = run_in(ROOT, "-m", "pytest", "-q", "--co", "tests/banking/test_iban.py", path=[folder])
    assert done.returncode == 4
    assert "The extension acme of acme 1.0 cannot be used" in done.stderr and "Traceback" not in done.stderr


def test_an_extension_needs_no_other(tmp_path: Path) -> None:
    """The rules of the company are not imported where the referee is not installed."""
    shutil.copytree(EXAMPLE / "company_bank", tmp_path / "packages/company_bank")
    install(tmp_path / "packages", "company", "from company_bank import EXTENSION\n")
    folder = copy_without(("calibrate", "film", "lift", "record", "referee", "shop", "vary"), tmp_path / "copy")
    done = run_in(folder, "-m", "sandbox", "invoices", "--help", path=[tmp_path / "packages"])
    assert done.returncode == 0 and "Lists our payments by invoice" in done.stdout, done.stderr
