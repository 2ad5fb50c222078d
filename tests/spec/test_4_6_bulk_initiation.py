"""The POST of a file, and what is refused there at once: service 2.3 and 4.6, choice 7."""

from io import RawIOBase
from uuid import uuid4

import pytest

from tests.bulkfiles.test_admission import WITH_DTD
from tests.spec import files
from tests.spec.files import ask, csv, pain, send, sent, status
from tests.tpp import Tpp, headers, refused, version

KINDS = ("pain.001", "csv")
CONTENT = {"pain.001": pain(), "csv": csv()}
MEGABYTES_64 = 64_000_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_received_and_no_address_comes_with_it(tpp: Tpp, kind: str) -> None:
    reply = send(tpp, CONTENT[kind], kind)
    payment_file_id = reply.get_json()["payment_file_id"]
    path = f"/bulk-payments/{kind}/{payment_file_id}/status"
    assert reply.status_code == 201
    assert reply.json == {
        "payment_file_id": payment_file_id,
        "status": "RCVD",
        "_links": {"status": {"href": path, "templated": False}},
    }
    assert "Location" not in reply.headers


@pytest.mark.parametrize("number", [1, 2])
def test_both_versions_take_files(tpp: Tpp, number: int) -> None:
    reply = send(tpp, pain(), accept=version(number))
    assert reply.status_code == 201
    found = ask(tpp, reply.get_json()["payment_file_id"], accept=version(number))
    assert (found.status_code, found.get_json()["status"]) == (200, "RCVD")


def test_version_3_is_of_payments_only(tpp: Tpp) -> None:
    assert refused(send(tpp, pain(), accept=version(3)), 406, "SBX-0406-000001")


@pytest.mark.parametrize("kind", ["pain.008", "json", "PAIN.001"])
def test_another_product_is_not_found(tpp: Tpp, kind: str) -> None:
    assert refused(send(tpp, pain(), kind), 404, "SBX-0404-000001", "payment-product")


@pytest.mark.parametrize(
    "kind, media",
    [
        ("pain.001", "application/xml"),
        ("pain.001", "text/xml; charset=utf-8"),
        ("csv", "text/csv"),
        ("csv", "application/csv"),
    ],
)
def test_a_content_type_of_its_product_is_taken(tpp: Tpp, kind: str, media: str) -> None:
    assert send(tpp, CONTENT[kind], kind, content_type=media).status_code == 201


@pytest.mark.parametrize(
    "kind, media",
    [
        ("pain.001", "text/csv"),
        ("csv", "application/xml"),
        ("csv", "text/xml"),
        ("csv", "text/plain"),
        ("pain.001", "application/json"),
        ("pain.001", None),
    ],
)
def test_another_content_type_is_refused(tpp: Tpp, kind: str, media: str | None) -> None:
    assert refused(send(tpp, CONTENT[kind], kind, content_type=media), 415, "SBX-0415-000001")


def test_the_content_type_is_judged_before_the_request_id(tpp: Tpp) -> None:
    assert refused(send(tpp, csv(), "csv", content_type="text/xml", request_id=None), 415, "SBX-0415-000001")


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_body_is_refused(tpp: Tpp, kind: str) -> None:
    assert refused(send(tpp, b"", kind), 400, "GEN-1202-100002", "empty")


class Unreadable(RawIOBase):
    """A body of one byte too many, which tells its length and must not be read."""

    place = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self.place = MEGABYTES_64 + 1 if whence else offset
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, _: object) -> int:
        raise AssertionError("the body was read")


@pytest.mark.parametrize("kind", KINDS)
def test_over_64_megabytes_is_refused_by_its_length_alone(tpp: Tpp, kind: str) -> None:
    given = headers(accept=version(2), content_type=files.MEDIA[kind])
    reply = tpp.http.open(f"/bulk-payments/{kind}", method="POST", headers=given, input_stream=Unreadable())
    assert refused(reply, 400, "GEN-1202-100002", "over 64 MB")


