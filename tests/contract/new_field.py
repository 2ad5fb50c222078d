"""Run by test_fields in a copy of the package that knows one field more: reads, writes, tells, says and shows it."""

import sys
from datetime import date

from flask import Flask

import sandbox
from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.client import payment_body
from sandbox.machine import machine_time
from sandbox.player.runs import Script, run_one, serve_worlds
from sandbox.scenarios import read_scenario
from sandbox.web.docs.bank_document import document
from sandbox.worlds.registry import WorldRegistry
from tests.contract.test_fields import COPY, MINE, MORNING
from tests.psu.psu import Psu
from tests.tpp import ISCT, SCT, Tpp, payment, refused

ALICE = "BE16539100001774"
SCENARIO = f"""
clock: {{at: "2027-03-01T09:00"}}
steps:
  - pay: {{debtor: alice, project_code: {MINE}}}
    as: rent
  - psu: {{approves: rent}}
  - token: rent
  - details: {{of: rent, expect: {{project_code: {MINE}}}}}
  - pay: {{debtor: alice, project_code: lower, refused: INVALID_INPUT}}
"""


def read_and_written(tpp: Tpp) -> str:
    initiated = tpp.initiate(SCT, payment(SCT, project_code=MINE, debtor_account={"iban": ALICE}))
    assert initiated.status_code == 201, initiated.text
    shown = tpp.http.get(f"/_sandbox/payments/{initiated.get_json()['payment_id']}").get_json()["order"]
    assert shown["project_code"] == MINE, shown
    for product, value in ((SCT, "lower"), (SCT, 7), (SCT, "TOOLONG"), (ISCT, MINE)):
        assert refused(tpp.initiate(product, payment(product, project_code=value)), 400, "GEN-1202-100002")
    return str(initiated.headers["Location"])


def documented() -> None:
    schemas = document("http://bank", "service", date(2027, 3, 1))["components"]["schemas"]
    asked = schemas["SepaPayment"]["properties"]["project_code"]
    assert asked == {
        "type": "string", "minLength": 1, "maxLength": 4, "pattern": "^[A-Z]{4}$",
        "description": "The project that pays.", "x-clause": "choice 5", "x-choice": 5,
    }, asked  # fmt: skip
    assert "project_code" in schemas["PaymentDetailsReply"]["properties"]
    assert "project_code" not in schemas["InstantSepaPayment"]["properties"]


def said() -> None:
    body = payment_body(creditor_iban="BE68539007547034", creditor_name="Jan", amount="1", project_code=MINE)
    assert body["project_code"] == MINE
    with serve_worlds(machine_time, jobs=1) as url:
        report = run_one(Script(read_scenario(SCENARIO, "test"), SCENARIO), url, machine_time)
    told = [(step.text, step.faults) for step in report.steps]
    assert report.trouble is None and all(step.passed for step in report.steps), (report.trouble, told)


def shown(app: Flask, address: str) -> None:
    for language, label in (("fr", "Projet"), ("nl", "Project")):
        psu = Psu(app, language)
        psu.log_in(address, "alice")
        page = psu.open(f"{address}/account?lang={language}")
        assert label in page.text and MINE in page.text, page.text


def main() -> None:
    assert COPY in sandbox.__file__
    app = assemble(WorldRegistry(first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time))
    address = read_and_written(Tpp(app))
    documented()
    said()
    shown(app, address.removeprefix("http://localhost"))
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
