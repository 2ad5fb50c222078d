"""Redocly and Spectral find no error in the two documents."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.conftest import HERE
from tests.tools.node import run

DOCUMENTS = ("openapi.json", "controls.json")
# An authorization endpoint only redirects; and what a variant requires is named one level above it.
REDOCLY = """
extends: [recommended]
rules:
  operation-2xx-response: off
  no-required-schema-properties-undefined: off
"""


def lint(name: str, words: list[str], document: str, folder: Path) -> tuple[int, str]:
    """How it ended, and what it said."""
    program = shutil.which(name)
    if program is None:
        assert os.environ.get("NODE_TOOLS_REQUIRED") != "1", f"{name} is required, and is not there"
        pytest.skip(f"not run: there is no {name} on this machine")
    (folder / "document.json").write_text(document)
    (folder / ".spectral.yaml").write_text("extends: ['spectral:oas']\n")
    (folder / "redocly.yaml").write_text(REDOCLY)
    return run([program, "lint", "document.json", *words], folder)


LINTERS: dict[str, list[str]] = {
    "redocly": [],
    "spectral": ["--fail-severity", "warn"],
}


@pytest.mark.parametrize("linter", LINTERS)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_linter_finds_no_error(app: Flask, tmp_path: Path, document: str, linter: str) -> None:
    text = app.test_client().get(f"/_sandbox/{document}", base_url=HERE).text
    code, said = lint(linter, LINTERS[linter], text, tmp_path)
    assert code == 0, said[-3000:]
    assert "warning" not in said, said[-3000:]


@pytest.mark.parametrize("linter", LINTERS)
def test_the_linter_finds_an_error(app: Flask, tmp_path: Path, linter: str) -> None:
    content: dict[str, Any] = app.test_client().get("/_sandbox/openapi.json").get_json()
    content["paths"]["/accounts"]["get"]["operationId"] = "not an id"
    content["paths"]["/accounts"]["get"]["responses"] = {}
    code, _ = lint(linter, LINTERS[linter], json.dumps(content), tmp_path)
    assert code != 0
