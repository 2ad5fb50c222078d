"""Each axis of initiations and of settling, seen on the wire under each value."""

from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from tests.payer import (
    Begun,
    a_code,
    approve,
    bearer,
    begin,
    cancel,
    code_form,
    cosign,
    details,
    move,
    post_form,
    refuse,
    signed,
    status,
    tokens,
    told,
)
from tests.psu.psu import Psu
from tests.spec.bodies import ALICE, LIMITED
from tests.spec.files import NOTARIS
from tests.tpp import CHALLENGE, ISCT, SCT, XB, Tpp, payment, version
from tests.variants import orders
from tests.variants.probing import Seen, Table, cases, show

LATER = {"requested_execution_date": "2027-03-10"}


def pending(tpp: Tpp) -> tuple[str, str, str]:
    paid = signed(tpp, requested_execution_date="2027-03-10")
    order = orders.signed(tpp)
    return status(tpp, paid), details(tpp, paid, tokens(tpp)).get_json()["status"], orders.status(tpp, order)["status"]


def first_status(tpp: Tpp) -> tuple[str, str]:
    reply = tpp.initiate(body=payment())
    again = tpp.initiate(body=payment(), request_id=reply.headers["Response-ID"])
    return reply.get_json()["status"], again.get_json()["status"]


def sources(tpp: Tpp) -> tuple[bool, bool]:
    reply = tpp.initiate()
    return "Location" in reply.headers, "sca_redirect" in reply.get_json()["_links"]


def address(tpp: Tpp) -> str:
    return str(tpp.initiate().headers["Location"])


def state_comes_back(tpp: Tpp) -> tuple[str, bool]:
    found = address(tpp)
    reply = approve(tpp, f"{found}{'&' if '?' in found else '?'}state=s-1", "alice").get_json()
    assert "state=s-1" in reply["redirect"]
    return found.partition("?")[2], approve(tpp, f"{address(tpp)}?state=s-1", "alice").status_code == 200


def host(tpp: Tpp) -> str:
    found = address(tpp)
    assert approve(tpp, found, "alice").status_code == 200
    return found.partition("://")[2].partition("/")[0]


def opened_without_state(tpp: Tpp) -> tuple[int, int, int]:
    page = tpp.http.get(address(tpp)).status_code
    return (
        page,
        approve(tpp, address(tpp), "alice").status_code,
        approve(tpp, f"{address(tpp)}?state=x", "alice").status_code,
    )


def fields_of_the_reply(tpp: Tpp) -> tuple[list[str], list[str]]:
    found = tpp.initiate().get_json()
    return sorted(found), sorted(found["_links"])


def plain_challenge(tpp: Tpp) -> int:
    return tpp.initiate(code_challenge_method="plain", code_challenge=CHALLENGE).status_code


def the_same_again(tpp: Tpp) -> tuple[int, bool]:
    first, second = tpp.initiate(), tpp.initiate()
    approve(tpp, second.headers["Location"], "alice")
    third = tpp.initiate()
    assert third.get_json()["payment_id"] != second.get_json()["payment_id"]
    orders.begun(tpp)
    orders.begun(tpp)
    return len(tpp.listed("payments")) + len(tpp.listed("standing-orders")), first.headers[
        "Location"
    ] == second.headers["Location"]


def reference_twice(tpp: Tpp) -> tuple[int, int]:
    return [tpp.initiate().status_code for _ in range(2)][1], [orders.initiate(tpp).status_code for _ in range(2)][1]


def by_reference(tpp: Tpp) -> int:
    for _ in range(2):
        tpp.initiate()
    return tpp.call("GET", f"/payments/{SCT}/INVOICE-2027-001/status?paymentIdType=EXTERNAL").status_code


def delete_by_reference(tpp: Tpp) -> int:
    pair = tokens(tpp)
    for _ in range(2):
        begin(tpp)
    path = f"/payments/{SCT}/INVOICE-2027-001?paymentIdType=EXTERNAL"
    return tpp.call("DELETE", path, accept=version(2), authorization=bearer(pair)).status_code


