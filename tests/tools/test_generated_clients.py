"""Clients in Python that openapi-generator writes from the documents pay, read and cancel, with nothing added by hand.

Those in other languages are in examples/*/generated; .ci/clients runs them.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from sandbox.server.server import serve_in_background
from tests.tools.java import JAVA_OPTIONS
from tests.tools.node import HERE, run
from tests.tpp import CALLBACK, CHALLENGE, VERIFIER, Tpp

GENERATOR = "openapi-generator-cli"


def paid(tpp: Tpp) -> list[Any]:
    """Status at first, customer, amount, status in the end, the answer to a second cancellation."""
    name = next(row["name"] for row in tpp.listed("customers") if row["customer"] == "alice")
    return ["RCVD", name, "12.50", "CANC", [403, "NOT_CANCELLABLE"]]


def generate(document: str, kind: str, folder: Path, **more: str) -> None:
    """Writes a client of that kind."""
    if shutil.which(GENERATOR) is None:
        assert os.environ.get("NODE_TOOLS_REQUIRED") != "1", f"{GENERATOR} is required, and is not there"
        pytest.skip(f"not run: there is no {GENERATOR} on this machine")
    folder.mkdir(exist_ok=True)
    file = folder / f"{kind}.json"
    file.write_text(document)
    properties = ",".join(f"{name}={value}" for name, value in more.items())
    words = ["-i", str(file), "-g", kind, "-o", str(folder / "client"), "--additional-properties", properties]
    code, said = run([GENERATOR, "generate", *words], folder)
    assert code == 0, said[-3000:]


def facts_of(base: str) -> str:
    return json.dumps({"base": base, "redirect_uri": CALLBACK, "challenge": CHALLENGE, "verifier": VERIFIER})


def test_clients_in_python(app: Flask, tpp: Tpp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the bank, one of the controls."""
    for variable, options in JAVA_OPTIONS.items():
        monkeypatch.setenv(variable, options)
    folders = []
    for document, name in (("openapi.json", "generated_bank"), ("controls.json", "generated_controls")):
        generate(tpp.http.get(f"/_sandbox/{document}").text, "python", tmp_path / name, packageName=name)
        folders.append(str(tmp_path / name / "client"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))
    with serve_in_background(app) as base:
        code, said = run([sys.executable, str(HERE / "paying.py"), facts_of(base)], tmp_path)
    assert code == 0, said
    assert json.loads(said) == paid(tpp)
