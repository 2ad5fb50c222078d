"""What a file is told: all faults by count, the first of them by text (choice 7)."""

from datetime import date

import pytest

from sandbox.bulkfiles.report import Allowance, FileFindings, ValidationRules, render
from sandbox.bulkfiles.stages import read_file
from tests.bulkfiles.a_file import TODAY, Bulk, codes, csv, euros, pain, read, transaction


def faulty(many: int) -> tuple[str, ...]:
    return tuple(transaction(f"E-{n}", amount=euros("0.00")) for n in range(many))


def test_all_findings_are_counted_and_the_first_twenty_kept() -> None:
    (batch,) = read(pain(Bulk(faulty(25)))).batches
    assert batch.findings.count == 25 and batch.findings.counts == {"AMOUNT": 25}
    assert [finding.place for finding in batch.findings] == [
        f"PmtInf[1]/CdtTrfTxInf[{n}]/Amt/InstdAmt" for n in range(1, 21)
    ]


def test_each_bulk_keeps_its_own_twenty() -> None:
    others = tuple(text.replace(">E-", ">F-") for text in faulty(30))
    report = read(pain(Bulk(faulty(30)), Bulk(others, "BULK-B")))
    assert [len(batch.findings.first) for batch in report.batches] == [20, 20]
    assert report.findings_count == 60


def test_a_whole_file_keeps_no_more_than_its_allowance() -> None:
    shared = Allowance(3)
    first, second = FileFindings(shared), FileFindings(shared)
    for _ in range(2):
        first.add("1", "IBAN", "a")
        second.add("2", "IBAN", "b")
    assert (len(first.first), len(second.first)) == (2, 1)
    assert (first.count, second.count) == (2, 2)


def test_the_findings_of_the_whole_file_keep_their_texts_beside_many_faulty_bulks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Allowance.__init__, "__defaults__", (3,))
    report = read(pain(*(Bulk(faulty(1), f"B-{number}") for number in range(9)), number="5"))
    assert sum(len(batch.findings.first) for batch in report.batches) == 3
    assert [finding.code for finding in report.findings] == ["NB_OF_TXS"]


def test_all_faults_of_a_transaction_are_told_at_once() -> None:
    report = read(csv({"creditor_name": "=", "amount": "0", "currency": "USD", "creditor_iban": "BE"}))
    assert {code for _, code in codes(report)} == {"FORMULA", "AMOUNT", "CURRENCY", "IBAN"}


def test_too_many_transactions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.bulkfiles.pain001.TRANSACTIONS_MAX", 2)
    two = (transaction("E-1"), transaction("E-2"))
    assert codes(read(pain(Bulk(two)))) == []
    assert codes(read(pain(Bulk((*two, transaction("E-3")))))) == [("Document", "TOO_MANY")]
    bulks = [Bulk((), f"B-{n}") for n in range(3)]
    assert codes(read(pain(*bulks)))[0] == ("Document", "TOO_MANY")


def test_others_may_breathe_while_a_file_is_read() -> None:
    calls: list[str] = []
    many = tuple(transaction(f"E-{n}") for n in range(500))
    read_file("pain.001", pain(Bulk(many)), ValidationRules(TODAY), lambda: calls.append("xml"))
    read_file("csv", csv(*({} for _ in range(500))), ValidationRules(TODAY), lambda: calls.append("csv"))
    assert calls.count("xml") > 5 and calls.count("csv") > 1


def test_how_far_ahead_a_date_may_lie_is_handed_in() -> None:
    assert read_file("csv", csv({}), ValidationRules(TODAY, days_ahead_max=1)).valid_batches
    assert not read_file("csv", csv({}), ValidationRules(date(2027, 2, 28), days_ahead_max=1)).valid_batches


# For a developer


def test_a_report_reads_well_when_all_holds() -> None:
    assert render(read(pain(Bulk()))) == (
        "The bank would take the whole file, if the debtor accounts are a business customer's.\n"
        "BULK-A: holds; transactions: 1, sum: 10.00\n"
    )


def test_a_report_names_every_place() -> None:
    row = {"debtor_iban": "BE", "endtoend_identification": "E-9"}
    assert render(read(csv({}, row))).splitlines() == [
        "The bank would take 1 of 2 bulks.",
        "BULK-1: holds; transactions: 1, sum: 10.00",
        "BULK-2: refused; transactions: 1, sum: 10.00",
        "  line 3: IBAN: debtor_iban: BE is no valid IBAN",
    ]


def test_a_report_tells_how_much_it_does_not_show() -> None:
    lines = render(read(pain(Bulk(faulty(25)), number="1"))).splitlines()
    assert lines[:2] == [
        "The bank would refuse the whole file.",
        "GrpHdr/NbOfTxs: NB_OF_TXS: it says 1, the file has 25",
    ]
    assert lines[-1] == "  25 findings in all: AMOUNT 25"
