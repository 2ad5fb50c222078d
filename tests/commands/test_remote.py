"""The thin clients: each command drives a sandbox that runs, and tells what came of it (choice 12)."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.bulkfiles.samples import fill_sample
from sandbox.cli import main
from sandbox.client import Client, Initiation
from tests.spec.files import NOTARIS

Run = Callable[..., Result]


@pytest.fixture
def run(url: str) -> Run:
    def ran(*words: str) -> Result:
        return CliRunner().invoke(main, list(words), env={"SANDBOX_URL": url})

    return ran


@pytest.fixture
def payment(url: str) -> Initiation:
    with Client(url) as tpp:
        return tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")


def address_of(payment: Initiation) -> str:
    assert payment.sca_address is not None
    return payment.sca_address


def said(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output.strip()


def told(result: Result) -> Any:
    return json.loads(said(result))


def test_the_clock_is_shown_and_moved(run: Run) -> None:
    assert said(run("clock")) == "2027-03-01T09:00:00+01:00, frozen"
    assert said(run("clock", "advance", "61m")).startswith("2027-03-01T10:01:00+01:00")
    assert said(run("clock", "set", "2027-03-02T06:00")).startswith("2027-03-02T06:00:00+01:00")
    assert "running, 60" in said(run("clock", "run", "--rate", "60"))
    assert "frozen" in said(run("clock", "freeze"))
    assert told(run("clock", "--json"))["mode"] == "frozen"


def test_a_refusal_is_said_and_ends_with_1(run: Run) -> None:
    done = run("clock", "set", "2020-01-01T00:00")
    assert done.exit_code == 1
    assert (
        done.output == "Error: 400 INVALID_INPUT: The input 'set' is not accepted: the bank's clock does not go back.\n"
    )


def test_a_sandbox_that_is_not_there_is_said_kindly() -> None:
    done = CliRunner().invoke(main, ["clock", "--url", "http://127.0.0.1:1"])
    assert done.exit_code == 1
    assert "no sandbox answers at http://127.0.0.1:1" in done.output and "bank-sandbox serve" in done.output


def test_an_address_that_is_none_is_said_kindly() -> None:
    done = CliRunner().invoke(main, ["clock", "--url", "here"])
    assert done.exit_code == 1 and "no sandbox answers at here" in done.output


def test_options_may_stand_before_the_word_too(run: Run) -> None:
    assert said(run("clock", "--world", "b", "advance", "1h")).startswith("2027-03-01T10:00")
    assert said(run("clock", "--world", "b")).startswith("2027-03-01T10:00")
    assert said(run("clock")).startswith("2027-03-01T09:00")
    assert {row["name"] for row in told(run("worlds", "--json"))["worlds"]} == {"b", "default"}


def test_a_payment_is_signed_awaited_and_seen(run: Run, payment: Initiation) -> None:
    assert payment.payment_id in said(run("timeline"))
    callback = said(run("psu", "approve", address_of(payment), "--customer", "alice"))
    assert callback.startswith("http://127.0.0.1:9999/callback?") and "code=" in callback
    assert "ACSC at 2027-03-01T09:01:00+01:00, after 60 s" in said(run("await", payment.payment_id, "ACSC"))
    row = next(line for line in said(run("payments")).splitlines() if payment.payment_id in line)
    assert "ACSC" in row and "12.50" in row and "Jan Peeters" in row
    assert "signed" in said(run("journal"))
    assert told(run("journal", "--json", "--since", "2"))["journal"][0]["seq"] == 3
    assert payment.reply.request_id and payment.reply.request_id in said(run("requests"))
    assert "service 4.1" in said(run("explain", payment.reply.request_id))
    never = run("await", payment.payment_id, "RJCT", "--within", "1d")
    assert never.exit_code == 1 and "409" in never.output


def test_a_customer_refuses(run: Run, payment: Initiation) -> None:
    assert "error=access_denied" in said(run("psu", "refuse", address_of(payment), "--customer", "alice"))


def test_a_second_signature_and_a_move(run: Run, url: str) -> None:
    iban = next(
        row["accounts"][0] for row in told(run("customers", "--json"))["customers"] if row["customer"] == "notaris"
    )
    with Client(url) as tpp:
        made = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan", amount="1.00", debtor_iban=iban)
    run("psu", "approve", address_of(made))
    assert said(run("psu", "sign", made.payment_id, "--customer", "griet")) == "PDNG"
    assert said(run("move", made.payment_id, "RJCT", "--reason", "AC04")) == "RJCT AC04"
    assert run("move", made.payment_id, "PDNG").exit_code == 1


def test_a_settled_payment_is_returned_or_recalled(run: Run, payment: Initiation) -> None:
    early = run("return", payment.payment_id, "--reason", "AC04")
    assert early.exit_code == 1 and "only a settled payment can come back" in early.output
    run("psu", "approve", address_of(payment), "--customer", "alice")
    run("clock", "advance", "2m")
    assert said(run("return", payment.payment_id, "--reason", "MD07")) == f"{payment.payment_id} was returned"
    assert run("recall", payment.payment_id).exit_code == 1


def test_a_second_signer_refuses(run: Run, url: str) -> None:
    with Client(url) as tpp:
        made = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan", amount="1.00", debtor_iban=NOTARIS)
    run("psu", "approve", address_of(made))
    assert run("psu", "refuse", "--payment", made.payment_id, "--customer", "notaris").exit_code == 1
    assert said(run("psu", "refuse", "--payment", made.payment_id, "--customer", "griet")) == "CANC"
    assert run("psu", "refuse").exit_code == 1


def test_the_report_of_a_file_is_printed_or_written(run: Run, url: str, tmp_path: Path) -> None:
    with Client(url) as client:
        file = client.send_file(fill_sample("three-bulks.pain.001.001.09.xml", date(2027, 3, 1)))
        early = run("bulk", "report", file.payment_id)
        assert early.exit_code == 1 and "409 CONFLICT: The file is RCVD" in early.output
    said(run("clock", "advance", "2m"))
    printed = said(run("bulk", "report", file.payment_id))
    assert printed.startswith("<?xml") and "pain.002.001.10" in printed
    target = tmp_path / "report.xml"
    assert said(run("bulk", "report", file.payment_id, "-o", str(target))) == ""
    assert target.read_text().strip() == printed
    unknown = run("bulk", "report", "no-file")
    assert unknown.exit_code == 1 and "404" in unknown.output
    nowhere = run("bulk", "report", file.payment_id, "-o", str(tmp_path / "no" / "report.xml"))
    assert nowhere.exit_code == 1 and "cannot be written" in nowhere.output


def test_a_consent_is_given_and_withdrawn(run: Run, url: str) -> None:
    iban = told(run("accounts", "--json"))["accounts"][0]["iban"]
    with Client(url) as tpp:
        consent = tpp.consent_addresses()
        said(run("psu", "approve", consent.address, "--customer", "alice", "--accounts", iban))
    assert said(run("psu", "withdraw", "--customer", "alice")) == "withdrawn"


def test_a_world_is_forked_and_reset(run: Run, payment: Initiation) -> None:
    assert said(run("fork", "b")).startswith("world b: 2027-03-01T09:00")
    run("clock", "advance", "2h", "--world", "b")
    assert "CANC" in said(run("payments", "--world", "b")) and "RCVD" in said(run("payments"))
    assert said(run("fork", "c", "--world", "b", "--at", "2027-03-01T09:30")).startswith("world c: 2027-03-01T09:30")
    assert said(run("fork", "d", "--from", "b")).startswith("world d: 2027-03-01T11:00")
    assert run("fork", "d").exit_code == 1
    assert said(run("fork", "d", "--replace")).startswith("world d: 2027-03-01T09:00")
    assert said(run("rewind", "2027-03-01T09:30", "--world", "b")).startswith("world b is back at 2027-03-01T09:30")
    assert "PATC" in said(run("payments", "--world", "b"))
    assert said(run("reset", "--world", "b")).startswith("world b begins again: 2027-03-01T09:00")
    assert told(run("payments", "--world", "b", "--json")) == {"payments": []}


def test_settings_are_shown_and_changed(run: Run) -> None:
    assert "unsigned_after" in said(run("settings"))
    assert said(run("settings", "page_size=10", "bulk_validation=5s")).splitlines()[2:] == [
        "bulk_validation  5s",
        "page_size        10",
    ]
    assert run("settings", "page_size").exit_code == 2
    assert "Error: 400" in run("settings", "page_size=none").output


def test_faults_are_added_met_and_dropped(run: Run) -> None:
    rule = '{"title": "Down", "when": {"operation": "token"}, "answer": {"status": 503}}'
    assert "Down" in said(run("faults", "add", rule))
    assert told(run("faults", "--json"))["faults"] == [{"title": "Down", "met": 0}]
    assert said(run("faults", "clear")) == "no faults are left"
    several = '{"when": {"operation": "token", "nth": [2, 3]}, "times": 1, "answer": {"status": 503}}'
    assert "fault 1" in said(run("faults", "add", several))
    assert said(run("faults", "clear")) == "no faults are left"
    assert run("faults", "add", "{").exit_code == 2
    assert run("faults", "add", "{}").exit_code == 1


@pytest.mark.parametrize(
    "text, place",
    [
        ('{"when": {nth: 2}}', 'at column 11, where the arrow is: {"when": {→nth: 2}}'),
        ('{"delay":\n "1s" 2}', 'at line 2, column 7, where the arrow is:  "1s" →2}'),
        ("", "expecting value at column 1"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 10_000, "a number in it is too long"),
    ],
)
def test_bad_json_is_refused_with_its_place(run: Run, text: str, place: str) -> None:
    for words in (("faults", "add", text), ("verify", "--in-order", text), ("count", "--body", text)):
        done = run(*words)
        assert done.exit_code == 2 and place in done.output


def test_a_scenario_is_loaded_by_name_and_from_a_file(run: Run, tmp_path: Path) -> None:
    assert "plays two_people_must_sign" in said(run("scenario", "load", "two_people_must_sign"))
    own = tmp_path / "own.yaml"
    own.write_text("clock: {at: 2028-01-01T00:00, frozen: true}\n")
    assert "2028-01-01T00:00" in said(run("scenario", "load", str(own)))
    own.write_text("clok: {}\n")
    done = run("scenario", "load", str(own))
    assert done.exit_code == 1 and "own.yaml:1:1" in done.output
    own.write_text("steps:\n  - status: rent\n")
    done = run("scenario", "load", str(own))
    assert done.exit_code == 1 and "own.yaml:2:5: nothing was captured as 'rent'" in done.output
    assert run("scenario", "load", "nowhere").exit_code == 1


@pytest.mark.parametrize(
    "name", ["clients", "standing-orders", "bulk-payments", "callbacks", "timeline", "accounts", "customers"]
)
def test_every_list_is_a_table_for_people_and_json_for_programs(run: Run, name: str) -> None:
    head, rule, *_ = said(run(name)).splitlines()
    assert head.split() and set(rule) <= {"-", " "}
    assert isinstance(told(run(name, "--json"))[name], list)
