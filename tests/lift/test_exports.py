"""The sandbox's own export becomes a scenario: each act is the call or the control that stands for it."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from sandbox.bank.verbs import VERBS
from sandbox.cli import main
from sandbox.extensions.lift.act_calls import fields_of
from sandbox.extensions.lift.act_controls import CALLS
from sandbox.extensions.lift.scenario_text import bank_words, lift_file, rule_words
from sandbox.reader.yaml_text import read_yaml
from sandbox.scenarios import load, read_scenario
from sandbox.scenarios.library import SHIPPED
from sandbox.scenarios.reading import read_content
from tests.payer import begin, signed
from tests.psu.psu import Psu, address_of, consent_address, file_address, file_id, row, wrong
from tests.tpp import Tpp

APP = re.compile(r'href="(/psu/app/[^"]+)"')


def export_of(tpp: Tpp, query: str = "") -> bytes:
    reply = tpp.http.get(f"/_sandbox/export{query}")
    assert reply.status_code == 200, reply.text
    return bytes(reply.data)


def steps_of(tpp: Tpp, query: str = "") -> list[dict[str, Any]]:
    text, _ = lift_file(export_of(tpp, query), "A world")
    read_scenario(text, "lifted")
    steps: list[dict[str, Any]] = read_yaml(text, "lifted").plain()["steps"]
    return steps


def of(steps: list[dict[str, Any]], word: str) -> list[Any]:
    return [step[word] for step in steps if word in step]


def test_every_verb_is_lifted() -> None:
    assert set(CALLS) == set(VERBS)


def test_a_signature_on_the_banks_pages_becomes_the_customers_step(app: Flask, tpp: Tpp) -> None:
    Psu(app).sign(address_of(tpp), "alice", f"{tpp.iban_of('alice')} EUR")
    tpp.advance("61s")
    steps = steps_of(tpp)
    assert of(steps, "psu") == [{"approves": "pay-1", "customer": "alice", "account": "alice-current"}]
    assert of(steps, "status") == [{"of": "pay-1", "expect": {"status": "ACSC"}}]


def test_a_refusal_and_wrong_codes_become_refusals(app: Flask, tpp: Tpp) -> None:
    for _ in range(2):
        iban = tpp.iban_of("alice")
        address = address_of(tpp, debtor_account__iban=iban)
        psu = Psu(app)
        psu.log_in(address, "alice")
        if _:
            psu.refuse(address)
            continue
        for _again in range(3):
            psu.type(address, wrong(psu.read_code(address)))
    steps = steps_of(tpp)
    assert [step["refuses"] for step in of(steps, "psu")] == ["pay-1", "pay-2"]
    assert [step["expect"]["status"] for step in of(steps, "status")] == ["CANC", "CANC"]


def test_a_consent_on_the_pages_keeps_the_accounts_that_were_chosen(app: Flask, tpp: Tpp) -> None:
    Psu(app).agree(consent_address(tpp), "alice", tpp.iban_of("alice"))
    Psu(app).agree(consent_address(tpp, iban=tpp.iban_of("alice")), "alice")
    assert of(steps_of(tpp), "psu") == [
        {"approves": "consent-1", "customer": "alice", "accounts": ["alice-current"]},
        {"approves": "consent-2", "customer": "alice"},
    ]


def test_a_file_and_the_channel_are_lifted(app: Flask, tpp: Tpp) -> None:
    found = file_id(tpp, row(tpp.iban_of("bakkerij"), "2027-03-01", "Juliette Vraie", "10.00", "R-1"))
    Psu(app).sign(file_address(tpp, found), "bakkerij")
    two = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    Psu(app).sign(two.address.removeprefix("http://localhost"), "notaris")
    tpp.control("POST", "/psu/sign", payment_id=two.id, customer="griet")
    later = signed(tpp, requested_execution_date="2027-03-08")
    channel = Psu(app, "nl")
    channel.open("/psu/channel")
    channel.send("/psu/channel/login", login="alice")
    channel.send(f"/psu/channel/payments/{later.id}/cancel")
    steps = steps_of(tpp)
    assert of(steps, "file")[0]["transfers"][0]["creditor_name"] == "Person 1"
    assert of(steps, "sign") == [{"of": "pay-2", "customer": "griet"}]
    assert of(steps, "move") == [{"of": "pay-3", "status": "CANC"}]


def test_what_a_tester_returned_or_recalled_is_lifted(tpp: Tpp) -> None:
    for back, reason in (("return", "MD07"), ("recall", "FOCR")):
        payment_id = signed(tpp).id
        tpp.advance("2m")
        assert tpp.control("POST", f"/payments/{payment_id}/{back}", reason=reason).status_code == 200
    steps = steps_of(tpp)
    assert of(steps, "return") == [{"of": "pay-1", "reason": "MD07"}]
    assert of(steps, "recall") == [{"of": "pay-2", "reason": "FOCR"}]


@pytest.mark.parametrize("answer, word", [("approve", "sign"), ("refuse", "refuse")])
def test_an_answer_in_the_app_becomes_a_further_signature_or_a_refusal(
    app: Flask, tpp: Tpp, answer: str, word: str
) -> None:
    two = begin(tpp, debtor_account__iban=tpp.iban_of("notaris"))
    tpp.control("POST", "/psu/approve", address=two.address, customer="notaris")
    griet, phone, place = Psu(app, "nl"), Psu(app, "nl"), f"/psu/channel/payments/{two.id}"
    griet.open("/psu/channel")
    griet.send("/psu/channel/login", login="griet")
    griet.open(place)
    approval = APP.findall(griet.send(f"{place}/method", method="app").text)[0]
    phone.open(approval)
    phone.send(f"{approval}/{answer}")
    assert of(steps_of(tpp), word) == [{"of": "pay-1", "customer": "griet"}]


def test_an_export_without_its_secrets_lifts_to_the_same_steps(app: Flask, tpp: Tpp) -> None:
    Psu(app).agree(consent_address(tpp), "alice", tpp.iban_of("alice"))
    signed(tpp)
    assert steps_of(tpp, "?secrets=strip") == steps_of(tpp)


def test_refused_calls_and_faults_are_listed(tpp: Tpp) -> None:
    tpp.control("POST", "/faults", answer={"status": 503})
    assert tpp.initiate().status_code == 503
    _, unexplained = lift_file(export_of(tpp), "A world")
    assert [line.partition(":")[0] for line in unexplained] == [
        "1 faults were ordered",
        "request 1, POST payment_initiation",
    ]


def test_a_damaged_export_is_refused_with_its_line(tpp: Tpp, tmp_path: Path) -> None:
    signed(tpp)
    whole = export_of(tpp).splitlines(keepends=True)
    file = tmp_path / "a.world"
    for content, why in ((whole[:-1], "it was cut"), (whole[:1] + whole[2:], "act 1 is expected here")):
        file.write_bytes(b"".join(content))
        result = CliRunner().invoke(main, ["lift", str(file)])
        assert result.exit_code == 1 and why in result.output


@pytest.mark.parametrize("name", SHIPPED)
def test_the_head_of_every_shipped_scenario_comes_back_from_its_beginning(name: str) -> None:
    first, root = load(name), load("default")
    content = {
        "bank": bank_words(first.fixtures, root.fixtures),
        "settings": fields_of(first.settings, root.settings),
        "rules": [rule_words(rule, first.fixtures) for rule in first.rules[: len(first.rules) - len(root.rules)]],
    }
    again = read_content({part: words for part, words in content.items() if words}, "again")
    assert again.settings == first.settings and again.rules == first.rules
    assert (again.fixtures.accounts, again.fixtures.customers) == (first.fixtures.accounts, first.fixtures.customers)
    assert (again.fixtures.profiles, again.fixtures.clients) == (first.fixtures.profiles, first.fixtures.clients)
