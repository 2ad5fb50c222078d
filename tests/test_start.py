"""What a server has imported when it listens, and what it imports when somebody asks for it first."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Timer

import pytest

from sandbox.lazy import load
from sandbox.web.controls.app import find_view
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.rows import CONTROLS
from tests.house import names_for_later, read_house
from tests.test_cli import LISTENING, PATIENCE, environment

ROOT = Path(__file__).parents[1]

# Rooms, files of rooms and libraries that no server needs before its first call, and what needs them.
LATE = {
    "apispec": "the documents",
    "asn1crypto": "certificates",
    "asyncio": "nothing of ours",
    "babel": "pages in a language",
    "cryptography": "certificates and signatures",
    "faker": "the past of an account, when its balance is read",
    "flask_swagger_ui": "the page to try calls",
    "httpx": "commands",
    "joserfc": "signatures",
    "lxml": "bulk files",
    "markdown_it": "the documentation",
    "prometheus_client": "a counter that is read",
    "psycopg": "PostgreSQL",
    "rich": "tables on a terminal",
    "ruamel": "YAML that was not read before",
    "sqlite3": "worlds in a file",
    "sandbox.client": "commands",
    "sandbox.commands.remote": "commands",
    "sandbox.bulkfiles.csv_reader": "bulk files",
    "sandbox.bulkfiles.checks": "bulk files",
    "sandbox.bulkfiles.pain001": "bulk files",
    "sandbox.pki.certificates": "certificates",
    "sandbox.pki.trust": "certificates",
    "sandbox.player": "a scenario that is played",
    "sandbox.extensions.referee.rule": "calls that are judged, some time after their replies",
    "sandbox.testing": "tests",
    "sandbox.web.api.accounts": "a call of the bank: the view of each is imported when it is called",
    "sandbox.web.api.bulks": "a call of the bank",
    "sandbox.web.console.answering": "the console",
    "sandbox.web.console.templating": "the console",
    "sandbox.web.controls.world_views": "a control: each is imported when it is called",
    "sandbox.web.docs.site": "the documentation",
    "sandbox.web.docs.views": "the reference",
    "sandbox.web.psu.visits": "the pages for PSUs",
    "sandbox.storage.postgres_database": "PostgreSQL",
    "sandbox.storage.transfer.exporter": "exports",
}
FIRST_CALLS = {
    "/_sandbox/referee": "sandbox.extensions.referee.table",
    "/_sandbox/clock": "sandbox.web.controls.world_views",
    "/_sandbox/": "sandbox.web.console.pages",
    "/_sandbox/docs": "sandbox.web.docs.site",
    "/_sandbox/openapi.json": "apispec",
    "/psu/sign/none": "sandbox.web.psu.steps",
}
AT_ONCE = """
import sys, threading, sandbox
app, replies = sandbox.create_app(), []
gate = threading.Barrier({count})
def ask(path):
    gate.wait()
    replies.append((path, app.test_client().get(path).status_code))
threads = [threading.Thread(target=ask, args=[path]) for path in {paths!r}]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*sorted(f"{{path}} {{status}}" for path, status in replies), sep="\\n")
"""


class Started:
    """A server whose imports are read as they happen."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line.startswith(LISTENING), line
        self.port = int(line.removeprefix(LISTENING))
        self.notes = server.stderr

    def get(self, path: str) -> int:
        line = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            line.request("GET", path)
            reply = line.getresponse()
            reply.read()
            return reply.status
        finally:
            line.close()


@contextmanager
def started(notes: Path) -> Iterator[Started]:
    with (
        notes.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-v", "-m", "sandbox", "serve", "--port", "0", "--log", "off"],
            env=environment(), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=stderr,
        ) as server,
    ):  # fmt: skip
        guard = Timer(PATIENCE, server.kill)
        guard.start()
        try:
            yield Started(server)
        finally:
            guard.cancel()
            server.kill()


def imported(notes: str) -> set[str]:
    return set(re.findall(r"^import '([\w.]+)' #", notes, re.MULTILINE))


def loaded_of(late: str, modules: set[str]) -> set[str]:
    return {name for name in modules if name == late or name.startswith(f"{late}.")}


def test_a_server_listens_before_it_imports_what_its_first_calls_may_never_need(tmp_path: Path) -> None:
    notes = tmp_path / "imports"
    with started(notes) as server:
        modules = imported(notes.read_text())
        assert "sandbox.web.api.app" in modules and "waitress.server" in modules
        assert {late: found for late in LATE if (found := loaded_of(late, modules))} == {}
        assert server.get("/_sandbox/health") == 200
        assert [late for late in LATE if loaded_of(late, imported(notes.read_text()))] == []
        for path, module in FIRST_CALLS.items():
            assert module not in imported(notes.read_text()), path
            assert server.get(path) < 500, path
            assert module in imported(notes.read_text()), path


def test_what_is_late_is_found_again_and_the_list_names_nothing_else() -> None:
    found = set(read_house(ROOT / "sandbox"))
    for late in LATE:
        if late.startswith("sandbox."):
            assert late in found or f"{late}.__init__" in found, late


def test_calls_that_come_at_once_wait_for_one_import(tmp_path: Path) -> None:
    paths = ["/_sandbox/", "/_sandbox/console/settings", "/_sandbox/docs", "/psu/channel", "/_sandbox/clock"] * 3
    asked = AT_ONCE.format(count=len(paths), paths=paths)
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {f"{path} 200" for path in paths}
    assert len(done.stdout.splitlines()) == len(paths)


def test_each_name_for_later_is_there_and_a_wrong_one_is_refused() -> None:
    """Whoever only collects the tests reads no source for it."""
    names = {name for source in read_house(ROOT / "sandbox").values() for name in names_for_later(source)}
    assert {"sandbox.commands.serve:serve", "sandbox.web.psu.steps:SIGNING.open_address"} <= names
    assert {name: why for name in sorted(names) if (why := reason_against(name))} == {}
    for wrong in ("sandbox.web.psu.steps:SIGNING.leave", "sandbox.web.psu.stairs:SIGNING"):
        assert reason_against(wrong)


def reason_against(name: str) -> str | None:
    """Why a name for later cannot be loaded."""
    try:
        return "it is None" if load(name) is None else None
    except (AttributeError, ModuleNotFoundError) as error:
        return repr(error)


@pytest.mark.parametrize("row", CONTROLS, ids=lambda row: row.name)
def test_a_control_has_its_view(row: Control) -> None:
    assert callable(find_view(row))


# A command, and what it does not need.
LIGHT = {
    "health --url http://127.0.0.1:1": ("flask", "httpx", "marshmallow", "sandbox.bank", "sandbox.web"),
    "serve --help": ("flask", "httpx", "marshmallow", "sandbox.app", "sandbox.bank", "sandbox.web"),
    "clock --url http://127.0.0.1:1": (
        "cryptography",
        "flask",
        "sandbox.app",
        "sandbox.bank.state",
        "sandbox.web.api.app",
    ),
}


@pytest.mark.parametrize("words", LIGHT)
def test_a_command_imports_no_more_than_it_does(words: str) -> None:
    line = [sys.executable, "-v", "-m", "sandbox", *words.split()]
    done = subprocess.run(line, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    modules = imported(done.stderr)
    assert "sandbox.cli" in modules and "click" in modules
    assert [name for name in LIGHT[words] if loaded_of(name, modules)] == []
