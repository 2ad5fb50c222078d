"""The status of a file through its life, and the address that comes with it: service 3.1 and 4.6, choice 7."""

from dataclasses import replace

from sandbox.contract.decisions import Decisions
from sandbox.worlds.registry import WorldRegistry
from tests.spec import files
from tests.spec.files import TOMORROW, address_of, bulk, csv, pain, sent, status, statuses, validated
from tests.tpp import Tpp, refused


def test_validation_takes_120_seconds(tpp: Tpp) -> None:
    payment_file_id = sent(tpp, pain())
    tpp.advance("119s")
    assert status(tpp, payment_file_id) == {"payment_file_id": payment_file_id, "status": "RCVD", "bulks": []}
    tpp.advance("1s")
    assert status(tpp, payment_file_id)["status"] == "PATC"


def test_a_validated_file_shows_its_bulks_and_where_to_sign(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk("10.00", "0.50"), bulk(day=TOMORROW, name="B")))
    found = status(tpp, payment_file_id)
    assert found["bulks"] == [
        {"payment_information_id": "A", "status": "PATC", "number_of_transactions": 2, "control_sum": 10.5},
        {"payment_information_id": "B", "status": "PATC", "number_of_transactions": 1, "control_sum": 10.0},
    ]
    assert set(found) == {"payment_file_id", "status", "bulks", "_links"}
    assert found["_links"]["sca_redirect"]["href"].startswith("http://localhost/psu/")


def test_the_bulks_of_a_csv_are_those_of_the_same_debtor_and_date(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, csv({}, {"requested_execution_date": "2027-03-03"}, {}), "csv")
    found = status(tpp, payment_file_id, "csv")
    assert [row["number_of_transactions"] for row in found["bulks"]] == [2, 1]
    assert found["status"] == "PATC"


def test_the_address_stays_the_same_while_it_lives(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    first = address_of(tpp, payment_file_id)
    tpp.advance("299s")
    assert address_of(tpp, payment_file_id) == first


def test_a_status_call_renews_an_address_that_is_outdated(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    first = address_of(tpp, payment_file_id)
    tpp.advance("300s")
    assert files.approve(tpp, first).status_code == 410
    second = address_of(tpp, payment_file_id)
    assert second is not None and second != first
    assert files.approve(tpp, second).status_code == 200


def test_the_five_minutes_begin_with_the_status_call(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    tpp.advance("1h")
    address = address_of(tpp, payment_file_id)
    tpp.advance("299s")
    assert files.approve(tpp, address).status_code == 200


def test_a_signed_file_has_no_address(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    address = address_of(tpp, payment_file_id)
    files.approve(tpp, address)
    assert status(tpp, payment_file_id)["status"] == "PDNG"
    assert address_of(tpp, payment_file_id) is None
    assert files.approve(tpp, address).status_code == 409


def test_a_refused_file_has_no_address(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(day="2027-02-28")))
    assert status(tpp, payment_file_id)["status"] == "RJCT"
    assert address_of(tpp, payment_file_id) is None


def test_an_unsigned_file_waits_without_end(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    tpp.advance("60d")
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC"]
    assert address_of(tpp, payment_file_id) is not None


def test_a_file_signed_after_its_date_is_executed_at_once(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    tpp.advance("7d")
    files.approve(tpp, address_of(tpp, payment_file_id))
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC"]


def test_an_address_is_given_even_by_a_clock_that_outruns_it(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain())
    tpp.control("POST", "/clock", mode="running", rate=1e9)
    assert address_of(tpp, payment_file_id) is not None


def test_how_long_validation_takes_is_a_setting(tpp: Tpp, worlds: WorldRegistry) -> None:
    bank = worlds.get("default").bank
    bank.settings = replace(Decisions(), bulk_validation=bank.settings.bulk_validation * 2)
    payment_file_id = sent(tpp, pain())
    tpp.advance("239s")
    assert status(tpp, payment_file_id)["status"] == "RCVD"
    tpp.advance("1s")
    assert status(tpp, payment_file_id)["status"] == "PATC"


def test_an_unknown_file_is_not_found(tpp: Tpp) -> None:
    assert refused(files.ask(tpp, "00000000-0000-4000-8000-000000000000"), 404, "SBX-0404-000001", "payment-file-id")


def test_the_controls_show_files_with_their_history(tpp: Tpp) -> None:
    payment_file_id = files.signed(tpp, pain())
    (row,) = tpp.listed("bulk-payments")
    assert (row["payment_file_id"], row["product"], row["client_id"]) == (payment_file_id, "pain.001", "demo-tpp")
    assert (row["customer"], row["message_id"]) == ("bakkerij", "M-1")
    assert [step["status"] for step in row["history"]] == ["RCVD", "PATC", "PDNG"]