def test_nor_is_it_read_to_see_whether_it_came_before(tpp: Tpp) -> None:
    again = str(uuid4())
    send(tpp, pain(), request_id=again)
    given = headers(accept=version(2), content_type="application/xml", request_id=again)
    reply = tpp.http.open("/bulk-payments/pain.001", method="POST", headers=given, input_stream=Unreadable())
    assert refused(reply, 400, "GEN-1202-100002")


def test_csv_that_is_not_utf_8_is_refused(tpp: Tpp) -> None:
    content = csv({"creditor_name": "René"}).decode().encode("latin-1")
    assert refused(send(tpp, content, "csv"), 400, "GEN-1202-100002", "not UTF-8")


@pytest.mark.parametrize("content", [pain()[:-9], b"PK\x03\x04", csv(), b" " * 1000])
def test_xml_that_is_not_well_formed_is_refused(tpp: Tpp, content: bytes) -> None:
    assert refused(send(tpp, content), 400, "GEN-1202-100002", "not well-formed")


@pytest.mark.parametrize("name", WITH_DTD)
def test_a_dtd_is_refused(tpp: Tpp, name: str) -> None:
    assert refused(send(tpp, WITH_DTD[name]), 400, "GEN-1202-100002", "DTD")


@pytest.mark.parametrize(
    "kind, content", [("pain.001", b"<any/>"), ("csv", b"any;thing\n"), ("csv", b"PK\x03\x04"), ("csv", b" " * 1000)]
)
def test_all_else_is_said_later(tpp: Tpp, kind: str, content: bytes) -> None:
    payment_file_id = sent(tpp, content, kind)
    assert status(tpp, payment_file_id, kind)["status"] == "RCVD"
    tpp.advance("120s")
    assert status(tpp, payment_file_id, kind)["status"] == "RJCT"


def test_a_refused_file_leaves_nothing(tpp: Tpp) -> None:
    send(tpp, b"")
    assert tpp.listed("bulk-payments") == []


@pytest.mark.parametrize("name", ["Client_ID", "Redirect_URI", "Request_ID", "Accept_Language"])
def test_the_bank_headers_are_required(tpp: Tpp, name: str) -> None:
    assert send(tpp, pain(), "pain.001", **{name.lower(): None}).status_code in (400, 406)


def test_no_pkce_and_no_token_are_needed(tpp: Tpp) -> None:
    changes: dict[str, str | None] = {"code_challenge": None, "code_challenge_method": None}
    assert send(tpp, pain(), "pain.001", **changes).status_code == 201


# PaymentInformationID and the external reference


@pytest.mark.parametrize("reference", ["A", "a-Z-0-9", "x" * 35])
def test_a_payment_information_id_is_the_external_reference(tpp: Tpp, reference: str) -> None:
    payment_file_id = sent(tpp, pain(), PaymentInformationID=reference)
    found = ask(tpp, reference, query="?paymentFileIdType=EXTERNAL")
    assert found.get_json()["payment_file_id"] == payment_file_id
    assert refused(ask(tpp, "M-1", query="?paymentFileIdType=EXTERNAL"), 404, "SBX-0404-000001")


@pytest.mark.parametrize("reference", ["", "x" * 36, "a b", "a_b", "a/b", "é"])
def test_a_payment_information_id_of_another_syntax_is_refused(tpp: Tpp, reference: str) -> None:
    reply = send(tpp, pain(), PaymentInformationID=reference)
    assert refused(reply, 400, "GEN-1202-100001", "PaymentInformationID")


def test_without_one_the_message_id_is_the_reference_from_the_start(tpp: Tpp) -> None:
    payment_file_id = sent(tpp, pain(message_id="WAGES 2027+03"))
    found = ask(tpp, "WAGES%202027+03", query="?paymentFileIdType=EXTERNAL")
    assert (found.get_json()["payment_file_id"], found.get_json()["status"]) == (payment_file_id, "RCVD")
    assert files.delete(tpp, "WAGES%202027+03", query="?paymentFileIdType=EXTERNAL").status_code == 204


