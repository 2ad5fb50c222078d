"""The status report of a file: pain.002 as others read it, and csv with the same facts (choice 14)."""

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from sandbox.bulkfiles.report import BatchStatus, FileStatus, FindingCode
from sandbox.bulkfiles.stages import Kind
from sandbox.bulkfiles.status_report import REASON_CODE, REASONS_OF_FINDINGS, write_report
from sandbox.contract.moves import Status
from tests.bulkfiles import a_file
from tests.bulkfiles.a_file import CREDITOR, NEW, OLD, Bulk, euros, pain, transaction
from tests.bulkfiles.pain002 import counts, read, reasons, statuses

FILE_ID = "d5b48b3e-8c29-4393-8f59-709c5df75474"
AT = datetime(2027, 3, 1, 8, 2, 1, tzinfo=UTC)
BAD = {"amount": euros("0.00"), "account": "<IBAN>BE61152221034718</IBAN>"}
VERSIONS = {OLD: "pain.002.001.03", NEW: "pain.002.001.10"}


def made(content: bytes, *given: Status | tuple[Status, str | None], of_file: Status = Status.PATC) -> FileStatus:
    """The facts of a file whose bulks have these statuses, and reasons."""
    kind: Kind = "csv" if b"debtor_iban" in content[:20] else "pain.001"
    report = a_file.read(content)
    pairs = [one if isinstance(one, tuple) else (one, None) for one in given]
    batches = tuple(BatchStatus(batch, *pair) for batch, pair in zip(report.batches, pairs, strict=True))
    return FileStatus(
        FILE_ID, kind, report.version, report.message_id, "REF-1", of_file, None, report.findings, batches, AT
    )


def bytes_of(file: FileStatus) -> bytes:
    return b"".join(write_report(file))


def message_of(file: FileStatus, version: str = OLD) -> Any:
    return read(bytes_of(file), VERSIONS[version])


def rows_of(file: FileStatus) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(bytes_of(file).decode(), newline="")))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_valid_file_is_reported_with_its_transactions(version: str) -> None:
    content = pain(Bulk((transaction("E-1"), transaction("E-2"))), version=version, message_id="M-7")
    message = message_of(made(content, Status.PATC), version)
    group, (batch,) = message.orgnl_grp_inf_and_sts, message.orgnl_pmt_inf_and_sts
    assert (group.orgnl_msg_id, group.orgnl_msg_nm_id) == ("M-7", f"pain.001.001.{version}")
    assert (group.orgnl_nb_of_txs, group.orgnl_ctrl_sum) == ("2", 20)
    assert statuses(message) == ["ACTC"] * 4 and counts(group) == counts(batch) == {"ACTC": 2}
    first, second = batch.tx_inf_and_sts
    assert [first.orgnl_end_to_end_id, second.orgnl_end_to_end_id] == ["E-1", "E-2"]
    original = first.orgnl_tx_ref
    assert (original.amt.instd_amt.value, original.amt.instd_amt.ccy) == (10, "EUR")
    assert original.cdtr_acct.id.iban == CREDITOR
    assert (original.cdtr if version == OLD else original.cdtr.pty).nm == "Jan Peeters"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_refused_bulk_names_the_faults_of_each_transaction(version: str) -> None:
    faulty = Bulk((transaction("F-1"), transaction("F-2", **BAD), transaction("F-3")), name="FAULTY")
    file = made(pain(Bulk(), faulty, version=version), Status.PATC, (Status.RJCT, "FF01"))
    message = message_of(file, version)
    assert statuses(message) == ["PART", "ACTC", "ACTC", "RJCT", "RJCT", "RJCT", "RJCT"]
    assert counts(message.orgnl_grp_inf_and_sts) == {"ACTC": 1, "RJCT": 3}
    _, batch = message.orgnl_pmt_inf_and_sts
    assert (batch.orgnl_pmt_inf_id, reasons(batch)) == ("FAULTY", ["FF01"])
    assert [one.orgnl_end_to_end_id for one in batch.tx_inf_and_sts] == ["F-1", "F-2", "F-3"]
    assert [reasons(one) for one in batch.tx_inf_and_sts] == [[], ["AC01", "AM12"], []]
    (text,) = batch.tx_inf_and_sts[1].sts_rsn_inf[0].addtl_inf
    assert text.startswith("IBAN at PmtInf[2]/CdtTrfTxInf[2]/CdtrAcct/Id/IBAN: ")


def test_a_transaction_that_is_left_out_is_rejected_alone() -> None:
    (batch,) = a_file.read(pain(Bulk((transaction("F-1"), transaction("F-2", **BAD))))).batches
    assert batch.rest is not None  # type: ignore[union-attr]
    file = made(pain(Bulk()), Status.PDNG)._replace(batches=(BatchStatus(batch.rest, Status.PDNG, None),))  # type: ignore[union-attr]
    message = message_of(file)
    assert statuses(message) == ["PART", "PART", "PDNG", "RJCT"]
    assert message.orgnl_pmt_inf_and_sts[0].orgnl_nb_of_txs == "2"
    assert message.orgnl_pmt_inf_and_sts[0].orgnl_ctrl_sum is None  # the sum of the valid ones is another


