"""What is said about a file once it is validated: choice 7, service 1."""

from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Thread

import pytest
from flask import Flask

from sandbox.bulkfiles.samples import SAMPLES, fill_sample
from sandbox.worlds.registry import WorldRegistry
from tests.bulkfiles import a_file
from tests.bulkfiles.a_file import TODAY
from tests.spec import files
from tests.spec.files import (
    ALICE,
    BAKKERIJ,
    FOREIGN,
    NOTARIS,
    RESERVE,
    bulk,
    codes,
    csv,
    pain,
    sent,
    status,
    statuses,
    validated,
)
from tests.tpp import Tpp


def test_a_bulk_that_fails_is_refused_and_the_rest_goes_on(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk("0.00", name="B")))
    found = status(tpp, payment_file_id)
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC", "RJCT"]
    assert found["bulks"][1]["reason"] == "FF01"
    (error,) = found["bulks"][1]["errors"]
    assert set(error) == {"path", "code", "text"}
    assert (error["path"], error["code"]) == ("PmtInf[2]/CdtTrfTxInf[1]/Amt/InstdAmt", "AMOUNT")
    assert "0.00" in error["text"]
    assert "errors" not in found["bulks"][0]


def test_a_csv_finding_names_its_line(tpp: Tpp) -> None:
    payment_file_id = validated(
        tpp, csv({}, {"creditor_iban": "BE00", "requested_execution_date": "2027-03-03"}), "csv"
    )
    assert statuses(tpp, payment_file_id, "csv") == ["PATC", "PATC", "RJCT"]
    (error,) = status(tpp, payment_file_id, "csv")["bulks"][1]["errors"]
    assert (set(error), error["line"], error["code"]) == ({"line", "code", "text"}, 3, "IBAN")


def test_a_file_of_which_every_bulk_fails_is_refused(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk("0.00"), bulk("0.00", name="B")))
    assert statuses(tpp, payment_file_id) == ["RJCT", "RJCT", "RJCT"]
    assert status(tpp, payment_file_id)["reason"] == "FF01"


def test_a_fault_of_the_whole_file_refuses_all_of_it(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, a_file.pain(bulk(), number="2"))
    found = status(tpp, payment_file_id)
    assert statuses(tpp, payment_file_id) == ["RJCT", "RJCT"]
    assert [(error["path"], error["code"]) for error in found["errors"]] == [("GrpHdr/NbOfTxs", "NB_OF_TXS")]


@pytest.mark.parametrize("faults", [20, 21, 300])
def test_the_first_twenty_are_told_by_text_and_all_by_count(tpp: Tpp, faults: int) -> None:
    payment_file_id = validated(tpp, pain(bulk(*["0.00"] * faults)))
    (row,) = status(tpp, payment_file_id)["bulks"]
    assert (len(row["errors"]), row["number_of_errors"]) == (20, faults)
    assert row["errors"][0]["path"].startswith("PmtInf[1]/CdtTrfTxInf[1]/")


def test_only_the_bulk_that_failed_lost_anything(tpp: Tpp) -> None:
    payment_file_id = files.signed(tpp, pain(bulk(), bulk("0.00", name="B")))
    tpp.advance("60s")
    assert statuses(tpp, payment_file_id) == ["ACSC", "ACSC", "RJCT"]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_bank_takes_the_samples_as_they_say(tpp: Tpp, name: str) -> None:
    kind = "csv" if name.endswith("csv") else "pain.001"
    payment_file_id = validated(tpp, fill_sample(name, TODAY), kind)
    file, *bulks = statuses(tpp, payment_file_id, kind)
    told = SAMPLES[name].split()[0]
    assert file == ("RJCT" if told == "refused:" else "PATC")
    assert (told == "holds:") == ("RJCT" not in bulks and file == "PATC")


# Whose account


@pytest.mark.parametrize("debtor, found", [(BAKKERIJ, []), (ALICE, ["PROFILE"]), (FOREIGN, ["ACCOUNT"])])
def test_only_a_business_customers_account_of_this_bank_may_pay(tpp: Tpp, debtor: str, found: list[str]) -> None:
    payment_file_id = validated(tpp, pain(bulk(of=debtor)))
    assert codes(tpp, payment_file_id) == found
    assert statuses(tpp, payment_file_id) == (["RJCT", "RJCT"] if found else ["PATC", "PATC"])


def test_an_account_in_no_electronic_channel_is_refused(tpp: Tpp, worlds: WorldRegistry) -> None:
    bank = worlds.get("default").bank
    bank.accounts = bank.accounts | {RESERVE: replace(bank.accounts[RESERVE], online=False)}
    payment_file_id = validated(tpp, pain(bulk(), bulk(of=RESERVE, name="B")))
    assert (statuses(tpp, payment_file_id), codes(tpp, payment_file_id)) == (["PATC", "PATC", "RJCT"], ["CHANNEL"])


