"""Doings of customers, none of which is a mistake of the client."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.psu.psu import Psu
from tests.referee.actor import Actor
from tests.spec.files import NOTARIS
from tests.tpp import version


def browser(tpp: Actor) -> Psu:
    psu = Psu(tpp.tpp.http.application, "fr")
    psu.http = tpp.http
    return psu


def changes_the_language_on_the_signing_page(tpp: Actor) -> None:
    flow, psu = tpp.pay(), browser(tpp)
    psu.open(f"{flow.address}?state={uuid4()}")
    psu.open(f"{flow.address}?lang=nl")  # as a browser that kept the page of an earlier version would
    tpp.approve(flow)
    tpp.status(flow)


def opens_the_address_without_its_query_before_the_tpp_sends_them(tpp: Actor) -> None:
    flow, psu = tpp.pay(), browser(tpp)
    psu.open(flow.address)
    psu.open(f"{flow.address}?state={uuid4()}")
    tpp.approve(flow)
    tpp.status(flow)


def comes_back_to_the_page_when_it_is_outdated(tpp: Actor) -> None:
    flow, psu = tpp.pay(), browser(tpp)
    address = f"{flow.address}?state={uuid4()}"
    assert psu.open(address).status_code == 200
    tpp.advance("6m")
    assert psu.open(address).status_code == 410
    tpp.status(flow)


def opens_the_consent_in_the_other_language_too(tpp: Actor) -> None:
    reply = tpp.tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4), accept_language="fr;q=0, *")
    addresses, psu, state = [row["consent_uri"] for row in reply.get_json()], browser(tpp), uuid4()
    assert len(addresses) == 2
    psu.open(f"{addresses[0]}?state={state}")
    tpp.advance("16m")
    for address in addresses:
        psu.open(f"{address}?state={state}")


def leaves_a_file_unsigned(tpp: Actor) -> None:
    flow, psu = tpp.file(), browser(tpp)
    tpp.advance("2m")
    tpp.file_status(flow)
    psu.open(f"{flow.address}?state={uuid4()}")
    tpp.file_status(flow)
    tpp.advance("1h")


def cancels_in_the_channel_after_the_last_status_call(tpp: Actor) -> None:
    flow, psu = tpp.pay(requested_execution_date="2027-03-20"), browser(tpp)
    tpp.approve(flow)
    tpp.status(flow)
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="alice")
    psu.send(f"/psu/channel/payments/{flow.id}/cancel")
    assert tpp.tpp.listed("payments")[0]["status"] == "CANC"


def cancels_in_the_channel_before_the_tpp_does(tpp: Actor) -> None:
    flow, psu = tpp.pay(requested_execution_date="2027-03-20"), browser(tpp)
    tpp.approve(flow)
    token = tpp.tokens(flow)["access_token"]
    tpp.status(flow)
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="alice")
    psu.send(f"/psu/channel/payments/{flow.id}/cancel")
    assert tpp.cancel(flow, token).status_code == 403
    tpp.status(flow)


def drops_an_account_by_a_new_consent(tpp: Actor) -> None:
    ibans = [row["iban"] for row in tpp.tpp.listed("accounts") if row["customer"] == "alice"]
    for chosen in (ibans, ibans[:1], ibans):
        tpp.tokens(tpp.consent(accounts=chosen))


def connects_once_more_from_another_device(tpp: Actor) -> None:
    for _ in range(2):
        tpp.reader()


def scrolls_fast_and_stops(tpp: Actor) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    key = tpp.page(tokens, account, {"date_from": "2026-12-10", "psu_involved": "true", "pagesize": 10})
    for _ in range(11):
        assert key is not None
        key = tpp.page(tokens, account, {"next": key})


def loads_the_first_page_again(tpp: Actor) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    for _ in range(2):
        tpp.page(tokens, account, {"psu_involved": "true"})


def buys_two_like_things_while_the_first_waits_for_funds(tpp: Actor) -> None:
    for day, text in ((2, "Order 17"), (4, "Order 18")):
        order = {"requested_execution_date": f"2027-03-0{day}", "remittance_information_unstructured": text}
        flow = tpp.pay(instructed_amount__amount="900000.00", **order)
        assert tpp.approve(flow).status_code == 200
        tpp.advance("1d")
        tpp.status(flow)


def buys_the_like_of_a_purchase_whose_reply_was_lost(tpp: Actor) -> None:
    tpp.fault("payment_initiation", answer={"status": 504}, nth=1)
    tpp.post(remittance_information_unstructured="Order 17")
    flow = tpp.pay(remittance_information_unstructured="Order 18")
    tpp.approve(flow, customer="bram")
    tpp.status(flow)


def calls_the_callback_twice(tpp: Actor) -> None:
    """The TPP exchanges the code of the first visit alone."""
    flow = tpp.pay()
    tpp.fault("callback", callback="twice")
    tpp.approve(flow)
    tpp.tokens(flow)
    tpp.status(flow)


def signs_as_the_second_after_the_tpp_has_looked(tpp: Actor) -> None:
    flow = tpp.pay(debtor_account={"iban": NOTARIS})
    tpp.approve(flow, customer="notaris")
    token = tpp.tokens(flow)["access_token"]
    assert tpp.status(flow).get_json()["status"] == "PATC"
    assert tpp.tpp.control("POST", "/psu/sign", payment_id=flow.id, customer="griet").status_code == 200
    assert tpp.cancel(flow, token).status_code == 403
    tpp.status(flow)


DOINGS = (
    changes_the_language_on_the_signing_page,
    opens_the_address_without_its_query_before_the_tpp_sends_them,
    comes_back_to_the_page_when_it_is_outdated,
    opens_the_consent_in_the_other_language_too,
    leaves_a_file_unsigned,
    cancels_in_the_channel_after_the_last_status_call,
    cancels_in_the_channel_before_the_tpp_does,
    drops_an_account_by_a_new_consent,
    connects_once_more_from_another_device,
    scrolls_fast_and_stops,
    loads_the_first_page_again,
    buys_two_like_things_while_the_first_waits_for_funds,
    buys_the_like_of_a_purchase_whose_reply_was_lost,
    calls_the_callback_twice,
    signs_as_the_second_after_the_tpp_has_looked,
)


@pytest.mark.parametrize("customer", DOINGS, ids=lambda customer: customer.__name__.replace("_", " "))
def test_what_a_customer_does_is_no_mistake_of_the_client(actor: Actor, customer: Callable[[Actor], None]) -> None:
    customer(actor)
    assert actor.rules() == []


def test_an_address_that_never_had_a_state_is_one_finding_however_often_it_is_opened(actor: Actor) -> None:
    flow, psu = actor.pay(), browser(actor)
    for query in ("", "?lang=nl", "?lang=fr"):
        psu.open(flow.address + query)
    assert actor.rules() == ["state-missing"]


@pytest.mark.parametrize("state, rule", [("1", "state-short"), ("the-state-of-today", "state-reused")])
def test_opening_a_page_twice_raises_nothing_twice(state: str, rule: str, actor: Actor) -> None:
    first, second, psu = actor.pay(), actor.pay(), browser(actor)
    psu.open(f"{first.address}?state=the-state-of-today")
    for _ in range(3):
        psu.open(f"{second.address}?state={state}")
    actor.status(first)
    assert actor.rules() == [rule]


def test_a_customer_who_is_sent_late_is_one_finding_however_often_the_page_is_opened(actor: Actor) -> None:
    flow, psu = actor.pay(), browser(actor)
    actor.advance("6m")
    for _ in range(2):
        assert psu.open(f"{flow.address}?state={uuid4()}").status_code == 410
    actor.status(flow)
    assert actor.rules() == ["sca-opened-late"]


def test_a_cancellation_without_a_look_after_the_callback_is_a_mistake(actor: Actor) -> None:
    flow = actor.signed()
    tokens = actor.tokens(flow)
    assert actor.cancel(flow, tokens["access_token"]).status_code == 403
    assert actor.rules() == ["cancel-impossible"]
