"""Toy clients that pay: initiations, their signature, settling and cancelling."""

from enum import Enum
from typing import Any

from tests.payer import approve, begin, cancel, details, move, refuse, signed, status, tokens, told
from tests.spec.bodies import ALICE, LIMITED, POOR
from tests.spec.files import NOTARIS
from tests.tpp import ISCT, SCT, XB, Tpp, payment
from tests.variants import test_initiation as initiation
from tests.variants.naive import Expects, Toys, ok

Status = Enum("Status", "RCVD PATC PDNG ACSP ACSC RJCT CANC")
LATER = {"requested_execution_date": "2027-03-10"}
OF_LIMITED: dict[str, Any] = {"debtor_account": {"iban": LIMITED}, "instructed_amount__amount": "200.00"}
OF_POOR: dict[str, Any] = {"debtor_account": {"iban": POOR}, "instructed_amount__amount": "900.00"}


def initiated(tpp: Tpp) -> Any:
    return ok(tpp.initiate())


def sends_the_psu(tpp: Tpp) -> None:
    """Puts its state behind a ?, whatever the address has."""
    redirect = ok(approve(tpp, f"{initiation.address(tpp)}?state=s-1", "alice"))["redirect"]
    assert redirect.endswith("state=s-1")


def pays_twice_on_purpose(tpp: Tpp) -> None:
    assert len({initiated(tpp)["payment_id"] for _ in range(2)}) == 2


def asks_by_its_own_reference(tpp: Tpp) -> None:
    """Asks by the bank's id where its reference fits several."""
    first = signed(tpp, **LATER)
    begin(tpp)
    reply = tpp.call("GET", f"/payments/{SCT}/INVOICE-2027-001/status?paymentIdType=EXTERNAL")
    found = reply.get_json() if reply.status_code == 200 else tpp.status(first.id).get_json()
    assert found["status"] == "PDNG"


def gives_up_after_an_hour(tpp: Tpp) -> None:
    """Pays anew, as the second signer did not sign."""
    begun = begin(tpp, debtor_account={"iban": NOTARIS})
    ok(approve(tpp, begun.address, "notaris"))
    tpp.advance("61m")
    assert status(tpp, begun) == "CANC"


def pays_within_each_days_limit(tpp: Tpp) -> None:
    signed(tpp, SCT, "limited", **OF_LIMITED, **LATER)
    tpp.advance("1d")
    signed(tpp, SCT, "limited", **OF_LIMITED, **LATER)


def lets_the_psu_choose_again(tpp: Tpp) -> None:
    begun = begin(tpp, instructed_amount__amount="900.00")
    approve(tpp, begun.address, "poor")
    ok(approve(tpp, begun.address, "alice"))


def greets_the_psu(tpp: Tpp) -> str:
    pair = tokens(tpp)
    name: str = details(tpp, begin(tpp), pair).get_json().get("psu_name", "you")
    return name.upper()


def reads_a_reason(tpp: Tpp) -> str:
    found = tpp.status(begin(tpp).id).get_json()
    return str(found["reason"].lower()) if "reason" in found else "none"


def shows_why(tpp: Tpp) -> str:
    begun = begin(tpp)
    refuse(tpp, begun.address)
    return str(tpp.status(begun.id).get_json()["reason"])


def splits_an_amount(tpp: Tpp) -> None:
    pair = tokens(tpp)
    begun = begin(tpp, instructed_amount__amount="12.5")
    euros, _, cents = details(tpp, begun, pair).get_json()["instructed_amount"]["amount"].partition(".")
    assert (euros, cents) == ("12", "50")


def knows_every_detail(tpp: Tpp) -> None:
    """A model of the details that refuses other fields."""
    order: dict[str, Any] = {"debtor_account": {"iban": ALICE}, "instructed_amount__currency": "USD"}
    found = details(tpp, begin(tpp, XB, **order), tokens(tpp)).get_json()
    assert set(found) <= {"payment_id", "status", "psu_name", *payment(XB, **order)}


def ships_once_paid(tpp: Tpp) -> None:
    """Takes ACSC for the end."""
    before = initiation.euro_of_alice(tpp)
    paid = signed(tpp)
    tpp.advance("6s")
    ok(move(tpp, paid.id, "RJCT", reason="AC04"))
    assert status(tpp, paid) != "ACSC" or initiation.euro_of_alice(tpp) < before


def cancels_until_it_is_done(tpp: Tpp) -> None:
    """The first 204 was lost: what is cancelled already is no failure."""
    pair, begun = tokens(tpp), begin(tpp)
    cancel(tpp, begun, pair)
    assert cancel(tpp, begun, pair).status_code in (204, 403)


