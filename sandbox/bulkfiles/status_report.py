"""The status report of a validated bulk file: pain.002 for a pain.001, csv with the same facts for a csv (choice 14).

The bank's statuses become those of ISO 20022. A file or batch whose transactions do not all have the same status is
PART. pain.002.001.03 has no status for a cancelled file or batch. Its status there is RJCT, with the reason DS02 unless
the bank gave another reason.

A report of 100,000 transactions has 25 MB, so the functions yield it piece by piece.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from heapq import merge
from itertools import chain
from typing import NamedTuple
from xml.sax.saxutils import escape

from sandbox.banking.durations import write_instant
from sandbox.banking.iban import BANK_BIC
from sandbox.bulkfiles.admission import NAMESPACE
from sandbox.bulkfiles.checks import NOT_PROVIDED, REFERENCE_MAX
from sandbox.bulkfiles.csv_reader import FORMULA_SIGNS
from sandbox.bulkfiles.report import (
    BatchReport,
    BatchStatus,
    FileFinding,
    FileStatus,
    FindingCode,
    RefusedBatch,
    RefusedTransfer,
    Transfer,
)
from sandbox.contract.moves import Status
from sandbox.contract.reasons import ISO_CODES, Reason

PARTLY, REJECTED = "PART", "RJCT"
# ACTC: the file is valid, and waits for its signature.
ISO_STATUSES = {
    Status.PATC: "ACTC",
    Status.PDNG: "PDNG",
    Status.ACSC: "ACSC",
    Status.RJCT: REJECTED,
    Status.CANC: REJECTED,
}
ENDED = (Status.RJCT, Status.CANC)
CANCELLED = "DS02"  # an authorised user ordered it
# For each code of a finding: the reason of ISO 20022 (from its list ExternalStatusReason1Code).
REASONS_OF_FINDINGS: dict[FindingCode, str] = {
    **dict.fromkeys(("ENCODING", "XML", "VERSION", "STRUCTURE", "HEADER"), "FF01"),  # the form of the file
    **dict.fromkeys(("XSD", "CSV", "COLUMNS"), "FF01"),
    **dict.fromkeys(("TOO_MANY", "NO_TRANSACTION", "NB_OF_TXS"), "AM18"),  # the number of transactions
    "CTRL_SUM": "AM10",
    "DUPLICATE_MSGID": "DU01",
    "DUPLICATE_PMT_INF": "DU02",
    "DUPLICATE_ENDTOEND": "DU04",
    **dict.fromkeys(("MSG_ID", "PMT_INF_ID", "PMT_MTD", "FORMULA", "REFERENCE_SLASHES"), "CH16"),  # a bad content
    **dict.fromkeys(("CHARGE_BEARER", "ADDRESS_LINES", "CHARACTERS"), "CH16"),
    "DATE": "DT01",
    "DEBTOR_AGENT": "RC06",
    "NAME": "RR03",
    "IBAN": "AC01",
    "COUNTRY": "AG03",
    "BIC": "RC07",
    "AMOUNT": "AM12",
    "CURRENCY": "AM03",
    **dict.fromkeys(("STRUCTURED", "REMITTANCE"), "RR07"),
    "ENDTOEND_ID": "FF08",
    "SERVICE_LEVEL": "FF04",
    "LOCAL_INSTRUMENT": "FF05",
    "ACCOUNT": "AC02",
    **dict.fromkeys(("PROFILE", "CHANNEL"), "AG01"),
    "SIGNER": "DS0H",
}
REASON_CODES: dict[str, str] = {**ISO_CODES, **{str(code): iso for code, iso in REASONS_OF_FINDINGS.items()}}
REASON_CODE = re.compile(r"[A-Z0-9]{4}\Z")  # another one is written as the bank's own

PAIN_002 = {"pain.001.001.03": "pain.002.001.03", "pain.001.001.09": "pain.002.001.10"}
NEWEST = "pain.002.001.10"  # for a file whose version the bank does not take
TEXT_MAX = 105  # characters of one AddtlInf
SUM_DIGITS_MAX = 18
NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

COLUMNS = ("level", "reference", "line", "transactions", "amount", "status", "reason", "text", "created")


class StatusReason(NamedTuple):
    code: str
    texts: tuple[str, ...] = ()


class ReportLine(NamedTuple):
    """A line of the report: about the file, a batch, or a transaction."""

    reference: str
    status: str
    reasons: tuple[StatusReason, ...]
    counts: Counter[str]  # the number of transactions by status
    amount: Decimal | None
    place: str = ""
    transfer: Transfer | None = None  # the transfer, if the line is about a valid transaction

    @property
    def number(self) -> int:
        return self.counts.total()


def write_report(file: FileStatus) -> Iterator[bytes]:
    pieces = write_csv(file) if file.kind == "csv" else write_pain002(file)
    return (piece.encode() for piece in pieces)


# The facts


def make_file_line(file: FileStatus) -> ReportLine:
    counts, total = Counter[str](), Decimal()
    for item in file.batches:
        counts += count_transactions(item)
        total += item.batch.control_sum
    is_whole = all(isinstance(item.batch, RefusedBatch) or not item.batch.refused for item in file.batches)
    status = _find_common_status(counts) or ISO_STATUSES[file.status]
    reasons = _list_reasons(file.findings) or _list_end_reasons(file.status, file.reason)
    reference = file.message_id if file.kind == "pain.001" else file.reference or file.file_id
    return ReportLine(reference or "", status, reasons, counts, total if is_whole and file.batches else None)


def make_batch_line(item: BatchStatus) -> ReportLine:
    batch, refused = item.batch, find_content(item.batch).refused
    of_transfers = {finding for transfer in refused for finding in transfer.findings}
    own = _list_reasons(finding for finding in batch.findings if finding not in of_transfers)
    is_whole = isinstance(batch, RefusedBatch) or not refused  # else control_sum is the sum of the valid transfers only
    counts = count_transactions(item)
    status = _find_common_status(counts) or ISO_STATUSES[item.status]
    reasons = (own if item.status in ENDED else ()) or _list_end_reasons(item.status, item.reason)
    total = batch.control_sum if is_whole else None
    return ReportLine(batch.payment_information_id or "", status, reasons, counts, total, batch.place)


def make_transaction_lines(item: BatchStatus) -> Iterator[ReportLine]:
    """Yields a line for each transaction of a batch, in the order of the file."""
    content, status = find_content(item.batch), ISO_STATUSES[item.status]
    counts = Counter({status: 1})
    valid = (
        ReportLine(each.endtoend_identification, status, (), counts, each.amount.number, each.place, each)
        for each in content.transfers
    )
    return merge(valid, map(_make_refused_line, content.refused), key=lambda line: find_position(line.place))


def _make_refused_line(transfer: RefusedTransfer) -> ReportLine:
    reasons = {_convert_code(code): () for code in transfer.codes} | {
        reason.code: reason.texts for reason in _list_reasons(transfer.findings)
    }
    pairs = tuple(StatusReason(code, texts) for code, texts in reasons.items())
    return ReportLine(transfer.endtoend_identification, REJECTED, pairs, Counter({REJECTED: 1}), None, transfer.place)


def find_content(batch: BatchReport | RefusedBatch) -> BatchReport | RefusedBatch:
    """Returns the report that has the batch's transfers: its `rest` if it has one, else the batch itself."""
    return batch.rest if isinstance(batch, RefusedBatch) and batch.rest is not None else batch


