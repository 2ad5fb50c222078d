"""Files of recorded calls are read whatever wrote them, and what could not be read is told."""

import json
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from sandbox.recordings import RecordingError, read_recording
from tests.recordings.formats import BASE, CALLS, FORMATS, HEADERS, PAYMENTS, har
from tests.tpp import Tpp

DATA = Path(__file__).parents[1] / "data" / "recordings"


def packed(content: Any) -> bytes:
    return json.dumps(content).encode()


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_calls_are_read_from_each_format(name: str) -> None:
    recording = read_recording(packed(FORMATS[name]))
    assert (recording.format, recording.notes, recording.addresses) == (name, [], [BASE])
    read = [(call.method, call.url, call.body, call.status, call.reply) for call in recording.calls]
    assert read == [(method, url, body, status, json.loads(reply)) for method, url, body, status, reply in CALLS]
    for call in recording.calls:
        assert call.headers == {name.lower(): value for name, value in HEADERS.items()}
        assert call.reply_headers == {"content-type": "application/json"}
        assert call.path[:2] == ("payments", "sepa-credit-transfers") and call.has_contents
    assert recording.calls[1].query == {"origin": "EXTERNAL"}


@pytest.mark.parametrize("version", [11, 12])
def test_flows_are_read_as_mitmproxy_wrote_them(version: int) -> None:
    recording = read_recording((DATA / f"mitmproxy-{version}.flows").read_bytes())
    assert recording.format == "mitmproxy flows" and recording.notes == []
    paths = [(call.method, call.path[0], call.status) for call in recording.calls]
    assert paths == [
        ("POST", "payments", 201),
        ("POST", "token", 200),
        ("GET", "payments", 200),
        ("GET", "payments", 401),
    ]
    payment, token, status, _ = recording.calls
    assert payment.json["creditor_name"] == "Jan Peeters" and payment.headers["client-id"] == "demo-tpp"
    assert token.form["code_verifier"] and payment.headers["code-challenge"] in token.challenges
    assert status.reply_json["status"] == "PDNG"
    assert payment.began is not None and payment.began.tzinfo == UTC and payment.ended is not None


def test_a_recording_that_ends_within_a_flow_keeps_the_flows_before() -> None:
    recording = read_recording((DATA / "mitmproxy-12.flows").read_bytes()[:-100])
    assert len(recording.calls) == 3
    assert recording.notes[0].startswith("1 entry of 4 could not be read and are left out: entry 4: byte ")
    assert "the file ends 100 bytes too early" in recording.notes[0]


def test_times_of_any_zone_are_one_time() -> None:
    call = read_recording(packed(har())).calls[0]
    assert call.began == datetime(2027, 3, 1, 3, 30, tzinfo=UTC)
    assert call.ended is not None and (call.ended - call.began).total_seconds() == 0.25


def test_the_list_of_a_sandbox_says_that_it_has_no_bodies(tpp: Tpp) -> None:
    tpp.http.get("/accounts", headers={"Accept": "application/json"})
    recording = read_recording(tpp.http.get("/_sandbox/requests").data)
    assert recording.format == "list of calls of the sandbox"
    (call,) = recording.calls
    assert (call.method, call.path, call.has_contents) == ("GET", ("accounts",), False)
    assert call.status >= 400 and call.reply_json["error"]


def test_a_list_of_explanations_of_a_sandbox_has_bodies(tpp: Tpp) -> None:
    request_id = tpp.initiate().headers["Response-ID"]
    explained = tpp.http.get(f"/_sandbox/explain/{request_id}").get_json()
    (call,) = read_recording(packed([explained])).calls
    assert (call.method, call.path[0], call.status, call.has_contents) == ("POST", "payments", 201, True)
    assert call.json["instructed_amount"] and call.reply_json["status"] == "RCVD"


