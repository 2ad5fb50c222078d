"""Each axis of headers, versions and errors, seen on the wire under each value."""

from typing import Any

import pytest

from tests.payer import a_code, approve, bearer, begin, code_form, post_form, refuse, tokens
from tests.reader import Reader, consent_uris
from tests.spec.bodies import POOR
from tests.spec.files import ask, pain, sent
from tests.tpp import Tpp, payment, version
from tests.variants.probing import Seen, Table, cases, show


def without_version(tpp: Tpp) -> tuple[int, int, int]:
    return (
        tpp.initiate(accept="*/*").status_code,
        tpp.initiate(accept=None).status_code,
        tpp.initiate(accept=version(9)).status_code,
    )


def status_in_version_1(tpp: Tpp) -> int:
    return tpp.status(tpp.initiated(), accept=version(1)).status_code


def without_redirect_uri(tpp: Tpp) -> tuple[int, int]:
    reader, file = Reader(tpp), sent(tpp, pain())
    return reader.listed(redirect_uri=None).status_code, ask(tpp, file, redirect_uri=None).status_code


def without_client_id(tpp: Tpp) -> tuple[int, int]:
    """With a token, and without one."""
    return Reader(tpp).listed(client_id=None).status_code, tpp.initiate(client_id=None).status_code


def locale(tpp: Tpp) -> tuple[int, int]:
    return tpp.initiate(accept_language="fr-BE").status_code, tpp.initiate(accept_language="fr-BE, fr").status_code


def content_types(tpp: Tpp) -> tuple[str, str]:
    return str(tpp.initiate().content_type), str(tpp.initiate(accept_language=None).content_type)


def described(tpp: Tpp) -> list[str]:
    replies = [tpp.initiate(body={}, accept_language=language) for language in ("fr", "nl", "en")]
    return [reply.get_json()["error_description"].split()[0] for reply in replies]


def error_of_a_bad_call(field: str) -> Any:
    return lambda tpp: tpp.initiate(body={}).get_json()[field]


def without_funds(tpp: Tpp) -> tuple[int, str]:
    reply = tpp.initiate(body=payment(debtor_account={"iban": POOR}, instructed_amount__amount="900.00"))
    return reply.status_code, reply.get_json()["error"]


def withdrawn(tpp: Tpp) -> tuple[int, str]:
    reader = Reader(tpp)
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    reply = reader.listed()
    return reply.status_code, reply.get_json()["error"]


def anothers(tpp: Tpp) -> tuple[int, int]:
    own, other = tpp.initiated(), tpp.initiate(client_id="other-tpp").get_json()["payment_id"]
    return tpp.status(own).status_code, tpp.status(other).status_code


def token_of_payments(tpp: Tpp) -> int:
    reply = tpp.call("GET", "/accounts", accept=version(2), authorization=bearer(tokens(tpp)))
    return reply.status_code


def limited(tpp: Tpp, calls: int) -> Any:
    tpp.control("PATCH", "/settings", requests_per_minute=calls)


def told_when(tpp: Tpp) -> str | None:
    limited(tpp, 1)
    return [tpp.initiate() for _ in range(2)][1].headers.get("Retry-After")


def counted(tpp: Tpp) -> tuple[int, int]:
    """A second PSU, and a second client, after the minute's calls of the first."""
    alice, bram = Reader(tpp, "alice"), Reader(tpp, "bram")
    tpp.advance("2m")
    limited(tpp, 2)
    for _ in range(2):
        assert alice.listed().status_code == 200
    return bram.listed().status_code, tpp.initiate(client_id="other-tpp").status_code


def typing_error(tpp: Tpp) -> tuple[int, int]:
    inner = payment(creditor_account__ibann="x")
    return tpp.initiate(body=payment(creditor_nam="x")).status_code, tpp.initiate(body=inner).status_code


def amount_as_number(tpp: Tpp) -> tuple[int, int]:
    order = {"frequency": "MONTHLY", "start_date": "2027-04-01"}
    body = payment(instructed_amount__amount=12.5) | order
    accepted = tpp.call("POST", "/periodic-payments/sepa-credit-transfers", json=body, accept=version(2)).status_code
    return tpp.initiate(body=payment(instructed_amount__amount=12.5)).status_code, accepted


def accents(tpp: Tpp) -> tuple[int, str | None]:
    """The reply, and what becomes of the payment."""
    reply = tpp.initiate(body=payment(creditor_name="Hélène"))
    if reply.status_code != 201:
        return reply.status_code, None
    tpp.signed(reply, "alice")
    tpp.advance("1d")
    return 201, tpp.status(reply.get_json()["payment_id"]).get_json()["status"]


def another_vendor(tpp: Tpp) -> int:
    return tpp.initiate(accept="application/vnd.bank.example.api+json; version=3").status_code


def id_again(tpp: Tpp) -> tuple[int, int]:
    first = tpp.initiate()
    sent_again = first.headers["Response-ID"]
    again = tpp.initiate(request_id=sent_again)
    known = {row["payment_id"] for row in tpp.listed("payments")}
    return again.status_code, len(known)


