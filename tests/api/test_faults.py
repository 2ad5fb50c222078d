"""Ordered faults: which calls they meet, and what those are answered (choice 13)."""

from typing import Any, cast

import orjson
import pytest
from flask import Flask

from sandbox.contract.operations import BY_NAME
from sandbox.storage import codec
from sandbox.web.api.faults import Cut
from sandbox.worlds.faults import FaultAnswer
from tests.reader import consent_uris, post_token, refresh_form
from tests.stories import explained, faulty, follow
from tests.tpp import SCT, Tpp, refused, version

ROW = {400: "INVALID_INPUT", 429: "TOO_MANY_REQUESTS", 503: "SERVICE_UNAVAILABLE"}


def statuses(tpp: Tpp, times: int) -> list[int]:
    return [tpp.status("x").status_code for _ in range(times)]


# Which calls


def test_a_fault_meets_its_operation_alone(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status"}, answer={"status": 503})
    assert tpp.status("x").status_code == 503
    assert tpp.initiate().status_code == 201


def test_a_fault_meets_its_client_alone(tpp: Tpp, other: Tpp) -> None:
    faulty(tpp, when={"client": "other-tpp"}, answer={"status": 503})
    assert (tpp.status("x").status_code, other.status("x").status_code) == (404, 503)


def test_at_token_the_client_is_known_by_its_credentials(tpp: Tpp, other: Tpp) -> None:
    faulty(tpp, when={"operation": "token", "client": "other-tpp"}, answer={"status": 503})
    assert post_token(tpp, refresh_form("x")).status_code == 401
    assert post_token(other, refresh_form("x")).status_code == 503
    assert tpp.listed("requests")[-1]["client_id"] == "other-tpp"


def test_nth_counts_the_calls_that_fit_the_rest(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status", "nth": 3}, answer={"status": 503, "retry_after": 5})
    tpp.initiated()
    assert statuses(tpp, 4) == [404, 404, 503, 404]


def test_nth_may_be_a_list(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status", "nth": [2, 4]}, answer={"status": 503})
    assert statuses(tpp, 5) == [404, 503, 404, 503, 404]


def test_times_says_how_often_a_fault_happens(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status"}, answer={"status": 503}, times=2)
    assert statuses(tpp, 4) == [503, 503, 404, 404]
    assert tpp.listed("faults")[0]["met"] == 4


def test_times_counts_what_happened_and_not_the_calls_that_fitted(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status", "nth": [2, 3, 5]}, answer={"status": 503}, times=2)
    assert statuses(tpp, 6) == [404, 503, 503, 404, 404, 404]


def test_each_rule_counts_all_calls_that_fit_it_whoever_answered_them(tpp: Tpp) -> None:
    faulty(tpp, title="first", when={"operation": "payment_status", "nth": 1}, answer={"status": 503})
    faulty(tpp, title="second", when={"operation": "payment_status", "nth": [1, 2]}, answer={"status": 429})
    faulty(tpp, title="third", when={"operation": "payment_status"}, answer={"status": 500}, times=1)
    assert statuses(tpp, 4) == [503, 429, 500, 404]
    assert {row["met"] for row in tpp.listed("faults")} == {4}


def test_times_and_its_count_go_on_in_a_fork_and_in_an_import(tpp: Tpp, app: Flask) -> None:
    faulty(tpp, when={"operation": "payment_status", "nth": [1, 2, 3]}, answer={"status": 503}, times=2)
    assert statuses(tpp, 1) == [503]
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    assert tpp.http.post("/_sandbox/import?as=c", data=tpp.control("GET", "/export").data).status_code == 201
    for name in ("b", "c"):
        assert statuses(Tpp(app, name), 3) == [503, 404, 404]


def test_a_window_of_bank_time_begins_with_its_first_instant_and_ends_before_its_last(tpp: Tpp) -> None:
    window = {"from": "2027-03-01T09:01", "until": "2027-03-01T09:02"}
    faulty(tpp, when={"operation": "payment_status"} | window, answer={"status": 503})
    found = []
    for span in ("0s", "60s", "59s", "1s"):
        tpp.advance(span)
        found.append(tpp.status("x").status_code)
    assert found == [404, 503, 503, 404]


def chances(app: Flask, world: str, seed: int) -> list[int]:
    tpp = Tpp(app, world)
    assert tpp.control("PUT", f"/worlds/{world}", seed=seed).status_code == 201
    faulty(tpp, when={"operation": "payment_status", "chance": 0.3}, answer={"status": 503})
    return statuses(tpp, 60)


def test_a_chance_repeats_exactly_under_a_seed(app: Flask) -> None:
    first = chances(app, "a", 5)
    assert 5 < first.count(503) < 32
    assert chances(app, "b", 5) == first
    assert chances(app, "c", 6) != first


@pytest.mark.parametrize("chance, answer", ((0, 404), (1, 503)))
def test_a_chance_of_nothing_never_comes_and_one_of_all_always(tpp: Tpp, chance: int, answer: int) -> None:
    faulty(tpp, when={"operation": "payment_status", "chance": chance}, answer={"status": 503})
    assert statuses(tpp, 5) == [answer] * 5


def test_the_first_fault_that_fits_is_the_only_one(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_status", "nth": 1}, answer={"status": 500})
    faulty(tpp, when={"operation": "payment_status"}, answer={"status": 503})
    assert statuses(tpp, 3) == [500, 503, 503]


# What they are answered


@pytest.mark.parametrize("operation", BY_NAME)
def test_every_status_that_an_operation_may_give_comes_in_the_banks_body(tpp: Tpp, operation: str) -> None:
    paths = {rule.endpoint: rule for rule in tpp.http.application.url_map.iter_rules()}
    rule = paths[operation]
    product = "pain.001" if operation.startswith("bulk") else SCT
    path = rule.rule
    for name, value in (("product", product), ("payment_id", "x"), ("payment_file_id", "x"), ("logical_id", "x")):
        path = path.replace(f"<{name}>", value)
    assert rule.methods is not None
    method = next(iter(rule.methods - {"HEAD", "OPTIONS"}))
    for status in BY_NAME[operation].errors:
        tpp.control("DELETE", "/faults")
        faulty(tpp, when={"operation": operation}, answer={"status": status})
        reply = tpp.call(method, path)
        assert reply.status_code == status and set(reply.get_json()) == {"error", "error_code", "error_description"}
        assert reply.headers["Response-ID"]
        assert ("Retry-After" in reply.headers) == (status in (429, 503))


def test_a_status_that_the_operation_never_gives_is_refused(tpp: Tpp) -> None:
    reply = tpp.control("POST", "/faults", when={"operation": "payment_initiation"}, answer={"status": 408})
    assert refused(reply, 400, "SBX-0400-000001", "payment_initiation never answers 408")


def test_retry_after_and_a_body_of_ones_own(tpp: Tpp) -> None:
    answer = {"status": 429, "retry_after": 17, "body": {"our": "words"}}
    faulty(tpp, when={"operation": "payment_status"}, answer=answer)
    reply = tpp.status("x")
    assert (reply.status_code, reply.json, reply.headers["Retry-After"]) == (429, {"our": "words"}, "17")


def test_an_answered_initiation_did_not_happen(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_initiation"}, answer={"status": 503})
    assert tpp.initiate().status_code == 503
    assert tpp.listed("payments") == []


@pytest.mark.parametrize("change", ("unknown_fields", "key_order", "malformed"))
def test_a_changed_reply_comes_of_a_call_that_was_done(tpp: Tpp, change: str) -> None:
    faulty(tpp, when={"operation": "payment_initiation"}, change=change)
    reply = tpp.initiate()
    assert reply.status_code == 201 and len(tpp.listed("payments")) == 1
    told = ["payment_id", "endtoend_identification", "status", "_links"]
    if change == "malformed":
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(reply.data)
        return
    body = orjson.loads(reply.data)
    assert set(body) > set(told) if change == "unknown_fields" else sorted(body) == sorted(told)
    assert int(reply.headers["Content-Length"]) == len(reply.data)
    if change == "key_order":
        tpp.control("DELETE", "/faults")
        assert list(body) == list(reversed(list(orjson.loads(tpp.initiate().data))))


def test_consent_addresses_may_come_in_both_languages(tpp: Tpp) -> None:
    assert [row["language"] for row in consent_uris(tpp).get_json()] == ["fr"]
    faulty(tpp, when={"operation": "consent_addresses"}, change="both_languages")
    assert [row["language"] for row in consent_uris(tpp).get_json()] == ["fr", "nl"]


def test_a_change_leaves_what_has_no_json_alone(tpp: Tpp) -> None:
    token = f"Bearer {tpp.token_for('alice')}"
    payment_id = tpp.initiated(requested_execution_date="2027-03-05")
    faulty(tpp, when={"operation": "payment_cancellation"}, change="malformed")
    reply = tpp.call("DELETE", f"/payments/{SCT}/{payment_id}", accept=version(2), authorization=token)
    assert (reply.status_code, reply.data) == (204, b"")


def test_a_delay_comes_after_the_call_and_holds_nothing(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_initiation"}, delay="90s")
    waited: list[float] = []

    def wait(seconds: float) -> None:
        assert tpp.status(tpp.listed("payments")[0]["payment_id"]).status_code == 200
        waited.append(seconds)

    cast("dict[str, Any]", tpp.http.environ_base)["sandbox.wait"] = wait
    assert tpp.initiate().status_code == 201
    assert waited == [90.0]


def test_a_cut_before_the_reply_comes_of_a_call_that_was_done(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "payment_initiation"}, cut="before")
    with pytest.raises(Cut):
        assert tpp.initiate().data
    assert len(tpp.listed("payments")) == 1


@pytest.mark.parametrize("place", ("before", "within"))
def test_a_cut_reaches_also_a_reply_without_a_body(tpp: Tpp, place: str) -> None:
    token = f"Bearer {tpp.token_for('alice')}"
    payment_id = tpp.initiated(requested_execution_date="2027-03-05")
    faulty(tpp, when={"operation": "payment_cancellation"}, cut=place)
    with pytest.raises(Cut):
        assert tpp.call("DELETE", f"/payments/{SCT}/{payment_id}", accept=version(2), authorization=token).data
    assert tpp.status(payment_id).get_json()["status"] == "CANC"


# What a gateway in front of the bank answers


def gateway(tpp: Tpp, **answer: Any) -> Any:
    tpp.control("DELETE", "/faults")
    faulty(tpp, when={"operation": "payment_status"}, answer=answer)
    return tpp.status("x")


def test_a_gateway_speaks_html_and_carries_of_the_banks_headers_response_id_alone(tpp: Tpp) -> None:
    page = "<html><h1>Délai dépassé</h1></html>\n"
    reply = gateway(tpp, status=504, body=page, content_type="text/html")
    assert (reply.status_code, reply.text, reply.headers["Content-Type"]) == (504, page, "text/html")
    assert set(reply.headers.keys()) == {"Content-Type", "Content-Length", "Response-ID"}
    assert explained(tpp, reply.headers["Response-ID"])["status"] == 504
    reply = gateway(tpp, status=502, retry_after=9, body=page)
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8" and reply.headers["Retry-After"] == "9"


@pytest.mark.parametrize("status, phrase", ((502, "Bad Gateway"), (504, "Gateway Timeout")))
@pytest.mark.parametrize("operation", BY_NAME)
def test_a_gateway_may_answer_any_operation(tpp: Tpp, operation: str, status: int, phrase: str) -> None:
    faulty(tpp, when={"operation": operation}, answer={"status": status})
    if operation == "payment_status":
        assert f"<h1>{status} {phrase}</h1>" in tpp.status("x").text
    assert len(tpp.listed("faults")) == 1


def test_a_gateway_may_answer_nothing_or_json(tpp: Tpp) -> None:
    assert gateway(tpp, status=502, body="").data == b""
    assert gateway(tpp, status=502, content_type="text/plain").data == b""
    reply = gateway(tpp, status=502, body={"message": "upstream"})
    assert reply.get_json() == {"message": "upstream"}


def test_a_status_of_the_bank_may_come_with_a_page_too(tpp: Tpp) -> None:
    reply = gateway(tpp, status=503, body="<h1>Closed</h1>", content_type="text/html; charset=utf-8")
    assert (reply.status_code, reply.text) == (503, "<h1>Closed</h1>")
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8" and "Retry-After" not in reply.headers
    assert gateway(tpp, status=503, body="words").get_json() == "words"  # without a type it is the bank's JSON


def test_a_page_of_a_gateway_may_be_cut_and_is_not_changed(tpp: Tpp) -> None:
    faulty(tpp, when={"operation": "accounts"}, answer={"status": 502, "body": "abcd"}, change="malformed")
    assert tpp.call("GET", "/accounts", accept=version(2)).text == "abcd"
    faulty(tpp, when={"operation": "payment_status"}, answer={"status": 504}, cut="within")
    with pytest.raises(Cut):
        assert tpp.status("x").data


def test_a_fault_that_was_stored_before_a_field_was_added_has_the_default() -> None:
    answer = {"~": "FaultAnswer", "v": {"status": 503, "retry_after": 5}}
    assert codec.decode(answer) == FaultAnswer(503, 5, None, None)
    fault = codec.decode({"~": "Fault", "v": {"title": "t", "when": {"~": "CallCondition", "v": {"nth": 3}}}})
    assert (fault.times, fault.when.has_number(3), fault.when.has_number(2)) == (None, True, False)


def test_a_forked_world_and_an_imported_one_keep_the_page(tpp: Tpp, app: Flask) -> None:
    gateway(tpp, status=502, body="<p>", content_type="text/html")
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    content = tpp.control("GET", "/export").data
    assert tpp.http.post("/_sandbox/import?as=c", data=content).status_code == 201
    for name in ("b", "c"):
        reply = Tpp(app, name).status("x")
        assert (reply.status_code, reply.text, reply.headers["Content-Type"]) == (502, "<p>", "text/html")


# What a tester orders


def test_faults_are_listed_with_how_often_they_were_met_and_all_are_dropped(tpp: Tpp) -> None:
    faulty(tpp, title="a bad Monday", when={"operation": "payment_status"}, answer={"status": 503})
    faulty(tpp, when={"operation": "accounts"}, delay="1s")
    statuses(tpp, 2)
    rows = tpp.listed("faults")
    assert rows == [{"title": "a bad Monday", "met": 2}, {"title": "fault 2", "met": 0}]
    assert tpp.control("DELETE", "/faults").status_code == 204
    assert tpp.listed("faults") == [] and statuses(tpp, 1) == [404]


@pytest.mark.parametrize(
    "fault, named",
    (
        ({}, "answer"),
        ({"when": {"operation": "payment_stats"}, "delay": "1s"}, "payment_status"),
        ({"when": {"chance": 2}, "delay": "1s"}, "chance"),
        ({"when": {"nth": 0}, "delay": "1s"}, "nth"),
        ({"when": {"nth": []}, "delay": "1s"}, "nth"),
        ({"when": {"nth": [1, "two"]}, "delay": "1s"}, "nth[1]"),
        ({"times": 0, "delay": "1s"}, "times"),
        ({"times": "twice", "delay": "1s"}, "times"),
        ({"times": 2}, "answer"),
        ({"when": {"client": "nobody"}, "delay": "1s"}, "nobody"),
        ({"cut": "after"}, "after"),
        ({"change": "colour"}, "colour"),
        ({"delay": "1h"}, "600"),
        ({"answer": {"status": 200}}, "200"),
        ({"answers": {}}, "answers"),
        ({"answer": {"status": 501}}, "501"),
        ({"answer": {"status": 502, "content_type": "html"}}, "content_type"),
        ({"answer": {"status": 502, "content_type": "text/html\r\nX-Evil: 1"}}, "content_type"),
        ({"answer": {"status": 502, "content_type": 7}}, "content_type"),
        ({"cut": "before", "answer": {"status": 503}}, "cut"),
    ),
)
def test_a_wrong_fault_is_refused_and_named(tpp: Tpp, fault: dict[str, Any], named: str) -> None:
    assert refused(tpp.control("POST", "/faults", **fault), 400, "SBX-0400-000001", named)
    assert tpp.listed("faults") == []


@pytest.mark.parametrize("how", [{"when": {"nth": 1}}, {"when": {"nth": [1, 9]}}, {"times": 1}], ids=str)
def test_faults_of_a_scenario_come_back_with_a_reset(tpp: Tpp, how: dict[str, Any]) -> None:
    when = {"operation": "payment_status", **how.get("when", {})}
    follow(tpp, faults=[how | {"when": when, "answer": {"status": 503}}])
    assert statuses(tpp, 2) == [503, 404]
    tpp.control("DELETE", "/faults")
    tpp.control("POST", "/reset")
    assert statuses(tpp, 2) == [503, 404]


def test_explain_names_the_fault(tpp: Tpp) -> None:
    faulty(tpp, title="a bad Monday", when={"operation": "payment_status"}, answer={"status": 503})
    request_id = str(tpp.status("x").headers["Response-ID"])
    row = explained(tpp, request_id)
    assert (row["status"], row["clause"], row["scenario_rule"]) == (503, "choice 13", "a bad Monday")
    assert "a bad Monday" in row["rule"]
