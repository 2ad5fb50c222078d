"""service 4.5: who reads and cancels a standing order, under which name, in which version."""

from typing import Any

import pytest

from tests.contracts import ALICE, PATH, SAVINGS, active, ask, bearer, contract, order, ordered, signed, variable
from tests.tpp import ISCT, SCT, XB, Tpp, refused, version

NOT_FOUND = "SBX-0404-000001"
FULL = {
    "debtor_account": {"iban": ALICE, "currency": "EUR"},
    "creditor_account": {"iban": SAVINGS},
    "creditor_name": "Alice, saving",
    "endtoend_identification": "SAVE-1",
    "frequency": "WEEKLY",
    "start_date": "2027-03-29",
    "execution_date": "2027-04-02",
    "end_date": "2027-12-31",
}
MEMBERS = ("GET", "details"), ("GET", "status"), ("DELETE", "")


def path_of(payment_id: str, part: str, query: str = "") -> str:
    return "/".join(filter(None, (payment_id, part))) + query


# Details (service 2.4)


@pytest.mark.parametrize(
    "body",
    [
        FULL | {"periodic_payment_type": "FIXED", "instructed_amount": {"amount": "50.00", "currency": "EUR"}},
        FULL
        | {
            "periodic_payment_type": "VARIABLE",
            "instructed_amount": {"currency": "EUR", "minimal_amount": "100.00", "maximal_amount": "75.50"},
            "remittance_information_structured": "+++090/9337/55493+++",
        },
        FULL
        | {
            "periodic_payment_type": "VARIABLE",
            "instructed_amount": {"currency": "EUR"},
            "remittance_information_unstructured": "Savings",
        },
    ],
    ids=("fixed", "variable with bounds", "variable without"),
)
def test_details_are_every_field_as_it_came(tpp: Tpp, body: dict[str, Any]) -> None:
    payment_id = ordered(tpp, body)
    token = bearer(tpp)
    found = ask(tpp, "GET", f"{payment_id}/details", **token)
    assert (found.status_code, found.json) == (200, {"payment_id": payment_id, "status": "PATC"} | body)


def test_the_psu_and_a_picked_account_appear_with_the_signature(tpp: Tpp) -> None:
    payment_id = signed(tpp, contract())
    found = ask(tpp, "GET", f"{payment_id}/details", **bearer(tpp)).get_json()
    assert (found["psu_name"], found["debtor_account"]) == ("Alice Delvigne", {"iban": ALICE, "currency": "EUR"})
    assert (found["start_date"], found["frequency"], found["status"]) == ("2027-04-01", "MONTHLY", "PDNG")
    assert found["periodic_payment_type"] == "FIXED"  # by default


@pytest.mark.parametrize("method, part", (("GET", "details"), ("DELETE", "")))
def test_details_and_cancellation_need_a_token(tpp: Tpp, method: str, part: str) -> None:
    path = path_of(ordered(tpp, contract()), part)
    assert refused(ask(tpp, method, path), 401, "GEN-1203-100003")
    assert ask(tpp, method, path, **bearer(tpp)).status_code in (200, 204)


@pytest.mark.parametrize("method, part", (("GET", "details"), ("DELETE", "")))
def test_another_customers_is_out_of_reach(tpp: Tpp, method: str, part: str) -> None:
    payment_id = signed(tpp, contract())
    reply = ask(tpp, method, path_of(payment_id, part), **bearer(tpp, "bram"))
    assert refused(reply, 403, "B14800ZZ-3004-000000")


def test_a_status_needs_none_but_says_no_to_a_bad_one(tpp: Tpp) -> None:
    payment_id = ordered(tpp, contract())
    found = ask(tpp, "GET", f"{payment_id}/status")
    assert (found.status_code, found.json) == (200, {"payment_id": payment_id, "status": "PATC"})
    assert refused(ask(tpp, "GET", f"{payment_id}/status", authorization="Bearer x"), 401, "GEN-1203-100003")


def test_a_token_that_is_shown_reads_the_status_of_its_own_customer_only(tpp: Tpp) -> None:
    payment_id = signed(tpp, contract())
    assert ask(tpp, "GET", f"{payment_id}/status", **bearer(tpp)).status_code == 200
    assert refused(ask(tpp, "GET", f"{payment_id}/status", **bearer(tpp, "bram")), 403, "B14800ZZ-3004-000000")


# Names (choice 5)


@pytest.mark.parametrize("method, part", MEMBERS)
def test_the_external_reference_is_the_end_to_end_identification(tpp: Tpp, method: str, part: str) -> None:
    payment_id = ordered(tpp, contract(endtoend_identification="RENT-1"))
    token = bearer(tpp)
    assert refused(ask(tpp, method, path_of("RENT-1", part), **token), 404, NOT_FOUND)
    assert refused(ask(tpp, method, path_of(payment_id, part, "?paymentIdType=EXTERNAL"), **token), 404, NOT_FOUND)
    reply = ask(tpp, method, path_of("RENT-1", part, "?paymentIdType=EXTERNAL"), **token)
    assert reply.status_code in (200, 204)
    assert method == "DELETE" or reply.get_json()["payment_id"] == payment_id


