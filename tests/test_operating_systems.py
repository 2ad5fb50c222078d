"""What the program uses of the operating system: a server in memory needs nothing that Windows does not have."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox.machine import operating_system
from sandbox.scenarios.reading import load
from sandbox.server.server import limit_connections, raise_files
from sandbox.storage.format import StateFileError
from sandbox.storage.sqlite_database import SqliteDatabase

# It takes away what Windows does not have, then runs pytest with the plugin in the same process.
WITHOUT_POSIX = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
for name in MODULES & sys.modules.keys():
    del sys.modules[name]
sys.meta_path.insert(0, Missing())
for name in "fork forkpty register_at_fork killpg setsid getuid geteuid getpgid chown sysconf".split():
    delattr(os, name)
import select, time
del select.poll, time.clock_gettime
for name in set(signal.Signals.__members__) - {"SIGINT", "SIGTERM", "SIGABRT", "SIGFPE", "SIGILL", "SIGSEGV"}:
    delattr(signal, name)

import pytest
plugins = "-p sandbox.pytest_plugin -p no:cacheprovider -p no:faulthandler".split()
sys.exit(pytest.main([sys.argv[1], "-q", "--disable-plugin-autoload", *plugins]))
"""

A_TEST = """
import click
import httpx
from click.testing import CliRunner

import sandbox
from sandbox.cli import main

def test_the_fixture_pays(bank):
    payment = bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    bank.psu.approve(payment.sca_address, customer="alice")
    assert bank.await_(payment, "ACSC").waited.total_seconds() == 60

def test_each_command_shows_its_help():
    for name in main.list_commands(click.Context(main)):
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0, name

def test_a_server_pays_and_shows_its_pages():
    with sandbox.running() as bank:
        payment = bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="1.00")
        bank.psu.approve(payment.sca_address, customer="alice")
        for path in ("/_sandbox/", "/_sandbox/docs", "/_sandbox/openapi.json", "/_sandbox/referee"):
            assert httpx.get(bank.base_url + path, follow_redirects=True).status_code == 200
"""


def test_a_server_in_memory_uses_nothing_that_only_posix_has(tmp_path: Path) -> None:
    (tmp_path / "without_posix.py").write_text(WITHOUT_POSIX)
    (tmp_path / "test_it.py").write_text(A_TEST)
    done = subprocess.run(
        [sys.executable, "without_posix.py", "test_it.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1:][0][:8]) == (0, "3 passed"), done.stdout + done.stderr


def test_a_file_is_locked_on_windows_at_a_byte_that_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[tuple[int, int]] = []

    def locking(descriptor: int, mode: int, size: int) -> None:
        place = (os.lseek(descriptor, 0, os.SEEK_CUR), mode)
        if place in locked:
            raise OSError("locked")
        locked.append(place)

    monkeypatch.setattr(operating_system, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with closing(SqliteDatabase(tmp_path / "bank.sqlite")):
        assert locked == [(operating_system.LOCKED_BYTE, 2)]
        with pytest.raises(StateFileError, match="in use by another sandbox"):
            SqliteDatabase(tmp_path / "bank.sqlite")


def test_without_limits_of_the_system_as_many_connections_as_are_asked_for_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "resource", None)
    raise_files(4_000)
    assert limit_connections(4_000) == 4_000


def test_a_scenario_with_the_line_ends_of_windows_is_read(tmp_path: Path) -> None:
    text = "scenario: Lignes\nclock:\n  at: 2027-03-01T09:00:00+01:00\n"
    (tmp_path / "lines.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    assert load(str(tmp_path / "lines.yaml")).title == "Lignes"
