"""service 2.4, 4.1 and choice 5: what an initiation and a status reply."""

from urllib.parse import urlsplit

import pytest

from tests.tpp import ISCT, SCT, XB, Tpp, headers, payment

PRODUCTS = (SCT, ISCT, XB)


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_initiation_replies_its_identifiers_its_status_and_its_links(tpp: Tpp, product: str) -> None:
    reply = tpp.initiate(product)
    assert reply.status_code == 201
    assert set(reply.get_json()) == {"payment_id", "endtoend_identification", "status", "_links"}
    assert (reply.get_json()["endtoend_identification"], reply.get_json()["status"]) == ("INVOICE-2027-001", "RCVD")
    assert set(reply.get_json()["_links"]) == {"sca_redirect", "self", "status"}
    assert all(set(link) == {"href", "templated"} for link in reply.get_json()["_links"].values())
    assert all(link["templated"] is False for link in reply.get_json()["_links"].values())


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_links_lead_to_the_payment(tpp: Tpp, product: str) -> None:
    reply = tpp.initiate(product)
    path, links = f"/payments/{product}/{reply.get_json()['payment_id']}", reply.get_json()["_links"]
    assert urlsplit(links["self"]["href"]).path == f"{path}/details"
    assert urlsplit(links["status"]["href"]).path == f"{path}/status"


def test_location_is_the_address_to_sign_at(tpp: Tpp) -> None:
    reply = tpp.initiate()
    assert reply.headers["Location"] == reply.get_json()["_links"]["sca_redirect"]["href"]


def test_the_address_to_sign_at_bears_the_host_that_the_caller_used(tpp: Tpp) -> None:
    reply = tpp.http.post(f"/payments/{SCT}", json=payment(), headers=headers(), base_url="https://bank.example:8443")
    assert reply.headers["Location"].startswith("https://bank.example:8443/psu/")


def test_the_address_to_sign_at_bears_the_prefix_of_its_world(tpp: Tpp) -> None:
    reply = Tpp(tpp.http.application, world="spring").initiate()
    assert urlsplit(reply.headers["Location"]).path.startswith("/worlds/spring/psu/")
    assert reply.get_json()["_links"]["sca_redirect"]["href"] == reply.headers["Location"]


def test_every_initiation_has_an_id_and_an_address_of_its_own(tpp: Tpp) -> None:
    one, two = tpp.initiate(), tpp.initiate()
    assert one.get_json()["payment_id"] != two.get_json()["payment_id"]
    assert one.headers["Location"] != two.headers["Location"]


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_status_replies_the_id_and_the_status(tpp: Tpp, product: str) -> None:
    payment_id = tpp.initiated(product)
    reply = tpp.status(payment_id, product)
    assert (reply.status_code, reply.json) == (200, {"payment_id": payment_id, "status": "RCVD"})


def test_replies_are_json_in_utf_8(tpp: Tpp) -> None:
    for reply in (tpp.initiate(), tpp.initiate(body={}), tpp.status(tpp.initiated()), tpp.call("GET", "/nothing")):
        assert reply.headers["Content-Type"] == "application/json;charset=utf-8"
