"""What every call of the client carries, and what it does with the answer (service 4.0, 7; choice 2)."""

from decimal import Decimal
from ssl import CERT_REQUIRED
from uuid import UUID

import httpx
import pytest

from sandbox.client import Client, ClientReply, Refused, Tokens, Unreadable
from sandbox.client.transport import context_for
from tests.client.contract import BANK, ORDER, Bank, accepted, answer, refusal


def test_each_call_has_a_request_id_of_its_own(bank: Bank) -> None:
    bank.says(accepted(), accepted())
    bank.client.pay(**ORDER)
    bank.client.pay(**ORDER)
    first, second = (UUID(request.headers["Request-ID"]) for request in bank.asked)
    assert first.version == second.version == 4
    assert first != second


def test_an_initiation_carries_what_the_contract_asks(bank: Bank) -> None:
    bank.says(accepted())
    bank.client.pay(**ORDER)
    carried = bank.last.headers
    assert (bank.last.method, bank.path) == ("POST", "/payments/sepa-credit-transfers")
    assert carried["Accept"] == "application/vnd.service.api+json; version=3"
    assert carried["Accept-Language"] == "fr"
    assert carried["Client-ID"] == "demo-tpp"
    assert carried["Redirect-URI"] == "http://127.0.0.1:9999/callback"
    assert carried["Content-Type"] == "application/json"
    assert carried["Code-Challenge-Method"] == "S256"
    assert len(carried["Code-Challenge"]) == 43


def test_the_vendor_word_and_the_language_are_the_callers() -> None:
    asked: list[httpx.Request] = []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return accepted()

    client = Client(BANK, language="nl", vendor="lion", http=httpx.Client(transport=httpx.MockTransport(serve)))
    client.pay(**ORDER)
    assert asked[0].headers["Accept"] == "application/vnd.lion.api+json; version=3"
    assert asked[0].headers["Accept-Language"] == "nl"


def test_with_a_token_there_is_no_challenge(bank: Bank) -> None:
    bank.says(accepted())
    bank.client.pay(token="abc", **ORDER)
    assert bank.last.headers["Authorization"] == "Bearer abc"
    assert "Code-Challenge" not in bank.last.headers


LOST = (
    httpx.ReadTimeout("late"),
    httpx.ReadError("cut"),
    httpx.RemoteProtocolError("cut within"),
    httpx.Response(201, content=b'{"payment_id": "p-'),
)


@pytest.mark.parametrize("lost", LOST, ids=lambda lost: type(lost).__name__)
def test_a_lost_reply_to_an_initiation_is_had_by_the_identical_call(
    bank: Bank, lost: Exception | httpx.Response
) -> None:
    bank.says(lost, accepted())
    payment = bank.client.pay(**ORDER)
    first, second = bank.asked
    assert first.headers == second.headers
    assert (first.url, first.content) == (second.url, second.content)
    assert payment.payment_id == "p-1"


def test_an_initiation_that_is_lost_twice_is_the_callers_to_know(bank: Bank) -> None:
    bank.says(httpx.ReadTimeout("late"), httpx.ReadTimeout("late"))
    with pytest.raises(httpx.ReadTimeout):
        bank.client.pay(**ORDER)


def test_an_initiation_that_never_left_is_not_sent_again(bank: Bank) -> None:
    bank.says(httpx.ConnectError("nobody there"))
    with pytest.raises(httpx.ConnectError):
        bank.client.pay(**ORDER)


def test_nothing_else_is_sent_again(bank: Bank) -> None:
    bank.says(accepted(), httpx.ReadTimeout("late"))
    payment = bank.client.pay(**ORDER)
    with pytest.raises(httpx.ReadTimeout):
        bank.client.status(payment)


def test_a_code_is_never_sent_twice(bank: Bank) -> None:
    bank.says(httpx.ReadTimeout("late"))
    with pytest.raises(httpx.ReadTimeout):
        bank.client.exchange("code", bank.client.caller.flow("PIS"))


def test_a_refusal_tells_all_that_the_bank_told_and_is_not_tried_again(bank: Bank) -> None:
    bank.says(refusal(503, "SERVICE_UNAVAILABLE", "SBX-0503-000001"))
    with pytest.raises(Refused) as caught:
        bank.client.pay(**ORDER)
    no = caught.value
    assert (no.status, no.error, no.error_code) == (503, "SERVICE_UNAVAILABLE", "SBX-0503-000001")
    assert (no.error_description, no.response_id, no.retry_after) == ("No.", "r-1", "7")
    assert "POST /api/payments/sepa-credit-transfers: 503" in str(no)


def test_a_refusal_without_the_banks_body_is_a_refusal_too(bank: Bank) -> None:
    bank.says(httpx.Response(502, content=b"<html>"))
    with pytest.raises(Refused) as caught:
        bank.client.pay(**ORDER)
    assert (caught.value.status, caught.value.error, caught.value.retry_after) == (502, "", None)


def test_sca_required_tells_where(bank: Bank) -> None:
    link = {"sca_redirect": {"href": f"{BANK}/psu/consent/x"}}
    bank.says(refusal(401, "SCA_REQUIRED", "B14800ZZ-0PLC-REDRCT", _links=link))
    with pytest.raises(Refused) as caught:
        bank.client.transactions("l-1", Tokens("a", "r", 1, "AIS", ClientReply(200, None, {})))
    assert caught.value.sca_address == f"{BANK}/psu/consent/x"
    again = bank.client.renewal(caught.value)
    assert again.address == f"{BANK}/psu/consent/x?state={again.flow.state}" and again.flow.scope == "AIS"


def test_a_refusal_without_an_address_leads_to_no_authentication(bank: Bank) -> None:
    bank.says(refusal(401, "SCA_REQUIRED", "B14800ZZ-0PLC-REDRCT"))
    with pytest.raises(Refused) as caught:
        bank.client.transactions("l-1", Tokens("a", "r", 1, "AIS", ClientReply(200, None, {})))
    with pytest.raises(Unreadable, match="no address"):
        bank.client.renewal(caught.value)


def test_a_redirection_is_not_followed(bank: Bank) -> None:
    bank.says(answer(302, None, Location="https://elsewhere.example/"))
    with pytest.raises(Refused):
        bank.client.pay(**ORDER)


@pytest.mark.parametrize("body", [[], "text", {}, {"payment_id": 7}])
def test_a_reply_that_breaks_the_contract_is_said_to(bank: Bank, body: object) -> None:
    bank.says(answer(201, body))
    with pytest.raises(Unreadable, match="payment_id"):
        bank.client.pay(**ORDER)


def test_money_in_a_reply_is_exact(bank: Bank) -> None:
    bank.says(answer(200, {"balance": 0.1}))
    assert bank.client.caller.call("GET", "/x", 1).body == {"balance": Decimal("0.1")}


def test_authorities_are_read_for_an_address_with_tls_alone() -> None:
    plain, safe = context_for("http://127.0.0.1:8080"), context_for("https://bank.example")
    assert (plain.cert_store_stats()["x509_ca"], safe.cert_store_stats()["x509_ca"] > 0) == (0, True)
    assert plain.verify_mode is safe.verify_mode is CERT_REQUIRED