@pytest.mark.parametrize(
    "given, status, codes",
    [
        (Status.PDNG, "PDNG", []),
        ((Status.PDNG, "AM04"), "PDNG", ["AM04"]),  # funds are missing, and it is tried again
        (Status.ACSC, "ACSC", []),
        ((Status.RJCT, "AM04"), "RJCT", ["AM04"]),
        ((Status.RJCT, "MY_REASON"), "RJCT", ["MY_REASON"]),  # a scenario's own word
        (Status.RJCT, "RJCT", ["MS03"]),
        (Status.CANC, "RJCT", ["DS02"]),
        ((Status.CANC, "PSU_REFUSED"), "RJCT", ["DS02"]),
        ((Status.CANC, "TIME_OUT"), "RJCT", ["TM01"]),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_each_status_and_reason_of_the_bank_is_one_of_iso_20022(
    version: str, given: Status | tuple[Status, str], status: str, codes: list[str]
) -> None:
    message = message_of(made(pain(Bulk(), version=version), given), version)
    assert statuses(message) == [status] * 3
    assert reasons(message.orgnl_pmt_inf_and_sts[0]) == codes


def test_a_file_that_cannot_be_read_is_reported_without_bulks() -> None:
    other = pain(Bulk(), version="08")
    message = message_of(made(other, of_file=Status.RJCT), NEW)
    group = message.orgnl_grp_inf_and_sts
    assert (group.orgnl_msg_id, group.orgnl_msg_nm_id, group.orgnl_nb_of_txs) == ("NOTPROVIDED", "pain.001", None)
    assert (statuses(message), reasons(group)) == (["RJCT"], ["FF01"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_report_is_valid_whatever_the_file_holds(version: str) -> None:
    """Identifications that are too long or missing, sums of 20 digits, texts of 300 characters."""
    long = "E" * 400
    file = pain(
        Bulk(
            (
                transaction(long, euros("9" * 20)),
                transaction("", euros("-1")),
                transaction("&lt;&amp;&gt;", euros("1e3"), account=f"<IBAN>{long}</IBAN>"),
            ),
            name=long,
        ),
        version=version,
        message_id=long,
    )
    made_of_it = made(file, (Status.RJCT, "FF01"))
    message = message_of(made_of_it, version)
    (batch,) = message.orgnl_pmt_inf_and_sts
    assert [one.orgnl_end_to_end_id for one in batch.tx_inf_and_sts] == ["E" * 35, "NOTPROVIDED", "<&>"]
    assert message.grp_hdr.msg_id == "d5b48b3e8c2943938f59-270301080201"
    made_of_it.findings.add("/", "SIGNER", "a\x00text\ud800 of a scenario")
    assert reasons(message_of(made_of_it, version).orgnl_grp_inf_and_sts)[-1] == "DS0H"


def test_every_finding_has_a_reason_of_iso_20022() -> None:
    assert set(REASONS_OF_FINDINGS) == set(get_args(FindingCode))
    assert all(REASON_CODE.match(code) for code in REASONS_OF_FINDINGS.values())


def test_the_documentation_lists_the_reason_of_every_finding() -> None:
    text = (Path(__file__).parents[2] / "docs" / "bulk-files.md").read_text()
    rows = (line.split(" | ") for line in text.splitlines() if re.match(r"\| `[A-Z0-9]{4}` \|", line))
    listed = {finding: row[0] for row in rows for finding in re.findall(r"`(\w+)`", row[2])}
    assert {finding: code.strip("| `") for finding, code in listed.items()} == REASONS_OF_FINDINGS


def test_the_report_of_a_csv_is_a_csv_with_the_same_facts() -> None:
    content = a_file.csv(
        {"amount": "10.00"}, {"amount": "0.00", "requested_execution_date": "2027-03-03"}, {"amount": "5.00"}
    )
    whole, one, first, third, other, second = rows_of(made(content, Status.PDNG, (Status.RJCT, "FF01")))
    assert (whole["level"], whole["reference"], whole["status"], whole["created"]) == (
        ("file", "REF-1", "PART", "2027-03-01T09:02:01+01:00")
    )
    assert (whole["transactions"], whole["amount"]) == ("3", "15.00")
    assert (one["level"], one["reference"], one["transactions"], one["status"]) == ("bulk", "BULK-1", "2", "PDNG")
    assert [(row["reference"], row["line"], row["amount"], row["status"]) for row in (first, third)] == [
        ("E-1", "2", "10.00", "PDNG"),
        ("E-3", "4", "5.00", "PDNG"),
    ]
    assert (other["status"], other["reason"]) == ("RJCT", "FF01")
    assert (second["status"], second["reason"]) == ("RJCT", "AM12")
    assert second["text"] == "AMOUNT at line 3: amount: 0.00 is not above 0"


def test_a_refused_identification_does_not_become_a_formula() -> None:
    content = a_file.csv({"endtoend_identification": '"=HYPERLINK(""x"")"'})
    *_, row = rows_of(made(content, (Status.RJCT, "FF01")))
    assert row["reference"] == '\'=HYPERLINK("x")'


def test_a_report_of_100_000_transactions_is_written_in_small_pieces() -> None:
    count = 100_000
    file = made(a_file.csv(*({"endtoend_identification": f"E-{number}"} for number in range(count))), Status.ACSC)
    sizes = [len(piece) for piece in write_report(file)]
    assert len(sizes) == count + 3 and max(sizes) < 1_000
