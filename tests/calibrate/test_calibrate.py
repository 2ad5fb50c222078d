"""A recording decides the values that it shows, and never a wrong one. `make calibrate` takes a hundred banks."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import request_finished

from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.calibration import ALIKE_MAX, Calibration, bound_calls, calibrate_calls
from sandbox.extensions.calibrate.command import calibrate
from sandbox.extensions.calibrate.comparison import compare, read_facts
from sandbox.extensions.calibrate.variables import Variables
from sandbox.extensions.record.proxy import make_own_pseudonyms
from sandbox.recordings.masking import Masker
from sandbox.recordings.reading import read_recording
from sandbox.scenarios import load
from sandbox.scenarios.reading import read_scenario
from tests.calibrate.following import Follower
from tests.calibrate.recorder import Entries, har, hidden_bank, record, run_flows, without_customers
from tests.documented import RECORDER

FLOWS = ("pays", "is_refused", "confirms", "reads")
HIDDEN = {
    "final_status": "ACSP",
    "item_amount": "string",
    "item_fields": "camel",
    "page_size": "10",
    "key_order": "reversed",
    "reason_codes": "iso",
    "settlement": "slow",
    "account_type": "iso",
    "callback_encoding": "percent",
}


@pytest.fixture(scope="module", autouse=True)
def _unwatched() -> Iterator[None]:
    """Replies of the played bank are those of the tests of `vary`, and documents of each bank are dear to make."""
    request_finished.disconnect(RECORDER.hear)
    yield
    request_finished.connect(RECORDER.hear)


def found_in(entries: Entries) -> Calibration:
    return calibrate_calls(read_recording(har(entries)).calls)


def wrong_in(found: Calibration, variants: Mapping[str, str]) -> dict[str, str]:
    true = DEFAULTS | dict(variants)
    return {axis: row.value for axis, row in found.decided.items() if row.value != true[axis]}


@pytest.fixture(scope="module")
def hidden() -> Entries:
    return record(HIDDEN, FLOWS)


@pytest.fixture(scope="module")
def today() -> Entries:
    return record({}, FLOWS, seed=3)


@pytest.fixture(scope="module")
def found_today(today: Entries) -> Calibration:
    return found_in(today)


def test_a_recording_decides_the_values_that_it_shows(hidden: Entries) -> None:
    found = found_in(hidden)
    assert wrong_in(found, HIDDEN) == {}
    assert {axis: found.decided[axis].value for axis in HIDDEN if axis in found.decided} == HIDDEN
    assert all(row.calls for row in found.decided.values())
    assert found.outside == []
    assert all(DEFAULTS[axis] in values for axis, values in found.open.items())


def test_a_recording_of_the_default_bank_decides_the_values_of_today(found_today: Calibration) -> None:
    assert wrong_in(found_today, {}) == {}
    assert len(found_today.decided) > 60
    assert found_today.outside == []
    assert found_today.next and all(proposal.curl.startswith("curl ") for proposal in found_today.next)


def test_a_proposed_call_is_followed_by_its_line_and_decides_what_it_says() -> None:
    """Its reader brings a payment and a token of their own, and no secret of the recording is in the line."""
    with hidden_bank(HIDDEN) as (bank, way):
        run_flows(bank, ("pays",))
        calls = read_recording(har(way.entries)).calls
        proposals = calibrate_calls(calls, payments=True).next
        proposal = next(row for row in proposals if "client_id_elsewhere" in row.decides)
        (reply,) = Follower(bank, calls).follow(proposal)
        found = found_in(way.entries)
    assert reply.status_code == 400
    assert found.decided["client_id_elsewhere"].value == "required"
    assert wrong_in(found, HIDDEN) == {}
    secrets = {call.access_token for call in calls if call.access_token}
    lines = [line for row in proposals for line in (row.curl, row.python)]
    assert not any(secret in line for secret in secrets for line in lines)
    assert "Bearer $TOKEN" in proposal.curl and "# TOKEN: " in proposal.curl


def test_a_proposed_payment_says_what_its_customer_does_and_decides_what_only_that_shows() -> None:
    """The customer refuses, comes late, or signs; the payment is cancelled, or watched for days."""
    true = {"xb_delete": "403", "refusal_callback": "none", "ended_order": "ACWP", "sca_address_life": "short"}
    with hidden_bank(true) as (bank, way):
        run_flows(bank, ("pays",))
        calls = read_recording(har(way.entries)).calls
        before = calibrate_calls(calls, payments=True)
        for proposal in before.next:
            if true.keys() & set(proposal.decides):
                Follower(bank, calls).follow(proposal)
        after = found_in(way.entries)
    assert not true.keys() & before.decided.keys()
    assert {axis: after.decided[axis].value for axis in true} == true
    assert wrong_in(after, true) == {}


@pytest.mark.parametrize(
    ("description", "differs"),
    [
        ("Sign again at https://other.example/psu/sign/xyz before 2027-03-02T10:00:00Z", False),
        ("Sign once more at https://bank.example/psu/sign/abc before 2027-03-01T10:00:00Z", True),
    ],
)
def test_addresses_and_instants_within_a_description_are_not_compared(description: str, differs: bool) -> None:
    own = "Sign again at https://bank.example/psu/sign/abc before 2027-03-01T10:00:00Z"
    facts, own_facts = (
        read_facts(400, {}, (), json.dumps({"error_description": text}), "") for text in (description, own)
    )
    assert bool(compare(facts, own_facts, Variables())) == differs


def test_without_what_customers_did_nothing_wrong_is_decided() -> None:
    """The reads of an account are in the masked recording below, where they prove little and take long to explain."""
    found = found_in(without_customers(record(HIDDEN, ("pays", "is_refused", "confirms"))))
    assert wrong_in(found, HIDDEN) == {}
    assert len(found.decided) > 30


def test_without_what_customers_did_the_details_of_a_masked_recording_say_who_paid() -> None:
    """So the payment is debited where the recording shows its line. Masks leave the words of the interface, and names
    and communications are those of the recording."""
    true = {"item_amount": "string"}
    recording = read_recording(har(without_customers(record(true, ("pays", "reads")))))
    masker = Masker(make_own_pseudonyms(load("default").fixtures), [recording.calls[0].host], "/worlds/hidden")
    found = calibrate_calls([masker.mask(call) for call in recording.calls])
    assert found.outside == []
    assert found.decided["item_amount"].value == "string"
    assert wrong_in(found, true) == {}


def test_without_what_customers_did_a_masked_recording_with_gaps_decides_nothing_wrong(hidden: Entries) -> None:
    """It begins in the middle, some reads are missing, another host was called, and two clocks were used."""
    kept = [entry for number, entry in enumerate(without_customers(hidden)) if number > 8 and number % 7]
    entries: Entries = json.loads(json.dumps(kept))
    for entry in entries[::2]:
        began = datetime.fromisoformat(entry["startedDateTime"]).astimezone(timezone(timedelta(hours=9)))
        entry["startedDateTime"] = began.isoformat()
    foreign: dict[str, Any] = json.loads(json.dumps(kept[0]))
    foreign["request"] |= {"url": "https://shop.example/accounts", "headers": []}
    foreign["response"] |= {"headers": [], "content": {"text": '{"accounts": []}'}}
    recording = read_recording(har([foreign, {}, *entries]))
    masker = Masker(make_own_pseudonyms(load("default").fixtures), [recording.calls[0].host], "/worlds/hidden")
    found = calibrate_calls([masker.mask(call) for call in recording.calls])
    assert recording.notes
    assert wrong_in(found, HIDDEN) == {}
    assert len(found.decided) > 20


def test_tokens_from_before_a_recording_get_others_in_their_place(today: Entries) -> None:
    entries = without_customers(today)
    at = next(number for number, entry in enumerate(entries) if entry["request"]["url"].endswith("/accounts"))
    found = found_in(entries[at:])
    assert wrong_in(found, {}) == {}
    assert len(found.decided) > 10 and found.outside == []


def test_of_a_long_recording_reads_that_are_alike_are_played_a_few_times(today: Entries) -> None:
    reads = [entry for entry in today if entry["request"]["url"].endswith("/accounts")]
    calls, notes = bound_calls(read_recording(har([*today, *reads * 3_000])).calls)
    assert len(calls) < len(today) + ALIKE_MAX
    assert "reads that are like earlier ones" in notes[0]


Change = Callable[[dict[str, Any]], None]


def changed(entries: Entries, where: str, change: Change, *, refused: bool = False) -> Entries:
    """The entries with another reply wherever the path ends so and the bank accepted the call, or refused it."""
    copied: Entries = json.loads(json.dumps(entries))
    for entry in copied:
        path, response = entry["request"]["url"].partition("?")[0], entry["response"]
        is_refusal = response["status"] >= 400
        if path.endswith(where) and "_sandbox" not in path and is_refusal == refused:
            change(response)
    return copied


def change_body(change: Change) -> Change:
    """Numbers keep their digits."""

    def changed_response(response: dict[str, Any]) -> None:
        text = response["content"]["text"]
        body = json.loads(text, parse_float="\0{}\0".format, parse_int="\0{}\0".format)
        change(body)
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        response["content"]["text"] = re.sub(r'"\\u0000([^"]*)\\u0000"', r"\1", text)

    return changed_response


def rename_status(body: dict[str, Any]) -> None:
    body["state"] = body.pop("status")


def cut_page(body: dict[str, Any]) -> None:
    del body["_embedded"]["transactions"][20:]
    body["_embedded"]["next_page_key"] = "more"


def rename_remarks(body: dict[str, Any]) -> None:
    for item in body["_embedded"]["transactions"]:
        item["remark"] = item.pop("remittance_info")


def as_problem(body: dict[str, Any]) -> None:
    content = {"type": "about:blank", "title": body["error"], "detail": body["error_description"]}
    body.clear()
    body.update(content)


def turn_round(body: dict[str, Any]) -> None:
    items = list(body.items())[::-1]
    body.clear()
    body.update(items)


def forbid_caching(response: dict[str, Any]) -> None:
    response["headers"].append({"name": "Cache-Control", "value": "private"})


# Where the path ends so, what is changed, and the operation and the place at which it is told.
DEVIATIONS: tuple[tuple[str, Change, str, str], ...] = (
    ("/status", change_body(rename_status), "payment_status", "body.state"),
    ("/details", change_body(lambda body: body.update(charges="0.00")), "payment_details", "body.charges"),
    (
        "/details",
        change_body(lambda body: body.update(psu_name={"given": "A"})),
        "payment_details",
        "body.psu_name (type)",
    ),
    ("/details", forbid_caching, "payment_details", "Cache-Control"),
    ("/token", change_body(lambda body: body.update(expires_in="3600")), "token", "body.expires_in (type)"),
    ("/token", change_body(turn_round), "token", "order of keys"),
    ("/consent-uris", lambda response: response.update(status=206), "consent_addresses", "status"),
    ("/accounts", change_body(lambda body: body.pop("_links")), "accounts", "body._links (missing)"),
    ("/accounts", forbid_caching, "accounts", "Cache-Control"),
    ("/transactions", change_body(cut_page), "transactions", "body._embedded.transactions (length)"),
    ("/transactions", change_body(rename_remarks), "transactions", "body._embedded.transactions[].remark"),
)
REFUSAL = ("/transactions", change_body(as_problem), "transactions", "body.title")


def test_what_no_value_explains_is_told_at_its_place_and_disturbs_nothing_else(
    today: Entries, found_today: Calibration
) -> None:
    entries = changed(today, *REFUSAL[:2], refused=True)
    for where, change, _, _ in DEVIATIONS:
        entries = changed(entries, where, change)
    found = found_in(entries)
    assert wrong_in(found, {}) == {}
    for _, _, operation, place in (*DEVIATIONS, REFUSAL):
        assert any((row.operation, row.what.partition(":")[0]) == (operation, place) for row in found.outside), place
    assert {row.operation for row in found.outside} == {operation for _, _, operation, _ in (*DEVIATIONS, REFUSAL)}
    assert len(found.decided) > len(found_today.decided) / 2


def test_calls_without_contents_decide_nothing() -> None:
    rows = [{"request_id": "r", "at": "2027-03-01T09:00:00+01:00", "operation": "accounts", "method": "GET"}]
    content = json.dumps({"requests": [rows[0] | {"path": "/accounts", "status": 200, "client_id": "demo-tpp"}]})
    found = calibrate_calls(read_recording(content.encode(), "http://127.0.0.1:8080").calls)
    assert found.decided == {} and set(found.open) == set(AXES)
    assert "contents" in found.notes[0]


# The command


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the default bank, and one of a bank that differs."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "today.har").write_bytes(har(record({}, ("pays",))))
    (folder / "hidden.har").write_bytes(har(record(HIDDEN, ("pays",))))
    return folder


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(calibrate, [str(word) for word in words])


@pytest.fixture(scope="module")
def command(files: Path) -> Result:
    """Calibrates the bank that differs, and writes the scenario and the page."""
    return run(files / "hidden.har", "-o", files / "bank.yaml", "--json", "--html", files / "report.html")


def test_the_command_writes_a_scenario_a_page_and_json(files: Path, command: Result) -> None:
    assert command.exit_code == 0
    content = json.loads(command.stdout)
    assert list(content) == ["decided", "excluded", "open", "outside", "next"]
    assert content["decided"]["final_status"]["value"] == "ACSP"
    assert set(content["decided"]) | set(content["open"]) == set(AXES)
    assert "final_status" in (files / "report.html").read_text()
    variants = dict(read_scenario((files / "bank.yaml").read_text(), "bank").settings.variants)
    assert variants["final_status"] == "ACSP" and variants.items() <= HIDDEN.items()


def test_a_check_says_what_changed(files: Path, command: Result) -> None:
    assert command.exit_code == 0
    assert run("--check", files / "bank.yaml", files / "hidden.har").exit_code == 0
    result = run("--check", files / "bank.yaml", files / "today.har")
    assert result.exit_code == 1
    assert "CHANGED  final_status was ACSP, and the recording shows ACSC" in result.stdout


@pytest.mark.parametrize("content", [b"", b"{}", b'{"log": {"entries": []}}'])
def test_what_is_no_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    source = tmp_path / "calls.har"
    source.write_bytes(content)
    result = run(source)
    assert result.exit_code == 2
    assert str(source) in result.stderr
