"""service 7, 2.9 and choice 4: the catalogue of errors, and the body that each comes in."""

from typing import Any

import pytest
from werkzeug.test import TestResponse

from sandbox.contract.errors import OF_CONTROLS, Error
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

# choice 4, its rows in its order.
CATALOGUE = (
    (400, "MISSING_INPUT", "GEN-1201-100001"),
    (400, "MISSING_INPUT", "GEN-1201-100002"),
    (400, "INVALID_INPUT", "GEN-1202-100001"),
    (400, "INVALID_INPUT", "GEN-1202-100002"),
    (400, "MISSING_INPUT", "B14821ZZ-1200-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1227-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1231-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1232-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1236-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1259-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1322-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-1345-000000"),
    (400, "INVALID_INPUT", "B14821ZZ-2102-000000"),
    (401, "FAILED_SECURITY_VALIDATION", "GEN-1203-100003"),
    (401, "FAILED_SECURITY_VALIDATION", "GEN-1203-100004"),
    (401, "FAILED_SECURITY_VALIDATION", "GEN-1203-100008"),
    (401, "FAILED_SECURITY_VALIDATION", "GEN-1203-100009"),
    (401, "FAILED_SECURITY_VALIDATION", "GEN-1203-100010"),
    (401, "SCA_REQUIRED", "B14800ZZ-0PLC-REDRCT"),
    (403, "INVALID_TPP", "B14663ZZ-2100-000000"),
    (403, "INVALID_ACCOUNT", "B14800ZZ-3002-000000"),
    (403, "ACCESS_DENIED", "B14800ZZ-3004-000000"),
    (403, "CHANNEL_NOT_PERMITTED", "B14800ZZ-3007-000000"),
    (403, "NO_ACTIVE_CONSENT", "B14800ZZ-3013-000000"),
    (403, "INVALID_PAYMENT", "B14821ZZ-2121-000000"),
    (403, "FORBIDDEN", "B14821ZZ-2101-000000"),
    (403, "INSUFFICIENT_FUNDS", "SBX-0403-000001"),
    (403, "NOT_CANCELLABLE", "SBX-0403-000002"),
    (404, "NOT_FOUND", "SBX-0404-000001"),
    (405, "METHOD_NOT_ALLOWED", "SBX-0405-000001"),
    (406, "NOT_ACCEPTABLE", "SBX-0406-000001"),
    (406, "NOT_ACCEPTABLE", "SBX-0406-000002"),
    (408, "REQUEST_TIMEOUT", "SBX-0408-000001"),
    (409, "CONFLICT", "SBX-0409-000001"),
    (415, "UNSUPPORTED_MEDIA_TYPE", "SBX-0415-000001"),
    (429, "TOO_MANY_REQUESTS", "SBX-0429-000001"),
    (495, "CERTIFICATE_ERROR", "SBX-0495-000001"),
    (500, "INTERNAL_SERVER_ERROR", "SBX-0500-000001"),
    (503, "SERVICE_UNAVAILABLE", "SBX-0503-000001"),
)
BANK = [error.value for error in Error if error not in OF_CONTROLS]


@pytest.mark.parametrize("status, error, code", CATALOGUE, ids=lambda part: str(part))
def test_every_error_of_the_contract_is_in_the_catalogue(status: int, error: str, code: str) -> None:
    assert (status, error, code) in {(row.status, row.error, row.code) for row in BANK}


@pytest.mark.parametrize("row", BANK, ids=lambda row: row.code)
def test_the_bank_has_no_error_beyond_the_contract(row: tuple[int, str, str]) -> None:
    assert row[:3] in CATALOGUE


def test_the_errors_of_the_controls_bear_codes_of_their_own() -> None:
    ours = {error.value.code for error in OF_CONTROLS}
    assert all(code.startswith("SBX-") for code in ours)
    assert not ours & {code for _, _, code in CATALOGUE}


def has_the_body_of_the_bank(reply: TestResponse) -> bool:
    assert set(reply.get_json()) == {"error", "error_code", "error_description"}, reply.text
    assert all(isinstance(value, str) and value for value in reply.get_json().values())
    assert (reply.status_code, reply.get_json()["error"], reply.get_json()["error_code"]) in CATALOGUE
    return True


