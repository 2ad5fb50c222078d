"""Toy clients of standing orders and of files."""

from datetime import date
from typing import Any

from tests.payer import clock_to
from tests.reader import Reader, book
from tests.spec import files
from tests.spec.bodies import POOR
from tests.spec.files import ask, bulk, csv, pain, send, sent, statuses, validated
from tests.tpp import Tpp
from tests.variants import orders
from tests.variants import test_orders_and_files as filing
from tests.variants.naive import Expects, Toys, ok


def failed(tpp: Tpp) -> str:
    """An order whose first execution lacked funds."""
    reply = orders.initiate(tpp, debtor_account={"iban": POOR}, instructed_amount__amount="900.00")
    ok(tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="poor"))
    clock_to(tpp, "2027-04-01T12:00")
    return str(reply.get_json()["payment_id"])


def pays_the_rent_by_hand(tpp: Tpp) -> None:
    """The order failed this month, so the money is taken to leave once."""
    order = failed(tpp)
    book(tpp, POOR, "1000.00")
    tpp.advance("1d")
    assert not any(row["state"] == "executed" for row in occurrences(tpp, order))


def occurrences(tpp: Tpp, order: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tpp.control("GET", f"/standing-orders/{order}").get_json()["occurrences"]
    return found


def days(first: str, *expected: str) -> Any:
    """A client that reckons the days by itself."""

    def toy(tpp: Tpp) -> None:
        order = orders.signed(tpp, start_date=first)
        tpp.advance("2s")
        found = [date.fromisoformat(row["on"]) for row in occurrences(tpp, order)]
        assert found[: len(expected)] == [date.fromisoformat(day) for day in expected]

    return toy


# Files


def keeps_an_address(tpp: Tpp) -> None:
    file = validated(tpp, pain())
    address = files.address_of(tpp, file)
    statuses(tpp, file)
    ok(files.approve(tpp, address))


def takes_bulks_for_the_end(tpp: Tpp) -> Any:
    """A file whose bulks are listed is validated, so it has an address."""
    found = files.status(tpp, sent(tpp, pain()))
    return found["_links"]["sca_redirect"] if found.get("bulks") else None


def finds_its_file(tpp: Tpp) -> None:
    sent(tpp, pain(), PaymentInformationID="P-1")
    ok(ask(tpp, "P-1", query="?paymentFileIdType=EXTERNAL"))


def sends_a_lost_file_again(tpp: Tpp) -> None:
    found = [validated(tpp, pain()) for _ in range(2)]
    assert [statuses(tpp, file)[0] for file in found] == ["PATC", "RJCT"]


def asks_for_funds_first(tpp: Tpp) -> None:
    file = validated(tpp, pain(bulk("9000000.00")))
    files.approve(tpp, files.address_of(tpp, file))
    tpp.advance("2m")
    assert statuses(tpp, file)[0] == "PATC"


def looks_for(asked: bool, amounts: list[float]) -> Any:
    """Looks for what it sent among the transactions."""

    def toy(tpp: Tpp) -> None:
        file = files.signed(tpp, pain(bulk("1.00", "2.00", "3.00", booking=asked)))
        tpp.advance("2m")
        rows = Reader(tpp, "bakkerij").page()["transactions"]
        assert sorted(-row["amount"] for row in rows if row["transaction_ref"].startswith(file)) == amounts

    return toy


def separated_by(mark: bytes) -> Any:
    return lambda tpp: ok(send(tpp, csv().replace(b";", b",").replace(b",", mark), "csv"))


def checked(place: int) -> Any:
    return lambda tpp: filing.one_is_bad(tpp)[0][place]


TOYS: Toys = {
    "contract_activation": Expects(filing.seconds_later, "ACWP"),
    "calendar": days("2027-05-06", "2027-05-06"),
    "day_31": days("2027-03-31", "2027-03-31", "2027-04-30"),
    "failed_occurrence": {
        "retried": pays_the_rent_by_hand,
        "ends": Expects(lambda tpp: orders.status(tpp, failed(tpp))["status"], "ACWP"),
    },
    "order_currency": lambda tpp: ok(orders.initiate(tpp, instructed_amount__currency=None)),
    "signed_order": Expects(filing.just_signed, "PDNG"),
    "ended_order": Expects(filing.after_the_last, ("CANC", "CONTRACT_ENDED")),
    "bulk_validation": Expects(filing.validated_after, "PATC"),
    "bulk_execution": Expects(filing.paid_after, "ACSC"),
    "bad_transaction": {"the_file": Expects(checked(1), "PATC"), "it_alone": Expects(checked(2), "RJCT")},
    "bulks_while_rcvd": {
        "absent": lambda tpp: files.status(tpp, sent(tpp, pain()))["bulks"],
        "listed": takes_bulks_for_the_end,
    },
    "file_numbers": lambda tpp: sum(row["control_sum"] for row in files.status(tpp, validated(tpp, pain()))["bulks"]),
    "payment_information_id": {"required": lambda tpp: ok(send(tpp, pain())), "of_a_bulk": finds_its_file},
    "address_at_status": keeps_an_address,
    "funds_of_today": asks_for_funds_first,
    "mixed_file_after_cancel": Expects(filing.cancelled_half_paid, ["CANC", "ACSC", "CANC"], 1),
    "csv_dialect": {"comma": separated_by(b";"), "semicolon": separated_by(b",")},
    "batch_booking": {"one_line": looks_for(False, [1.0, 2.0, 3.0]), "each": looks_for(True, [6.0])},
    "duplicate_message_id": sends_a_lost_file_again,
    "unsigned_file": Expects(filing.file_after_an_hour, ["PATC", "PATC"], 0),
    # Of lenient axes: the same client goes on.
    "creditor_reference_in_file": lambda tpp: statuses(tpp, validated(tpp, pain())).index("PATC"),
    "start_date": lambda tpp: ok(orders.initiate(tpp, start_date="2027-03-02")),
}
