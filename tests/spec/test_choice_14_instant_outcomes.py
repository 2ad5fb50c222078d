"""Choice 14: instant payments that fail, with the time that each failure takes."""

import pytest

from tests.payer import signed, told
from tests.tpp import ISCT, SCT, Tpp

TIME_OUTS = ("AB05", "AB06", "TM01")
REFUSALS = ("AB08", "AC04", "AC06", "AM04", "AG01")


def balance(tpp: Tpp, customer: str = "alice") -> str:
    (row, *_) = [row for row in tpp.listed("accounts") if row["customer"] == customer]
    return str(row["balances"][0]["balance"])


@pytest.mark.parametrize("code, seconds", [*((code, 10) for code in TIME_OUTS), *((code, 2) for code in REFUSALS)])
def test_every_signed_instant_payment_fails_with_the_outcome(tpp: Tpp, code: str, seconds: int) -> None:
    tpp.control("PATCH", "/settings", instant_outcome=code)
    before = balance(tpp)
    paid = signed(tpp, ISCT)
    tpp.advance(f"{seconds - 1}s")
    assert told(tpp, paid) == ("ACSP", None) and balance(tpp) != before
    tpp.advance("1s")
    assert told(tpp, paid) == ("RJCT", code)
    assert balance(tpp) == before  # the money is back


@pytest.mark.parametrize("code", TIME_OUTS)
def test_a_name_of_a_time_out_takes_10_seconds(tpp: Tpp, code: str) -> None:
    paid = signed(tpp, ISCT, creditor_name=f"Test {code}")
    tpp.advance("9s")
    assert told(tpp, paid) == ("ACSP", None)
    tpp.advance("1s")
    assert told(tpp, paid) == ("RJCT", code)


def test_other_payments_know_no_instant_outcome(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", instant_outcome="AC04")
    paid = signed(tpp, SCT)
    tpp.advance("1m")
    assert told(tpp, paid) == ("ACSC", None)


def test_an_outcome_holds_from_the_signature_on(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", instant_outcome="AC04")
    failing = signed(tpp, ISCT)
    tpp.control("PATCH", "/settings", instant_outcome="settles")
    settling = signed(tpp, ISCT)
    tpp.advance("10s")
    assert told(tpp, failing) == ("RJCT", "AC04")
    assert told(tpp, settling) == ("ACSC", None)


def test_an_unknown_outcome_is_refused_with_the_nearest_code(tpp: Tpp) -> None:
    reply = tpp.control("PATCH", "/settings", instant_outcome="AC044")
    assert reply.status_code == 400 and "AC04" in reply.get_json()["error_description"]
