"""A record becomes a scenario that plays, without anybody's real data."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from html import escape, unescape
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import read_structured
from sandbox.bulkfiles.report import FileReport, ValidationRules
from sandbox.bulkfiles.samples import SAMPLES, fill_sample
from sandbox.bulkfiles.stages import read_file
from sandbox.cli import main
from sandbox.extensions.lift.lifting import lift_file
from sandbox.extensions.lift.pseudonyms import ScenarioPseudonyms, lift_xml
from sandbox.machine import machine_time
from sandbox.player.runs import Script, serve_worlds
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import load, read_scenario
from tests.lift.plays import play
from tests.tpp import Tpp


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=2) as address:
        yield address


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
    again = play(Script(read_scenario(text, "incident"), text), url)
    assert again.report.passed and again.states == [("sepa-credit-transfers", "RJCT", "AC04")]


def test_the_same_person_stays_the_same_and_check_digits_are_valid() -> None:
    names = ScenarioPseudonyms(load("default").fixtures)
    first, again, other = (names.iban(iban) for iban in (REAL["iban"], REAL["iban"], "NL91ABNA0417164300"))
    assert first == again != other and is_iban(first) and is_iban(other)
    assert (first[:2], other[:2]) == ("FR", "NL")
    assert names.name("Ann") == names.name("Ann") != names.name("Bob")
    assert read_structured(names.structured("+++090/9337/55493+++"))
    assert names.name("Test AC04") == "Test AC04"  # a well-known value decides what happens


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.har"
    file.write_bytes(b"{}")
    result = CliRunner().invoke(main, ["lift", str(file)])
    assert result.exit_code == 1 and "x.har: it is an empty JSON object: expected is HAR" in result.output


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_export_is_left_to_import(tpp: Tpp, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "a.world"
    file.write_bytes(pack(tpp.http.get("/_sandbox/export").data))
    result = CliRunner().invoke(main, ["lift", str(file)])
    assert result.exit_code == 1
    assert "a.world: it is the export of a world: use `bank-sandbox import`" in result.output


ELSEWHERE = [
    entry("POST", "https://login.example/token", 200, {"access_token": "x"}),
    entry("GET", "https://shop.example/accounts/42", 200, {"iban": REAL["iban"], "name": REAL["name"]}),
    entry("GET", "https://shop.example/payments/7/status", 200, {"status": "paid"}),
]


@pytest.mark.parametrize("entries, why", [(ELSEWHERE, "none of its 3 calls goes to a bank"), ([], "it has no calls")])
def test_a_record_without_a_call_to_a_bank_is_refused(tmp_path: Path, entries: list[Any], why: str) -> None:
    file, target = tmp_path / "x.har", tmp_path / "story.yaml"
    file.write_bytes(record(*entries))
    result = CliRunner().invoke(main, ["lift", str(file), "-o", str(target)])
    assert result.exit_code == 1 and f"x.har: {why}" in result.output
    assert not target.exists()


HEADERS = [
    ("request", {"name": "Accept", "value": "application/vnd.service.api+json; version=3"}),
    ("request", {"name": "accept", "value": "application/vnd.bank.api+json;version=1"}),
    ("response", {"name": "Response-ID", "value": "5f0f62d4-3c3c-4a7e-8a9b-0c2f1d6b7e11"}),
]


@pytest.mark.parametrize("part, header", [(None, None), *HEADERS])
def test_calls_to_other_hosts_are_not_taken_for_the_banks(part: str | None, header: Any) -> None:
    taken = entry("POST", PAYMENT, 201, {"payment_id": "p1", "status": "RCVD"}, BODY)
    if part is not None:
        taken[part]["headers"] = [header]
    text, unexplained = lift_file(record(*ELSEWHERE, taken), "A record")
    assert unexplained == []
    assert text.count("\n  - ") == 1 and "  - pay: " in text


def test_a_record_without_headers_is_of_the_host_with_most_calls_of_a_bank() -> None:
    sent = [entry("POST", PAYMENT, 201, {"payment_id": f"p{number}"}, BODY) for number in (1, 2)]
    other = entry("POST", PAYMENT.replace("bank", "shop"), 201, {"payment_id": "p3"}, BODY)
    assert lift_file(record(other, *sent), "A record")[0].count("- pay: ") == 2


HIDDEN = "<a><![CDATA[Juliette]]></a>"


@pytest.mark.parametrize("replies", [[503], [0], [0, 0, 503]], ids=str)
def test_a_call_that_could_not_be_explained_does_not_become_a_fault(replies: list[int]) -> None:
    sent = []
    for status in replies:
        sent.append(entry("POST", "https://bank.example/bulk-payments/pain.001", status, {}))
        sent[-1]["request"]["postData"]["text"] = HIDDEN
        sent[-1]["request"]["headers"] = [{"name": "Request-ID", "value": "5f0f62d4-3c3c-4a7e-8a9b-0c2f1d6b7e11"}]
    text, unexplained = lift_file(record(*sent), "A record")
    assert len(unexplained) == 1 and "CDATA" in unexplained[0]
    assert "fault" not in text.replace("default", "") and "steps: []" in text


def test_a_call_that_is_explained_has_the_fault_right_before_it() -> None:
    down = [entry("GET", f"{PAYMENT}/p1/status", 503, {}), entry("GET", f"{PAYMENT}/p2/status", 503, {})]
    text, unexplained = lift_file(record(entry("POST", PAYMENT, 201, {"payment_id": "p1"}, BODY), *down), "A record")
    steps = read_yaml(text, "lifted").to_python()["steps"]
    assert [next(iter(step)) for step in steps] == ["pay", "fault", "status"]
    assert steps[1]["fault"] == {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 503}}
    assert len(unexplained) == 1 and "call 3" in unexplained[0]


@pytest.mark.parametrize("rows", [5, [5], [{"logical_id": 5}], [{"iban": "BE71096123456769"}], {"accounts": 5}])
def test_an_odd_reply_names_no_account(rows: Any) -> None:
    read = entry("GET", "https://bank.example/accounts", 200, {"_embedded": rows and {"accounts": rows}})
    odd = entry("GET", "https://bank.example/accounts", 200, {"_embedded": rows})
    assert len(lift_file(record(read, odd), "A record")[1]) == 2


@pytest.mark.parametrize("began", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "1999-12-31T00:00:00Z"])
def test_a_call_of_a_time_that_no_bank_has_is_passed_over(tmp_path: Path, began: str) -> None:
    file, content = tmp_path / "x.har", json.loads(INCIDENT)
    content["log"]["entries"][0] |= {"startedDateTime": began, "time": 1_000}
    file.write_text(json.dumps(content))
    result = CliRunner().invoke(main, ["lift", str(file)])
    assert result.exit_code == 0 and f"entry 1: it began at {began[:19]}" in result.output
    assert "between the years 2000 and 2200" in result.output and "pay:" not in result.output


def test_the_command_writes_the_scenario_and_lists_the_rest(tmp_path: Path) -> None:
    file, target = tmp_path / "x.har", tmp_path / "story.yaml"
    file.write_bytes(INCIDENT)
    result = CliRunner().invoke(main, ["lift", str(file), "-o", str(target)])
    assert result.exit_code == 0 and "not explained: call 4" in result.output
    assert CliRunner().invoke(main, ["scenario", "check", str(target)]).exit_code == 0


FIRST = date(2027, 3, 1)
PEOPLE = re.compile(r"<(?:Nm|Ustrd|EndToEndId|AdrLine)>([^<]+)<")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith(".xml")])
def test_a_lifted_xml_file_has_the_same_faults_and_other_people(name: str) -> None:
    content = fill_sample(name, FIRST).decode()
    lifted = lift_xml(content, ScenarioPseudonyms(load("default").fixtures))
    assert lifted is not None
    secrets = {unescape(text) for text in PEOPLE.findall(content)} - {"NOTPROVIDED"}
    assert secrets and not any(f">{escape(secret, quote=False)}<" in lifted for secret in secrets)
    before, after = (read_file("pain.001", text.encode(), ValidationRules(FIRST)) for text in (content, lifted))
    assert codes_of(before) == codes_of(after)


def codes_of(report: FileReport) -> list[list[str]]:
    """The codes of the whole file's findings, and of each bulk's."""
    parts = (report.findings, *(getattr(batch, "findings", ()) for batch in report.batches))
    return [sorted(finding.code for finding in findings) for findings in parts]


HIDING = (
    "<a><![CDATA[Juliette]]></a>",
    '<!DOCTYPE a [<!ENTITY who "Juliette">]><a>&who;</a>',
    "<a>x</a><!-- Juliette",
    "<a><!-- x --><!--->Juliette</a>",
    "<a><Juliette Vraie></a>",
    "<a>x</a><?note Juliette?>",
    "<a>x</a><Juliette",
)


@pytest.mark.parametrize("text", HIDING)
def test_a_file_that_may_hide_names_is_listed_and_not_lifted(text: str) -> None:
    assert lift_xml(text, ScenarioPseudonyms(load("default").fixtures)) is None
    taken = entry("POST", "https://bank.example/bulk-payments/pain.001", 201, {"payment_file_id": "f1"})
    taken["request"]["postData"]["text"] = text
    scenario, unexplained = lift_file(record(taken), "A file")
    assert "Juliette" not in scenario and "CDATA, a document type, a comment" in unexplained[0]


OUTSIDE = (
    '<a note="Juliette">x</a>',
    "<a note='Juliette'>x</a>",
    '<a xmlns="Juliette" xsi:note="Juliette" xmlnsx="urn:Juliette">x</a>',
    '<a xsi:schemaLocation="urn:a C:\\\\Juliette\\\\pain.001.001.03.xsd">x</a>',
    '<?xml version="Juliette" encoding="Juliette"?><a>x</a>',
    "Juliette<a>x</a>",
    "<a>x</a>Juliette",
    "<a>x > Juliette > x</a>",
    "Juliette",
)


@pytest.mark.parametrize("text", OUTSIDE)
def test_names_in_attributes_and_outside_the_elements_are_not_lifted(text: str) -> None:
    lifted = lift_xml(text, ScenarioPseudonyms(load("default").fixtures))
    assert lifted is not None and "Juliette" not in lifted


def test_a_currency_a_namespace_and_the_declaration_are_lifted_as_they_are() -> None:
    declaration = '\ufeff<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    space = 'xmlns="urn:a" xsi:schemaLocation="urn:a pain.001.001.03.xsd"'
    content = f'{declaration}\n<a {space}><InstdAmt Ccy="EUR">1.00</InstdAmt></a>\n'
    assert lift_xml(content, ScenarioPseudonyms(load("default").fixtures)) == content


REPEATED = (
    "<!--",
    "<!-- -->",
    "<DbtrAcct>",
    "<DbtrAcct><IBAN>BE68539007547034</IBAN>",
    "<Nm>x</Nm>",
    ">x<",
    "<a ",
    "<a:",
    "<a b='c' ",
    "<a b=",
    "<?xml version='1' ",
)


@pytest.mark.parametrize("part", REPEATED)
def test_the_time_to_lift_a_file_grows_with_its_length_alone(part: str) -> None:
    """Half a megabyte: where the time grows with the square of the length, this takes an hour."""
    began = perf_counter()
    lift_xml(part * (500_000 // len(part)), ScenarioPseudonyms(load("default").fixtures))
    assert perf_counter() - began < 30


def test_many_debtors_are_each_found_at_once() -> None:
    names, count = ScenarioPseudonyms(load("default").fixtures), 5_000
    ibans = [f"BE00{number:012}" for number in range(count)]
    lifted = lift_xml("".join(f"<x:DbtrAcct><IBAN>{iban}</IBAN></x:DbtrAcct>" for iban in ibans), names)
    assert list(names.debtors) == ibans and names.debtors[ibans[-1]] == f"elsewhere-{count}"
    assert lifted is not None and lifted.count("<IBAN>BE") == count and ibans[5] not in lifted


def test_only_the_accounts_of_debtors_are_the_scenarios_own() -> None:
    names = ScenarioPseudonyms(load("default").fixtures)
    lift_xml(
        "<IBAN>BE1</IBAN></DbtrAcct><DbtrAcct><IBAN>BE2</IBAN><DbtrAcct><IBAN>BE3</IBAN></x:DbtrAcct></DbtrAcct>"
        "<CdtrAcct><IBAN>BE4</IBAN></CdtrAcct><DbtrAcct><IBAN>BE5</IBAN>",
        names,
    )
    assert list(names.debtors) == ["BE2", "BE3"]


@pytest.mark.parametrize("product", ["pain.001", "csv"])
def test_a_file_beyond_the_bound_is_listed_and_not_lifted(product: str) -> None:
    taken = entry("POST", f"https://bank.example/bulk-payments/{product}", 201, {"payment_file_id": "f1"})
    taken["request"]["postData"]["text"] = "x" * 1_000_001
    assert "over 1,000,000 characters" in lift_file(record(taken), "A file")[1][0]


def test_text_between_elements_and_comments_are_not_lifted() -> None:
    content = "<a>Juliette <b>1</b> Vraie<!-- of <c>Ghent</c> --></a>"
    lifted = lift_xml(content, ScenarioPseudonyms(load("default").fixtures))
    assert lifted == "<a>x<b>x</b>x</a>"


def timed(row: dict[str, Any], began: int, seconds: int) -> dict[str, Any]:
    return row | {"startedDateTime": f"2027-03-01T09:00:{began:02}+00:00", "time": 1_000 * seconds}


def test_calls_at_once_without_a_barrier_are_one_after_the_other_and_listed() -> None:
    sent = [entry("POST", PAYMENT, 201, {"payment_id": f"p{number}", "status": "RCVD"}, BODY) for number in (1, 2)]
    apart = record(*(timed(row, began, 5) for row, began in zip(sent, (0, 6), strict=True)))
    together = record(*(timed(row, began, 5) for row, began in zip(sent, (0, 3), strict=True)))
    assert lift_file(apart, "Apart")[1] == []
    text, unexplained = lift_file(together, "Together")
    assert len(unexplained) == 1 and "at once" in unexplained[0]
    assert "parallel" not in text and text.count("- pay:") == 2


def test_no_identifier_of_the_record_comes_along() -> None:
    secrets = ["5f0f62d4-3c3c-4a7e-8a9b-0c2f1d6b7e11", "TOKEN-OF-THEIRS", "LOGICAL-OF-THEIRS"]
    url = f"https://bank.example/accounts/{secrets[2]}/transactions"
    read = entry("GET", url, 401, {"error": "FAILED_SECURITY_VALIDATION", "error_code": "GEN-1203-100010"})
    read["request"]["headers"] = [
        {"name": "Request-ID", "value": secrets[0]},
        {"name": "Authorization", "value": f"Bearer {secrets[1]}"},
    ]
    twice = [entry("POST", PAYMENT, 201, {"payment_id": "p1", "status": "RCVD"}, BODY) for _ in range(2)]
    for row in twice:
        row["request"]["headers"] = [{"name": "Request-ID", "value": secrets[0]}]
    text, _ = lift_file(record(*twice, read), "A record")
    assert not any(secret in text for secret in (*secrets, *REAL.values()))
    assert text.count("00000000-0000-4000-8000-000000000001") == 2