def after_an_hour(tpp: Tpp) -> tuple[str, str]:
    begun = begin(tpp, debtor_account={"iban": NOTARIS})
    approve(tpp, begun.address, "notaris")
    unsigned = begin(tpp)
    tpp.advance("61m")
    if status(tpp, begun) == "PATC":
        assert cosign(tpp, begun.id, "griet").status_code == 200
    return status(tpp, begun), status(tpp, unsigned)


def order_after_an_hour(tpp: Tpp) -> tuple[str, str | None]:
    payment_id, _ = orders.begun(tpp)
    tpp.advance("61m")
    found = orders.status(tpp, payment_id)
    return found["status"], found.get("reason")


def week_of_the_limit(tpp: Tpp) -> int:
    """480 of 500 in the week that ends today; on Monday a calendar week begins anew."""
    for day in ("2027-03-04T09:00", "2027-03-05T09:00"):
        tpp.control("POST", "/clock", set=day)
        signed(tpp, ISCT, "limited", debtor_account={"iban": LIMITED}, instructed_amount__amount="240.00")
    tpp.control("POST", "/clock", set="2027-03-08T09:00")
    body = payment(debtor_account={"iban": LIMITED}, instructed_amount__amount="100.00")
    return tpp.initiate(body=body).status_code


def from_savings(tpp: Tpp) -> int:
    savings = next(row["iban"] for row in tpp.listed("accounts") if row["type"] == "savings-account")
    return tpp.initiate(body=payment(debtor_account={"iban": savings})).status_code


def to_itself(tpp: Tpp) -> int:
    return tpp.initiate(body=payment(debtor_account={"iban": ALICE}, creditor_account={"iban": ALICE})).status_code


def over_the_limit(tpp: Tpp) -> tuple[int, int | None]:
    body = payment(debtor_account={"iban": LIMITED}, instructed_amount__amount="900.00")
    reply = tpp.initiate(body=body)
    page = approve(tpp, reply.headers["Location"]).status_code if reply.status_code == 201 else None
    return reply.status_code, page


def limit_of_a_day(tpp: Tpp) -> tuple[int, int]:
    """200 of 250 are signed for another day: what is left of this day, and of that one."""
    given: dict[str, Any] = {"debtor_account": {"iban": LIMITED}, "instructed_amount__amount": "200.00"}
    signed(tpp, SCT, "limited", **given, **LATER)
    return tpp.initiate(body=payment(**given)).status_code, tpp.initiate(body=payment(**given, **LATER)).status_code


def poor_account(tpp: Tpp) -> tuple[int, tuple[str, str | None], bool]:
    """The answer to the signature, the status, and whether the callback has an error."""
    begun = begin(tpp, instructed_amount__amount="900.00")
    reply = approve(tpp, begun.address, "poor")
    return reply.status_code, told(tpp, begun), "error=access_denied" in (reply.get_json().get("redirect") or "")


def unknown_psu(tpp: Tpp) -> Any:
    pair = tokens(tpp)
    return details(tpp, begin(tpp), pair).get_json().get("psu_name", "absent")


def reasons(tpp: Tpp) -> tuple[str, str]:
    open_one, refused = begin(tpp), begin(tpp)
    refuse(tpp, refused.address)
    return tuple(str(tpp.status(one.id).get_json().get("reason", "absent")) for one in (open_one, refused))  # type: ignore[return-value]


def amounts(tpp: Tpp) -> tuple[Any, Any]:
    pair = tokens(tpp)
    found = details(tpp, begin(tpp, instructed_amount__amount="12.5"), pair).get_json()["instructed_amount"]["amount"]
    order = orders.signed(tpp, instructed_amount__amount="8")
    path = f"{orders.PATH}/{order}/details"
    other = tpp.call("GET", path, accept=version(2), authorization=bearer(pair)).get_json()["instructed_amount"][
        "amount"
    ]
    return found, other


def exchanged(tpp: Tpp) -> Any:
    """What the details say of the exchange: of a payment in dollars from a euro account."""
    pair = tokens(tpp)
    began = begin(tpp, XB, instructed_amount__currency="USD", debtor_account={"iban": ALICE})
    return details(tpp, began, pair).get_json().get("exchange_details", "absent")


def names_payment(tpp: Tpp) -> bool:
    return "payment_id" in tpp.status(tpp.initiated()).get_json()


# Settling and cancelling


