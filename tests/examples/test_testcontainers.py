"""examples/testcontainers: its tests pass against a server. What starts the container needs an engine: it is read."""

import ast
import sys
from pathlib import Path
from shutil import copy

from tests.deploy.test_image import known
from tests.plugin.conftest import QUIET, result_of
from tests.shell import ROOT
from tests.test_cli import serving

EXAMPLE = ROOT / "examples" / "testcontainers"
INSTEAD = """
import pytest

@pytest.fixture(scope="session")
def bank_key():
    return "k"

@pytest.fixture(scope="session")
def bank_url(bank_key):
    return "http://127.0.0.1:{port}"
"""


def definitions(text: str) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def said_to_the_image() -> dict[str, str]:
    (call,) = [
        node
        for node in ast.walk(ast.parse((EXAMPLE / "conftest.py").read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_envs"
    ]
    return {word.arg or "": getattr(word.value, "value", "k") for word in call.keywords}


def test_its_tests_pass_against_a_bank_that_is_told_the_same(tmp_path: Path) -> None:
    copy(EXAMPLE / "test_payments.py", tmp_path)
    with serving("--port", "0", **said_to_the_image()) as (_, port):
        (tmp_path / "conftest.py").write_text(INSTEAD.format(port=port))
        done = result_of([sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider"], tmp_path, QUIET)
        done.assert_outcomes(passed=2)


def test_the_container_is_told_what_serve_knows_and_its_fixtures_are_those_that_the_tests_ask_for() -> None:
    assert {"SANDBOX_KEY", "SANDBOX_FROZEN"} <= set(said_to_the_image()) <= set(known("serve"))
    assert definitions((EXAMPLE / "conftest.py").read_text()) == definitions(INSTEAD)