def count_transactions(item: BatchStatus) -> Counter[str]:
    """Returns the number of transactions of a batch by status. A batch that an earlier version of the sandbox stored
    may have only the number of its transactions. These are counted too."""
    content = find_content(item.batch)
    refused = len(content.refused)
    of_all = max(item.batch.number_of_transactions, len(content.transfers) + refused)
    return Counter({ISO_STATUSES[item.status]: of_all - refused}) + Counter({REJECTED: refused})


def find_position(place: str) -> int:
    """Returns the position of a transaction in its file: its line number, or the last index of its path."""
    return int(place.removesuffix("]").rpartition("[")[2])


def _find_common_status(counts: Counter[str]) -> str | None:
    """Returns the status that all transactions have, PART if their statuses differ, or None if there are no
    transactions."""
    return None if not counts else next(iter(counts)) if len(counts) == 1 else PARTLY


def _list_reasons(findings: Iterable[FileFinding]) -> tuple[StatusReason, ...]:
    texts: dict[str, list[str]] = {}
    for finding in findings:
        place_text = f"line {finding.place}" if finding.line is not None else finding.place
        texts.setdefault(_convert_code(finding.code), []).append(f"{finding.code} at {place_text}: {finding.text}")
    return tuple(StatusReason(code, tuple(lines)) for code, lines in texts.items())


def _list_end_reasons(status: Status, reason: str | None) -> tuple[StatusReason, ...]:
    """Returns the reason for which the file or batch ended or waits, as a tuple. If it ended and the bank gave no
    reason, this is CANCELLED for a cancelled one, else NOT_GIVEN. The tuple is empty if it has not ended and there is
    no reason."""
    if reason is None and status in ENDED:
        reason = CANCELLED if status is Status.CANC else Reason.NOT_GIVEN.code
    return () if reason is None else (StatusReason(_convert_code(reason)),)


def _convert_code(code: str) -> str:
    return REASON_CODES.get(code, code)


# pain.002


