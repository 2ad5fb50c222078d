"""Each axis of standing orders and of files, seen on the wire under each value."""

from dataclasses import replace
from typing import Any

import pytest

from tests.bulkfiles.a_file import remittance, transaction
from tests.reader import Reader
from tests.spec import files
from tests.spec.bodies import POOR
from tests.spec.files import FRIDAY, TODAY, ask, bulk, codes, csv, pain, send, sent, statuses, validated
from tests.tpp import Tpp
from tests.variants import orders
from tests.variants.probing import Seen, Table, cases, show


def without_funds(tpp: Tpp) -> tuple[str, int]:
    """The status after a week, and how often it was tried."""
    body = {"debtor_account": {"iban": POOR}, "instructed_amount__amount": "90000.00"}
    reply = orders.initiate(tpp, **body)
    tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="poor")
    payment_id = reply.get_json()["payment_id"]
    tpp.control("POST", "/clock", set="2027-04-09T12:00")
    rows = [row for row in tpp.listed("journal") if row["subject"] == payment_id and row["trigger"] == "funds_missing"]
    return orders.status(tpp, payment_id)["status"], len(rows)


def without_currency(tpp: Tpp) -> tuple[int, int]:
    return orders.initiate(tpp, instructed_amount__currency=None).status_code, orders.initiate(tpp).status_code


def starting(day: str) -> Any:
    return lambda tpp: orders.initiate(tpp, start_date=day).status_code


def just_signed(tpp: Tpp) -> str:
    return str(orders.status(tpp, orders.signed(tpp))["status"])


def seconds_later(tpp: Tpp) -> str:
    order = orders.signed(tpp)
    tpp.advance("2s")
    return str(orders.status(tpp, order)["status"])


def days_of(first: str) -> Any:
    """The first four executions of an order."""

    def probe(tpp: Tpp) -> list[str]:
        order = orders.signed(tpp, start_date=first)
        tpp.advance("40d")
        found = tpp.control("GET", f"/standing-orders/{order}").get_json()["occurrences"]
        return [row["on"] for row in found[:4]]

    return probe


def after_the_last(tpp: Tpp) -> tuple[str, str | None]:
    order = orders.signed(tpp, end_date="2027-05-31")
    tpp.advance("100d")
    found = orders.status(tpp, order)
    return found["status"], found.get("reason")


# Files


def one_is_bad(tpp: Tpp) -> tuple[list[str], list[str]]:
    """What the validation says, and what is paid in the end."""
    good, bad = bulk("5.00", name="B"), bulk("20.00", name="C", to="BE00000000000000")
    both = replace(good, transactions=good.transactions + bad.transactions)
    file = validated(tpp, pain(bulk("10.00"), both))
    found = statuses(tpp, file)
    if found[0] == "PATC":
        assert files.approve(tpp, files.address_of(tpp, file)).status_code == 200
        tpp.advance("2m")
    lines = Reader(tpp, "bakkerij").page()["transactions"]
    return found, sorted(f"{-row['amount']:.2f}" for row in lines if row["transaction_ref"].startswith(file))


def unvalidated(tpp: Tpp) -> Any:
    found = files.status(tpp, sent(tpp, pain())).get("bulks", "absent")
    return found if isinstance(found, str) else [(row["status"], row["control_sum"]) for row in found]


def numbers(tpp: Tpp) -> tuple[Any, Any]:
    row = files.status(tpp, validated(tpp, pain()))["bulks"][0]
    return row["control_sum"], row["number_of_transactions"]


def without_header(tpp: Tpp) -> tuple[int, int, int]:
    """Without the header, with it, and whether the file is found by it."""
    without = send(tpp, pain()).status_code
    given = send(tpp, pain(message_id="M-2"), PaymentInformationID="P-1").status_code
    return without, given, ask(tpp, "P-1", query="?paymentFileIdType=EXTERNAL").status_code


def address_twice(tpp: Tpp) -> tuple[bool, int]:
    file = validated(tpp, pain())
    first, second = files.address_of(tpp, file), files.address_of(tpp, file)
    answer = files.approve(tpp, first).status_code
    if answer == 404:
        assert files.approve(tpp, second).status_code == 200
    return first == second, answer


def funds_of_today(tpp: Tpp) -> tuple[int, list[str]]:
    file = validated(tpp, pain(bulk("9000000.00")))
    answer = files.approve(tpp, files.address_of(tpp, file)).status_code
    tpp.advance("2m")
    return answer, statuses(tpp, file)


def cancelled_half_paid(tpp: Tpp) -> tuple[int, list[str]]:
    file = files.signed(tpp, pain(bulk("10.00"), bulk("20.00", name="B", day=FRIDAY)))
    tpp.advance("2m")
    return files.delete(tpp, file).status_code, statuses(tpp, file)


def separators(tpp: Tpp) -> tuple[int, int]:
    text = csv()
    comma = text if text.partition(b"\n")[0].count(b",") else text.replace(b";", b",")
    return send(tpp, comma, "csv").status_code, send(tpp, comma.replace(b",", b";"), "csv").status_code


def lines_of(asked: bool) -> Any:
    def probe(tpp: Tpp) -> int:
        file = files.signed(tpp, pain(bulk("1.00", "2.00", "3.00", booking=asked)))
        tpp.advance("2m")
        rows = Reader(tpp, "bakkerij").page()["transactions"]
        return len([row for row in rows if row["transaction_ref"].startswith(file)])

    return probe


