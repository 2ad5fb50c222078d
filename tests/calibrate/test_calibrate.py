"""A recording decides the values that it shows, and never a wrong one. `make calibrate` takes a hundred banks."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.calibration import Calibration, calibrate_calls
from sandbox.extensions.calibrate.command import calibrate
from sandbox.recordings.reading import read_recording
from sandbox.scenarios.reading import read_scenario
from tests.calibrate.recorder import Entries, har, record, without_customers

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


def test_a_recording_decides_the_values_that_it_shows(hidden: Entries) -> None:
    found = found_in(hidden)
    assert wrong_in(found, HIDDEN) == {}
    assert {axis: found.decided[axis].value for axis in HIDDEN if axis in found.decided} == HIDDEN
    assert all(row.calls for row in found.decided.values())
    assert found.outside == []
    assert all(DEFAULTS[axis] in values for axis, values in found.open.items())


def test_without_what_customers_did_nothing_wrong_is_decided(hidden: Entries) -> None:
    found = found_in(without_customers(hidden))
    assert wrong_in(found, HIDDEN) == {}
    assert len(found.decided) > 30


def test_a_recording_of_the_default_bank_decides_the_values_of_today(today: Entries) -> None:
    found = found_in(today)
    assert wrong_in(found, {}) == {}
    assert len(found.decided) > 30
    assert found.outside == []
    assert found.next and all(proposal.curl.startswith("curl ") for proposal in found.next)


def changed(entries: Entries, where: str, change: Callable[[dict[str, Any]], None]) -> Entries:
    """The entries with another reply wherever the path ends so and the bank accepted the call."""
    copied: Entries = json.loads(json.dumps(entries))
    for entry in copied:
        path, response = entry["request"]["url"].partition("?")[0], entry["response"]
        if path.endswith(where) and "_sandbox" not in path and response["status"] < 400:
            change(response)
    return copied


def change_body(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def changed_response(response: dict[str, Any]) -> None:
        body = json.loads(response["content"]["text"])
        change(body)
        response["content"]["text"] = json.dumps(body, separators=(",", ":"), ensure_ascii=False)

    return changed_response


def rename_status(body: dict[str, Any]) -> None:
    body["state"] = body.pop("status")


def cut_page(body: dict[str, Any]) -> None:
    del body["_embedded"]["transactions"][37:]


DEVIATIONS: tuple[tuple[str, Callable[[dict[str, Any]], None], str, str], ...] = (
    ("/status", change_body(rename_status), "payment_status", "body.state"),
    ("/details", change_body(lambda body: body.update(charges="0.00")), "payment_details", "body.charges"),
    (
        "/details",
        change_body(lambda body: body.update(psu_name={"given": "A"})),
        "payment_details",
        "body.psu_name (type)",
    ),
    ("/token", change_body(lambda body: body.update(expires_in="3600")), "token", "body.expires_in (type)"),
    ("/consent-uris", lambda response: response.update(status=206), "consent_addresses", "status"),
    ("/accounts", change_body(lambda body: body.pop("_links")), "accounts", "body._links (missing)"),
    ("/transactions", change_body(cut_page), "transactions", "body._embedded.transactions (length)"),
)


def test_what_no_value_explains_is_told_at_its_place_and_disturbs_nothing_else(today: Entries) -> None:
    entries = today
    for where, change, _, _ in DEVIATIONS:
        entries = changed(entries, where, change)
    found = found_in(entries)
    assert wrong_in(found, {}) == {}
    for _, _, operation, place in DEVIATIONS:
        assert any((row.operation, row.what.partition(":")[0]) == (operation, place) for row in found.outside), place
    assert {row.operation for row in found.outside} == {operation for _, _, operation, _ in DEVIATIONS}
    assert len(found.decided) > 30


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


def test_the_command_writes_a_scenario_a_page_and_json(files: Path, tmp_path: Path) -> None:
    target, page = tmp_path / "bank.yaml", tmp_path / "report.html"
    result = run(files / "hidden.har", "-o", target, "--json", "--html", page)
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert list(content) == ["decided", "excluded", "open", "outside", "next"]
    assert content["decided"]["final_status"]["value"] == "ACSP"
    assert set(content["decided"]) | set(content["open"]) == set(AXES)
    assert "final_status" in page.read_text()
    variants = dict(read_scenario(target.read_text(), "bank").settings.variants)
    assert variants["final_status"] == "ACSP" and variants.items() <= HIDDEN.items()


def test_a_check_says_what_changed(files: Path, tmp_path: Path) -> None:
    bank = tmp_path / "bank.yaml"
    assert run(files / "today.har", "-o", bank).exit_code == 0
    assert run("--check", bank, files / "today.har").exit_code == 0
    result = run("--check", bank, files / "hidden.har")
    assert result.exit_code == 1
    assert "CHANGED  final_status was ACSC, and the recording shows ACSP" in result.stdout


@pytest.mark.parametrize("content", [b"", b"{}", b'{"log": {"entries": []}}'])
def test_what_is_no_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    source = tmp_path / "calls.har"
    source.write_bytes(content)
    result = run(source)
    assert result.exit_code == 2
    assert str(source) in result.stderr
