"""What is installed runs from any folder: choice 12."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.plugin.conftest import result_of

ROOT = Path(__file__).parents[1]
TRAVELS = ("sandbox", "fixtures", "scenarios", "docs")
LISTENING = "listening on http://127.0.0.1:"
START_SECONDS_MAX = 30  # a guard against hanging, not a promise
END_SECONDS_MAX = 2


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that holds the wheel, and borrows the libraries of the one that runs the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder,
        copy(folder / "source"),
    )
    (wheel,) = folder.glob("*.whl")

    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python(environment),
        "install",
        "--no-index",
        "--no-deps",
        "--no-compile",  # Python compiles the files that are used
        wheel,
    )
    # Only now: the line below also shows pip the package that the tests themselves run from.
    (library,) = environment.glob("lib/python*/site-packages")
    (library / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return environment


def copy(target: Path) -> Path:
    """The source without what earlier builds left in it, which would travel too."""
    for name in TRAVELS:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, target)
    return target


def files_in(folder: Path) -> set[Path]:
    """All the way down, without what Python wrote there itself."""
    found = {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
    return {file for file in found if "__pycache__" not in file.parts}


def python(environment: Path) -> Path:
    return environment / "bin" / "python"


def run(*command: object, cwd: Path | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=bare(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def bare() -> dict[str, str]:
    """The environment without what would lead back to the source, or set an option."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SANDBOX_"))}


@contextmanager
def serving(environment: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The server and its port, as soon as it says so."""
    command = [str(environment / "bin" / "bank-sandbox"), "serve", "--port", "0", "--frozen"]
    with subprocess.Popen(
        command, cwd=folder, env=bare(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as server:
        guard = Timer(START_SECONDS_MAX, server.kill)
        guard.start()
        try:
            said = []
            for line in server.stdout or ():
                said.append(line)
                if line.startswith(LISTENING):
                    break
            assert said[-1:] and said[-1].startswith(LISTENING), "".join(said)
            yield server, int(said[-1].removeprefix(LISTENING))
        finally:
            guard.cancel()
            server.kill()


def get(port: int, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS_MAX)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_the_wheel_brings_its_own_package_and_not_ours(installed: Path, tmp_path: Path) -> None:
    where = run(python(installed), "-c", "import sandbox; print(sandbox.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed)


@pytest.mark.parametrize(
    "package, source", [("fixtures", "fixtures"), ("scenario_files", "scenarios"), ("handbook", "docs")]
)
def test_files_beside_the_code_travel_in_the_wheel(package: str, source: str, installed: Path) -> None:
    (library,) = installed.glob("lib/python*/site-packages")
    assert files_in(library / "sandbox" / package) == files_in(ROOT / source)


def test_the_demo_needs_no_checkout(installed: Path, tmp_path: Path) -> None:
    (library,) = installed.glob("lib/python*/site-packages")
    assert files_in(library / "sandbox" / "extensions" / "shop") == files_in(ROOT / "sandbox" / "extensions" / "shop")
    assert "--lan" in run(installed / "bin" / "bank-sandbox", "demo", "--help", cwd=tmp_path)


@pytest.mark.parametrize("folder", ["templates", "static"])
def test_the_files_of_the_screens_travel_in_the_wheel(folder: str, installed: Path) -> None:
    (library,) = installed.glob("lib/python*/site-packages")
    there = library / "sandbox" / "web" / "psu" / folder
    assert {file.name for file in there.iterdir()} == {
        file.name for file in (ROOT / "sandbox" / "web" / "psu" / folder).iterdir()
    }


def test_it_serves_from_another_folder_and_ends_in_order(installed: Path, tmp_path: Path) -> None:
    with serving(installed, tmp_path) as (server, port):
        status, _ = get(port, "/_sandbox/health")
        assert status == 200
        status, body = get(port, "/_sandbox/customers")
        assert status == 200
        assert "alice" in {customer["customer"] for customer in body["customers"]}

        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=END_SECONDS_MAX) == 0


OUTSIDE = """
import pytest
import sandbox

@pytest.mark.parametrize("number", range(6))
def test_settles(bank, number):
    payment = bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    bank.psu.approve(payment.sca_address, customer="alice")
    assert bank.await_(payment, "ACSC").status == "ACSC"
    assert len(bank.payments) == 1

@pytest.mark.bank(seed=3)
def test_fails(bank, worker_id):
    print("installed at", sandbox.__file__, "run by", worker_id)
    bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    assert bank.payments == []
"""


def test_a_project_that_only_installs_the_wheel_has_the_fixture_on_two_workers(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_outside.py").write_text(OUTSIDE)
    command = [
        str(python(installed)),
        "-m",
        "pytest",
        "-n2",
        "--strict-markers",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
    ]
    outcome = result_of(command, tmp_path, {})
    outcome.assert_outcomes(passed=6, failed=1)
    outcome.stdout.fnmatch_lines(
        [f"installed at {installed}/* run by gw?", "*- bank -*", "http://127.0.0.1:*/worlds/gw?-test_fails, its clock*"]
    )