def lines_of_both(tpp: Tpp) -> tuple[int, int]:
    first = lines_of(True)(tpp)
    tpp.advance("1d")
    file = files.signed(tpp, pain(bulk("1.00", "2.00", "3.00", booking=False, day="2027-03-02"), message_id="M-2"))
    tpp.advance("2m")
    rows = Reader(tpp, "bakkerij").page()["transactions"]
    return first, len([row for row in rows if row["transaction_ref"].startswith(file)])


def same_message_again(tpp: Tpp) -> list[str]:
    validated(tpp, pain())
    return codes(tpp, validated(tpp, pain()))


def file_after_an_hour(tpp: Tpp) -> tuple[list[str], str | None]:
    file = validated(tpp, pain())
    tpp.advance("61m")
    found = files.status(tpp, file)
    return statuses(tpp, file), found.get("reason")


def validated_after(tpp: Tpp) -> str:
    file = sent(tpp, pain())
    tpp.advance("3m")
    return statuses(tpp, file)[0]


def paid_after(tpp: Tpp) -> str:
    file = files.signed(tpp, pain())
    tpp.advance("2m")
    return statuses(tpp, file)[0]


def wrong_digits(tpp: Tpp) -> list[str]:
    """The status of a file and its bulks, whose first has a reference with wrong check digits."""
    reference = "<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>BBA</Issr></Tp><Ref>090933755494</Ref>"
    wrong = replace(bulk(), transactions=(transaction(remittance=remittance(f"{reference}</CdtrRefInf></Strd>")),))
    return statuses(tpp, validated(tpp, pain(wrong, bulk(name="B"))))


SEEN: Table = {
    "calendar": Seen(
        days_of("2027-05-06"),
        {
            "target2": ["2027-05-06", "2027-06-07", "2027-07-06", "2027-08-06"],
            "belgian": ["2027-05-07", "2027-06-07", "2027-07-06", "2027-08-06"],
        },
    ),
    "day_31": Seen(
        days_of("2027-03-31"),
        {
            "last_day": ["2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30"],
            "skipped": ["2027-03-31", "2027-05-31", "2027-08-02", "2027-08-31"],
            "first_of_next": ["2027-03-31", "2027-05-03", "2027-05-31", "2027-07-01"],
        },
    ),
    "failed_occurrence": Seen(without_funds, {"skipped": ("ACWP", 1), "retried": ("ACWP", 4), "ends": ("CANC", 1)}),
    "order_currency": Seen(without_currency, {"default": (201, 201), "required": (400, 201)}),
    "start_date": Seen(starting(TODAY), {"tomorrow": 400, "today": 201}),
    "signed_order": Seen(just_signed, {"PDNG": "PDNG", "ACWP": "ACWP"}),
    "ended_order": Seen(after_the_last, {"CANC": ("CANC", "CONTRACT_ENDED"), "ACWP": ("ACWP", None)}),
    "contract_activation": Seen(seconds_later, {"at_once": "ACWP", "late": "PDNG"}),
    "bad_transaction": Seen(
        one_is_bad,
        {
            "its_bulk": (["PATC", "PATC", "RJCT"], ["10.00"]),
            "the_file": (["RJCT", "RJCT", "RJCT"], []),
            "it_alone": (["PATC", "PATC", "PATC"], ["10.00", "5.00"]),
        },
    ),
    "bulks_while_rcvd": Seen(unvalidated, {"empty": [], "absent": "absent", "listed": [("RCVD", 10.0)]}),
    "file_numbers": Seen(numbers, {"numbers": (10.0, 1), "strings": ("10.00", "1")}),
    "payment_information_id": Seen(
        without_header, {"optional": (201, 201, 200), "required": (400, 201, 200), "of_a_bulk": (201, 201, 404)}
    ),
    "address_at_status": Seen(address_twice, {"same": (True, 200), "new": (False, 404)}),
    "funds_of_today": Seen(
        funds_of_today,
        {
            "page": (403, ["PATC", "PATC"]),
            "recycled": (200, ["PDNG", "PDNG"]),
            "RJCT": (200, ["RJCT", "RJCT"]),
        },
    ),
    "mixed_file_after_cancel": Seen(
        cancelled_half_paid, {"CANC": (204, ["CANC", "ACSC", "CANC"]), "ACSC": (204, ["ACSC", "ACSC", "CANC"])}
    ),
    "csv_dialect": Seen(separators, {"both": (201, 201), "comma": (201, 400), "semicolon": (400, 201)}),
    "batch_booking": Seen(lines_of_both, {"as_asked": (1, 3), "one_line": (1, 1), "each": (3, 3)}),
    "duplicate_message_id": Seen(same_message_again, {"refused": ["DUPLICATE_MSGID"], "accepted": []}),
    "creditor_reference_in_file": Seen(wrong_digits, {"checked": ["PATC", "RJCT", "PATC"], "text": ["PATC"] * 3}),
    "unsigned_file": Seen(
        file_after_an_hour, {"stays": (["PATC", "PATC"], None), "60_minutes": (["CANC", "CANC"], "TIME_OUT")}
    ),
    "bulk_validation": Seen(validated_after, {"fast": "PATC", "slow": "RCVD"}),
    "bulk_execution": Seen(paid_after, {"fast": "ACSC", "slow": "PDNG"}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_an_order_that_starts_today_pays_on_the_next_banking_day(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"start_date": "today"})
    order = orders.signed(tpp, start_date=TODAY)
    tpp.advance("2d")
    rows = [row for row in tpp.listed("journal") if row["subject"] == order and row["trigger"] == "occurred"]
    assert len(rows) == 1