def write_pain002(file: FileStatus) -> Iterator[str]:
    version = PAIN_002.get(file.version or "", NEWEST)
    is_newer = version == NEWEST
    moment = _write_element("CreDtTm", write_instant(file.at))
    # Two reports of one file at two moments are two messages, so their ids must differ.
    message_id = _write_element("MsgId", f"{file.file_id.replace('-', '')[:20]}-{file.at:%y%m%d%H%M%S}")
    agent = f"<DbtrAgt><FinInstnId>{_write_element('BICFI' if is_newer else 'BIC', BANK_BIC)}</FinInstnId></DbtrAgt>"
    whole = make_file_line(file)
    original = _write_element("OrgnlMsgId", _fit_identification(whole.reference)) + _write_element(
        "OrgnlMsgNmId", file.version or "pain.001"
    )
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="{NAMESPACE}{version}">\n<CstmrPmtStsRpt>\n'
        f"<GrpHdr>{message_id}{moment}{agent}</GrpHdr>\n"
        f"<OrgnlGrpInfAndSts>{original}{_write_status(whole, 'GrpSts')}</OrgnlGrpInfAndSts>\n"
    )
    for item in file.batches:
        line = make_batch_line(item)
        name = _write_element("OrgnlPmtInfId", _fit_identification(line.reference))
        yield f"<OrgnlPmtInfAndSts>{name}{_write_status(line, 'PmtInfSts')}\n"
        for transaction in make_transaction_lines(item):
            yield _write_transaction(transaction, is_newer)
        yield "</OrgnlPmtInfAndSts>\n"
    yield "</CstmrPmtStsRpt>\n</Document>\n"


def _write_status(line: ReportLine, status_name: str) -> str:
    """Returns the XML elements about a file or a batch: number, sum, status, reasons and counts. Leaves out a number of
    0, and a sum that is missing or has too many digits."""
    number = _write_element("OrgnlNbOfTxs", str(line.number)) if line.number else ""
    total = "" if line.amount is None else f"{line.amount:.2f}"
    fits = total and len(total.lstrip("-")) - 1 <= SUM_DIGITS_MAX
    total = _write_element("OrgnlCtrlSum", total) if fits else ""
    counts = (
        f"<NbOfTxsPerSts>{_write_element('DtldNbOfTxs', str(count))}{_write_element('DtldSts', status)}</NbOfTxsPerSts>"
        for status, count in line.counts.items()
    )
    return "".join((number, total, _write_element(status_name, line.status), *_write_reasons(line), *counts))


def _write_reasons(line: ReportLine) -> Iterator[str]:
    for reason in line.reasons:
        code = _write_element("Cd" if REASON_CODE.match(reason.code) else "Prtry", reason.code)
        texts = (text[start : start + TEXT_MAX] for text in reason.texts for start in range(0, len(text), TEXT_MAX))
        yield f"<StsRsnInf><Rsn>{code}</Rsn>{''.join(_write_element('AddtlInf', text) for text in texts)}</StsRsnInf>"


def _write_transaction(line: ReportLine, is_newer: bool) -> str:
    original = ""
    if (transfer := line.transfer) is not None:
        amount = f'<Amt><InstdAmt Ccy="{transfer.amount.currency}">{transfer.amount.number:.2f}</InstdAmt></Amt>'
        creditor = _write_element("Nm", transfer.creditor_name)
        creditor = f"<Pty>{creditor}</Pty>" if is_newer else creditor
        account = f"<CdtrAcct><Id>{_write_element('IBAN', transfer.creditor_iban)}</Id></CdtrAcct>"
        original = f"<OrgnlTxRef>{amount}<Cdtr>{creditor}</Cdtr>{account}</OrgnlTxRef>"
    reference = _write_element("OrgnlEndToEndId", _fit_identification(line.reference))
    return (
        f"<TxInfAndSts>{reference}{_write_element('TxSts', line.status)}"
        f"{''.join(_write_reasons(line))}{original}</TxInfAndSts>\n"
    )


def _write_element(name: str, text: str) -> str:
    return f"<{name}>{escape(NO_XML.sub('?', text))}</{name}>"


def _fit_identification(text: str) -> str:
    """Returns an identification that fits the schema. Shortens a long one, and replaces a missing one."""
    return text[:REFERENCE_MAX] or NOT_PROVIDED


# csv


class _LineWriter:
    """A file for `csv.writer` whose `write` returns the line, so that `writerow` returns it too."""

    def write(self, line: str) -> str:
        return line


def write_csv(file: FileStatus) -> Iterator[str]:
    writer = csv.writer(_LineWriter())

    def row(level: str, line: ReportLine, created: str = "") -> str:
        reasons = " ".join(reason.code for reason in line.reasons)
        texts = "; ".join(chain.from_iterable(reason.texts for reason in line.reasons))
        amount = "" if line.amount is None else f"{line.amount:.2f}"
        reference = line.reference
        if level == "transaction" and reference.lstrip().startswith(FORMULA_SIGNS):
            reference = f"'{reference}"  # so that a spreadsheet does not run the refused identification
        cells = (level, reference, line.place, line.number, amount, line.status, reasons, texts, created)
        return str(writer.writerow(cells))

    yield str(writer.writerow(COLUMNS))
    yield row("file", make_file_line(file), write_instant(file.at))
    for item in file.batches:
        yield row("bulk", make_batch_line(item))
        for transaction in make_transaction_lines(item):
            yield row("transaction", transaction)
