"""service 3.3 and choice 5: a payment that nobody signs."""

import pytest

from tests.tpp import ISCT, SCT, XB, Tpp

PRODUCTS = (SCT, ISCT, XB)


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_payment_waits_for_its_signature_after_one_second(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product)
    tpp.advance("0.999s")
    assert tpp.status(payment_id, product).get_json()["status"] == "RCVD"
    tpp.advance("0.001s")
    assert tpp.status(payment_id, product).json == {"payment_id": payment_id, "status": "PATC"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_unsigned_payment_still_waits_at_59_59(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product)
    tpp.advance("59m59s")
    assert tpp.status(payment_id, product).json == {"payment_id": payment_id, "status": "PATC"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_unsigned_payment_is_cancelled_at_60_minutes(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product)
    tpp.advance("60m")
    cancelled = {"payment_id": payment_id, "status": "CANC", "reason": "TIME_OUT"}
    assert tpp.status(payment_id, product).json == cancelled
    tpp.advance("30d")
    assert tpp.status(payment_id, product).json == cancelled


def test_each_move_bears_its_own_time_however_far_the_clock_goes(tpp: Tpp) -> None:
    tpp.initiated()
    tpp.advance("2d")
    assert tpp.listed("payments")[0]["history"] == [
        {"at": "2027-03-01T09:00:00+01:00", "status": "RCVD", "reason": None},
        {"at": "2027-03-01T09:00:01+01:00", "status": "PATC", "reason": None},
        {"at": "2027-03-01T10:00:00+01:00", "status": "CANC", "reason": "TIME_OUT"},
    ]


def test_the_hour_of_each_payment_is_its_own(tpp: Tpp) -> None:
    first = tpp.initiated()
    tpp.advance("30m")
    second = tpp.initiated()
    tpp.advance("30m")
    assert [tpp.status(one).get_json()["status"] for one in (first, second)] == ["CANC", "PATC"]


def test_a_future_dated_payment_has_the_same_hour(tpp: Tpp) -> None:
    payment_id = tpp.initiated(requested_execution_date="2027-04-01")
    tpp.advance("60m")
    assert tpp.status(payment_id).get_json()["reason"] == "TIME_OUT"


def test_a_signed_payment_is_not_timed_out(tpp: Tpp) -> None:
    reply = tpp.initiate()
    tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")
    tpp.advance("60m")
    assert tpp.status(reply.get_json()["payment_id"]).get_json()["status"] == "ACSC"