def test_csv_has_no_reference_of_its_own(tpp: Tpp) -> None:
    payment_file_id = sent(tpp, csv(), "csv")
    external = "?paymentFileIdType=EXTERNAL"
    assert refused(ask(tpp, payment_file_id, "csv", external), 404, "SBX-0404-000001", "payment-file-id")
    assert ask(tpp, payment_file_id, "csv", "?paymentFileIdType=INTERNAL").status_code == 200


def test_a_reference_that_fits_several_is_refused(tpp: Tpp) -> None:
    for message_id in ("M-1", "M-2"):
        sent(tpp, pain(message_id=message_id), PaymentInformationID="MARCH")
    query = "?paymentFileIdType=EXTERNAL"
    assert refused(ask(tpp, "MARCH", query=query), 409, "SBX-0409-000001", "payment-file-id")
    assert refused(files.delete(tpp, "MARCH", query=query), 400, "GEN-1202-100002", "payment-file-id")


def test_a_reference_is_looked_up_within_its_product(tpp: Tpp) -> None:
    sent(tpp, pain(), PaymentInformationID="MARCH")
    sent(tpp, csv(), "csv", PaymentInformationID="MARCH")
    assert ask(tpp, "MARCH", "csv", "?paymentFileIdType=EXTERNAL").status_code == 200


@pytest.mark.parametrize("query", ["?paymentFileIdType=OTHER", "?paymentFileIdType=", "?paymentIdType=EXTERNAL"])
def test_another_kind_of_reference_is_refused(tpp: Tpp, query: str) -> None:
    assert refused(ask(tpp, sent(tpp, pain()), query=query), 400, "GEN-1202-100002")


# Whose file it is


def test_another_clients_file_is_not_found(tpp: Tpp, other: Tpp) -> None:
    payment_file_id = sent(tpp, pain())
    assert refused(ask(other, payment_file_id), 404, "SBX-0404-000001")
    assert refused(ask(other, "M-1", query="?paymentFileIdType=EXTERNAL"), 404, "SBX-0404-000001")
    assert refused(files.delete(other, payment_file_id), 404, "SBX-0404-000001")


def test_a_file_of_one_product_is_not_found_under_the_other(tpp: Tpp) -> None:
    assert refused(ask(tpp, sent(tpp, pain()), "csv"), 404, "SBX-0404-000001")


def test_a_bulk_of_a_file_is_no_file(tpp: Tpp) -> None:
    payment_file_id = files.validated(tpp, pain())
    assert refused(ask(tpp, f"{payment_file_id}%2F1"), 404, "SBX-0404-000001")
    for name in (f"{payment_file_id}/1", f"{payment_file_id}/9", f"{payment_file_id}/x", "a/1", "/", "a/-1"):
        reply = tpp.control("POST", "/psu/sign", payment_id=name, customer="bakkerij")
        assert reply.status_code == 404, name


# The identical call again (choice 2)


def test_the_identical_call_again_gets_the_first_reply_again(tpp: Tpp) -> None:
    again = str(uuid4())
    first = send(tpp, pain(), request_id=again)
    tpp.advance("120s")
    second = send(tpp, pain(), request_id=again)
    assert (second.status_code, second.json) == (201, first.json)
    assert len(tpp.listed("bulk-payments")) == 1


@pytest.mark.parametrize("message_id, reference", [("M-2", None), ("M-1", "X")])
def test_a_different_call_under_the_same_id_is_refused(tpp: Tpp, message_id: str, reference: str | None) -> None:
    again = str(uuid4())
    send(tpp, pain(), request_id=again)
    reply = send(tpp, pain(message_id=message_id), request_id=again, PaymentInformationID=reference)
    assert refused(reply, 400, "GEN-1202-100001", "Request-ID")
