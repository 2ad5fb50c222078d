"""examples/github-actions.yml: against the published schema, and its steps as a runner would take them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deploy.proxies import free_port
from tests.shell import ROOT, shell_in, write_program
from tests.tools.schemas import check_file

FILE = ROOT / "examples" / "github-actions.yml"
JOBS: dict[str, dict[str, Any]] = YAML(typ="safe").load(FILE.read_text())["jobs"]
ELSEWHERE = {"install"}  # needs the network; tests/test_wheel.py installs what is built here
SOUND = """
def test_it(bank):
    payment = bank.tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
    bank.psu.approve(payment.sca_address, customer="alice")
    assert bank.await_(payment, "ACSC").status == "ACSC"
"""
CLIENT = """#!/usr/bin/env python3
import sys
from sandbox.client import Client
with Client(sys.argv[1]) as tpp:
    tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
"""
RUDE = """#!/bin/sh
curl -s "$1/payments/sepa-credit-transfers/x/status" -H "Client-ID: demo-tpp" -H "Request-ID: 1" \\
    -H "Accept: application/vnd.service.api+json; version=3" -H "Accept-Language: fr"
"""


@contextmanager
def ran(job: str, folder: Path) -> Iterator[dict[str, tuple[int, str]]]:
    """How each step ended and what it said, those for failures too; what still runs then ends with the job."""
    port = str(free_port())
    here = {"SANDBOX_PORT": port, "SANDBOX_URL": f"http://127.0.0.1:{port}"}
    told = JOBS[job].get("env", {})
    assert {name: value.replace("8080", port) for name, value in told.items()} == (here if told else {})
    steps = [step for step in JOBS[job]["steps"] if "run" in step and step["name"] not in ELSEWHERE]
    with shell_in(folder, **(here if told else {})) as shell:
        yield {step["name"]: shell.run(step["run"]) for step in steps}


def test_it_is_a_workflow(tmp_path: Path) -> None:
    done = check_file("github-workflows", FILE)
    assert done.exit_code == 0, done.output
    (tmp_path / "wrong.yml").write_text(FILE.read_text().replace("runs-on:", "runs:"))
    assert check_file("github-workflows", tmp_path / "wrong.yml").exit_code == 1


def test_the_job_with_the_fixture_passes(tmp_path: Path) -> None:
    (tmp_path / "test_tpp.py").write_text(SOUND)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    with ran("fixture", tmp_path) as ended:
        assert [code for code, _ in ended.values()] == [0], ended
        assert "1 passed" in ended["test"][1]


def test_the_job_with_a_server_passes_for_a_client_that_does_right(tmp_path: Path) -> None:
    write_program(tmp_path / "run-my-tests", CLIENT)
    with ran("server", tmp_path) as ended:
        assert {name: code for name, (code, _) in ended.items()} == dict.fromkeys(ended, 0), ended
        assert "payment_initiation" in ended["what the bank was asked"][1]


def test_and_tells_a_client_that_does_wrong(tmp_path: Path) -> None:
    write_program(tmp_path / "run-my-tests", RUDE)
    with ran("server", tmp_path) as ended:
        assert ended["test"][0] == 0
        assert ended["what my client did wrong"][0] == 1


@pytest.mark.parametrize("job", JOBS)
def test_nothing_is_said_to_a_job_that_its_commands_do_not_know(job: str) -> None:
    assert set(JOBS[job].get("env", {})) <= {"SANDBOX_PORT", "SANDBOX_URL"}
