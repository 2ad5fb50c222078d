"""A new field within a record and a new parameter of a verb: acts that were stored before keep their meaning, and a
program that does not know them refuses what a newer one wrote."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.storage.format import StateFileError
from sandbox.storage.store import open_store
from tests.tpp import SCT, payment
from tests.worlds.newer_program import NEW_FIELD
from tests.worlds.tenancy import Server

ROOT = Path(__file__).parents[2]
COPY = "newer_program"
# The text of a file before which something is added.
ADDITIONS = {
    "bank/records.py": (
        "    debtor: Debtor | None = None\n    creditor_address",
        f"    {NEW_FIELD}: str | None = None\n",
    ),
    "bank/payments.py": (") -> InitiationOutcome:", ', channel: str = "api"'),
}


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a copy of the package that knows the field and the parameter."""
    home = tmp_path_factory.mktemp("copies") / COPY
    for folder in ("sandbox", "fixtures", "scenarios"):
        copytree(ROOT / folder, home / folder)
    for name, (before, addition) in ADDITIONS.items():
        file = home / "sandbox" / name
        text = file.read_text()
        assert text.count(before) == 1, name
        file.write_text(text.replace(before, addition + before))
    return home


def run_newer(home: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stored(path: Path) -> None:
    server = Server(path)
    body = payment(SCT, remittance_information_unstructured="stored before")
    assert server.tpp().initiate(SCT, body).status_code == 201
    server.store.close()


def test_what_was_stored_before_keeps_its_meaning(newer: Path, path: Path) -> None:
    stored(path)
    assert "Whole: 1 worlds with 1 acts" in run_newer(newer, "sandbox", "state", "check", str(path))
    assert run_newer(newer, "tests.worlds.newer_program", str(path)) == "done\n"
    checked = CliRunner().invoke(main, ["state", "check", str(path)])
    assert checked.output == "Whole: 1 worlds with 2 acts, each played again.\n"  # nothing new is in the second one


@pytest.mark.parametrize(
    ("new", "named"),
    [
        ("field", f"the field '{NEW_FIELD}' of PaymentRequest"),
        ("argument", "the argument 'channel' of payments.initiate"),
    ],
)
def test_what_a_newer_program_wrote_is_refused_in_one_sentence(newer: Path, path: Path, new: str, named: str) -> None:
    stored(path)
    assert run_newer(newer, "tests.worlds.newer_program", str(path), new) == "done\n"
    before = path.read_bytes()
    store = open_store(path)
    try:
        row = store.find("default")
        assert row is not None
        with pytest.raises(StateFileError) as error:
            list(store.read_acts(row.id, row.root, row.position.head))
        assert store.notes == [] and store.database.damage is None
    finally:
        store.close()
    why = f"it has {named}, which this program does not know: a newer program wrote it"
    assert str(error.value) == f"{path}: act 2 of its world {row.id} cannot be read: {why}"
    checked = CliRunner().invoke(main, ["state", "check", str(path)])
    assert checked.exit_code == 1 and why in checked.output
    assert path.read_bytes() == before
