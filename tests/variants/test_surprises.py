"""What JSON, HTTP and the network always allow, seen on the wire under each value."""

from typing import Any

import pytest
from flask import Flask

from sandbox.server.server import serve_in_background
from tests.payer import details, signed, tokens
from tests.reader import Reader
from tests.tpp import Tpp, payment
from tests.variants.probing import Seen, Table, cases, show


def fields_at_each_level(tpp: Tpp) -> tuple[int, int]:
    text = Reader(tpp).transactions(query={"pagesize": 2}).text
    return text.count('"x_new_field"'), tpp.initiate().text.count('"x_new_object"')


def first_keys(tpp: Tpp) -> list[str]:
    return list(tpp.initiate().get_json())[:2]


def second_byte(tpp: Tpp) -> str:
    return tpp.initiate().text[1]


def accents_and_slashes(tpp: Tpp) -> tuple[bool, bool, bool]:
    paid = signed(tpp, creditor_name="Hélène")
    reply = details(tpp, paid, tokens(tpp))
    assert reply.get_json()["creditor_name"] == "Hélène"
    return "é" in reply.text, "\\u00e9" in reply.text, "\\/" in tpp.initiate().text


def digits(tpp: Tpp) -> str:
    tpp.control("POST", f"/accounts/{tpp.iban_of('alice')}/transactions", amount="12.50")
    text = Reader(tpp).transactions(query={"pagesize": 1}).text
    return text.partition('"amount":')[2].partition(",")[0]


def absent(tpp: Tpp) -> tuple[Any, Any]:
    paid = signed(tpp)
    found = details(tpp, paid, tokens(tpp)).get_json()
    return tpp.status(paid.id).get_json().get("reason", "absent"), found.get("purpose_code", "absent")


def names_of_headers(tpp: Tpp) -> list[str]:
    return [name for name, _ in tpp.initiate().headers if name.lower() == "response-id"]


def pieces(tpp: Tpp) -> bool:
    reply = tpp.http.post("/payments/none", headers={})
    assert reply.status_code == 404
    sent = tpp.http.get("/accounts", headers={"Accept": "x"}, buffered=False)
    return len(list(sent.iter_encoded())) > 1


def closings(tpp: Tpp) -> int:
    closed: list[bool] = []
    tpp.http.environ_base |= {"sandbox.close": lambda: closed.append(True)}  # type: ignore[dict-item]
    tpp.initiate()
    return len(closed)


def two_calls(tpp: Tpp) -> tuple[int, int, int]:
    first, second = tpp.initiate(), tpp.initiate()
    assert (first.mimetype == "text/html") == (first.status_code in (502, 504))
    assert first.headers.get("Retry-After") is None
    return first.status_code, second.status_code, len(tpp.listed("payments"))


SEEN: Table = {
    "unknown_fields": Seen(fields_at_each_level, {"none": (0, 0), "everywhere": (8, 5)}),
    "key_order": Seen(
        first_keys, {"usual": ["payment_id", "endtoend_identification"], "reversed": ["_links", "status"]}
    ),
    "json_layout": Seen(second_byte, {"compact": '"', "indented": "\n"}),
    "json_escapes": Seen(accents_and_slashes, {"utf8": (True, False, False), "ascii": (False, True, True)}),
    "number_digits": Seen(digits, {"all": "12.50", "shortest": "12.5", "exponent": "1.25e1"}),
    "absent_fields": Seen(absent, {"absent": ("absent", "absent"), "null": (None, None)}),
    "header_case": Seen(names_of_headers, {"title": ["Response-ID"], "lower": ["response-id"]}),
    "body_pieces": Seen(pieces, {"whole": False, "pieces": True}),
    "connection": Seen(closings, {"kept": 0, "closed": 1}),
    "unavailable": Seen(two_calls, {"never": (201, 201, 2), "first_call": (503, 201, 1)}),
    "gateway": Seen(two_calls, {"silent": (201, 201, 2), "502": (502, 201, 1), "504": (504, 201, 2)}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_a_lost_reply_is_had_again_by_its_request_id(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"gateway": "504"})
    lost = tpp.initiate(body=payment())
    again = tpp.initiate(body=payment(), request_id=lost.headers["Response-ID"])
    assert (lost.status_code, again.status_code, len(tpp.listed("payments"))) == (504, 201, 1)


def test_explain_names_the_axis_that_answered(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"gateway": "502"})
    found = tpp.control("GET", f"/explain/{tpp.initiate().headers['Response-ID']}").get_json()
    assert found["rule"] == "the axis gateway: 502" and found["variants"] == {"gateway": "502"}


def test_a_server_closes_the_connection_and_sends_pieces(app: Flask, tpp: Tpp) -> None:
    import httpx

    with serve_in_background(app) as root, httpx.Client() as line:
        kept = line.get(f"{root}/accounts")
        varied = {"connection": "closed", "body_pieces": "pieces", "header_case": "lower"}
        tpp.control("PATCH", "/settings", variants=varied)
        closed = line.get(f"{root}/accounts")
    assert {name for name, _ in kept.headers.raw} >= {b"Response-Id", b"Content-Type"}
    assert {name for name, _ in closed.headers.raw} >= {b"response-id", b"content-type", b"content-length"}
    assert "close" not in kept.headers.get("Connection", "").lower()
    assert closed.headers["Connection"] == "close" and closed.json()["error"] == "NOT_ACCEPTABLE"


def test_a_fault_that_a_tester_orders_is_left_as_it_is(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"key_order": "reversed"})
    tpp.control("POST", "/faults", when={}, answer={"status": 500})
    assert list(tpp.initiate().get_json()) == ["error", "error_code", "error_description"]
