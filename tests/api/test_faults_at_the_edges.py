"""Faults on the bank's pages, on the way back to the TPP and of connections (choice 13)."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask import Flask, Response

from sandbox.app import assemble, make_first_beginning
from sandbox.machine import machine_time
from sandbox.server.server import serve_in_background
from sandbox.web.api import faults
from sandbox.web.api.faults import WayBack, send_browser
from sandbox.web.controls.psu_views import Arrivals, unpack_arrivals
from sandbox.worlds.registry import WorldRegistry
from tests.tpp import Tpp, payment, refused

PATIENCE = 30.0  # seconds until a test that hangs fails


def fault(tpp: Tpp, **rule: Any) -> Any:
    return tpp.http.post("/_sandbox/faults", json={name.rstrip("_"): value for name, value in rule.items()})


def approved(tpp: Tpp, state: str = "mine") -> dict[str, Any]:
    address = tpp.initiate(body=payment(debtor_account={"iban": tpp.iban_of("alice")})).headers["Location"]
    reply = tpp.control("POST", "/psu/approve", address=f"{address}?state={state}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.get_json()
    return found


# The way back


def test_a_lost_callback_leaves_the_payment_signed(tpp: Tpp) -> None:
    assert fault(tpp, callback="lost").status_code == 201
    assert approved(tpp) == {"redirect": None}
    (paid,) = tpp.control("GET", "/payments").get_json()["payments"]
    assert paid["status"] == "PDNG"


def test_a_callback_twice_is_said(tpp: Tpp) -> None:
    fault(tpp, callback="twice", when={"operation": "callback", "nth": 2})
    assert "times" not in approved(tpp)
    assert approved(tpp)["times"] == 2


def test_an_altered_state_is_not_the_clients(tpp: Tpp) -> None:
    fault(tpp, callback="altered_state")
    query = parse_qs(urlsplit(approved(tpp)["redirect"]).query)
    assert query["state"] != ["mine"] and len(query["code"]) == 1


def test_a_late_callback_comes_after_a_while(tpp: Tpp) -> None:
    waited: list[float] = []
    fault(tpp, callback="late", delay="7s")
    address = tpp.initiate(body=payment(debtor_account={"iban": tpp.iban_of("alice")})).headers["Location"]
    reply = tpp.http.post(
        "/_sandbox/psu/approve", json={"address": address}, environ_overrides={"sandbox.wait": waited.append}
    )
    assert waited == [7.0] and reply.get_json()["redirect"]


SIGNS = {"rules": [{"when": {"kind": "payment"}, "psu": {"approves": True, "after": "1s", "customer": "alice"}}]}


def listed(tpp: Tpp, **environ: Any) -> list[dict[str, Any]]:
    reply = tpp.http.get("/_sandbox/callbacks", environ_overrides=environ)
    rows: list[dict[str, Any]] = reply.get_json()["callbacks"]
    return rows


@pytest.fixture
def by_rule(tpp: Tpp) -> Tpp:
    """A bank whose customers sign by themselves."""
    assert tpp.http.put("/_sandbox/scenario", json={"scenario": SIGNS}).status_code == 200
    return tpp


def test_a_customer_who_signs_by_a_rule_meets_the_faults_of_the_way_back(by_rule: Tpp) -> None:
    for kind in ("lost", "twice", "altered_state"):
        fault(by_rule, callback=kind, when={"operation": "callback", "nth": 1})
        by_rule.initiate(body=payment(debtor_account={"iban": by_rule.iban_of("alice")}))
        by_rule.advance("2s")
        listed(by_rule)
    lost, twice, altered = listed(by_rule)
    assert lost["redirect"] is None and "times" not in lost
    assert twice["times"] == 2 and "code=" in twice["redirect"]
    assert "altered-by-a-fault-rule" in altered["redirect"]
    assert {row["status"] for row in by_rule.listed("payments")} <= {"PDNG", "ACSP"}


def test_a_late_callback_of_a_rule_is_late_once_and_a_fault_counts_each_callback_once(by_rule: Tpp) -> None:
    waited: list[float] = []
    fault(by_rule, callback="late", delay="7s", when={"operation": "callback", "nth": 1})
    for _ in range(2):
        by_rule.initiate(body=payment(debtor_account={"iban": by_rule.iban_of("alice")}))
    by_rule.advance("2s")
    first, again = (listed(by_rule, **{"sandbox.wait": waited.append}) for _ in range(2))
    assert waited == [7.0] and first == again and len(first) == 2


def test_how_callbacks_arrived_is_kept_while_a_world_is_unloaded() -> None:
    ways = {1: WayBack(None), 2: WayBack("http://127.0.0.1/?code=a", 2)}
    assert unpack_arrivals(Arrivals(ways).pack()).pack() == Arrivals(ways).pack()
    assert unpack_arrivals(b"neither").pack() == unpack_arrivals(None).pack() == b"[]"


def test_the_browser_meets_the_same_faults(app: Flask, tpp: Tpp, worlds: WorldRegistry) -> None:
    callback = "http://127.0.0.1:9000/callback?code=a&state=%22%3E%3Cb"

    def sent(kind: str) -> Response:
        tpp.http.delete("/_sandbox/faults")
        fault(tpp, callback=kind)
        with app.test_request_context():
            return send_browser(worlds.get("default"), Response(status=303, headers={"Location": callback}))

    assert (sent("lost").status_code, sent("lost").headers.get("Location")) == (200, None)
    assert "altered-by-a-fault-rule" in sent("altered_state").headers["Location"]
    twice = sent("twice")
    assert twice.headers["Content-Security-Policy"] == "default-src 'none'; frame-src http://127.0.0.1:9000"
    assert twice.get_data(as_text=True).count("http://127.0.0.1:9000/callback?code=a&amp;state=%22%3E%3Cb") == 2


def test_what_an_extension_changed_in_the_callback_is_visited_twice_too(
    app: Flask, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = "http://127.0.0.1:9000/callback?state=of-another-flow"
    monkeypatch.setattr(faults, "choose_way_back", lambda world, address: WayBack(changed, 2))
    sent = Response(status=303, headers={"Location": "http://127.0.0.1:9000/callback?state=its-own"})
    with app.test_request_context():
        page = send_browser(worlds.get("default"), sent).get_data(as_text=True)
    assert page.count(changed) == 2 and "its-own" not in page


# Pages


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_page_answers_as_the_rule_says(tpp: Tpp, status: int) -> None:
    address = tpp.initiate().headers["Location"]
    fault(tpp, when={"operation": "psu_page", "nth": 1}, answer={"status": status, "body": "<h1>Sorry</h1>"})
    path = urlsplit(address).path
    broken = tpp.http.get(path)
    assert (broken.status_code, broken.mimetype, broken.text) == (status, "text/html", "<h1>Sorry</h1>")
    assert tpp.http.get(path).status_code in (200, 303)
    assert tpp.http.get("/psu/static/bank.css").status_code == 200


def test_the_banks_interface_meets_no_fault_of_a_page_nor_the_other_way_round(tpp: Tpp) -> None:
    fault(tpp, when={"operation": "psu_page"}, answer={"status": 503})
    address = tpp.initiate().headers["Location"]
    tpp.http.delete("/_sandbox/faults")
    fault(tpp, answer={"status": 503})
    assert tpp.http.get(urlsplit(address).path).status_code != 503
    assert tpp.initiate().status_code == 503


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"callback": "twise"}, "did you mean 'twice'?"),
    ({"callback": "lost", "answer": {"status": 503}}, "has no answer"),
    ({"callback": "lost", "when": {"operation": "token"}}, "leads no customer back"),
    ({"when": {"operation": "psu_page"}, "answer": {"status": 404}}, "a page never answers 404"),
    ({"when": {"operation": "psu_page", "client": "demo-tpp"}, "cut": "before"}, "no client"),
    ({"when": {"operation": "psu_page"}, "change": "malformed"}, "has no change"),
    ({"when": {"operation": "callback"}, "delay": "1s"}, "'callback' is missing"),
    ({"connection": "closd"}, "did you mean 'closed'?"),
    ({"connection": "closed", "for": "61s"}, "up to 60 s"),
    ({"cut": "before", "for": "1s"}, "only a connection"),
    ({"connection": "closed"}, "without a server"),
]


@pytest.mark.parametrize(("rule", "why"), WRONG)
def test_a_wrong_fault_is_refused_by_name(tpp: Tpp, rule: dict[str, Any], why: str) -> None:
    reply = fault(tpp, **rule)
    assert refused(reply, 400, "SBX-0400-000001") and why in reply.get_json()["error_description"]


# Connections


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_in_background(assemble(WorldRegistry(make_first_beginning(seed=7), machine_time))) as address:
        yield address


def ordered(url: str, **rule: Any) -> None:
    reply = httpx.post(f"{url}/_sandbox/faults", json={name.rstrip("_"): value for name, value in rule.items()})
    assert reply.status_code == 201, reply.text


def answers_again(url: str) -> bool:
    until = perf_counter() + PATIENCE
    with httpx.Client(timeout=PATIENCE) as line:
        while perf_counter() < until:
            try:
                return line.get(f"{url}/_sandbox/health").status_code == 200
            except httpx.TransportError:
                continue
    return False


def test_a_port_is_closed_for_a_while(url: str) -> None:
    with httpx.Client() as pooled:
        pooled.get(f"{url}/_sandbox/health")
        ordered(url, connection="closed", for_="1s")
        with pytest.raises(httpx.TransportError):
            pooled.get(f"{url}/_sandbox/health")
    assert answers_again(url)


def test_a_server_that_ends_takes_no_new_connection_and_answers_the_open_ones() -> None:
    worlds = WorldRegistry(make_first_beginning(seed=7), machine_time)
    with serve_in_background(assemble(worlds)) as address, httpx.Client() as pooled:
        pooled.get(f"{address}/_sandbox/health")
        worlds.line.end()
        assert pooled.get(f"{address}/_sandbox/health").status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/_sandbox/health")


def test_a_silent_server_takes_the_connection_and_never_answers(url: str) -> None:
    with httpx.Client(timeout=0.1) as line:  # making one takes longer than a call
        ordered(url, connection="silent", for_="1s")
        with pytest.raises((httpx.ReadTimeout, httpx.ReadError)):
            line.get(f"{url}/_sandbox/health")
    assert answers_again(url)


def test_a_handshake_needs_tls(url: str) -> None:
    reply = httpx.post(f"{url}/_sandbox/faults", json={"connection": "handshake"})
    assert reply.status_code == 400 and "--tls" in reply.text


def test_a_rule_closes_the_port_after_the_call_that_fits(url: str) -> None:
    ordered(url, connection="silent", for_="1s", when={"operation": "token", "nth": 1})
    with httpx.Client() as line:  # making one takes longer than a call
        assert line.post(f"{url}/token").status_code == 406
        # The open connection ends, before or after the next call is sent, or a new one gets no answer.
        with pytest.raises((httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError)):
            line.get(f"{url}/_sandbox/health", timeout=0.1)
    assert answers_again(url)


def test_a_reply_is_reset_in_its_middle(url: str) -> None:
    httpx.delete(f"{url}/_sandbox/faults")
    ordered(url, cut="reset", when={"operation": "token"})
    host, port = urlsplit(url).hostname, urlsplit(url).port
    with closing(socket.create_connection((host, port), timeout=5)) as line:
        line.sendall(b"POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            list(iter(lambda: line.recv(65_536), b""))
    httpx.delete(f"{url}/_sandbox/faults")


def test_an_alert_ends_the_handshake() -> None:
    from sandbox.server.line_faults import ALERT

    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="bank")
    incoming.write(ALERT)
    with pytest.raises(ssl.SSLError, match="(?i)handshake"):
        tls.do_handshake()
