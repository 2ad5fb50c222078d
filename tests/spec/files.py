"""Bulk files that the chapters send, and what they ask about them."""

from typing import Any

from werkzeug.test import TestResponse

from sandbox.banking.iban import make_belgian
from tests.bulkfiles import a_file
from tests.bulkfiles.a_file import Bulk, euros, transaction
from tests.tpp import Tpp, version

BAKKERIJ = make_belgian("539", 1000048)
RESERVE = make_belgian("539", 1000055)  # bakkerij's second account
NOTARIS = make_belgian("539", 1000062)  # needs two signatures
ALICE = make_belgian("539", 1000017)  # private
FOREIGN = make_belgian("540", 1000048)  # of no account here
TODAY, TOMORROW, FRIDAY, SATURDAY = "2027-03-01", "2027-03-02", "2027-03-05", "2027-03-06"
MEDIA = {"pain.001": "application/xml", "csv": "text/csv"}


def bulk(
    *amounts: str, of: str = BAKKERIJ, day: str = TODAY, name: str = "A", to: str = "", booking: bool = True
) -> Bulk:
    """A bulk that pays these amounts; its identifications begin with its name."""
    account = f"<IBAN>{to or a_file.CREDITOR}</IBAN>"
    transactions = tuple(
        transaction(f"{name}-{number}", euros(amount), account=account)
        for number, amount in enumerate(amounts or ("10.00",), 1)
    )
    booked = f"<BtchBookg>{'true' if booking else 'false'}</BtchBookg>"
    return Bulk(transactions, name=name, booking=booked, day=day, account=f"<Id><IBAN>{of}</IBAN></Id>")


def pain(*bulks: Bulk, message_id: str = "M-1") -> bytes:
    return a_file.pain(*(bulks or (bulk(),)), message_id=message_id)


def csv(*rows: dict[str, str]) -> bytes:
    return a_file.csv(*(rows or ({},)))


def send(tpp: Tpp, content: bytes, kind: str = "pain.001", **changes: str | None) -> TestResponse:
    given = {"accept": version(2), "content_type": MEDIA.get(kind, "text/plain"), **changes}
    return tpp.call("POST", f"/bulk-payments/{kind}", data=content, **given)


def sent(tpp: Tpp, content: bytes, kind: str = "pain.001", **changes: str | None) -> str:
    """The id of a file that was taken in."""
    reply = send(tpp, content, kind, **changes)
    assert reply.status_code == 201, reply.text
    return str(reply.get_json()["payment_file_id"])


def validated(tpp: Tpp, content: bytes, kind: str = "pain.001", **changes: str | None) -> str:
    """The id of a file on which the bank has made up its mind."""
    payment_file_id = sent(tpp, content, kind, **changes)
    tpp.advance("120s")
    return payment_file_id


def ask(tpp: Tpp, payment_file_id: str, kind: str = "pain.001", query: str = "", **changes: str | None) -> TestResponse:
    """The status call."""
    return tpp.call(
        "GET", f"/bulk-payments/{kind}/{payment_file_id}/status{query}", **{"accept": version(2), **changes}
    )


def status(tpp: Tpp, payment_file_id: str, kind: str = "pain.001") -> dict[str, Any]:
    reply = ask(tpp, payment_file_id, kind)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.get_json()
    return found


def statuses(tpp: Tpp, payment_file_id: str, kind: str = "pain.001") -> list[str]:
    """The file's own, then that of each of its bulks."""
    found = status(tpp, payment_file_id, kind)
    return [found["status"], *(row["status"] for row in found["bulks"])]


def codes(tpp: Tpp, payment_file_id: str, kind: str = "pain.001") -> list[str]:
    """What was found, first in the whole file and then in each bulk."""
    found = status(tpp, payment_file_id, kind)
    return [error["code"] for row in (found, *found["bulks"]) for error in row.get("errors", [])]


def address_of(tpp: Tpp, payment_file_id: str, kind: str = "pain.001") -> str | None:
    links = status(tpp, payment_file_id, kind).get("_links", {})
    return str(links["sca_redirect"]["href"]) if "sca_redirect" in links else None


def approve(tpp: Tpp, address: str | None, customer: str | None = None) -> TestResponse:
    assert address is not None
    chosen = {} if customer is None else {"customer": customer}
    return tpp.control("POST", "/psu/approve", address=address, **chosen)


def signed(tpp: Tpp, content: bytes, kind: str = "pain.001", customer: str | None = None) -> str:
    """The id of a file that was validated and signed."""
    payment_file_id = validated(tpp, content, kind)
    outcome = approve(tpp, address_of(tpp, payment_file_id, kind), customer)
    assert outcome.status_code == 200, outcome.text
    return payment_file_id


def delete(tpp: Tpp, payment_file_id: str, kind: str = "pain.001", query: str = "") -> TestResponse:
    return tpp.call("DELETE", f"/bulk-payments/{kind}/{payment_file_id}{query}", accept=version(2))
