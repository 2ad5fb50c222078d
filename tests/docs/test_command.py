"""The command that writes the documents, and what it costs a server that nobody asks for them."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from openapi_spec_validator import validate

from sandbox.cli import main

ROOT = Path(__file__).parents[2]


def run(*words: str) -> str:
    result = CliRunner().invoke(main, ["openapi", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_it_writes_the_document() -> None:
    found = json.loads(run("--url", "https://bank.example/worlds/a/", "--vendor", "acme"))
    validate(found)
    assert found["servers"] == [{"url": "https://bank.example/worlds/a"}]
    assert "application/vnd.acme.api+json; version=4" in json.dumps(found)


def test_it_writes_the_controls() -> None:
    assert "/_sandbox/clock" in json.loads(run("--controls"))["paths"]


def test_it_writes_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "bank.json"
    assert run("--output", str(target)) == ""
    assert json.loads(target.read_text())["openapi"] == "3.1.0"


def test_what_most_banks_never_need_is_not_loaded_at_the_start() -> None:
    late = {"apispec", "flask_swagger_ui", "psycopg", "cryptography", "asn1crypto", "asyncio"}
    asked = f"import sys, sandbox, sandbox.server.server; sandbox.create_app(); print(*{late} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
