"""Clients that are unusual and right: no finding, or one that says what really happened."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.referee.actor import Actor, Flow
from tests.referee.clients import ANOTHER
from tests.tpp import SCT


def adds_an_account_by_a_new_consent(tpp: Actor) -> None:
    current, savings = (row["iban"] for row in tpp.tpp.listed("accounts") if row["customer"] == "alice")
    tpp.tokens(tpp.consent(accounts=[current]))
    second = tpp.consent(accounts=[current, savings])
    tpp.ids(tpp.tokens(second))


def deletes_again_after_a_lost_reply(tpp: Actor) -> None:
    flow = tpp.pay(requested_execution_date="2027-03-20")
    tpp.approve(flow)
    token = tpp.tokens(flow)["access_token"]
    tpp.fault("payment_cancellation", cut="before", nth=1)
    tpp.lost(lambda: tpp.cancel(flow, token))
    assert tpp.cancel(flow, token).status_code == 403
    assert tpp.status(flow).get_json()["status"] == "CANC"


def takes_the_newest_page_only(tpp: Actor) -> None:
    tokens = tpp.reader()
    assert tpp.page(tokens, tpp.ids(tokens)[0], {"psu_involved": "true"}) is not None


def reads_page_by_page_as_the_psu_scrolls(tpp: Actor) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    key = tpp.page(tokens, account, {"date_from": "2026-12-10", "pagesize": "10"})
    for _ in range(2):
        tpp.advance("20s")
        key = tpp.page(tokens, account, {"next": key})
    assert key is not None


def sends_a_lost_initiation_again_as_it_was(tpp: Actor) -> None:
    request_id = str(uuid4())
    tpp.fault("payment_initiation", cut="before", nth=1)
    tpp.lost(lambda: tpp.post(reference="INVOICE-1", verifier=ANOTHER, request_id=request_id))
    assert tpp.post(reference="INVOICE-1", verifier=ANOTHER, request_id=request_id).status_code == 201


def pays_the_same_shop_the_same_amount_for_two_customers(tpp: Actor) -> None:
    for customer in ("alice", "bram"):
        flow = tpp.pay()
        assert tpp.approve(flow, customer=customer).status_code == 200
        tpp.status(flow)


def pays_the_same_again_after_the_first_was_settled(tpp: Actor) -> None:
    for _ in range(2):
        flow = tpp.pay()
        tpp.approve(flow)
        tpp.advance("2m")
        assert tpp.status(flow).get_json()["status"] == "ACSC"


def gives_up_after_a_time_out_and_pays_a_day_later(tpp: Actor) -> None:
    tpp.fault("payment_initiation", answer={"status": 504})
    tpp.post(reference="INVOICE-1")
    tpp.tpp.control("DELETE", "/faults")
    tpp.advance("1d")
    flow = tpp.pay(reference="INVOICE-2")
    tpp.approve(flow)
    tpp.status(flow)


def refreshes_once_after_a_weekend(tpp: Actor) -> None:
    tokens = tpp.reader()
    tpp.advance("62h")
    assert tpp.get("/accounts", tokens).status_code == 401
    assert tpp.get("/accounts", tpp.refresh(tokens).get_json()).status_code == 200


def reads_when_the_psu_looks_and_at_night_by_itself(tpp: Actor) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    for _ in range(4):
        tokens = tpp.refresh(tokens).get_json()
        tpp.page(tokens, account, {"psu_involved": "true"})
        tpp.advance("17h")
        tokens = tpp.refresh(tokens).get_json()
        tpp.page(tokens, account, {})
        tpp.advance("7h")


def looks_once_a_day_at_a_payment_of_next_month(tpp: Actor) -> None:
    flow = tpp.pay(requested_execution_date="2027-03-20")
    tpp.approve(flow)
    for _ in range(5):
        tpp.advance("1d")
        tpp.status(flow)


def asks_for_the_status_after_a_refusal_and_tries_anew(tpp: Actor) -> None:
    flow = tpp.pay()
    address = flow.address + "?state=the-state-of-today"
    assert tpp.tpp.control("POST", "/psu/refuse", address=address, customer="alice").status_code == 200
    assert tpp.status(flow).get_json()["status"] == "CANC"
    second = tpp.pay()
    tpp.approve(second)
    tpp.tokens(second)
    tpp.status(second)


def reads_balances_and_never_transactions(tpp: Actor) -> None:
    tokens = tpp.reader()
    for account in tpp.ids(tokens):
        assert tpp.get(f"/accounts/{account}", tokens).status_code == 200


def polls_a_file_until_its_address_is_there(tpp: Actor) -> None:
    flow = tpp.file()
    for _ in range(30):
        tpp.advance("5s")
        tpp.file_status(flow)
        if flow.address:
            break
    assert flow.address
    tpp.approve(flow, customer="bakkerij")
    tpp.advance("2m")
    tpp.file_status(flow)


def pays_again_with_the_tokens_of_the_first_payment(tpp: Actor) -> None:
    _, tokens = tpp.paid()
    flow = tpp.pay(tokens["access_token"], instructed_amount__amount="7.00")
    tpp.approve(flow)
    tpp.status(flow)


def cancels_before_the_customer_has_signed(tpp: Actor) -> None:
    _, tokens = tpp.paid()
    flow = tpp.pay(tokens["access_token"], instructed_amount__amount="8.00")
    assert tpp.cancel(flow, tokens["access_token"]).status_code == 204
    assert tpp.status(flow).get_json()["status"] == "CANC"


def waits_as_long_as_the_bank_says(tpp: Actor) -> None:
    flow = tpp.signed()
    tpp.fault("payment_status", nth=1, answer={"status": 503, "retry_after": 30})
    assert tpp.status(flow).status_code == 503
    tpp.advance("31s")
    assert tpp.status(flow).status_code == 200


def pays_two_amounts_to_one_beneficiary_at_once(tpp: Actor) -> None:
    flows = [tpp.pay(instructed_amount__amount=amount) for amount in ("10.00", "11.00")]
    for flow in flows:
        tpp.approve(flow)
        tpp.status(flow)


def sends_the_psu_to_authenticate_again_when_the_bank_asks(tpp: Actor) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    tpp.advance("91d")
    tokens = tpp.refresh(tokens).get_json()
    asked = tpp.get(f"/accounts/{account}/transactions", tokens)
    assert asked.get_json()["error"] == "SCA_REQUIRED"
    tpp.approve(Flow("", asked.get_json()["_links"]["sca_redirect"]["href"], ""))
    assert tpp.get(f"/accounts/{account}/transactions", tokens).status_code == 200


def pays_once_and_keeps_no_tokens(tpp: Actor) -> None:
    tpp.signed()
    tpp.advance("1d")


def has_a_customer_who_connects_again_before_the_code_is_exchanged(tpp: Actor) -> None:
    tpp.consent()
    tpp.tokens(tpp.consent())
    tpp.advance("1d")


def has_a_customer_who_withdraws_before_the_code_is_exchanged(tpp: Actor) -> None:
    tpp.consent()
    tpp.tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    tpp.advance("1d")


def polls_each_second_until_the_payment_is_settled(tpp: Actor) -> None:
    flow = tpp.pay()
    tpp.approve(flow)
    while tpp.status(flow).get_json()["status"] != "ACSC":
        tpp.advance("1s")


def reconciles_old_payments_every_day(tpp: Actor) -> None:
    flow, tokens = tpp.paid()
    for _ in range(6):
        tpp.advance("1d")
        assert tpp.status(flow).get_json()["status"] == "ACSC"
    for _ in range(6):
        tpp.advance("1d")
        tokens = tpp.refresh(tokens).get_json()
        assert tpp.details(flow, tokens["access_token"]).status_code == 200


def pays_the_same_wages_each_month(tpp: Actor) -> None:
    content = tpp.content()
    for number in range(2):
        sent = content.replace(b"<MsgId>", b"<MsgId>%d-" % number).replace(
            b"<ReqdExctnDt>2027-03", b"<ReqdExctnDt>2027-0%d" % (3 + number)
        )
        assert tpp.send(sent).status_code == 201


def sends_a_file_again_that_the_customer_refused(tpp: Actor) -> None:
    content = tpp.content()
    for sent in (content, content.replace(b"<MsgId>", b"<MsgId>B-")):
        flow = Flow(tpp.send(sent).get_json()["payment_file_id"], "", "")
        tpp.advance("2m")
        tpp.file_status(flow)
        address = f"{flow.address}?state={uuid4()}"
        assert tpp.tpp.control("POST", "/psu/refuse", address=address, customer="bakkerij").status_code == 200
        assert tpp.file_status(flow).get_json()["status"] == "CANC"


def looks_for_a_lost_initiation_by_its_reference(tpp: Actor) -> None:
    tpp.fault("payment_initiation", answer={"status": 504})
    tpp.post(reference="INVOICE-1")
    tpp.tpp.control("DELETE", "/faults")
    for _ in range(4):
        tpp.advance("15s")
        reply = tpp.tpp.call("GET", f"/payments/{SCT}/INVOICE-1/status?paymentIdType=EXTERNAL")
        assert reply.status_code == 404
    tpp.signed(reference="INVOICE-1")


def tries_again_after_the_customer_has_paid_in(tpp: Actor) -> None:
    account = tpp.tpp.iban_of("poor")
    order: dict[str, Any] = {
        "debtor_account": {"iban": account},
        "instructed_amount__amount": "900.00",
        "reference": "INVOICE-1",
    }
    for _ in range(3):
        assert tpp.post(**order).status_code == 403
        tpp.advance("2m")
    assert tpp.tpp.control("PATCH", f"/accounts/{account}", overdraft="5000.00").status_code == 200
    assert tpp.post(**order).status_code == 201


def leaves_the_token_out_where_another_account_pays(tpp: Actor) -> None:
    tpp.paid()
    flow = tpp.pay(debtor_account={"iban": tpp.tpp.iban_of("bram")}, instructed_amount__amount="7.00")
    tpp.approve(flow, customer="bram")
    tpp.status(flow)


def has_customers_who_look_at_night(tpp: Actor) -> None:
    """Two of them, each when they wake up; nobody but they asks."""
    readers = {name: tpp.reader(name) for name in ("alice", "bram")}
    accounts = {name: tpp.ids(tokens)[0] for name, tokens in readers.items()}
    tpp.advance("15h")  # midnight
    for minutes in (5, 70, 31, 160):
        tpp.advance(f"{minutes}m")
        for name in readers:
            readers[name] = tpp.refresh(readers[name]).get_json()
            tpp.page(readers[name], accounts[name], {"psu_involved": "true"})
            tpp.advance("3m")
        tpp.advance("24h")


RIGHT = (
    adds_an_account_by_a_new_consent,
    deletes_again_after_a_lost_reply,
    takes_the_newest_page_only,
    reads_page_by_page_as_the_psu_scrolls,
    sends_a_lost_initiation_again_as_it_was,
    pays_the_same_shop_the_same_amount_for_two_customers,
    pays_the_same_again_after_the_first_was_settled,
    gives_up_after_a_time_out_and_pays_a_day_later,
    refreshes_once_after_a_weekend,
    reads_when_the_psu_looks_and_at_night_by_itself,
    looks_once_a_day_at_a_payment_of_next_month,
    asks_for_the_status_after_a_refusal_and_tries_anew,
    reads_balances_and_never_transactions,
    polls_a_file_until_its_address_is_there,
    pays_again_with_the_tokens_of_the_first_payment,
    cancels_before_the_customer_has_signed,
    waits_as_long_as_the_bank_says,
    pays_two_amounts_to_one_beneficiary_at_once,
    sends_the_psu_to_authenticate_again_when_the_bank_asks,
    pays_once_and_keeps_no_tokens,
    has_a_customer_who_connects_again_before_the_code_is_exchanged,
    has_a_customer_who_withdraws_before_the_code_is_exchanged,
    polls_each_second_until_the_payment_is_settled,
    reconciles_old_payments_every_day,
    pays_the_same_wages_each_month,
    sends_a_file_again_that_the_customer_refused,
    looks_for_a_lost_initiation_by_its_reference,
    tries_again_after_the_customer_has_paid_in,
    leaves_the_token_out_where_another_account_pays,
    has_customers_who_look_at_night,
)


def test_there_are_thirty() -> None:
    assert len(RIGHT) == 30


@pytest.mark.parametrize("client", RIGHT, ids=lambda client: client.__name__.replace("_", " "))
def test_a_client_that_is_right_is_not_blamed(actor: Actor, client: Callable[[Actor], None]) -> None:
    client(actor)
    assert actor.rules() == []


def finding_of(actor: Actor) -> dict[str, object]:
    (found,) = actor.tpp.control("GET", "/referee").get_json()["findings"]
    assert isinstance(found, dict)
    return found


def test_of_two_flows_of_one_psu_the_finding_says_which_ended_the_other(actor: Actor) -> None:
    first, second = actor.signed(), actor.signed()
    old = actor.tokens(first)["access_token"]
    actor.tokens(second)
    ended_by = actor.tpp.listed("requests")[-1]["request_id"]
    assert actor.details(first, old).status_code == 401
    found = finding_of(actor)
    assert found["rule"] == "token-replaced" and f"newer flow replaced it in call {ended_by}" in str(found["what"])
    assert [call["request_id"] for call in found["proof"]] == [ended_by]  # type: ignore[attr-defined]


def test_a_second_payment_is_shown_beside_the_first_with_what_differs(actor: Actor) -> None:
    request_id = str(uuid4())
    actor.fault("payment_initiation", cut="before", nth=1)
    actor.lost(lambda: actor.post(reference="INVOICE-1", request_id=request_id))
    flow = actor.pay(reference="INVOICE-1-BIS")
    actor.approve(flow)
    actor.status(flow)
    found = finding_of(actor)
    assert found["rule"] == "payment-again-after-doubt"
    assert found["difference"] == ["endtoend_identification: INVOICE-1 -> INVOICE-1-BIS"]
    assert [call["request_id"] for call in found["proof"]] == [request_id]  # type: ignore[attr-defined]


def test_a_client_that_reads_more_than_the_setting_allows_is_told_how_many(actor: Actor) -> None:
    tokens = actor.reader()
    account = actor.ids(tokens)[0]
    for _ in range(5):
        actor.page(tokens, account, {})
        actor.advance("5m")
    assert finding_of(actor)["what"] == "5 reads on 2027-03-01, and 4 are allowed"
