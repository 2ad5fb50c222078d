"""The form of replies: decided by the record alone, after the view (choice 13)."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.contract.decisions import Decisions, note_reads
from sandbox.contract.operations import BY_NAME
from sandbox.web.api.replies import FORMS, ReplyContent, write

STATUS = {"payment_id": "a", "status": "PDNG"}


def status() -> ReplyContent:
    return ReplyContent(dict(STATUS))


def initiation() -> ReplyContent:
    links = {name: {"href": f"/{name}", "templated": False} for name in ("sca_redirect", "self", "status")}
    body = {"payment_id": "a", "endtoend_identification": "b", "status": "RCVD", "_links": links}
    return ReplyContent(body, 201, {"Location": "http://h/a"})


def test_each_form_is_that_of_an_operation() -> None:
    assert set(FORMS) <= set(BY_NAME)


def test_the_default_decisions_leave_a_reply_as_the_view_gave_it() -> None:
    assert write(status(), "payment_status", Decisions()).get_json() == STATUS
    reply = write(initiation(), "payment_initiation", Decisions())
    assert (reply.status_code, reply.get_json(), reply.headers["Location"]) == (201, initiation().body, "http://h/a")


def test_an_operation_without_a_form_is_written_as_it_is() -> None:
    reply = write(ReplyContent([STATUS], 200, {"Pragma": "no-cache"}), "accounts", Decisions(status_spelling="PNDG"))
    assert reply.get_json() == [STATUS] and reply.headers["Pragma"] == "no-cache"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status_spelling": "PNDG"}, {"payment_id": "a", "status": "PNDG"}),
        ({"reason": "always"}, {"payment_id": "a", "status": "PDNG", "reason": None}),
        ({"status_names_payment": "no"}, {"status": "PDNG"}),
        ({"reason_codes": "iso"}, STATUS),
    ],
)
def test_a_status_has_the_form_that_the_decisions_ask_for(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    decisions: Decisions = replace(Decisions(), **changes)
    assert write(status(), "payment_status", decisions).get_json() == expected


def test_the_address_is_in_one_place_alone_where_that_is_decided() -> None:
    in_links = write(initiation(), "payment_initiation", Decisions(sca_address_in="links"))
    assert "Location" not in in_links.headers and "sca_redirect" in in_links.get_json()["_links"]
    in_header = write(initiation(), "payment_initiation", Decisions(sca_address_in="location"))
    assert in_header.headers["Location"] and "sca_redirect" not in in_header.get_json()["_links"]


def test_a_form_meets_only_the_axes_that_concern_its_reply() -> None:
    read: set[str] = set()
    write(ReplyContent({"payment_id": "a", "status": "ACSC"}), "payment_status", note_reads(Decisions(), read.add))
    assert read == {"reason", "status_names_payment"}
    write(ReplyContent(STATUS | {"reason": "TIME_OUT"}), "payment_status", note_reads(Decisions(), read.add))
    assert read == {"reason", "status_names_payment", "status_spelling", "reason_codes"}
