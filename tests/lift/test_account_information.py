"""A record of account information without controls plays: who consented, and when, follows from what was read."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from sandbox.banking.durations import read_duration
from sandbox.extensions.lift.lifting import lift_file
from sandbox.machine import machine_time
from sandbox.player.runs import Script, serve_worlds
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import read_scenario
from tests.lift.plays import Play, play

BEGAN = datetime.fromisoformat("2026-03-02T10:00:00+01:00")
AIS: dict[str, Any] = {"consent": {"customer": "bram"}, "as": "first"}
ELSEWHERE = ("BE71096123456769", "BE43068999999501")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_worlds(machine_time, jobs=2) as address:
        yield address


def played(text: str, url: str) -> Play:
    found = play(Script(read_scenario(text, "a record"), text), url)
    assert found.report.trouble is None, found.report.trouble
    assert [(step.text, step.faults) for step in found.report.steps if not step.passed] == []
    return found


def record_of(url: str, *steps: Any, ibans: bool = False) -> bytes:
    """What a client's own HAR has of these steps: no controls, and the time that passed at the bank.

    With `ibans` it is one of another bank, whose accounts the sandbox does not know."""
    text = json.dumps({"clock": {"at": BEGAN.isoformat(), "frozen": True}, "steps": list(steps)})
    har, at, entries = json.loads(played(text, url).har), BEGAN, []
    for entry in har["log"]["entries"]:
        place, sent = entry["request"]["url"], entry["request"]["postData"]["text"]
        if "/_sandbox/" in place:
            if place.endswith("/clock") and "advance" in sent:
                at += read_duration(json.loads(sent)["advance"])
            continue
        at += timedelta(seconds=1)
        entries.append(entry | {"startedDateTime": at.isoformat(), "time": 20})
    content = json.dumps({"log": {"entries": entries}})
    if ibans:
        known = {row["iban"]: None for row in accounts_of(entries)}
        for iban, other in zip(known, ELSEWHERE, strict=False):
            content = content.replace(iban, other)
    return content.encode()


def accounts_of(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    replies = [json.loads(entry["response"]["content"]["text"] or "{}") for entry in entries]
    pages = [reply.get("_embedded", {}) for reply in replies if isinstance(reply, dict)]
    return [row for page in pages for row in page.get("accounts", ())]


def lifted(record: bytes) -> tuple[str, list[dict[str, Any]]]:
    text, unexplained = lift_file(record, "A record")
    assert unexplained == []
    steps: list[dict[str, Any]] = read_yaml(text, "a record").to_python()["steps"]
    return text, steps


def approvals(steps: list[dict[str, Any]]) -> list[Any]:
    return [step["psu"] for step in steps if "psu" in step]


def test_the_consent_names_the_customer_whose_accounts_are_read(url: str) -> None:
    read = ("accounts", {"account": "bram-current"}, {"transactions": "bram-current"})
    text, steps = lifted(record_of(url, AIS, *read))
    assert approvals(steps) == [{"approves": "consent-1", "customer": "bram", "accounts": ["bram-current"]}]
    played(text, url)


def test_accounts_of_another_bank_are_read_as_those_of_one_customer(url: str) -> None:
    consent = {"consent": {"customer": "alice"}}
    read = ("accounts", {"account": "alice-current"}, {"account": "alice-savings"})
    text, steps = lifted(record_of(url, consent, *read, ibans=True))
    names = ["elsewhere-1", "elsewhere-2"]
    assert approvals(steps) == [{"approves": "consent-1", "customer": "payer-1", "accounts": names}]
    assert not any(iban in text for iban in ELSEWHERE)
    played(text, url)


def test_a_consent_for_one_account_is_of_its_owner(url: str) -> None:
    caf = {"consent": {"scope": "CAF", "iban": "bram-current", "customer": "bram"}}
    text, steps = lifted(record_of(url, caf, "account"))
    assert approvals(steps) == [{"approves": "consent-1", "customer": "bram"}]
    played(text, url)


def test_a_gap_becomes_a_step_of_the_clock(url: str) -> None:
    late = [{"accounts": {"of": "first", "refused": 401}}, {"refresh": "first", "as": "second"}]
    record = record_of(url, AIS, "accounts", {"clock": "61m"}, *late, {"accounts": "second"})
    text, steps = lifted(record)
    assert [step["clock"] for step in steps if "clock" in step] == ["3663s"]  # and the seconds before
    assert '"at": "2026-03-02T10:00:01+01:00"' in text
    played(text, url)


def test_calls_that_follow_each_other_need_no_clock(url: str) -> None:
    _, steps = lifted(record_of(url, AIS, "accounts", {"clock": "5s"}, {"accounts": "first"}))
    assert not any("clock" in step for step in steps)


def test_no_time_passes_while_a_payment_has_a_status_on_the_way(url: str) -> None:
    pay = {"pay": {"debtor": "alice", "amount": "5.00"}, "as": "rent"}
    ways = [{"clock": "20s"}, {"status": "rent"}, {"psu": {"approves": "rent"}}, {"clock": "30s"}, {"status": "rent"}]
    text, steps = lifted(
        record_of(url, pay, *ways, {"clock": "2h"}, {"status": "rent"}, {"clock": "1h"}, {"status": "rent"})
    )
    asked = [next(iter(step)) for step in steps]
    assert asked == ["pay", "await", "status", "psu", "await", "status", "clock", "await", "status", "clock", "status"]
    assert [step["status"]["expect"]["status"] for step in steps if "status" in step] == [
        "PATC",
        "ACSP",
        "ACSC",
        "ACSC",
    ]
    played(text, url)


def test_pages_of_an_account_of_another_bank_have_as_many_transactions(url: str) -> None:
    first = {"transactions": {"account": "bram-current", "pagesize": 10, "date_to": "2026-02-20"}, "as": "page"}
    more = {"transactions": {"account": "bram-current", "next": "{page._embedded.next_page_key}"}}
    text, steps = lifted(record_of(url, AIS, "accounts", first, more, ibans=True))
    (filled,) = (step["repeat"] for step in steps if "repeat" in step)
    assert filled["times"] == 11 and filled["steps"][0]["book"]["on"] == "2026-02-19"
    played(text, url)


def test_an_account_that_no_reply_names_is_listed(url: str) -> None:
    record = json.loads(record_of(url, AIS, "accounts", {"transactions": "bram-current"}))
    entries = [entry for entry in record["log"]["entries"] if not entry["request"]["url"].endswith("/accounts")]
    text, unexplained = lift_file(json.dumps({"log": {"entries": entries}}).encode(), "A record")
    assert unexplained == ["call 3, GET /accounts: its account is not in the record"]
    played(text, url)