# Paths and methods

UNKNOWN = (
    "/",
    "/payments",
    "/payments/",
    "/payments/seashells",
    f"/payments/{SCT}/",
    f"/payments//{SCT}",
    f"/payments/{SCT.upper()}",
    f"/payments/{SCT}/one/statuses",
    f"/payments/{SCT}/one/status/",
    "/periodic-payment/sepa-credit-transfers",
    "/worlds",
    "/worlds/a/worlds/b/payments",
    "/favicon.ico",
    "/../etc/passwd",
)


@pytest.mark.parametrize("path", UNKNOWN)
@pytest.mark.parametrize("method", ("GET", "POST", "DELETE"))
def test_an_unknown_path_is_not_found(tpp: Tpp, method: str, path: str) -> None:
    reply = tpp.call(method, path)
    assert refused(reply, 404, "SBX-0404-000001") and has_the_body_of_the_bank(reply)


@pytest.mark.parametrize("product", ("seashells", "pain.001", SCT[:-1], f"{SCT}s", "é"))
@pytest.mark.parametrize("ending", ("", "/one/status"))
def test_an_unknown_product_is_not_found(tpp: Tpp, product: str, ending: str) -> None:
    reply = tpp.call(
        "GET" if ending else "POST", f"/payments/{product}{ending}", json=payment() if not ending else None
    )
    assert refused(reply, 404, "SBX-0404-000001") and has_the_body_of_the_bank(reply)


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("method", ("GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"))
def test_another_method_on_initiations_is_refused_with_what_is_allowed(tpp: Tpp, product: str, method: str) -> None:
    reply = tpp.call(method, f"/payments/{product}")
    assert refused(reply, 405, "SBX-0405-000001", method) and has_the_body_of_the_bank(reply)
    assert reply.headers["Allow"] == "POST"


@pytest.mark.parametrize("product", (SCT, ISCT, XB))
@pytest.mark.parametrize("method", ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
def test_another_method_on_a_status_is_refused_with_what_is_allowed(tpp: Tpp, product: str, method: str) -> None:
    reply = tpp.call(method, f"/payments/{product}/one/status")
    assert refused(reply, 405, "SBX-0405-000001", method) and has_the_body_of_the_bank(reply)
    assert set(reply.headers["Allow"].split(", ")) - {"HEAD"} == {"GET"}


@pytest.mark.parametrize("method", ("DELETE", "PUT"))
def test_a_cross_border_transfer_has_no_cancellation(tpp: Tpp, method: str) -> None:
    reply = tpp.call(method, f"/payments/{XB}/one")
    assert refused(reply, 405, "SBX-0405-000001", method) and has_the_body_of_the_bank(reply)
    assert "DELETE" not in reply.headers["Allow"]


@pytest.mark.parametrize("method", ("PATCH", "PUT"))
def test_an_unknown_product_is_not_found_under_any_method(tpp: Tpp, method: str) -> None:
    for path in ("/payments/seashells", "/payments/seashells/one/status", f"/periodic-payments/{ISCT}/one/status"):
        assert refused(tpp.call(method, path), 404, "SBX-0404-000001")


@pytest.mark.parametrize(
    "changes", ({"accept": None}, {"accept_language": "xx"}, {"request_id": "7"}, {"client_id": "x"})
)
def test_a_refusal_has_the_body_of_the_bank_and_nothing_else(tpp: Tpp, changes: dict[str, Any]) -> None:
    assert has_the_body_of_the_bank(tpp.initiate(**changes))
    assert has_the_body_of_the_bank(tpp.status("nothing", **changes))


def test_what_the_caller_sent_cannot_rewrite_a_sentence(tpp: Tpp) -> None:
    """A name with braces is a name, not a place to fill."""
    reply = tpp.initiate(body=payment() | {"{input.__class__}{0}": 1})
    assert refused(reply, 400, "GEN-1202-100002", "'{input.__class__}{0}'")
