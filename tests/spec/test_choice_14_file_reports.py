"""Choice 14: the status report of a bulk file, over HTTP, from the validation to the execution."""

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.bulkfiles import a_file
from tests.bulkfiles.a_file import NEW
from tests.bulkfiles.pain002 import read, reasons, statuses
from tests.spec.files import (
    FOREIGN,
    TODAY,
    TOMORROW,
    address_of,
    approve,
    bulk,
    csv,
    delete,
    pain,
    sent,
    signed,
    validated,
)
from tests.tpp import Tpp, refused

MILLION = "999999.00"


def ask(tpp: Tpp, payment_file_id: str) -> TestResponse:
    return tpp.control("GET", f"/bulk-payments/{payment_file_id}/report")


def message(tpp: Tpp, payment_file_id: str, version: str = "pain.002.001.03") -> Any:
    reply = ask(tpp, payment_file_id)
    assert (reply.status_code, reply.content_type) == (200, "application/xml")
    return read(reply.data, version)


def test_a_file_is_reported_on_after_its_validation_and_after_its_execution(tpp: Tpp) -> None:
    content = pain(bulk("10.00", "20.00"), bulk("5.00", name="B", day=TOMORROW), bulk("0.00", name="C"))
    payment_file_id = sent(tpp, content)
    assert refused(ask(tpp, payment_file_id), 409, "SBX-0409-000009")
    tpp.advance("120s")
    assert statuses(message(tpp, payment_file_id)) == ["PART", "ACTC", "ACTC", "ACTC", "ACTC", "ACTC", "RJCT", "RJCT"]
    approve(tpp, address_of(tpp, payment_file_id))
    assert statuses(message(tpp, payment_file_id)) == ["PART", "PDNG", "PDNG", "PDNG", "PDNG", "PDNG", "RJCT", "RJCT"]
    tpp.advance("60s")
    assert statuses(message(tpp, payment_file_id)) == ["PART", "ACSC", "ACSC", "ACSC", "PDNG", "PDNG", "RJCT", "RJCT"]
    tpp.advance("1d")
    assert statuses(message(tpp, payment_file_id)) == ["PART", "ACSC", "ACSC", "ACSC", "ACSC", "ACSC", "RJCT", "RJCT"]


def test_the_version_of_the_report_follows_that_of_the_file(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, a_file.pain(bulk(), version=NEW))
    assert statuses(message(tpp, payment_file_id, "pain.002.001.10")) == ["ACTC"] * 3


def test_missing_funds_are_reported_while_and_after_they_are_tried(tpp: Tpp) -> None:
    payment_file_id = signed(tpp, pain(bulk(MILLION, day=TOMORROW)))
    tpp.advance("1d")
    waiting = message(tpp, payment_file_id)
    assert (statuses(waiting), reasons(waiting.orgnl_pmt_inf_and_sts[0])) == (["PDNG"] * 3, ["AM04"])
    tpp.advance("7d")
    ended = message(tpp, payment_file_id)
    assert statuses(ended) == ["RJCT"] * 3
    assert reasons(ended.orgnl_grp_inf_and_sts) == reasons(ended.orgnl_pmt_inf_and_sts[0]) == ["AM04"]


def test_a_cancelled_file_is_reported_if_it_was_validated(tpp: Tpp) -> None:
    early, late = sent(tpp, pain()), validated(tpp, pain(message_id="M-2"))
    assert delete(tpp, late).status_code == 204
    assert reasons(message(tpp, late).orgnl_grp_inf_and_sts) == ["DS02"]
    tpp.control("PATCH", "/settings", bulk_validation="1h")
    never = sent(tpp, pain(message_id="M-3"))
    assert delete(tpp, never).status_code == 204
    assert refused(ask(tpp, never), 409, "SBX-0409-000009")
    assert ask(tpp, early).status_code == 200


def test_a_transaction_that_the_bank_leaves_out_is_reported_as_rejected(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"bad_transaction": "it_alone"})
    payment_file_id = signed(tpp, pain(bulk("10.00", "0.00")))
    tpp.advance("60s")
    found = message(tpp, payment_file_id)
    assert statuses(found) == ["PART", "PART", "ACSC", "RJCT"]
    assert reasons(found.orgnl_pmt_inf_and_sts[0].tx_inf_and_sts[1]) == ["AM12"]


def test_faults_of_the_account_are_those_of_its_bulk(tpp: Tpp) -> None:
    found = message(tpp, validated(tpp, pain(bulk(of=FOREIGN))))
    (batch,) = found.orgnl_pmt_inf_and_sts
    assert (reasons(batch), reasons(batch.tx_inf_and_sts[0])) == (["AC02"], [])


def test_a_csv_has_a_csv(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, csv({"requested_execution_date": TODAY}), "csv")
    reply = ask(tpp, payment_file_id)
    assert (reply.status_code, reply.content_type) == (200, "text/csv")
    assert [line.split(",")[0] for line in reply.text.splitlines()] == ["level", "file", "bulk", "transaction"]


@pytest.mark.parametrize("name", ["nothing", "../clock"])
def test_a_file_that_is_not_there_has_no_report(tpp: Tpp, name: str) -> None:
    assert ask(tpp, name).status_code == 404
