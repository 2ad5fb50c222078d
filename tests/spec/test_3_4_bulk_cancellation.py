"""When a file may be cancelled: service 3.4 and 4.6."""

from collections.abc import Callable

import pytest

from tests.spec import files
from tests.spec.files import NOTARIS, TOMORROW, bulk, delete, pain, sent, signed, status, statuses, validated
from tests.tpp import Tpp, refused, version

MILLION = "999999.00"


def half_signed(tpp: Tpp) -> str:
    payment_file_id = validated(tpp, pain(bulk(of=NOTARIS)))
    files.approve(tpp, files.address_of(tpp, payment_file_id), "notaris")
    return payment_file_id


def after(tpp: Tpp, payment_file_id: str, span: str) -> str:
    tpp.advance(span)
    return payment_file_id


def refused_by_psu(tpp: Tpp) -> str:
    payment_file_id = validated(tpp, pain())
    tpp.control("POST", "/psu/refuse", address=files.address_of(tpp, payment_file_id))
    return payment_file_id


def cancelled(tpp: Tpp) -> str:
    payment_file_id = sent(tpp, pain())
    delete(tpp, payment_file_id)
    return payment_file_id


# How a file comes there, its status then, and whether service 3.4 lets it be cancelled.
CASES: dict[str, tuple[Callable[[Tpp], str], str, bool]] = {
    "received": (lambda tpp: sent(tpp, pain()), "RCVD", True),
    "waiting for a signature": (lambda tpp: validated(tpp, pain()), "PATC", True),
    "waiting for the second": (half_signed, "PATC", True),
    "future-dated": (lambda tpp: signed(tpp, pain(bulk(day=TOMORROW))), "PDNG", True),
    "in recycling": (lambda tpp: after(tpp, signed(tpp, pain(bulk(MILLION, day=TOMORROW))), "1d"), "PDNG", True),
    "partly paid, the rest future-dated": (
        lambda tpp: after(tpp, signed(tpp, pain(bulk(), bulk(day=TOMORROW, name="B"))), "60s"),
        "PDNG",
        True,
    ),
    "about to be paid": (lambda tpp: signed(tpp, pain()), "PDNG", False),
    "one bulk about to be paid": (
        lambda tpp: signed(tpp, pain(bulk(), bulk(day=TOMORROW, name="B"))),
        "PDNG",
        False,
    ),
    "paid": (lambda tpp: after(tpp, signed(tpp, pain()), "60s"), "ACSC", False),
    "refused by the bank": (lambda tpp: validated(tpp, pain(bulk("0.00"))), "RJCT", False),
    "refused by the customer": (refused_by_psu, "CANC", False),
    "cancelled": (cancelled, "CANC", False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_cancelled_only_where_the_service_permits_it(tpp: Tpp, case: str) -> None:
    come, before, permitted = CASES[case]
    payment_file_id = come(tpp)
    assert status(tpp, payment_file_id)["status"] == before
    reply = delete(tpp, payment_file_id)
    if permitted:
        assert (reply.status_code, reply.data) == (204, b"")
        assert status(tpp, payment_file_id)["status"] == "CANC"
    else:
        assert refused(reply, 403, "SBX-0403-000002")
        assert status(tpp, payment_file_id)["status"] == before


def test_what_was_paid_stays_so_and_the_rest_is_never_paid(tpp: Tpp) -> None:
    content = pain(bulk(), bulk(day=TOMORROW, name="B"), bulk("0.00", name="C"))
    payment_file_id = after(tpp, signed(tpp, content), "60s")
    assert delete(tpp, payment_file_id).status_code == 204
    tpp.advance("30d")
    assert statuses(tpp, payment_file_id) == ["CANC", "ACSC", "CANC", "RJCT"]


def test_a_cancelled_file_is_not_validated_nor_signed(tpp: Tpp) -> None:
    payment_file_id = sent(tpp, pain())
    delete(tpp, payment_file_id)
    tpp.advance("120s")
    assert status(tpp, payment_file_id) == {"payment_file_id": payment_file_id, "status": "CANC", "bulks": []}
    other = validated(tpp, pain())
    address = files.address_of(tpp, other)
    delete(tpp, other)
    assert files.approve(tpp, address).status_code == 409


@pytest.mark.parametrize("number", [1, 2])
def test_both_versions_cancel_without_a_token(tpp: Tpp, number: int) -> None:
    path = f"/bulk-payments/pain.001/{sent(tpp, pain())}"
    assert tpp.call("DELETE", path, accept=version(number), redirect_uri=None).status_code == 204


def test_an_unknown_file_is_not_found(tpp: Tpp) -> None:
    assert refused(delete(tpp, "00000000-0000-4000-8000-000000000000"), 404, "SBX-0404-000001", "payment-file-id")
