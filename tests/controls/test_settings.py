"""Settings of a running world: each changed and refused (choice 10, 13)."""

from datetime import timedelta
from typing import Any

import pytest

from sandbox.banking.durations import write_duration
from sandbox.contract.decisions import SETTINGS
from tests.stories import put, signed_by_alice, told
from tests.tpp import ISCT, Tpp, payment, refused

WORDS = {
    "request_id_reuse": ("refuse", "allow", "replay"),
    "worlds": ("declared", "on_demand"),
    "settled_status": ("ACSP", "ACSC"),
    "closed_days": ("respect", "ignore"),
    "signatures": ("off", "strict", "lenient"),
    "client_certificates": ("proxy", "tls", "off"),
    "certificate_clock": ("bank", "real"),
    "sca_methods": ("card_reader", "app", "by_risk"),
}
BOUNDS = {
    "page_size": (1, 50),
    "recycling_tries": (0, 1000),
    "requests_per_minute": (0, 1_000_000_000),
    "reads_per_day": (0, 1_000_000_000),
    "contents_kept": (0, 10_000),
    "execution_days_ahead_max": (0, 3650),
    "due_events_max": (1_000_000, 1_000_000_000),
}
SPANS = [row.name for row in SETTINGS.values() if isinstance(row.default, timedelta)]
NUMBERS = [row.name for row in SETTINGS.values() if type(row.default) is int]
CHOSEN = [row.name for row in SETTINGS.values() if row.name in WORDS]


def changed(tpp: Tpp, name: str, value: Any) -> Any:
    reply = tpp.control("PATCH", "/settings", **{name: value})
    assert reply.status_code == 200, reply.text
    assert tpp.control("GET", "/settings").json == reply.json
    return reply.get_json()["settings"][name]


def not_changed(tpp: Tpp, name: str, value: Any) -> bool:
    before = tpp.control("GET", "/settings").json
    assert refused(tpp.control("PATCH", "/settings", **{name: value}), 400, "SBX-0400-000001", name)
    assert tpp.control("GET", "/settings").json == before
    return True


def test_the_settings_are_shown_as_people_write_them(tpp: Tpp) -> None:
    shown = tpp.control("GET", "/settings").get_json()["settings"]
    assert list(shown) == list(SETTINGS)
    assert (shown["unsigned_after"], shown["vendor"], shown["page_size"]) == ("1h", "service", 50)


@pytest.mark.parametrize("name", SPANS)
def test_a_span_is_changed_by_a_duration_and_by_nothing_else(tpp: Tpp, name: str) -> None:
    assert changed(tpp, name, "7s") == "7s"
    odd: list[object] = ["7", 7, "-7s", "", None, True, [], "7 s", "9999999w"]
    for wrong in odd:
        assert not_changed(tpp, name, wrong)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_changed_within_its_bounds(tpp: Tpp, name: str) -> None:
    least, most = BOUNDS.get(name, (1, 1_000_000_000))
    for value in (least, most):
        assert changed(tpp, name, value) == value
    odd: list[object] = [least - 1, most + 1, "7", 7.5, None, True, []]
    for wrong in odd:
        assert not_changed(tpp, name, wrong)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_choice_takes_its_words_alone(tpp: Tpp, name: str) -> None:
    for word in WORDS[name]:
        assert changed(tpp, name, word) == word
    for wrong in ("", "other", 1, None, WORDS[name][0].swapcase()):
        assert not_changed(tpp, name, wrong)


def test_instant_settlement_is_never_over_10_seconds(tpp: Tpp) -> None:
    assert changed(tpp, "instant_settlement", "10s") == "10s"
    assert not_changed(tpp, "instant_settlement", "10.1s")
    assert refused(put(tpp, settings={"instant_settlement": "11s"}), 400, "SBX-0400", "10s at most")
    rule = {"when": {"product": ISCT}, "timings": {"instant_settlement": "1m"}}
    assert refused(put(tpp, rules=[rule]), 400, "SBX-0400", "10s at most")


def test_an_unknown_setting_is_refused_and_those_beside_it_do_not_change(tpp: Tpp) -> None:
    before = tpp.control("GET", "/settings").json
    reply = tpp.control("PATCH", "/settings", page_size=5, colour="red")
    assert refused(reply, 400, "SBX-0400-000001", "colour")
    assert refused(tpp.control("PATCH", "/settings", page_size=5, code_life=5), 400, "SBX-0400", "code_life")
    assert tpp.control("GET", "/settings").json == before


def test_a_changed_setting_holds_from_now_on_and_what_was_promised_keeps_its_time(tpp: Tpp) -> None:
    first = tpp.initiated()
    changed(tpp, "unsigned_after", "10s")
    second = tpp.initiated()
    tpp.advance("10s")
    assert (told(tpp, first), told(tpp, second)) == (("PATC", None), ("CANC", "TIME_OUT"))
    tpp.advance("1h")
    assert told(tpp, first) == ("CANC", "TIME_OUT")


def test_a_reset_brings_the_first_settings_back(tpp: Tpp) -> None:
    changed(tpp, "unsigned_after", "10s")
    tpp.control("POST", "/reset")
    assert tpp.control("GET", "/settings").get_json()["settings"]["unsigned_after"] == "1h"


def test_the_vendor_of_the_media_type_can_be_a_real_banks(tpp: Tpp) -> None:
    changed(tpp, "vendor", "bank.example")
    assert refused(tpp.initiate(), 406, "SBX-0406-000001")
    reply = tpp.initiate(body=payment(), accept="application/vnd.bank.example.api+json; version=3")
    assert reply.status_code == 201
    for wrong in ("", "A B", 1, "/"):
        assert not_changed(tpp, "vendor", wrong)


def test_settlement_may_end_at_acsp(tpp: Tpp) -> None:
    changed(tpp, "settled_status", "ACSP")
    paid = signed_by_alice(tpp)
    tpp.advance("1d")
    assert told(tpp, paid) == ("ACSP", None)


def test_the_log_of_requests_keeps_as_many_as_the_setting_says(tpp: Tpp) -> None:
    changed(tpp, "requests_kept", 3)
    for _ in range(5):
        tpp.status("x")
    assert [row["seq"] for row in tpp.listed("requests")] == [3, 4, 5]
    changed(tpp, "requests_kept", 5)
    tpp.status("x")
    assert [row["seq"] for row in tpp.listed("requests")] == [3, 4, 5, 6]


@pytest.mark.parametrize("row", SETTINGS.values(), ids=lambda row: row.name)
def test_every_setting_may_stand_in_a_scenario(tpp: Tpp, row: Any) -> None:
    written = write_duration(row.default) if isinstance(row.default, timedelta) else row.default
    if isinstance(written, tuple):
        written = {} if row.name == "variants" else list(written)
    assert put(tpp, settings={row.name: written}).status_code == 200
    assert refused(put(tpp, settings={row.name: {"": {}}}), 400, "SBX-0400", row.name)
