"""The collections as their own tools send them, to a bank on a port: httpyac and Bruno's command line.

Where a tool is missing its tests are reported as not run; with COLLECTION_TOOLS_REQUIRED=1 that is a failure.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from sandbox.server.server import serve_in_background
from tests.docs.test_collections import SENT, write

PATIENCE = 120  # a guard against hanging, not a promise


@pytest.fixture
def bank(app: Flask) -> Iterator[str]:
    with serve_in_background(app) as url:
        yield url


def send(name: str, *words: str, cwd: Path) -> tuple[int, str]:
    """How it ended, and what it said; into a file, for node may end before a pipe has taken all."""
    program = shutil.which(name)
    if program is None:
        assert os.environ.get("COLLECTION_TOOLS_REQUIRED") != "1", f"{name} is required, and is not there"
        pytest.skip(f"not run: there is no {name} on this machine")
    quiet = os.environ | {"NO_COLOR": "1", "CI": "1"}
    said = cwd / "said"
    with said.open("w") as out:
        done = subprocess.run([program, *words], cwd=cwd, env=quiet, stdout=out, timeout=PATIENCE)
    return done.returncode, said.read_text()


def sent_by_httpyac(folder: Path) -> list[int]:
    """The status of each reply; 0 where it had not what the next calls need."""
    _, said = send("httpyac", "send", "bank.http", "--all", "--json", cwd=folder)
    replies = [each.get("response", {}) for each in json.loads(said)["requests"]]
    return [reply.get("statusCode", 0) for reply in replies]


def sent_by_bruno(folder: Path) -> tuple[int, dict[str, Any]]:
    """How it ended, and its own summary."""
    report = folder / "report.json"
    words = ("run", "--env", "sandbox", "--noproxy", "--reporter-json", str(report))
    code, _ = send("bru", *words, cwd=folder / "bruno")
    (run,) = json.loads(report.read_text())
    return code, run["summary"]


def spoil(file: Path) -> None:
    """A beneficiary whose number is wrong: the bank says 400."""
    text = file.read_text()
    assert "BE68539007547034" in text
    file.write_text(text.replace("BE68539007547034", "BE00539007547034"))


def test_httpyac_sends_every_call_and_each_succeeds(bank: str, tmp_path: Path) -> None:
    write("http", tmp_path / "bank.http", bank)
    told = sent_by_httpyac(tmp_path)
    assert len(told) >= SENT and {status // 100 for status in told} == {2}


def test_httpyac_would_show_a_call_that_is_refused(bank: str, tmp_path: Path) -> None:
    write("http", tmp_path / "bank.http", bank)
    spoil(tmp_path / "bank.http")
    assert 0 in sent_by_httpyac(tmp_path)


def test_bruno_sends_every_call_and_each_succeeds(bank: str, tmp_path: Path) -> None:
    write("bruno", tmp_path / "bruno", bank)
    code, summary = sent_by_bruno(tmp_path)
    assert (code, summary["failedRequests"], summary["failedTests"]) == (0, 0, 0), summary
    assert summary["passedTests"] >= SENT


def test_bruno_would_show_a_call_that_is_refused(bank: str, tmp_path: Path) -> None:
    write("bruno", tmp_path / "bruno", bank)
    _, payment, *others = sorted((tmp_path / "bruno").glob("*.bru"))
    spoil(payment)
    for file in others:
        file.unlink()
    assert sent_by_bruno(tmp_path)[0] == 1