def test_a_customer_who_blocked_the_channel_sends_no_file(tpp: Tpp, worlds: WorldRegistry) -> None:
    bank = worlds.get("default").bank
    bank.customers = bank.customers | {"bakkerij": replace(bank.customers["bakkerij"], channel_blocked=True)}
    payment_file_id = validated(tpp, pain())
    assert (statuses(tpp, payment_file_id), codes(tpp, payment_file_id)) == (["RJCT", "RJCT"], ["CHANNEL"])


def test_all_that_is_wrong_with_an_account_is_told_at_once(tpp: Tpp, worlds: WorldRegistry) -> None:
    bank = worlds.get("default").bank
    changed = replace(bank.accounts[ALICE], online=False, currencies=("USD",))
    bank.accounts = bank.accounts | {ALICE: changed}
    assert codes(tpp, validated(tpp, pain(bulk(of=ALICE)))) == ["PROFILE", "CURRENCY", "CHANNEL"]


def test_nobody_may_sign_for_accounts_of_different_signers(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk(of=NOTARIS, name="B")))
    assert statuses(tpp, payment_file_id) == ["RJCT", "RJCT", "RJCT"]
    assert codes(tpp, payment_file_id) == ["SIGNER"]


def test_one_customer_may_pay_from_two_accounts(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk(of=RESERVE, name="B")))
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC", "PATC"]


def test_a_bulk_that_failed_has_no_say_in_who_signs(tpp: Tpp) -> None:
    payment_file_id = validated(tpp, pain(bulk(), bulk("0.00", of=NOTARIS, name="B")))
    assert statuses(tpp, payment_file_id) == ["PATC", "PATC", "RJCT"]


# The day


@pytest.mark.parametrize(
    "day, found", [("2027-03-01", []), ("2028-02-29", []), ("2027-02-28", ["DATE"]), ("2028-03-01", ["DATE"])]
)
def test_a_bulk_is_dated_0_to_365_days_ahead(tpp: Tpp, day: str, found: list[str]) -> None:
    assert codes(tpp, validated(tpp, pain(bulk(day=day)))) == found


def test_the_day_is_judged_when_it_is_validated(tpp: Tpp) -> None:
    tpp.control("POST", "/clock", set="2027-03-01T23:58:01+01:00")
    payment_file_id = validated(tpp, pain())
    assert codes(tpp, payment_file_id) == ["DATE"]


# The MsgId


def test_a_message_id_is_used_once(tpp: Tpp) -> None:
    first, second = sent(tpp, pain()), sent(tpp, pain())
    tpp.advance("120s")
    assert statuses(tpp, first) == ["PATC", "PATC"]
    assert statuses(tpp, second) == ["RJCT", "RJCT"]
    (error,) = status(tpp, second)["errors"]
    assert (error["path"], error["code"]) == ("GrpHdr/MsgId", "DUPLICATE_MSGID")


def test_it_is_used_up_for_good(tpp: Tpp) -> None:
    files.delete(tpp, validated(tpp, pain()))
    tpp.advance("30d")
    assert codes(tpp, validated(tpp, pain(bulk(day="2027-04-01")))) == ["DUPLICATE_MSGID"]


@pytest.mark.parametrize("end", ["refused", "cancelled before it was validated"])
def test_a_message_id_of_a_file_that_was_not_taken_may_come_again(tpp: Tpp, end: str) -> None:
    if end == "refused":
        validated(tpp, pain(bulk("0.00")))
    else:
        files.delete(tpp, sent(tpp, pain()))
    assert codes(tpp, validated(tpp, pain())) == []


def test_two_clients_may_use_the_same_message_id(tpp: Tpp, other: Tpp) -> None:
    assert codes(tpp, validated(tpp, pain())) == []
    assert codes(other, validated(other, pain())) == []


def test_of_two_threads_with_the_same_message_id_exactly_one_is_taken(app: Flask, tpp: Tpp) -> None:
    start, taken = Barrier(2), list[str]()

    def send_one() -> None:
        mine = Tpp(app)
        start.wait()
        taken.append(sent(mine, pain()))

    threads = [Thread(target=send_one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tpp.advance("120s")
    assert sorted(status(tpp, payment_file_id)["status"] for payment_file_id in taken) == ["PATC", "RJCT"]


@pytest.mark.parametrize(
    "again", [lambda: bulk(name="A"), lambda: replace(bulk(name="A"), transactions=bulk(name="Z").transactions)]
)
def test_names_within_a_file_are_used_once(tpp: Tpp, again: Callable[[], a_file.Bulk]) -> None:
    found = codes(tpp, validated(tpp, pain(bulk(), again())))
    assert set(found) <= {"DUPLICATE_PMT_INF", "DUPLICATE_ENDTOEND"} and "DUPLICATE_PMT_INF" in found