EXPECTED = "expected is HAR (log.entries), WireMock mappings (mappings), "
UNREADABLE = {
    b"": "it is empty: ",
    b"{}": "it is an empty JSON object: ",
    b"[1]": "it is a JSON list of another kind: ",
    b'{"openapi": 3, "paths": {}}': "it is a JSON object with the members 'openapi', 'paths': ",
    b'{"log": {': "it begins with b'{\"log\": {' and is no JSON (",
    b"[" * 100_000: "its JSON is nested too deeply: ",
    b"\xff\xfe\x00": "it begins with b'\\xff\\xfe\\x00' and is no JSON (",
    b"GET / HTTP/1.1": "it begins with b'GET / HTTP/1.1' and is no JSON (",
}


@pytest.mark.parametrize("content", UNREADABLE)
def test_a_file_of_another_format_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(RecordingError) as refused:
        read_recording(content)
    text = str(refused.value)
    assert text.startswith(UNREADABLE[content]) and EXPECTED in text and "\n" not in text


@pytest.mark.parametrize(
    "content", [b"5:hello,", b"12:3:abc,4:", b"9:\xff:,", b"3:abc?", b"0:~" * 10, b"6:0:}0:}}" * 3]
)
def test_tnetstrings_that_are_no_flows_are_refused(content: bytes) -> None:
    with pytest.raises(RecordingError, match=r"it has no calls|none of its \d+ calls goes to a bank"):
        read_recording(content)


BROKEN: list[tuple[Any, str]] = [
    (5, "a part of it has the wrong type"),
    ({"request": {}}, "it has no 'response'"),
    ({"request": {"url": PAYMENTS}, "response": {}}, "it has no 'method'"),
    ({"request": {"method": "GET", "url": PAYMENTS}, "response": {"status": "often"}}, "its status is 'often'"),
    ({"request": {"method": "G T", "url": PAYMENTS}, "response": {"status": 200}}, "its method is 'G T'"),
    ({"request": {"method": "GET", "url": PAYMENTS}, "response": {"status": 20_000}}, "its status is '20000'"),
    ({"request": {"method": "GET", "url": "http://[::1/payments"}, "response": {"status": 200}}, "Invalid IPv6 URL"),
    (
        {"request": {"method": "GET", "url": "http://a.example:x/token"}, "response": {"status": 200}},
        "Port could not",
    ),
    (
        {"request": {"method": "GET", "url": f"{PAYMENTS}/\ud800"}, "response": {"status": 200}},
        "it has half of a surrogate pair",
    ),
]


@pytest.mark.parametrize("entry, reason", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_entry_is_passed_over_and_counted(entry: Any, reason: str) -> None:
    content = har()
    content["log"]["entries"].insert(1, entry)
    recording = read_recording(packed(content))
    assert [call.number for call in recording.calls] == [1, 3]
    (note,) = recording.notes
    assert note.startswith("1 entry of 3 could not be read") and f"entry 2: {reason}" in note


def test_calls_to_other_hosts_are_left_out_and_counted() -> None:
    foreign = [
        ("GET", f"https://{name}.example/{path}", "", 200, "{}") for name, path in (("shop", "accounts"), ("cdn", "x"))
    ]
    content = har((*CALLS, *foreign, foreign[0], ("GET", f"{BASE}/health", "", 200, "")))
    for entry in content["log"]["entries"][len(CALLS) :]:
        entry["request"]["headers"] = []
    recording = read_recording(packed(content))
    assert len(recording.calls) == len(CALLS)
    assert recording.notes == [
        "3 entries to other hosts are left out: shop.example (2), cdn.example (1)",
        "1 entry to paths that no bank has are left out",
    ]


def test_the_bank_is_the_address_that_is_named() -> None:
    two = tuple(
        (method, url.replace("bank.", host), *rest) for host in ("one.", "two.") for method, url, *rest in CALLS
    )
    content = packed(har(two))  # type: ignore[arg-type]
    assert len(read_recording(content).addresses) == 2
    recording = read_recording(content, "https://two.example/psd2/")
    assert recording.addresses == ["https://two.example/psd2"] and recording.foreign == {"one.example": 2}
    with pytest.raises(RecordingError, match="none of its 4 calls goes below https://three.example"):
        read_recording(content, "https://three.example")


def test_ten_thousand_calls_are_read_in_seconds() -> None:
    content = packed(har(CALLS * 5_000))
    began = perf_counter()
    assert len(read_recording(content).calls) == 10_000
    assert perf_counter() - began < 20