def refused_after_the_debit(tpp: Tpp) -> tuple[str, int]:
    paid = signed(tpp)
    tpp.advance("6s")
    assert status(tpp, paid) == "ACSP"
    assert move(tpp, paid.id, "RJCT", reason="AC04").status_code == 200
    lines = [row for row in tpp.listed("journal") if row["subject"] == paid.id and row["trigger"] == "returned"]
    return status(tpp, paid), len(lines)


def whole_balance(tpp: Tpp) -> tuple[int, str]:
    """The reply to an instant payment of a whole balance, and how far the account goes below zero."""
    atelier = tpp.iban_of("atelier")
    body = payment(ISCT, debtor_account={"iban": atelier}, instructed_amount__amount=f"{euros(tpp, atelier):.2f}")
    reply = tpp.initiate(ISCT, body)
    if reply.status_code == 201:
        tpp.signed(reply)
        tpp.advance("1m")
    return reply.status_code, f"{min(euros(tpp, atelier), Decimal()):.2f}"


def fees_taken(tpp: Tpp) -> tuple[str, str, str]:
    """What leaves the account for a plain, an instant and a cross-border payment."""
    left = []
    for product in (SCT, ISCT, XB):
        before = euro_of_alice(tpp)
        tpp.signed(tpp.initiate(product, payment(product)), "alice")
        tpp.advance("5m")
        left.append(f"{before - euro_of_alice(tpp):.2f}")
    return left[0], left[1], left[2]


def euro_of_alice(tpp: Tpp) -> Decimal:
    return euros(tpp, ALICE)


def euros(tpp: Tpp, iban: str) -> Decimal:
    row = next(row for row in tpp.listed("accounts") if row["iban"] == iban)
    return Decimal(row["balances"][0]["balance"])


def delete_abroad(tpp: Tpp) -> int:
    return cancel(tpp, Begun("x", XB, ""), None).status_code


def cancelled_twice(tpp: Tpp) -> tuple[int, int]:
    pair, begun = tokens(tpp), begin(tpp)
    return cancel(tpp, begun, pair).status_code, cancel(tpp, begun, pair).status_code


def order_cancelled_twice(tpp: Tpp) -> tuple[int, str]:
    pair, order = tokens(tpp), orders.signed(tpp)
    path = f"{orders.PATH}/{order}"
    for _ in range(2):
        reply = tpp.call("DELETE", path, accept=version(2), authorization=bearer(pair))
    return reply.status_code, orders.status(tpp, order)["status"]


def cancelled_in_the_night(tpp: Tpp) -> tuple[int, int]:
    pair = tokens(tpp)
    first, second = (signed(tpp, requested_execution_date=day) for day in ("2027-03-02", "2027-03-03"))
    tpp.control("POST", "/clock", set="2027-03-02T00:30")
    fresh = post_form(tpp, {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}).get_json()
    return cancel(tpp, first, fresh).status_code, cancel(tpp, second, fresh).status_code


def value_dates(tpp: Tpp) -> str:
    paid = signed(tpp)
    tpp.advance("1m")
    from tests.reader import Reader

    lines = Reader(tpp).page()["transactions"]
    return str(next(row["value_date"] for row in lines if row["transaction_ref"].startswith(paid.id)))


def ends_at(tpp: Tpp) -> str:
    paid = signed(tpp)
    tpp.advance("1d")
    return status(tpp, paid)


def after(span: str, product: str = SCT) -> Any:
    def probe(tpp: Tpp) -> str:
        paid = signed(tpp, product)
        tpp.advance(span)
        return status(tpp, paid)

    return probe


def instant_outcome(tpp: Tpp) -> tuple[str, str | None]:
    paid = signed(tpp, ISCT)
    tpp.advance("10s")
    return told(tpp, paid)


def step_after_the_review(tpp: Tpp) -> bool:
    """Whether the customer signs there."""
    begun = begin(tpp, debtor_account={"iban": ALICE})
    psu = Psu(tpp.http.application)
    path = begun.address.removeprefix("http://localhost")
    psu.log_in(path, "alice")
    return 'id="shown"' in psu.open(f"{path}/code").text


def near_name(tpp: Tpp) -> int:
    """The signature of a payment whose beneficiary's name is a close match, where the bank checks it."""
    tpp.control("PATCH", "/settings", payee_check="page")
    return pays_a_near_name(tpp)