def many_calls(tpp: Tpp) -> tuple[int, int]:
    reader = Reader(tpp)
    first = reader.first
    return [reader.account(first).status_code for _ in range(5)][-1], [tpp.initiate() for _ in range(16)][
        -1
    ].status_code


FR_NL_EN = ["Une", "Een", "The"]

SEEN: Table = {
    "accept_without_version": Seen(without_version, {"406": (406, 406, 406), "newest": (201, 201, 406)}),
    "silent_versions": Seen(status_in_version_1, {"table": 200, "newest_only": 406}),
    "redirect_uri_elsewhere": Seen(without_redirect_uri, {"optional": (200, 200), "required": (400, 400)}),
    "client_id_elsewhere": Seen(without_client_id, {"required": (400, 400), "optional": (200, 400)}),
    "language_region": Seen(locale, {"accepted": (201, 201), "406": (406, 201)}),
    "content_type_reply": Seen(
        content_types,
        {
            "charset": ("application/json;charset=utf-8",) * 2,
            "plain": ("application/json",) * 2,
            "vendor": ("application/vnd.service.api+json; version=3",) * 2,
        },
    ),
    "error_description": Seen(described, {"english": ["The"] * 3, "callers_language": FR_NL_EN}),
    "error_codes": Seen(error_of_a_bad_call("error_code"), {"table": "GEN-1201-100002", "other": "E02"}),
    "error_words": Seen(error_of_a_bad_call("error"), {"upper": "MISSING_INPUT", "lower": "missing_input"}),
    "insufficient_funds": Seen(without_funds, {"403": (403, "INSUFFICIENT_FUNDS"), "400": (400, "INSUFFICIENT_FUNDS")}),
    "consent_gone": Seen(withdrawn, {"403": (403, "NO_ACTIVE_CONSENT"), "401": (401, "NO_ACTIVE_CONSENT")}),
    "foreign_id": Seen(anothers, {"404": (200, 404), "403": (200, 403)}),
    "wrong_scope": Seen(token_of_payments, {"403": 403, "401": 401}),
    "retry_after": Seen(told_when, {"seconds": "60", "date": "Mon, 01 Mar 2027 08:01:00 GMT", "absent": None}),
    "limits_count": Seen(counted, {"client": (429, 201), "psu": (200, 201), "address": (429, 429)}),
    "unknown_field": Seen(typing_error, {"refused": (400, 400), "ignored": (201, 201)}),
    "amount_as_number": Seen(amount_as_number, {"refused": (400, 400), "accepted": (201, 201)}),
    "names": Seen(accents, {"free": (201, "ACSC"), "sepa": (400, None), "late": (201, "RJCT")}),
    "vendor": Seen(another_vendor, {"service": 406, "bank.example": 201}),
    "request_id_reuse": Seen(id_again, {"replay": (201, 1), "refuse": (400, 1), "allow": (201, 2)}),
    "limits": Seen(many_calls, {"none": (200, 201), "minute": (200, 429), "day": (429, 201)}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


@pytest.mark.parametrize("axis, told", [("date", "Mon, 01 Mar 2027 08:00:05 GMT"), ("absent", None)])
@pytest.mark.parametrize("body", [{}, {"body": {"our": "words"}}])
def test_a_fault_without_a_wait_of_its_own_tells_it_as_the_bank_does(
    tpp: Tpp, axis: str, told: str | None, body: dict[str, Any]
) -> None:
    tpp.control("PATCH", "/settings", variants={"retry_after": axis})
    tpp.control("POST", "/faults", answer={"status": 503} | body, times=1)
    assert tpp.initiate().headers.get("Retry-After") == told
    tpp.control("POST", "/faults", answer={"status": 503, "retry_after": 17} | body)
    assert tpp.initiate().headers.get("Retry-After") == "17"


def test_a_lenient_bank_still_refuses_what_is_wrong_besides(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"unknown_field": "ignored", "amount_as_number": "accepted"})
    assert tpp.initiate(body=payment(x=1, creditor_name="")).status_code == 400
    assert tpp.initiate(body=payment(instructed_amount__amount=-1)).status_code == 400
    assert tpp.initiate(body=payment(instructed_amount__amount=True)).status_code == 400
    assert tpp.call("POST", "/payments/sepa-credit-transfers", json=[]).status_code == 400


def test_the_controls_keep_their_errors(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"error_codes": "other", "error_words": "lower"})
    assert tpp.control("PATCH", "/settings", variants={"x": "y"}).get_json()["error"] == "INVALID_INPUT"


def test_axes_that_nothing_asks_for_are_not_met(tpp: Tpp) -> None:
    assert not any(row["met"] for row in tpp.listed("variants"))
    code = a_code(tpp)
    assert post_form(tpp, code_form(code)).status_code == 200
    refuse(tpp, begin(tpp).address)
    approve(tpp, begin(tpp).address, "alice")
    consent_uris(tpp)
    met = {row["name"] for row in tpp.listed("variants") if row["met"]}
    assert "content_type_reply" in met and "foreign_id" not in met
