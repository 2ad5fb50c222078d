"""A record becomes a scenario that plays, without anybody's real data."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import read_structured
from sandbox.cli import main
from sandbox.lift.pseudonyms import Pseudonyms
from sandbox.lift.scenario_text import lift_file
from sandbox.machine import machine_time
from sandbox.player.line_log import Exchange
from sandbox.player.runs import Report, Script, read_script, run_one, serve_worlds
from sandbox.scenario import Step, load, read_scenario
from tests.lift.recorder import har_of

STORIES = (
    "a_payment_goes_its_ordinary_way",
    "a_bulk_file_is_refused_in_part",
    "a_future_payment_is_called_off",
    "a_payment_is_recycled_until_the_salary_comes",
    "a_standing_order_meets_easter",
    "after_ninety_days_the_customer_authenticates_again",
    "dollars_are_rejected_and_come_back",
    "the_customer_refuses_to_sign",
    "two_people_must_sign",
)
LISTS = tuple(Step("call", {"path": f"/_sandbox/{name}"}) for name in ("payments", "standing-orders", "bulk-payments"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=2) as address:
        yield address


def played(url: str, script: Script) -> Report:
    """With the states of all initiations asked for at the end."""
    scenario = script.scenario
    report = run_one(replace(script, scenario=replace(scenario, steps=(*scenario.steps, *LISTS))), url, machine_time)
    assert report.passed, [step.faults for step in report.steps if step.faults] or report.trouble
    return report


def states(report: Report) -> list[Any]:
    bodies = [step.exchanges[-1].response for step in report.steps[-len(LISTS) :]]
    rows = [row for body in bodies if body is not None for row in next(iter(body.json().values()))]
    return [(row.get("product"), row["status"], row.get("reason")) for row in rows]


@pytest.mark.parametrize("name", STORIES)
def test_a_lifted_story_comes_to_the_same_states(url: str, name: str) -> None:
    script = read_script(name)
    told = played(url, script)
    headers = {"Content-Type": "application/yaml"}
    begun = httpx.Request("PUT", "http://x/_sandbox/scenario", content=script.text.encode(), headers=headers)
    calls = [one for step in told.steps[: -len(LISTS)] for one in step.exchanges]
    text, _ = lift_file(har_of([Exchange(begun, httpx.Response(200, json={})), *calls]), "A lifted story")
    assert states(played(url, Script(read_scenario(text, f"lifted-{name}"), text))) == states(told)


REAL = {"iban": "FR7630006000011234567890189", "name": "Juliette Vraie", "reference": "INVOICE-77"}
BODY = {
    "creditor_account": {"iban": REAL["iban"]},
    "creditor_name": REAL["name"],
    "endtoend_identification": REAL["reference"],
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
    "debtor_account": {"iban": "BE71096123456769"},
    "remittance_information_unstructured": "For Juliette",
}
PAYMENT = "https://bank.example/psd2/payments/sepa-credit-transfers"


def entry(method: str, url: str, status: int, reply: Any, body: Any = None) -> dict[str, Any]:
    asked = {"method": method, "url": url, "headers": [], "postData": {"text": json.dumps(body) if body else ""}}
    return {"request": asked, "response": {"status": status, "headers": [], "content": {"text": json.dumps(reply)}}}


def record(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"log": {"entries": entries}}).encode()


INCIDENT = record(
    entry("POST", PAYMENT, 201, {"payment_id": "p1", "status": "RCVD"}, BODY),
    entry("GET", f"{PAYMENT}/p1/status", 200, {"payment_id": "p1", "status": "PDNG"}),
    entry("GET", f"{PAYMENT}/p1/status", 200, {"payment_id": "p1", "status": "RJCT", "reason": "AC04"}),
    entry("GET", f"{PAYMENT}/p2/status", 200, {"payment_id": "p2", "status": "PATC"}),
    entry("GET", "https://elsewhere.example/logo.png", 200, ""),
)


def test_an_incident_at_a_real_bank_plays_without_its_people(url: str) -> None:
    text, unexplained = lift_file(INCIDENT, "An incident")
    assert unexplained == ["call 4, GET /payments/sepa-credit-transfers: its initiation is not in the record"]
    assert not any(secret in text for secret in (*REAL.values(), "BE71096123456769", "Juliette"))
    report = played(url, Script(read_scenario(text, "incident"), text))
    assert states(report) == [("sepa-credit-transfers", "RJCT", "AC04")]


def test_the_same_person_stays_the_same_and_check_digits_are_valid() -> None:
    names = Pseudonyms(load("default").fixtures)
    first, again, other = (names.iban(iban) for iban in (REAL["iban"], REAL["iban"], "NL91ABNA0417164300"))
    assert first == again != other and is_iban(first) and is_iban(other)
    assert (first[:2], other[:2]) == ("FR", "NL")
    assert names.name("Ann") == names.name("Ann") != names.name("Bob")
    assert read_structured(names.structured("+++090/9337/55493+++"))
    assert names.name("Test AC04") == "Test AC04"  # a well-known value decides what happens


@pytest.mark.parametrize("content", [b"", b"{}", b'{"log": {"entries": [5]}}', b"[" * 100_000, b"\xff"])
def test_what_is_no_har_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(content)
    told = CliRunner().invoke(main, ["lift", str(file)])
    assert told.exit_code == 1 and "it is no HAR" in told.output


def test_the_command_writes_the_scenario_and_lists_the_rest(tmp_path: Path) -> None:
    file, target = tmp_path / "x.har", tmp_path / "story.yaml"
    file.write_bytes(INCIDENT)
    told = CliRunner().invoke(main, ["lift", str(file), "-o", str(target)])
    assert told.exit_code == 0 and "not explained: call 4" in told.output
    assert CliRunner().invoke(main, ["scenario", "check", str(target)]).exit_code == 0