def pays_a_near_name(tpp: Tpp) -> int:
    return approve(tpp, begin(tpp, creditor_name="Test VoP close").address, "alice").status_code


def on_a_sunday(tpp: Tpp) -> str:
    tpp.control("POST", "/clock", set="2027-03-07T12:00")
    return str(after("1h")(tpp))


def in_the_evening(tpp: Tpp) -> str:
    tpp.control("POST", "/clock", set="2027-03-08T15:00")
    return str(after("1h")(tpp))


def recycled(tpp: Tpp) -> int:
    from tests.spec.bodies import POOR

    paid = signed(tpp, SCT, "poor", debtor_account={"iban": POOR}, instructed_amount__amount="900.00", **LATER)
    tpp.advance("30d")
    assert told(tpp, paid) == ("RJCT", "AM04")
    rows = tpp.control("GET", f"/payments/{paid.id}").get_json()["history"]
    return [row["status"] for row in rows].count("PDNG") - 1


def checked(tpp: Tpp) -> str:
    begun = begin(tpp)
    tpp.advance("5s")
    return status(tpp, begun)


def signed_late(tpp: Tpp) -> int:
    begun = begin(tpp)
    tpp.advance("3m")
    return approve(tpp, begun.address, "alice").status_code


ALL = ["_links", "endtoend_identification", "payment_id", "status"]
SEEN: Table = {
    "status_spelling": Seen(pending, {"PDNG": ("PDNG",) * 3, "PNDG": ("PNDG",) * 3}),
    "first_status": Seen(first_status, {"RCVD": ("RCVD", "RCVD"), "PATC": ("PATC", "PATC")}),
    "sca_address_in": Seen(sources, {"both": (True, True), "location": (True, False), "links": (False, True)}),
    "sca_address_query": Seen(state_comes_back, {"none": ("", True), "present": ("flow=sign", True)}),
    "sca_host": Seen(host, {"same": "localhost", "other": "127.0.0.1"}),
    "no_state": Seen(opened_without_state, {"goes_on": (200, 200, 200), "refused": (400, 400, 200)}),
    "initiation_fields": Seen(
        fields_of_the_reply,
        {"all": (ALL, ["sca_redirect", "self", "status"]), "few": (["_links", "payment_id"], ["sca_redirect"])},
    ),
    "initiation_field_names": Seen(
        fields_of_the_reply,
        {
            "snake": (ALL, ["sca_redirect", "self", "status"]),
            "camel": (["_links", "endToEndIdentification", "paymentId", "status"], ["scaRedirect", "self", "status"]),
        },
    ),
    "pkce_plain": Seen(plain_challenge, {"accepted": 201, "refused": 400}),
    "reinitiation": Seen(the_same_again, {"new": (5, False), "same": (3, False)}),
    "duplicate_external": Seen(reference_twice, {"allowed": (201, 201), "refused": (400, 400)}),
    "ambiguous_external": Seen(by_reference, {"409": 409, "newest": 200}),
    "ambiguous_delete": Seen(delete_by_reference, {"400": 400, "404": 404}),
    "half_signed": Seen(after_an_hour, {"ends": ("CANC", "CANC"), "stays": ("PDNG", "CANC")}),
    "unsigned_order": Seen(order_after_an_hour, {"stays": ("PATC", None), "60_minutes": ("CANC", "TIME_OUT")}),
    "limit_week": Seen(week_of_the_limit, {"seven_days": 403, "calendar": 201}),
    "savings_as_debtor": Seen(from_savings, {"refused": 403, "accepted": 201}),
    "self_payment": Seen(to_itself, {"accepted": 201, "refused": 400}),
    "profile_refusal": Seen(over_the_limit, {"post": (403, None), "page": (201, 403), "callback": (201, 200)}),
    "limits_day": Seen(limit_of_a_day, {"signature": (403, 403), "execution": (201, 403)}),
    "funds_missing_after_pick": Seen(
        poor_account,
        {
            "choose_again": (403, ("RCVD", None), False),
            "callback": (200, ("CANC", "AM04"), True),
            "RJCT": (200, ("RJCT", "AM04"), False),
        },
    ),
    "psu_name_before_login": Seen(unknown_psu, {"absent": "absent", "null": None}),
    "reason": Seen(
        reasons,
        {
            "where_known": ("absent", "PSU_REFUSED"),
            "always": ("None", "PSU_REFUSED"),
            "never": ("absent", "absent"),
        },
    ),
    "reason_codes": Seen(reasons, {"words": ("absent", "PSU_REFUSED"), "iso": ("absent", "DS02")}),
    "exchange_details": Seen(
        exchanged,
        {
            "absent": "absent",
            "present": {
                "exchange_rate": "0.86",
                "debited_amount": {"currency": "EUR", "amount": "10.75"},
                "charges": {"currency": "EUR", "amount": "0.00"},
            },
        },
    ),
    "details_amount": Seen(amounts, {"string": ("12.50", "8.00"), "number": (12.5, 8.0), "as_sent": ("12.5", "8")}),
    "status_names_payment": Seen(names_payment, {"yes": True, "no": False}),
    "technical_checks": Seen(checked, {"short": "PATC", "long": "RCVD"}),
    "sca_address_life": Seen(signed_late, {"long": 200, "short": 410}),
    "fees": Seen(
        fees_taken,
        {
            "tariff": ("12.50", "12.50", "10.75"),
            "everybody": ("12.50", "15.00", "10.75"),
            "abroad": ("12.50", "15.00", "13.25"),
        },
    ),
    "fee_check": Seen(whole_balance, {"with_amount": (403, "0.00"), "later": (201, "-0.90")}),
    "after_debit": Seen(refused_after_the_debit, {"RJCT": ("RJCT", 0), "return": ("ACSC", 1)}),
    "xb_delete": Seen(delete_abroad, {"405": 405, "403": 403}),
    "cancel_again": Seen(cancelled_twice, {"403": (204, 403), "204": (204, 204), "404": (204, 404)}),
    "order_matrix": Seen(order_cancelled_twice, {"listed": (403, "CANC"), "all": (204, "CANC")}),
    "cancel_cut_off": Seen(cancelled_in_the_night, {"06:00": (204, 204), "day_before": (403, 204)}),
    "value_date": Seen(value_dates, {"next_day": "2027-03-02", "same_day": "2027-03-01"}),
    "final_status": Seen(ends_at, {"ACSC": "ACSC", "ACSP": "ACSP"}),
    "closed_days": Seen(on_a_sunday, {"ignore": "ACSC", "respect": "PDNG"}),
    "cut_off": Seen(in_the_evening, {"off": "ACSC", "15:00": "PDNG"}),
    "settlement": Seen(after("2m"), {"fast": "ACSC", "slow": "PDNG"}),
    "instant_outcome": Seen(
        instant_outcome,
        {"settles": ("ACSC", None)}
        | {code: ("RJCT", code) for code in ("AB05", "AB06", "AB08", "AC04", "AC06", "AM04", "AG01", "TM01")},
    ),
    "payee_check": Seen(step_after_the_review, {"off": True, "page": False}),
    "payee_close": Seen(near_name, {"warns": 200, "stops": 403}),
    "instant_settlement": Seen(after("5s", ISCT), {"fast": "ACSC", "slow": "ACSP"}),
    "recycling_tries": Seen(recycled, {"3": 3, "0": 0, "10": 10}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_a_browser_signs_at_an_address_with_a_query(app: Flask, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"sca_address_query": "present", "no_state": "refused"})
    found = begin(tpp, debtor_account={"iban": ALICE})
    assert "state=s-1" in Psu(app).sign(f"{found.address}&state=s-1", "alice")
    assert post_form(tpp, code_form(a_code_of(tpp))).status_code == 200


def a_code_of(tpp: Tpp) -> str:
    tpp.control("PATCH", "/settings", variants={"no_state": "goes_on"})
    return a_code(tpp)


def test_money_that_a_closed_account_does_not_take_returns_once(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"after_debit": "return"})
    bram = tpp.iban_of("bram")
    before = euro_of_alice(tpp)
    paid = signed(tpp, debtor_account={"iban": ALICE}, creditor_account={"iban": bram})
    assert tpp.control("PATCH", f"/accounts/{bram}", closed=True).status_code == 200
    tpp.advance("5m")
    assert status(tpp, paid) == "ACSC" and euro_of_alice(tpp) == before