@pytest.mark.parametrize("method, part", MEMBERS)
def test_one_that_fits_several_is_refused(tpp: Tpp, method: str, part: str) -> None:
    for _ in range(2):
        ordered(tpp, contract(endtoend_identification="RENT-1"))
    reply = ask(tpp, method, path_of("RENT-1", part, "?paymentIdType=EXTERNAL"), **bearer(tpp))
    told = (400, "GEN-1202-100002") if method == "DELETE" else (409, "SBX-0409-000001")  # a DELETE has no 409
    assert refused(reply, *told, "payment-id")


@pytest.mark.parametrize("method, part", MEMBERS)
def test_another_kind_of_name_is_refused(tpp: Tpp, method: str, part: str) -> None:
    path = path_of(ordered(tpp, contract()), part, "?paymentIdType=OTHER")
    assert refused(ask(tpp, method, path, **bearer(tpp)), 400, "GEN-1202-100002", "'paymentIdType'")


def test_payments_and_standing_orders_do_not_answer_for_each_other(tpp: Tpp) -> None:
    payment_id, order_id = tpp.initiated(), ordered(tpp, contract())
    assert refused(ask(tpp, "GET", f"{payment_id}/status"), 404, NOT_FOUND)
    assert refused(tpp.status(order_id), 404, NOT_FOUND)
    found = ask(tpp, "GET", "INVOICE-2027-001/status?paymentIdType=EXTERNAL")  # both bear that reference
    assert found.get_json()["payment_id"] == order_id


@pytest.mark.parametrize("method, part", MEMBERS)
def test_another_clients_is_unknown(tpp: Tpp, other: Tpp, method: str, part: str) -> None:
    payment_id = ordered(tpp, contract(endtoend_identification="RENT-1"))
    token = bearer(other)
    assert refused(ask(other, method, path_of(payment_id, part), **token), 404, NOT_FOUND)
    assert refused(ask(other, method, path_of("RENT-1", part, "?paymentIdType=EXTERNAL"), **token), 404, NOT_FOUND)


# Versions and products


@pytest.mark.parametrize("number", (1, 2, 3, 4))
def test_versions(tpp: Tpp, number: int) -> None:
    payment_id, token, accept = ordered(tpp, contract()), bearer(tpp), version(number)
    initiation = order(tpp, contract(), accept=accept)
    assert initiation.status_code == (201 if number == 2 else 406)
    for method, part in MEMBERS:
        reply = ask(tpp, method, path_of(payment_id, part), accept=accept, **token)
        assert reply.status_code == ((204 if method == "DELETE" else 200) if number in (1, 2) else 406)


@pytest.mark.parametrize("product", (ISCT, XB, "pain.001", "none"))
def test_there_are_none_of_other_products(tpp: Tpp, product: str) -> None:
    reply = tpp.call("POST", f"/periodic-payments/{product}", json=contract(), accept=version(2))
    assert refused(reply, 404, NOT_FOUND)
    assert refused(tpp.call("GET", f"/periodic-payments/{product}/x/status", accept=version(2)), 404, NOT_FOUND)


def test_other_methods_are_refused(tpp: Tpp) -> None:
    assert refused(tpp.call("PUT", f"{PATH}/x", accept=version(2)), 405, "SBX-0405-000001")
    assert refused(tpp.call("GET", PATH, accept=version(2)), 405, "SBX-0405-000001")


# Authorization or PKCE (service 4.5, 6.1)


def test_with_a_token_no_code_goes_with_the_callback_and_without_one_it_does(tpp: Tpp) -> None:
    assert "code=" in tpp.signed(order(tpp, contract()), "alice")
    token = bearer(tpp)
    reply = order(tpp, contract(), code_challenge=None, code_challenge_method=None, **token)
    assert "code=" not in tpp.signed(reply)
    missing = order(tpp, contract(), code_challenge=None, code_challenge_method=None)
    assert refused(missing, 400, "GEN-1201-100001", "Code-Challenge")


def test_a_token_orders_for_its_own_customer_only(tpp: Tpp) -> None:
    body = contract(debtor_account={"iban": ALICE})
    assert order(tpp, body, **bearer(tpp)).status_code == 201
    assert refused(order(tpp, body, **bearer(tpp, "bram")), 403, "B14800ZZ-3004-000000")


def test_a_lost_reply_is_had_again_and_orders_nothing_twice(tpp: Tpp) -> None:
    first = order(tpp, contract(), request_id="6c1f7a52-3f0e-4f5e-9d0b-0d5f6a1b2c3d")
    again = order(tpp, contract(), request_id="6c1f7a52-3f0e-4f5e-9d0b-0d5f6a1b2c3d")
    assert (again.status_code, again.json) == (201, first.json)
    changed = order(tpp, contract(frequency="WEEKLY"), request_id="6c1f7a52-3f0e-4f5e-9d0b-0d5f6a1b2c3d")
    assert refused(changed, 400, "GEN-1202-100001", "Request-ID")
    assert len(tpp.listed("standing-orders")) == 1


def test_the_controls_list_them_with_their_history(tpp: Tpp) -> None:
    payment_id = active(tpp, variable())
    (row,) = tpp.listed("standing-orders")
    assert (row["payment_id"], row["product"], row["status"], row["reason"]) == (payment_id, SCT, "ACWP", None)
    assert (row["client_id"], row["customer"]) == ("demo-tpp", "alice")
    assert [fact["status"] for fact in row["history"]] == ["PATC", "PDNG", "ACWP"]
    assert row["order"]["periodic_payment_type"] == "VARIABLE"
    assert tpp.control("GET", "/standing-orders/none").status_code == 404
