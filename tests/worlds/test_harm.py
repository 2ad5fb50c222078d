"""Files that cannot be used: a clear word, the number 2, and the file is left as it is."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

import pytest

from sandbox.storage import checkpoint
from sandbox.storage.format import VERSION, StateFileError
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from tests.worlds.killed import initiate, worlds_of
from tests.worlds.places import blob, change, mark_anew, rows

ROOT = Path(__file__).parents[2]
ACTS = 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bank.state"


@pytest.fixture
def lived(path: Path) -> Path:
    """A file with some acts, closed in order."""
    fill(path)
    return path


def fill(path: Path | str, acts: int = ACTS) -> str:
    store = open_store(path)
    world = worlds_of(store).get("default")
    for number in range(acts):
        initiate(world, number)
    told = hash_state(world.bank)
    store.close()
    return told


def serve(path: Path, **more: object) -> "subprocess.CompletedProcess[str]":
    """A server that is expected to end by itself."""
    words = [sys.executable, "-m", "sandbox", "serve", "--port", "0", "--frozen", "--log", "off", "--state", str(path)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **more)  # type: ignore[call-overload,no-any-return]


def beside(path: Path) -> dict[str, bytes]:
    """Everything in the folder of a file."""
    return {found.name: found.read_bytes() for found in path.parent.iterdir() if found.is_file()}


def foreign(path: Path) -> None:
    change(path, "CREATE TABLE letters (text)", "INSERT INTO letters VALUES ('kept')")


def from_the_future(path: Path) -> None:
    fill(path)
    change(path, f"UPDATE about SET version = {VERSION + 1}")


def from_the_future_and_killed(path: Path) -> None:
    """Its rows are not yet written out: the program that wrote them was killed."""
    from_the_future(path)
    copy = path.with_name("copy")
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO acts VALUES (9, 1, '', '', '', '', 0, 0)")
        database.commit()
        shutil.copy(path, copy)
        wal = path.with_name(f"{path.name}-wal").read_bytes()
    copy.replace(path)
    path.with_name(f"{path.name}-wal").write_bytes(wal)


def torn(path: Path) -> None:
    fill(path, 60)
    os.truncate(path, path.stat().st_size - 5_000)


def flipped(path: Path) -> None:
    fill(path)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"Jan Peeters")
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda path: path.write_bytes(b"a letter, and no database" * 50), "no state file"),
        (foreign, "no state of the sandbox"),
        (from_the_future, f"version {VERSION + 1} of the format; this program reads version {VERSION} alone"),
        (from_the_future_and_killed, f"version {VERSION + 1} of the format"),
        (torn, "damaged"),
        (flipped, r"damaged: act \d+ of its world"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_unharmed(path: Path, make: Callable[[Path], None], told: str) -> None:
    make(path)
    before = beside(path)
    with pytest.raises(StateFileError, match=told):
        state_of(path)
    assert beside(path) == before


def test_serve_says_so_with_2_and_without_a_traceback(path: Path) -> None:
    from_the_future(path)
    before = beside(path)
    ended = serve(path)
    assert ended.returncode == 2
    assert "this program reads" in ended.stderr and "Traceback" not in ended.stderr
    assert beside(path) == before


def test_a_file_in_use_is_not_used_twice(lived: Path) -> None:
    store = open_store(lived)
    ended = serve(lived)
    store.close()
    assert (ended.returncode, "in use by another sandbox" in ended.stderr) == (2, True)
    with closing(open_store(lived)) as again:
        assert worlds_of(again).get("default").bank.payments


def as_nobody() -> None:
    """Who may do everything writes also what is read-only, so the server is someone else."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def elsewhere(work: Callable[..., None], *given: object) -> int | None:
    """How a program of its own ends that does it; nothing of this one is shared."""
    child = get_context("spawn").Process(target=work, args=given)
    child.start()
    child.join(60)
    return child.exitcode


def opened_by_nobody(path: Path) -> None:
    as_nobody()
    try:
        open_store(path)
    except StateFileError as error:
        os._exit(0 if "cannot be written" in str(error) else 4)
    os._exit(3)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_file_or_folder_that_is_read_only_is_told_and_unharmed(what: str) -> None:
    folder = Path(mkdtemp())  # not below pytest's own, which nobody may enter
    try:
        path = folder / "bank.state"
        fill(path)
        before = beside(path)
        path.chmod(0o444 if what == "file" else 0o666)
        folder.chmod(0o777 if what == "file" else 0o555)
        assert elsewhere(opened_by_nobody, path) == 0
        assert beside(path) == before
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def paid_until_full(path: Path, told: Path) -> None:
    """Its files may grow no more at some moment, which SQLite hears as from a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    world = worlds_of(open_store(path)).get("default")
    limit = path.stat().st_size + 40_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with told.open("w", buffering=1) as answered:
        try:
            for number in range(1_000):
                answered.write(f"{initiate(world, 1_000 + number)}\n")
        except StateFileError as error:
            os._exit(0 if "cannot be written" in str(error) else 4)
    os._exit(3)


def test_a_full_disk_loses_nothing_that_was_answered(lived: Path, tmp_path: Path) -> None:
    before = len(state_of(lived)[0])
    told = tmp_path / "answered"
    assert elsewhere(paid_until_full, lived, told) == 0
    answered = told.read_text().split()
    found, _ = state_of(lived)
    assert len(answered) > 2
    assert found[before:] == answered


def state_of(path: Path | str) -> tuple[list[str], str]:
    store = open_store(path)
    try:
        bank = worlds_of(store).get("default").bank
        return list(bank.payments), hash_state(bank)
    finally:
        store.close()


def paid_and_killed(path: Path) -> None:
    world = worlds_of(open_store(path)).get("default")
    for number in range(ACTS):
        initiate(world, number)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_torn_last_record_costs_no_more_than_itself(path: Path) -> None:
    """Only a power cut tears one: the last act goes, and what was whole before it stands."""
    assert elsewhere(paid_and_killed, path) == -signal.SIGKILL
    wal = path.with_name(f"{path.name}-wal")
    os.truncate(wal, wal.stat().st_size - 2_000)
    assert len(state_of(path)[0]) == ACTS - 1


def test_a_log_that_goes_another_way_in_this_program_is_told(state: Path | str) -> None:
    fill(state)
    change(state, "UPDATE acts SET made = made + 1 WHERE number = 5")
    mark_anew(state)
    before = rows(state, "SELECT * FROM acts ORDER BY number")
    with pytest.raises(StateFileError, match=r"act 5 \(payments.initiate\) goes another way"):
        state_of(state)
    assert rows(state, "SELECT * FROM acts ORDER BY number") == before


def test_a_damaged_checkpoint_is_not_needed(state: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(state)
    monkeypatch.setattr(checkpoint, "EVERY", 5)
    fill(state, 0)
    store = open_store(state)
    initiate(worlds_of(store).get("default"), 99)
    store.close()
    found = state_of(state)[1]
    change(state, f"UPDATE pieces SET content = {blob(state, bytes(9))} WHERE acts >= 0")
    assert rows(state, "SELECT count(*) > 0 FROM pieces WHERE acts >= 0")[0][0]
    assert state_of(state)[1] == found