def cancels_an_order_until_it_is_done(tpp: Tpp) -> None:
    assert initiation.order_cancelled_twice(tpp)[0] in (204, 403)


def reckons_what_is_left(tpp: Tpp, product: str, leaves: str) -> None:
    before = initiation.euro_of_alice(tpp)
    tpp.signed(tpp.initiate(product, payment(product)), "alice")
    tpp.advance("5m")
    assert f"{before - initiation.euro_of_alice(tpp):.2f}" == leaves


def after_days(count: int) -> Any:
    """The status so many days after the execution date, without funds."""

    def seen(tpp: Tpp) -> str:
        paid = signed(tpp, SCT, "poor", **OF_POOR, **LATER)
        tpp.advance(f"{9 + count}d")
        return told(tpp, paid)[0]

    return seen


def address_of_links(tpp: Tpp) -> Any:
    return initiated(tpp)["_links"]["sca_redirect"]["href"]


TOYS: Toys = {
    "technical_checks": Expects(initiation.checked, "PATC"),
    "sca_address_life": Expects(initiation.signed_late, 200),
    "status_spelling": lambda tpp: Status[status(tpp, signed(tpp, **LATER))],
    "first_status": Expects(lambda tpp: initiated(tpp)["status"], "RCVD"),
    "sca_address_in": {"location": address_of_links, "links": initiation.address},
    "sca_address_query": sends_the_psu,
    "sca_host": Expects(lambda tpp: initiation.address(tpp).startswith("http://localhost/"), True),
    "no_state": lambda tpp: ok(approve(tpp, initiation.address(tpp), "alice")),
    "initiation_fields": lambda tpp: initiated(tpp)["status"],
    "initiation_field_names": lambda tpp: initiated(tpp)["payment_id"],
    "pkce_plain": Expects(initiation.plain_challenge, 201),
    "reinitiation": pays_twice_on_purpose,
    "duplicate_external": pays_twice_on_purpose,
    "ambiguous_external": asks_by_its_own_reference,
    "ambiguous_delete": Expects(initiation.delete_by_reference, 400),
    "half_signed": gives_up_after_an_hour,
    "unsigned_order": Expects(initiation.order_after_an_hour, ("PATC", None)),
    "limits_day": pays_within_each_days_limit,
    "funds_missing_after_pick": lets_the_psu_choose_again,
    "self_payment": Expects(initiation.to_itself, 201),
    "profile_refusal": Expects(initiation.over_the_limit, 403, 0),
    "psu_name_before_login": greets_the_psu,
    "reason": {"always": reads_a_reason, "never": shows_why},
    "reason_codes": Expects(shows_why, "PSU_REFUSED"),
    "exchange_details": knows_every_detail,
    "details_amount": splits_an_amount,
    "status_names_payment": lambda tpp: tpp.status(tpp.initiated()).get_json()["payment_id"],
    "final_status": Expects(initiation.ends_at, "ACSC"),
    "closed_days": Expects(initiation.on_a_sunday, "ACSC"),
    "cut_off": Expects(initiation.in_the_evening, "ACSC"),
    "settlement": Expects(initiation.after("2m"), "ACSC"),
    "instant_outcome": Expects(initiation.instant_outcome, ("ACSC", None)),
    "payee_check": Expects(initiation.step_after_the_review, True),
    "payee_close": Expects(initiation.near_name, 200),
    "instant_settlement": Expects(initiation.after("5s", ISCT), "ACSC"),
    "recycling_tries": {"0": Expects(after_days(1), "PDNG"), "10": Expects(after_days(8), "RJCT")},
    "after_debit": ships_once_paid,
    "xb_delete": Expects(initiation.delete_abroad, 405),
    "cancel_again": cancels_until_it_is_done,
    "cancel_cut_off": Expects(initiation.cancelled_in_the_night, 204, 0),
    "fees": {
        "everybody abroad": lambda tpp: reckons_what_is_left(tpp, ISCT, "12.50"),
        "abroad": lambda tpp: reckons_what_is_left(tpp, XB, "10.75"),
    },
    "fee_check": Expects(initiation.whole_balance, (403, "0.00")),
    "value_date": Expects(initiation.value_dates, "2027-03-02"),
    # Of lenient axes: the same client goes on.
    "order_matrix": cancels_an_order_until_it_is_done,
    "limit_week": lambda tpp: ok(tpp.initiate(body=payment(**OF_LIMITED))),
    "savings_as_debtor": lambda tpp: ok(tpp.initiate(body=payment(debtor_account={"iban": ALICE}))),
}
