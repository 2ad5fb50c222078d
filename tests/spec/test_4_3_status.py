"""service 4.0, 4.3 and choice 5: whose status may be read, and by which identifier."""

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.contracts import ALICE
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

PRODUCTS = (SCT, ISCT, XB)
NOT_FOUND = "SBX-0404-000001"


def by(tpp: Tpp, kind: str, reference: str, product: str = SCT, **changes: Any) -> TestResponse:
    return tpp.call("GET", f"/payments/{product}/{reference}/status?paymentIdType={kind}", **changes)


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_internal_reference_is_the_default(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product)
    assert tpp.status(payment_id, product).json == by(tpp, "INTERNAL", payment_id, product).json
    assert tpp.status(payment_id, product).status_code == 200


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_external_reference_is_the_end_to_end_identification(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product, endtoend_identification="MINE-1")
    reply = by(tpp, "EXTERNAL", "MINE-1", product)
    assert (reply.status_code, reply.get_json()["payment_id"]) == (200, payment_id)


def test_the_two_kinds_of_reference_are_not_mixed_up(tpp: Tpp) -> None:
    payment_id = tpp.initiated(endtoend_identification="MINE-1")
    assert refused(tpp.status("MINE-1"), 404, NOT_FOUND)
    assert refused(by(tpp, "INTERNAL", "MINE-1"), 404, NOT_FOUND)
    assert refused(by(tpp, "EXTERNAL", payment_id), 404, NOT_FOUND)


@pytest.mark.parametrize("kind", ("internal", "External", "", "payment_id", "INTERNAL&paymentIdType=EXTERNAL"))
def test_another_kind_of_reference_is_refused(tpp: Tpp, kind: str) -> None:
    assert refused(by(tpp, kind, tpp.initiated()), 400, "GEN-1202-100002", "'paymentIdType'")


@pytest.mark.parametrize("name", ("colour", "paymentidtype", "paymentFileIdType"))
def test_an_unknown_query_input_is_refused(tpp: Tpp, name: str) -> None:
    reply = tpp.call("GET", f"/payments/{SCT}/{tpp.initiated()}/status?{name}=INTERNAL")
    assert refused(reply, 400, "GEN-1202-100002", f"'{name}'")


def test_an_external_reference_that_fits_several_is_a_conflict(tpp: Tpp) -> None:
    payment_ids = [tpp.initiated(endtoend_identification="MINE-1") for _ in range(2)]
    assert refused(by(tpp, "EXTERNAL", "MINE-1"), 409, "SBX-0409-000001")
    assert [tpp.status(one).status_code for one in payment_ids] == [200, 200]


def test_the_same_reference_of_another_product_does_not_conflict(tpp: Tpp) -> None:
    payment_ids = {product: tpp.initiated(product, endtoend_identification="MINE-1") for product in PRODUCTS}
    for product, payment_id in payment_ids.items():
        assert by(tpp, "EXTERNAL", "MINE-1", product).get_json()["payment_id"] == payment_id


def test_the_same_reference_of_another_client_does_not_conflict(tpp: Tpp, other: Tpp) -> None:
    mine, theirs = (one.initiated(endtoend_identification="MINE-1") for one in (tpp, other))
    assert by(tpp, "EXTERNAL", "MINE-1").get_json()["payment_id"] == mine
    assert by(other, "EXTERNAL", "MINE-1").get_json()["payment_id"] == theirs


@pytest.mark.parametrize("kind", ("INTERNAL", "EXTERNAL"))
def test_another_client_s_payment_is_not_found(tpp: Tpp, other: Tpp, kind: str) -> None:
    payment_id = tpp.initiated(endtoend_identification="MINE-1")
    reference = {"INTERNAL": payment_id, "EXTERNAL": "MINE-1"}[kind]
    assert by(tpp, kind, reference).status_code == 200
    assert refused(by(other, kind, reference), 404, NOT_FOUND)


@pytest.mark.parametrize("product", (ISCT, XB))
@pytest.mark.parametrize("kind", ("INTERNAL", "EXTERNAL"))
def test_a_payment_of_another_product_is_not_found(tpp: Tpp, product: str, kind: str) -> None:
    payment_id = tpp.initiated(endtoend_identification="MINE-1")
    reference = {"INTERNAL": payment_id, "EXTERNAL": "MINE-1"}[kind]
    assert refused(by(tpp, kind, reference, product), 404, NOT_FOUND)


def test_a_payment_of_another_world_is_not_found(tpp: Tpp) -> None:
    elsewhere = Tpp(tpp.http.application, world="elsewhere")
    payment_id = tpp.initiated()
    assert refused(elsewhere.status(payment_id), 404, NOT_FOUND)


@pytest.mark.parametrize(
    "reference", ("nothing", "é", "%00", "a%2Fb", "x" * 3000, "00000000-0000-4000-8000-000000000000")
)
def test_a_payment_that_never_was_is_not_found(tpp: Tpp, reference: str) -> None:
    assert refused(tpp.status(reference), 404, NOT_FOUND)


def test_reading_a_status_moves_nothing(tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    before = tpp.listed("journal")
    for _ in range(3):
        tpp.status(payment_id)
    assert tpp.listed("journal") == before


def test_a_status_is_read_without_a_token_and_with_one(tpp: Tpp) -> None:
    payment_id, token = tpp.initiated(), tpp.token_for("alice")
    assert tpp.status(payment_id).status_code == 200
    assert tpp.status(payment_id, authorization=f"Bearer {token}").status_code == 200


def test_a_token_that_is_shown_reads_the_status_of_its_own_customer_only(tpp: Tpp) -> None:
    """Choice 2: a resource of another PSU; without a token the same status is read."""
    payment_id = tpp.initiated(debtor_account={"iban": ALICE})
    tokens = [tpp.token_for(customer) for customer in ("alice", "bram")]
    replies = [tpp.status(payment_id, authorization=f"Bearer {token}") for token in tokens]
    assert replies[0].status_code == 200
    assert refused(replies[1], 403, "B14800ZZ-3004-000000", "'payment-id'")
    assert tpp.status(payment_id).status_code == 200


def test_an_own_payment_is_found_among_many(tpp: Tpp) -> None:
    references = [f"MINE-{number}" for number in range(20)]
    payment_ids = [
        tpp.initiate(body=payment(endtoend_identification=one)).get_json()["payment_id"] for one in references
    ]
    assert [by(tpp, "EXTERNAL", one).get_json()["payment_id"] for one in references] == payment_ids
